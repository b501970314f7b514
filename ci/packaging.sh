#!/usr/bin/env bash
# Builds the packages of the C library and a program with each: `debian` in target/packaging, and
# `conan` in a cache of its own there. Without arguments both.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=${CARGO_TARGET_DIR:-$PWD/target}/packaging
words=crates/ebbtide-capi/examples/make

debian() {
    local source=$work/debian/ebbtide root=$work/debian/root
    rm -rf "$work/debian"
    mkdir -p "$source"
    git ls-files -z | xargs -0 cp --parents --no-dereference --target-directory="$source"
    cp -r packaging/debian "$source"
    # Cargo need not come from a Debian package.
    (cd "$source" && CARGO_TARGET_DIR=$work/target \
        dpkg-buildpackage --build=binary --no-sign --no-check-builddeps)
    for package in "$work"/debian/libebbtide*.deb; do
        dpkg -x "$package" "$root"
    done
    cp -r "$words" "$work/debian"
    PKG_CONFIG_PATH=$root/usr/lib/pkgconfig make -C "$work/debian/make" words words-static
    for program in words words-static; do
        [[ $(echo out of the blue of the sea | "$work/debian/make/$program") == "2 of"* ]]
    done
}

conan() {
    export CONAN_HOME=$work/conan
    rm -rf "$CONAN_HOME"
    command conan profile detect
    # The recipe requires no other package.
    command conan remote disable '*'
    for shared in False True; do
        command conan create packaging/conan --options="ebbtide/*:shared=$shared"
    done
}

[[ $# -gt 0 ]] || set -- debian conan
for package; do
    $package
done
