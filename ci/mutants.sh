#!/usr/bin/env bash
# Mutants of the core that the tests do not notice. Usage: ci/mutants.sh [FILE...], `raw` say; arith, raw, chunk and
# scope unless said otherwise. Takes hours. What survives is listed under target/mutants/; docs/TESTING.md says which
# of them are no faults.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo mutants --version >/dev/null 2>&1; then
    echo "cargo-mutants is missing; install it with: cargo install cargo-mutants" >&2
    exit 1
fi
files=("$@")
[ ${#files[@]} -gt 0 ] || files=(arith raw chunk scope)
results=$PWD/target/mutants
mkdir -p "$results"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git archive HEAD | tar -x -C "$copy"
cd "$copy"
export CARGO_TARGET_DIR="$copy/target"
# The tool does not look into macros, and the arithmetic is one: in the copy, that of `usize` is written out.
perl -0pi -e 's/\$signed:ty\) => \{\n(.*?)\n    \};\n\}\n\K(.*?)arithmetic!\(usize, isize\);/
    my ($body, $rest) = ($1, $2); $body =~ s{\$word}{usize}g; $body =~ s{\$signed}{isize}g; "$rest$body"/se' \
    crates/ebbtide/src/arith.rs
# Examples are no tests; without debug information it takes half of the time; several tests link faster as one
# program. The workspace is the core alone, so that nothing else is built.
rm -r crates/ebbtide/examples
perl -0pi -e 's/\[\[example\]\].*?\n\n//sg; s/(edition.workspace = true)/$1\nautotests = false/;
    s/\[lints\]/[[test]]\nname = "joined"\npath = "tests\/joined.rs"\n\n[lints]/' crates/ebbtide/Cargo.toml
perl -pi -e 's/^members = .*/members = ["crates\/ebbtide"]/; s/^default-members = .*//' Cargo.toml
printf '\n[profile.dev]\ndebug = 0\n' >>Cargo.toml

# The tests of these files become one program.
join_tests() {
    echo '//! Several tests in one program.' >crates/ebbtide/tests/joined.rs
    for test in "$@"; do
        printf '#[path = "%s.rs"]\nmod %s;\n' "$test" "$test" >>crates/ebbtide/tests/joined.rs
    done
}

# Features, then arguments for the tool. One test starts itself by its name, which is another here.
try_mutants() {
    local features=$1
    shift
    # 2: some survive; 3: some never end, which counts as noticed.
    cargo mutants --in-place --package ebbtide --features "$features" --baseline=skip --timeout 60 \
        --no-shuffle "$@" -- --test joined -- --skip out_of_memory_in_an_infallible_method || [ $? -le 3 ]
}

export PROPTEST_CASES=60
for file in "${files[@]}"; do
    options=(--file "crates/ebbtide/src/$file.rs" --output "$results/$file")
    join_tests accessors arith bumper claims failure growing peers_bugs scopes steady_state traps
    try_mutants std "${options[@]}"
    # What survived, before more tests, and with the poison and the default scopes that count otherwise.
    join_tests accessors allocator bumper builders collections failure growing local methods model poison pool \
        reentrancy scopes traps
    try_mutants allocator-api2,hashbrown,poison --iterate "${options[@]}"
    cat "$results/$file/mutants.out/missed.txt"
done
