#!/usr/bin/env bash
# Runs libstdc++'s own tests of `memory_resource`, `monotonic_buffer_resource` and
# `polymorphic_allocator` with `ebbtide::memory_resource` instead of
# `std::pmr::monotonic_buffer_resource`, and as the default resource.
#
#   libstdcxx.sh            runs them: optimised by GCC, and by clang, if there, under AddressSanitizer
#                           and UBSan
#   libstdcxx.sh --probe    succeeds if the tests are there
#   libstdcxx.sh --install  takes them from Debian's package gcc-12-source
#
# Every file runs. `edit` has the changes to them, with the reasons.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
others=$target/others/libstdcxx
suite=$others/libstdc++-v3/testsuite
folders=(20_util/memory_resource 20_util/monotonic_buffer_resource 20_util/polymorphic_allocator)

install_suite() {
    local work=$others/package
    rm -rf "$others"
    mkdir -p "$work"
    (cd "$work" && apt-get download gcc-12-source && dpkg-deb --extract ./*.deb .)
    tar -xJf "$work"/usr/src/gcc-12/gcc-12*.tar.xz -C "$others" --strip-components 1 --wildcards \
        "${folders[@]/#/*/libstdc++-v3/testsuite/}" '*/libstdc++-v3/testsuite/util/testsuite_*.h'
    rm -rf "$work"
}

# Prints a test with our resource instead of libstdc++'s.
edit() {
    local resource='s/__gnu_test::memory_resource/ebbtide::memory_resource/'
    local edits=(-e 's/std::pmr::monotonic_buffer_resource/ebbtide::monotonic_buffer_resource/')
    case $1 in
    # They compare resources, and construct elements with one.
    */memory_resource/2.cc | */construct_c++2a.cc | */select.cc) edits+=(-e "$resource") ;;
    # Its first test copies a resource, which ours forbids, as the standard's own do.
    */polymorphic_allocator/resource.cc) edits+=(-e "/r1, r2;/$resource") ;;
    # It counts the bytes returned to the upstream. Our `release()` keeps the chunks, `shrink()`
    # returns them.
    */release.cc) edits+=(-e 's/\.release()/.shrink()/') ;;
    # Our resource reuses the memory of the last block, so the next one may have the same address.
    */deallocate.cc) edits+=(-e '/VERIFY( pi\? != /d') ;;
    esac
    sed "${edits[@]}" "$1"
}

case ${1-} in
--probe) exec test -d "$suite/${folders[2]}" ;;
--install)
    install_suite
    exit
    ;;
esac

cargo build --quiet --manifest-path "$root/Cargo.toml" --package ebbtide-capi
edited=$others/edited
rm -rf "$edited"
mkdir -p "$edited"
cat >"$edited/resource.hpp" <<'CODE'
#include <ebbtide.hpp>

namespace ebbtide {
using monotonic_buffer_resource = memory_resource;
}

// The default resource, where a test does not set another.
inline ebbtide::memory_resource default_resource(std::pmr::new_delete_resource());
inline const bool is_set = (std::pmr::set_default_resource(&default_resource), true);
CODE
# Some tests leave buffers to the end of the program.
export ASAN_OPTIONS=detect_leaks=0

# Compiles one test and, unless it is about compiling only, runs it.
check() {
    local file=$1 flags=("${@:2}") program=$edited/program
    edit "$file" >"$edited/test.cc" || return
    case $(grep -m 1 'dg-do' "$file") in
    *c++2a* | *c++20*) flags+=(-std=gnu++20) ;;
    *) flags+=(-std=gnu++17) ;;
    esac
    flags+=(-w -fsized-deallocation -I "$suite/util" -I "$root/crates/ebbtide-capi/include" -include "$edited/resource.hpp")
    if grep -q 'dg-do compile' "$file"; then
        "${flags[@]}" -c -o "$program" "$edited/test.cc"
    else
        "${flags[@]}" -o "$program" "$edited/test.cc" "$target/debug/libebbtide_capi.a" -lpthread -ldl -lm \
            && "$program"
    fi
}

# Without clang or its sanitizers, only GCC is used.
compilers=("g++ -O2 -DNDEBUG")
# One test fills a buffer to the last byte, so blocks have no redzones.
clang="clang++ -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -DEBB_REDZONE=0"
if $clang -x c++ -o "$edited/program" - <<<'int main() {}' 2>&1; then
    compilers+=("$clang")
else
    echo "left out: clang is missing; install it with: apt-get install clang libclang-rt-dev"
fi

passed=0 failed=0
for file in "${folders[@]/#/$suite/}"; do
    for file in "$file"/*.cc; do
        for with in "${compilers[@]}"; do
            read -ra command <<<"$with"
            if check "$file" "${command[@]}"; then
                result=ok passed=$((passed + 1))
            else
                result=FAILED failed=$((failed + 1))
            fi
            echo "test ${file#"$suite/"}, ${command[0]} ... $result"
        done
    done
done
verdict=ok
if [ "$failed" -gt 0 ]; then verdict=FAILED; fi
echo "test result: $verdict. $passed passed; $failed failed; 0 ignored"
[ "$failed" -eq 0 ]
