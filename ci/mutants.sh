#!/usr/bin/env bash
# Finds mutants of the core that no test notices.
# Usage: ci/mutants.sh [FILE...] [-- ARGUMENT...]
# FILE is a module name such as `raw`; by default all modules listed in `all` below. Arguments are
# passed to `cargo mutants`; for example, `--re has_one` tries only mutants whose name matches.
# Fails if a mutant survives that is not in ci/mutants.accepted. The outcome of each mutant is in
# target/mutants/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo mutants --version >/dev/null 2>&1; then
    echo "cargo-mutants is missing; install it with: cargo install --locked cargo-mutants" >&2
    exit 1
fi
all=(arena arith backing chunk chunk/{blocks,claims,control,header,list,spare} raw scope)
names=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case " ${all[*]} " in *" $1 "*) ;; *) echo "$1: not one of ${all[*]}" >&2 && exit 2 ;; esac
    names+=("$1")
    shift
done
[ $# -eq 0 ] || shift
arguments=("$@")
[ ${#names[@]} -gt 0 ] || names=("${all[@]}")
# cargo-mutants mistakes `NonNull` for a container; these mutants do not compile.
mutants_of() {
    printf -- '--file=crates/ebbtide/src/%s.rs\n' "$@"
    echo '--exclude-re=NonNull::(new|from|from_iter)\('
}
mapfile -t some < <(mutants_of "${names[@]}")
mapfile -t every < <(mutants_of "${all[@]}")
mkdir -p "${CARGO_TARGET_DIR:-target}/mutants"
results=$(cd "${CARGO_TARGET_DIR:-target}/mutants" && pwd)
rm -rf "${results:?}"/*

# One copy of the repository per processor, each with its own target folder.
copies=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$copies"' EXIT
workers=$(nproc)
workers=$((workers < 8 ? workers : 8))
copy=$copies/0
mkdir "$copy"
git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=- --ignore-failed-read \
    | tar -x -C "$copy"
cd "$copy"
unset CARGO_TARGET_DIR CARGO_BUILD_TARGET_DIR
# Only one function changes from build to build.
export CARGO_INCREMENTAL=1
# cargo-mutants does not look into macros, and the arithmetic is one: the copy has it expanded for
# `usize`.
perl -0pi -e 's/\$signed:ty\) => \{\n(.*?)\n    \};\n\}\n\K(.*?)arithmetic!\(usize, isize\);/
    my ($body, $rest) = ($1, $2); $body =~ s{\$word}{usize}g; $body =~ s{\$signed}{isize}g; "$rest$body"/se' \
    crates/ebbtide/src/arith.rs
# Omitting debug information halves the time. The workspace contains only the core, so that nothing
# else is built.
cp crates/ebbtide/tests/all.rs "$copies/all.rs"
perl -pi -e 's/^members = .*/members = ["crates\/ebbtide"]/; s/^default-members = .*//; s/^debug = .*/debug = 0/' Cargo.toml
# Stop at the first failed test; the flag needs RUSTC_BOOTSTRAP. Endless loops are detected by
# processor time, which does not pass while the machine is busy elsewhere. A loop that allocates
# stops at 8 GiB.
cat >>.cargo/config.toml <<'TOML'

[target.'cfg(all())']
runner = ["bash", "-c", """ulimit -S -c 0 -t "$SECONDS_OF_TESTS" -v 8388608
    RUSTC_BOOTSTRAP=1 exec "$0" "$@" -Zunstable-options --fail-fast"""]
TOML
# Mutants that only violate a lint are compiled and tried.
export RUSTFLAGS="${RUSTFLAGS:-} --cap-lints=warn" RUST_BACKTRACE=0 RUST_TEST_THREADS=1 PROPTEST_CASES=60 LC_ALL=C

# Mutants are accepted without line and column, so that they stay valid when code around them moves.
nameless() { sed -E 's/^([^:]*):[0-9]+:[0-9]+:/\1:/' | sort; }
grep '^crates/' ci/mutants.accepted | sort >"$results/accepted.txt"
gone=$(cargo mutants --list "${every[@]}" | nameless | comm -13 - "$results/accepted.txt")

# Leaves only these modules in the test program, which compiles sooner.
keep_tests() {
    local names
    names=$(IFS='|' && echo "$*")
    perl -ne "print unless /^mod (?!(common|targets|$names);)/" "$copies/all.rs" >crates/ebbtide/tests/all.rs
}

# Arguments: the folder for results, the time limit of the tests in seconds (ten times what they
# need), the features, then arguments for cargo-mutants. The tests first have to pass without a
# mutant.
try_mutants() {
    local round=$1 features=$3 worker process processes=() status untried
    export SECONDS_OF_TESTS=$2
    shift 3
    cargo test --package ebbtide --features "$features" --test all >"$results/$round.txt" 2>&1 || {
        cat "$results/$round.txt" >&2
        echo "the tests fail without a mutant" >&2
        exit 1
    }
    for ((worker = 0; worker < workers; worker++)); do
        if [ $worker -gt 0 ]; then
            rm -rf "${copies:?}/$worker"
            cp -a "$copy" "$copies/$worker"
        fi
        mkdir -p "$results/$round/$worker/mutants.out"
        cat "$results"/{noticed,unviable,explained}.txt >"$results/$round/$worker/mutants.out/previously_caught.txt"
    done
    for ((worker = 0; worker < workers; worker++)); do
        # The pipe keeps several processes from drawing progress on one terminal.
        (cd "$copies/$worker" && exec cargo mutants --in-place --package ebbtide --features "$features" \
            --cargo-arg=--test=all "${some[@]}" --iterate --shard "$worker/$workers" --sharding round-robin \
            --baseline skip --timeout 300 --output "$results/$round/$worker" "$@" > >(cat)) &
        processes+=($!)
    done
    for process in "${processes[@]}"; do
        status=0
        wait "$process" || status=$?
        # 2: some survive; 3: some hang without using processor time, which counts as noticed.
        case $status in 0 | 2 | 3) ;; *) exit "$status" ;; esac
    done
    # A full disk, for example, also makes compilation fail.
    untried=$(find "$results/$round" -path '*/mutants.out/log/*.log' \
        -exec grep -LE '^error\[E[0-9]+\]|^running [0-9]+ tests' {} +) || true
    if [ -n "$untried" ]; then
        echo "neither tested nor rejected by the compiler:" "$untried" >&2
        exit 1
    fi
    cat "$results/$round"/*/mutants.out/{caught,timeout}.txt >>"$results/noticed.txt"
    cat "$results/$round"/*/mutants.out/unviable.txt >>"$results/unviable.txt"
    cat "$results/$round"/*/mutants.out/missed.txt >"$results/survived.txt"
}

: >"$results/noticed.txt"
: >"$results/unviable.txt"
: >"$results/explained.txt"
keep_tests accessors arith bumper chunk_sizes claims failure growing moving peers_bugs scopes steady_state traps
try_mutants first 20 std "${arguments[@]}"
# If more mutants of one name survive than the list accepts, all mutants of that name are tried
# again in a second round: with more tests, poison and default scopes.
nameless <"$results/survived.txt" | comm -23 - "$results/accepted.txt" >"$results/unexplained.txt"
while read -r mutant; do
    nameless <<<"$mutant" | grep -qxFf "$results/unexplained.txt" || echo "$mutant"
done <"$results/survived.txt" >"$results/explained.txt"
: >"$results/survived.txt"
if [ -s "$results/unexplained.txt" ]; then
    keep_tests accessors allocator bad_input bumper builders chunk_sizes claims collections failure found front_end growing \
        huge_pages keep local methods moving panics peers_bugs poison pool reentrancy scopes steady_state traps vectors
    try_mutants second 100 allocator-api2-04,hashbrown-017,huge-pages,poison "${arguments[@]}"
fi
cat "$results/explained.txt" >>"$results/survived.txt"

# Mutants that used up their processor time (SIGXCPU), by the first line of each log.
find "$results" -path '*/mutants.out/log/*.log' -exec grep -lE '\(signal: 24|^\*\*\* result: Timeout' {} + \
    | xargs -r sed -sn -E '0,/^\*\*\* crates/s/^\*\*\* (crates.*)/\1/p' >"$results/never_end.txt" || true
for file in "${names[@]}"; do
    count() { grep -c "^crates/ebbtide/src/$file.rs:" "$results/$1.txt" || true; }
    never_end=$(count never_end)
    echo "$file: $(($(count noticed) - never_end)) noticed, $never_end never end, $(count unviable) do not compile," \
        "$(count survived) survive"
done
explained=$(nameless <"$results/survived.txt" | comm -12 - "$results/accepted.txt" | wc -l)
unexplained=$(nameless <"$results/survived.txt" | comm -23 - "$results/accepted.txt")
echo "accepted survivors: $explained; others:"
echo "${unexplained:-none}"
echo "names in ci/mutants.accepted that are no mutants: ${gone:-none}"
[ -z "$unexplained$gone" ]
