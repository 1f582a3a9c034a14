#!/usr/bin/env bash
# Runs tests on another release of Node.js than the one at hand: a binary, or a release that comes from the npm package `node`:
#   scripts/test-on-node.sh 22 src/http test/e2e/bundle.test.ts
# with as many test files at once as WORKERS says.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
shift
case "$version" in
  */*) node=$version ;;
  *)
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    npm install --prefix "$folder" --no-audit --no-fund --silent "node@$version"
    node=$folder/node_modules/node/bin/node
    ;;
esac
echo "Tests on Node $("$node" --version)"
"$node" node_modules/jest/bin/jest.js --maxWorkers="${WORKERS:-2}" "$@"
