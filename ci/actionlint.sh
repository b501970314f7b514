#!/usr/bin/env bash
# Checks the workflows of hosted CI. --probe fails if the tool is missing; --install builds it with Go
# into target/tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
read -r _ module version _ < <(grep '^go ' ci/fetched)
tools=$PWD/target/tools

case ${1:-} in
--probe) [ "$("$tools/actionlint" --version | head -n 1)" = "$version" ] ;;
--install) GOBIN=$tools go install "$module@$version" ;;
*) "$tools/actionlint" -shellcheck= ;;
esac
