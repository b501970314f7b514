#!/usr/bin/env bash
# Runs nlohmann-json's own tests with our operators `new` and `delete`, and every test case in an
# arena. The sources are Debian's, of the version that the package nlohmann-json3-dev has.
#
#   new.sh            compiles the tests named below and runs them
#   new.sh --all      those that need no data from elsewhere: takes about ten minutes
#   new.sh --probe    succeeds if the sources are there
#   new.sh --install  downloads them, by a list of sources that apt uses for this only
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
others=$target/others/nlohmann
suite=$others/suite/tests
quick=(allocator class_parser constructor1 modifiers ordered_map udt)
# They read files that the source package lacks.
needs_data=(binary_formats bjdata bson cbor inspection json_patch msgpack regression1 testsuites ubjson unicode1)

install_suite() {
    local parts=$others/parts lists=$others/lists
    rm -rf "$others"
    mkdir -p "$parts" "$lists/partial" "$others/suite"
    sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$parts/source.sources"
    local apt=(apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$parts" -o "Dir::State::lists=$lists")
    "${apt[@]}" update
    (cd "$others" && "${apt[@]}" source --download-only nlohmann-json3)
    tar -xzf "$others"/nlohmann-json3_*.orig.tar.gz -C "$others/suite" --strip-components 1 --wildcards \
        '*/tests/src' '*/tests/thirdparty/doctest' '*/tests/thirdparty/fifo_map' '*/include' '*/single_include'
}

case ${1-} in
--probe) exec test -d "$suite/src" ;;
--install)
    install_suite
    exit
    ;;
--all)
    skipped=$(printf '%s\n' "${needs_data[@]}")
    mapfile -t quick < <(cd "$suite/src" && for file in unit-*.cpp; do
        name=${file#unit-}
        echo "${name%.cpp}"
    done | grep --invert-match --line-regexp --fixed-strings "$skipped")
    ;;
esac

cargo build --quiet --release --manifest-path "$root/Cargo.toml" --package ebbtide-new
objects=$others/objects
mkdir -p "$objects"
cat >"$objects/listener.cpp" <<'CODE'
// Puts every test case into an arena of its own.
#include "doctest_compatibility.h"
#include <cstdio>
#include <ebbtide_new.hpp>

namespace {
struct arenas : doctest::IReporter {
    ebb_ticket scope = 0;
    explicit arenas(const doctest::ContextOptions &) {}
    void test_case_start(const doctest::TestCaseData &) override { scope = ebb_enter_operators_(); }
    void test_case_end(const doctest::CurrentTestCaseStats &) override { ebb_leave(scope); }
    void test_run_end(const doctest::TestRunStats &) override {
        ebbtide::figures figures = ebbtide::report();
        std::printf("%llu blocks in arenas, %llu of them escaped\n", (unsigned long long)figures.blocks,
                    (unsigned long long)figures.escaped_blocks);
        if (figures.blocks == 0) std::abort();
    }
    void report_query(const doctest::QueryData &) override {}
    void test_run_start() override {}
    void test_case_reenter(const doctest::TestCaseData &) override {}
    void test_case_exception(const doctest::TestCaseException &) override {}
    void subcase_start(const doctest::SubcaseSignature &) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData &) override {}
    void log_message(const doctest::MessageData &) override {}
    void test_case_skipped(const doctest::TestCaseData &) override {}
};
} // namespace
REGISTER_LISTENER("arenas", 1, arenas);
CODE
crate=$root/crates/ebbtide-new
flags=(-std=c++17 -w -O0 -I "$suite/thirdparty/doctest" -I "$suite/thirdparty/fifo_map" -I "$others/suite/include"
    -I "$crate/include" -I "$suite/src")
cc -std=c11 -O2 -I "$crate/include" -c "$crate/c/malloc.c" -o "$objects/malloc.o"
c++ -std=c++17 -O2 -I "$crate/include" -c "$crate/c/operators.cpp" -o "$objects/operators.o"

compile() { c++ "${flags[@]}" -c "$1" -o "$objects/$(basename "$1" .cpp).o"; }
running=0
for file in "$objects/listener.cpp" "$suite/src/unit.cpp" "${quick[@]/#/$suite/src/unit-}"; do
    ((running < $(nproc))) || { wait -n; running=$((running - 1)); }
    compile "${file%.cpp}.cpp" &
    running=$((running + 1))
done
while ((running > 0)); do
    wait -n
    running=$((running - 1))
done

for name in "${quick[@]}"; do
    c++ -o "$objects/$name" "$objects/unit-$name.o" "$objects"/{unit,listener,malloc,operators}.o \
        "$target/release/libebbtide_new.a" -lpthread -ldl -lm 2>"$objects/linker" || { cat "$objects/linker" && exit 1; }
    echo "== $name"
    "$objects/$name" --no-colors --minimal --no-skipped-summary >"$objects/output" 2>&1 || { cat "$objects/output" && exit 1; }
    cat "$objects/output"
done
