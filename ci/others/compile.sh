#!/usr/bin/env bash
# Measures what a dependency adds to a clean build: the processor time of cargo and its compilers for an empty
# program with that crate, less that of one without. Writes seconds in CSV.
#
#   compile.sh [ROUNDS]   each round builds every program once, one after the other; 5 unless given
#
# Times are minima. `check` is `cargo check`, `dev` and `release` are builds in the default profiles. None is
# incremental, as no crate of a registry is.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
rounds=${1:-5}
others=${CARGO_TARGET_DIR:-$root/target}/others
mkdir -p "$others/compile"
compile=$(cd "$others/compile" && pwd)
export CARGO_INCREMENTAL=0 TIMEFORMAT='%U %S'
unset CARGO_TARGET_DIR RUSTFLAGS
declare -A commands=([check]=check [dev]=build [release]='build --release') least

# An empty program with the dependency $2.
program() {
    mkdir -p "$compile/$1/src"
    echo 'fn main() {}' >"$compile/$1/src/main.rs"
    printf '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s\n[workspace]\n' \
        "$2" >"$compile/$1/Cargo.toml"
    cargo fetch --quiet --manifest-path "$compile/$1/Cargo.toml"
    contestants+=("$1")
}

program nothing ''
for name in ebbtide ebbtide-bumpalo ebbtide-global; do
    program "$name" "$name = { path = \"$root/crates/$name\" }"
done
program bumpalo 'bumpalo = { version = "3.20", features = ["collections"] }'
program bump-scope 'bump-scope = "2.4"'

for ((round = 0; round < rounds; round++)); do
    for name in "${contestants[@]}"; do
        cd "$compile/$name"
        for profile in "${!commands[@]}"; do
            rm -rf target
            # The time goes to the standard error, and what cargo writes to the terminal or log.
            { time cargo ${commands[$profile]} --quiet --offline 2>&3; } 2>"$compile/time"
            read -r user system <"$compile/time"
            least[$name,$profile]=$(awk -v least="${least[$name,$profile]:-}" -v seconds="$user" -v more="$system" \
                'BEGIN { seconds += more; print least == "" || seconds < least ? seconds : least }')
        done
    done
done 3>&2

model=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)
cat <<END
# cpu: ${model:-unknown}, $(nproc) threads
# kernel: $(uname -r)
# toolchain: $(rustc --version)
# commit: $(git -C "$root" rev-parse --short=12 HEAD)
# date: $(date -u +%F)
# how: minima of $rounds rounds; bumpalo with collections; ebbtide-bumpalo, ebbtide-global by default
contestant,check,dev,release
END
for name in "${contestants[@]:1}"; do
    row=$name
    for profile in check dev release; do
        row+=$(awk -v with="${least[$name,$profile]}" -v without="${least[nothing,$profile]}" \
            'BEGIN { printf ",%.2f", with - without }')
    done
    echo "$row"
done
