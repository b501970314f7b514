#!/usr/bin/env bash
# Runs the tests of the core and of the transparent allocator on other platforms.
# Usage: ci/platforms.sh [--probe | --install] PLATFORM...
#   windows  under Wine: all tests of the transparent allocator; of the core, those of threads and the heap;
#            the programs in C with MinGW
#   32-bit   on Linux: all tests; the transparent allocator passes every request through
#   aarch64  on Linux, under QEMU: tests of the core, and of the transparent allocator; with pages of 4, 16 and 64 KiB
#   wasm     in Node.js: tests that need no threads, files or unwinding; requests are passed through as well
#   unix     FreeBSD and macOS: the libraries are compiled; nothing runs
# --probe fails if a tool for the platform is missing; --install installs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

wine_program() { command -v wine64 || command -v wine || ls /usr/lib/wine/wine64 2>/dev/null; }

# Rust targets, Debian packages, and a check for the packages.
targets_of() {
    case $1 in
    windows) echo x86_64-pc-windows-gnu ;;
    32-bit) echo i686-unknown-linux-gnu ;;
    aarch64) echo aarch64-unknown-linux-gnu ;;
    wasm) echo wasm32-wasip1 ;;
    unix) echo x86_64-unknown-freebsd aarch64-apple-darwin ;;
    *) echo "$1: not one of windows, 32-bit, aarch64, wasm, unix" >&2 && return 2 ;;
    esac
}
packages_of() {
    case $1 in
    windows) echo gcc-mingw-w64-x86-64 wine64 ;;
    32-bit) echo g++-multilib ;;
    aarch64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user ;;
    wasm) echo nodejs npm ;;
    esac
}
has_programs_of() {
    case $1 in
    windows) wine_program && x86_64-w64-mingw32-gcc --version ;;
    32-bit) printf '#include <new>\nint main() {}' | c++ -m32 -x c++ -o /dev/null - ;;
    aarch64) aarch64-linux-gnu-gcc --version && qemu-aarch64 --version ;;
    wasm) node --version && npm --version ;;
    esac
}
probe() {
    local target
    for target in $(targets_of "$1"); do
        ls "$(rustc --print target-libdir --target "$target")"/libcore-*.rlib || return 1
    done
    has_programs_of "$1"
}
install() {
    local targets packages
    read -ra targets <<<"$(targets_of "$1")"
    read -ra packages <<<"$(packages_of "$1")"
    rustup target add "${targets[@]}"
    has_programs_of "$1" >/dev/null 2>&1 || {
        apt-get update
        apt-get install --yes --no-install-recommends "${packages[@]}"
    }
}

# Wine keeps a byte for each reserved page, so two tests that request more memory than any machine
# has are left out: they would take a minute and all memory. The models make fewer runs, because
# Wine's heap is slow.
in_windows() {
    local test=(cargo test --target x86_64-pc-windows-gnu --features full,poison)
    local prefix wine server
    prefix=$(mktemp -d)
    wine=$(wine_program)
    server=$(command -v wineserver || ls /usr/lib/wine/wineserver)
    export WINEPREFIX=$prefix WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
    # shellcheck disable=SC2064
    trap "'$server' --kill || true; rm -rf '$prefix'" EXIT
    # Otherwise the server ends with its last program, while the next one connects.
    "$server" --persistent
    "$wine" wineboot --init
    # The standard library gets random numbers from a DLL that Wine lacks before version 9.
    local dll=$prefix/drive_c/windows/system32/bcryptprimitives.dll
    [ -e "$dll" ] || x86_64-w64-mingw32-gcc -shared -x c -o "$dll" - -ladvapi32 <<'C'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T size) { return RtlGenRandom(bytes, size); }
C
    local run="bash $PWD/ci/wine.sh"
    export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=$run
    export PROPTEST_CASES=${PROPTEST_CASES:-25}
    "${test[@]}" --package ebbtide-global --tests -- --skip impossible_requests_return_null
    "${test[@]}" --package ebbtide --test local_thread_exit
    "${test[@]}" --package ebbtide --test all -- failure:: local:: methods:: model:: pool:: \
        --skip o01_the_capacity_of_the_default_can_be_set
    # With few addresses, the range is smaller than the first size that is tried.
    CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER="prlimit --as=$((8 << 30)) $run" \
        "${test[@]}" --package ebbtide-global --test all -- given_back:: scopes::
    c_in_windows
}

# With checks and without, linked statically.
c_in_windows() {
    local library=${CARGO_TARGET_DIR:-target}/x86_64-pc-windows-gnu/debug/libebbtide_capi.a
    local capi=crates/ebbtide-capi file checks passed=0
    cargo build --target x86_64-pc-windows-gnu --package ebbtide-capi
    for file in scopes growing memory model heap bad_input jumps threads; do
        for checks in 0 1; do
            x86_64-w64-mingw32-gcc -std=c11 -O2 -Wall -Wextra -Werror "-DEBB_CHECKS=$checks" -I "$capi/include" \
                "$capi/tests/c/$file.c" "$library" -static -lpthread -lws2_32 -luserenv -lntdll -lbcrypt \
                -o "$WINEPREFIX/$file.exe"
            bash ci/wine.sh "$WINEPREFIX/$file.exe"
            passed=$((passed + 1))
        done
    done
    echo "test result: ok. $passed passed; 0 failed;"
}

in_32_bits() {
    local test=(cargo test --target i686-unknown-linux-gnu --tests --features full,poison)
    "${test[@]}" --package ebbtide-global
    "${test[@]}" --package ebbtide
    c_in_32_bits
}

# What is installed: the shared library, and the operators, which pass every request through.
c_in_32_bits() {
    local folder=${CARGO_TARGET_DIR:-target}/i686-unknown-linux-gnu/installed flags passed=0 file
    cargo xtask dist --target i686-unknown-linux-gnu "$folder"
    folder=$(realpath "$folder")
    read -ra flags <<<"$(PKG_CONFIG_PATH=$folder/lib/pkgconfig pkg-config --cflags --libs ebbtide ebbtide-new)"
    flags+=(-m32 -O2 "-Wl,-rpath,$folder/lib" -o "$folder/program")
    for file in scopes growing memory jumps threads; do
        gcc -std=c11 "crates/ebbtide-capi/tests/c/$file.c" "${flags[@]}"
        "$folder/program"
        passed=$((passed + 1))
    done
    g++ -std=c++17 crates/ebbtide-new/examples/cmake/both.cpp "${flags[@]}"
    [[ $("$folder/program") == 1007,* ]]
    echo "test result: ok. $((passed + 1)) passed; 0 failed;"
}

# Left out of the core's tests: the one that starts itself again, because QEMU emulates one program,
# not those that it starts. Of those of the transparent allocator:
#   crossing, layouts, model, queues, scopes   take minutes when emulated
#   exhausted, no_range, fork, fork_at_start   limit, count or copy the address space, which QEMU shares with the program
# The properties try fewer cases, because emulated code takes ten times as long. QEMU runs threads
# on this machine's memory model: what aarch64 may reorder is left to the loom models. It keeps a
# word for each page, so only 4 GiB are reserved.
in_aarch64() {
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="prlimit --as=$((16 << 30)) qemu-aarch64 -L /usr/aarch64-linux-gnu"
    export PROPTEST_CASES=${PROPTEST_CASES:-10}
    local test=(cargo test --target aarch64-unknown-linux-gnu)
    local core=(accessors arith auto_traits bad_input builders claims failure growing local methods moving panics peers_bugs)
    core+=(pool reentrancy scopes steady_state traps unsize)
    "${test[@]}" --package ebbtide --test all -- "${core[@]/%/::}" \
        --skip out_of_memory_in_an_infallible_method_goes_to_handle_alloc_error
    "${test[@]}" --package ebbtide --test local_late --test local_thread_exit --test no_heap_calls --test pool_in_allocator
    local global=(bumper channels chunk_ends empty_chunks ended_threads epoch futures given_back)
    global+=(globals labels late_threads limits live_bytes pages panics poison rayon released_pools)
    global+=(tails thread_exit tickets turns zeroed_runs)
    export EBBTIDE_TEST_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    "${test[@]}" --package ebbtide-global --lib --test first_println --test not_installed --test shrinking
    "${test[@]}" --package ebbtide-global --test all -- "${global[@]/%/::}"
    # Other sizes of pages that a system may be configured for: QEMU reports them, and places
    # mappings at multiples. It passes on no advice about huge pages.
    local bytes
    for bytes in 16384 65536; do
        QEMU_PAGESIZE=$bytes "${test[@]}" --package ebbtide --features huge-pages --test all -- huge_pages:: --skip advise
        QEMU_PAGESIZE=$bytes "${test[@]}" --package ebbtide-global --test shrinking
        QEMU_PAGESIZE=$bytes "${test[@]}" --package ebbtide-global --test all -- given_back:: limits:: pages:: zeroed_runs::
    done
}

# Uses a WASI package, because the WASI of Node.js 20 often crashes after a program whose memory
# grows.
in_wasm() {
    local test=(cargo test --target wasm32-wasip1)
    local folder=$PWD/${CARGO_TARGET_DIR:-target}/wasi
    [[ ${CARGO_TARGET_DIR:-} != /* ]] || folder=$CARGO_TARGET_DIR/wasi
    mkdir -p "$folder"
    cp ci/wasi.mjs "$folder"
    local name version checksum
    read -r _ name version checksum < <(grep '^npm ' ci/fetched)
    if [ "$(npm view "$name@$version" dist.integrity)" != "$checksum" ]; then
        echo "$name $version: the registry's checksum is not the one in ci/fetched" >&2
        return 1
    fi
    npm install --silent --no-audit --no-fund --no-save --prefix "$folder" "$name@$version"
    export CARGO_TARGET_WASM32_WASIP1_RUNNER="node $folder/wasi.mjs"
    "${test[@]}" --package ebbtide-global --lib --test not_installed --test first_println
    "${test[@]}" --package ebbtide-global --test all -- no_range:: queues::
    "${test[@]}" --package ebbtide --test all -- accessors:: arith:: claims:: growing:: model:: moving:: \
        steady_state:: unsize::
}

for_unix() {
    local target
    for target in $(targets_of unix); do
        RUSTFLAGS="-Dwarnings ${RUSTFLAGS:-}" cargo check --target "$target" --package ebbtide --package ebbtide-global \
            --features ebbtide/full,ebbtide/poison,ebbtide-global/full,ebbtide-global/poison
    done
}

action=run
case ${1:-} in --probe | --install) action=${1#--} && shift ;; esac
for platform in "$@"; do
    targets_of "$platform" >/dev/null
    case $action in
    probe) probe "$platform" ;;
    install) install "$platform" ;;
    run)
        case $platform in
        windows) (in_windows) ;;
        32-bit) (in_32_bits) ;;
        aarch64) (in_aarch64) ;;
        wasm) (in_wasm) ;;
        unix) (for_unix) ;;
        esac
        ;;
    esac
done
