#!/usr/bin/env bash
# Mutants of the core that no test notices. Usage: ci/mutants.sh [FILE...], `raw` say; arith, backing, chunk, raw and
# scope unless said otherwise, which takes an hour. Fails where one survives that ci/mutants.accepted does not explain.
# What became of each is under target/mutants/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo mutants --version >/dev/null 2>&1; then
    echo "cargo-mutants is missing; install it with: cargo install --locked cargo-mutants" >&2
    exit 1
fi
all=(arith backing chunk raw scope)
[ $# -gt 0 ] || set -- "${all[@]}"
source_of() { printf -- '--file=crates/ebbtide/src/%s.rs\n' "$@"; }
for file in "$@"; do
    case " ${all[*]} " in *" $file "*) ;; *) echo "$file: not one of ${all[*]}" >&2 && exit 2 ;; esac
done
mapfile -t files < <(source_of "$@")
mapfile -t every < <(source_of "${all[@]}")
mkdir -p "${CARGO_TARGET_DIR:-target}/mutants"
results=$(cd "${CARGO_TARGET_DIR:-target}/mutants" && pwd)
rm -rf "${results:?}"/*

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=- --ignore-failed-read \
    | tar -x -C "$copy"
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

export LC_ALL=C
# A mutant is accepted without line and column, so that it stays the same where the code around it moves.
nameless() { sed -E 's/^([^:]*):[0-9]+:[0-9]+:/\1:/' | sort; }
grep '^crates/' ci/mutants.accepted | sort >"$results/accepted.txt"
gone=$(cargo mutants --list "${every[@]}" | nameless | comm -13 - "$results/accepted.txt")
if [ -n "$gone" ]; then
    echo "ci/mutants.accepted names what is no mutant:" "$gone" >&2
    exit 1
fi

# The tests of these files become one program.
join_tests() {
    echo '//! Several tests in one program.' >crates/ebbtide/tests/joined.rs
    for test in "$@"; do
        printf '#[path = "%s.rs"]\nmod %s;\n' "$test" "$test" >>crates/ebbtide/tests/joined.rs
    done
}

# The folder for the results, the features, then arguments for the tool, which first sees to it that the tests pass as
# things are. One test starts itself by its name, which is another here.
try_mutants() {
    local output=$results/$1 features=$2 status=0
    shift 2
    cargo mutants --in-place --package ebbtide --features "$features" --cargo-arg=--test=joined "${files[@]}" \
        --no-shuffle --minimum-test-timeout 30 --timeout-multiplier 8 --output "$output" "$@" \
        -- -- --skip out_of_memory_in_an_infallible_method || status=$?
    # 2: some survive; 3: some never end, which counts as noticed.
    case $status in 0 | 2 | 3) ;; *) exit "$status" ;; esac
    cp "$output/mutants.out/missed.txt" "$results/survived.txt"
}

export PROPTEST_CASES=60
join_tests accessors arith bumper claims failure growing peers_bugs scopes steady_state traps
try_mutants first std
if [ -s "$results/survived.txt" ]; then
    # What survived, before more tests, and with the poison and the default scopes that count otherwise.
    mkdir -p "$results/second/mutants.out"
    (cd "$results/first/mutants.out" && cat caught.txt timeout.txt unviable.txt) \
        >"$results/second/mutants.out/previously_caught.txt"
    join_tests accessors allocator bad_input bumper builders claims collections failure growing huge_pages local \
        methods model panics peers_bugs poison pool reentrancy scopes steady_state traps
    try_mutants second allocator-api2,hashbrown,huge-pages,poison --iterate
fi

unexplained=$(nameless <"$results/survived.txt" | comm -23 - "$results/accepted.txt")
echo "$(wc -l <"$results/survived.txt") survived; not explained in ci/mutants.accepted:"
echo "${unexplained:-none}"
[ -z "$unexplained" ]
