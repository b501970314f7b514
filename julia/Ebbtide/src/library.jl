# The library behind the package: finding it, and the addresses of its functions.

using Libdl: Libdl

# The addresses of the functions, named as in `ebbtide.h`. They are looked up when the package is
# loaded, so that a precompiled package depends on no path.
mutable struct Library
    path::String
    ebb_version::Ptr{Cvoid}
    ebb_last_status::Ptr{Cvoid}
    ebb_status_text::Ptr{Cvoid}
    ebb_arena_new::Ptr{Cvoid}
    ebb_fixed_new::Ptr{Cvoid}
    ebb_arena_free::Ptr{Cvoid}
    ebb_arena_reset::Ptr{Cvoid}
    ebb_arena_trim::Ptr{Cvoid}
    ebb_arena_shrink::Ptr{Cvoid}
    ebb_arena_merge::Ptr{Cvoid}
    ebb_arena_set_limit::Ptr{Cvoid}
    ebb_arena_limit::Ptr{Cvoid}
    ebb_scope_stats::Ptr{Cvoid}
    ebb_stats_text::Ptr{Cvoid}
    ebb_open_slowly_::Ptr{Cvoid}
    ebb_make_room_::Ptr{Cvoid}
    ebb_alloc_slowly_::Ptr{Cvoid}
    ebb_free_ranges_::Ptr{Cvoid}
    Library() = new("")
end

const LIBRARY = Library()

# The expected `EBB_VERSION` of the header, without the patch version.
const EXPECTED_VERSION = 1

# The possible paths of the library. The environment variable decides if it is not empty; otherwise the
# library that `deps/build.jl` built comes first, then the one that the system's loader finds.
function library_candidates()
    wanted = get(ENV, "EBBTIDE_LIBRARY", "")
    isempty(wanted) || return [wanted]
    built = joinpath(dirname(@__DIR__), "deps", "usr", "lib", "libebbtide." * Libdl.dlext)
    isfile(built) ? [built, "libebbtide"] : ["libebbtide"]
end

function load_library!()
    candidates = library_candidates()
    for candidate in candidates
        handle = Libdl.dlopen(candidate; throw_error = false)
        handle === nothing && continue
        for name in fieldnames(Library)
            name === :path || setfield!(LIBRARY, name, Libdl.dlsym(handle, name))
        end
        LIBRARY.path = Libdl.dlpath(handle)
        version = ccall(LIBRARY.ebb_version, UInt32, ())
        version ÷ 1000 == EXPECTED_VERSION || error("Ebbtide: $(LIBRARY.path) has the version ",
            version, ", which this package was not written for")
        return
    end
    error("Ebbtide: the library was not found as ", join(candidates, " or "), ". Set the ",
        "environment variable EBBTIDE_LIBRARY to its path, run deps/build.jl of the package ",
        "(needs cargo), or install libebbtide.")
end

# The reason for this thread's last failed call.
function last_status_text()
    status = ccall(LIBRARY.ebb_last_status, Cint, ())
    unsafe_string(ccall(LIBRARY.ebb_status_text, Cstring, (Cint,), status))
end

@noinline throw_status(what) = throw(BufferError("$what: $(last_status_text())"))

check_status(status::Cint, what) = status == 0 ? nothing : throw_status(what)
