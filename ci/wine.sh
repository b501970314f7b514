#!/usr/bin/env bash
# Runs a Windows program under Wine.
# Usage: ci/wine.sh PROGRAM [ARGUMENT...]
# Wine's server sometimes drops the connection of a new process before the program's first
# instruction; Wine then says "client error:0" and exits. Such a program never ran, so it is started
# again, up to three times in all.
set -euo pipefail

wine=$(command -v wine64 || command -v wine || ls /usr/lib/wine/wine64)
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
for last in false false true; do
    status=0
    "$wine" "$@" 2>"$errors" || status=$?
    cat "$errors" >&2
    "$last" || { [ "$status" -ne 0 ] && grep -q '^wine client error:0: ' "$errors"; } || break
done
exit "$status"
