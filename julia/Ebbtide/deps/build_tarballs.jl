# The recipe with which BinaryBuilder builds the library for all platforms, read and not run. The resulting
# package Ebbtide_jll contains `lib/libebbtide`, on Windows `bin/libebbtide`; Ebbtide finds the former
# after it is unpacked into deps/usr. Run it in a clone: everything in the repository is copied.
#
#     julia deps/build_tarballs.jl --verbose

using BinaryBuilder

name = "Ebbtide"
version = v"0.1.0"

# The repository around the package.
sources = [DirectorySource(dirname(dirname(dirname(@__DIR__))))]

script = raw"""
cd ${WORKSPACE}/srcdir
cargo build --release --package ebbtide-capi
built=target/${rust_target}/release
if [[ ${target} == *-mingw* ]]; then
    install -D -m 755 ${built}/ebbtide_capi.dll ${libdir}/libebbtide.dll
else
    install -D -m 755 ${built}/libebbtide_capi.${dlext} ${libdir}/libebbtide.${dlext}
fi
install -D -m 644 -t ${includedir} crates/ebbtide-capi/include/ebbtide.h
install_license LICENSE-MIT LICENSE-APACHE
"""

# BinaryBuilder's Rust 1.94 makes no shared library for musl, nothing for Windows with 32 bits, and is not
# there for RISC-V and for FreeBSD on aarch64.
platforms = filter(supported_platforms()) do platform
    !(libc(platform) == "musl" || Sys.iswindows(platform) && arch(platform) == "i686" ||
      arch(platform) == "riscv64" || Sys.isfreebsd(platform) && arch(platform) == "aarch64")
end
products = [LibraryProduct("libebbtide", :libebbtide)]

build_tarballs(ARGS, name, version, sources, script, platforms, products, Dependency[];
    compilers = [:c, :rust], preferred_rust_version = v"1.94", julia_compat = "1.5")
