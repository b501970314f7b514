# Builds libebbtide from the source around the package, into deps/usr/lib. Needs cargo. Not needed
# if EBBTIDE_LIBRARY names the library (empty is unset), or the system has one installed.

using Libdl: Libdl

const REPOSITORY = dirname(dirname(dirname(@__DIR__)))
const DESTINATION = joinpath(@__DIR__, "usr", "lib", "libebbtide." * Libdl.dlext)

function build_library()
    isdir(joinpath(REPOSITORY, "crates", "ebbtide-capi")) ||
        error("the source of libebbtide is not around the package: install the library, or set " *
              "EBBTIDE_LIBRARY to its path")
    target = get(ENV, "CARGO_TARGET_DIR", joinpath(REPOSITORY, "target"))
    run(setenv(`cargo build --release --package ebbtide-capi --target-dir $target`;
        dir = REPOSITORY))
    name = (Sys.iswindows() ? "" : "lib") * "ebbtide_capi." * Libdl.dlext
    mkpath(dirname(DESTINATION))
    cp(joinpath(target, "release", name), DESTINATION; force = true)
end

isempty(get(ENV, "EBBTIDE_LIBRARY", "")) && build_library()
