# The recipe with which BinaryBuilder builds the library for all platforms. The resulting package
# Ebbtide_jll contains `lib/libebbtide`; Ebbtide finds it after it is unpacked into deps/usr.
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

platforms = filter(platform -> libc(platform) != "musl", supported_platforms())
products = [LibraryProduct("libebbtide", :libebbtide)]

build_tarballs(ARGS, name, version, sources, script, platforms, products, Dependency[];
    compilers = [:c, :rust], julia_compat = "1.5")
