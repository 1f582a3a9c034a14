#!/usr/bin/env bash
# Runs a command and says which step it is, and how long it took:
#   scripts/step.sh "Lint" npm run --silent lint
set -euo pipefail

name=$1
shift
echo "==> $name"
SECONDS=0
status=0
"$@" || status=$?
[ "$status" = 0 ] && echo "    $name: ${SECONDS} s" || echo "    $name failed after ${SECONDS} s" >&2
exit "$status"
