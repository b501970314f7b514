#!/usr/bin/env bash
# Compares the public API with that of the last release, the newest tag `v*`, by
# cargo-semver-checks. A change that breaks users is an error, unless the new version allows it.
# Without a tag there is nothing to compare with. Another revision may be passed as argument.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
last=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)
if [ "${1-}" = --probe ]; then
    # Before the first release, the tool is not needed.
    [ -z "$last" ] || cargo semver-checks --version
    exit
fi
baseline=${1-$last}
if [ -z "$baseline" ]; then
    echo "no release yet: no API to keep"
    exit
fi
while read -r package features; do
    cargo semver-checks --package "$package" --baseline-rev "$baseline" --only-explicit-features --features "$features"
done <<'END'
ebbtide full
ebbtide-global full
ebbtide-bumpalo allocator-api2,boxed,collections,serde,std
ebbtide-typed-arena std
END
