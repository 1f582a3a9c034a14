#!/usr/bin/env bash
# Builds deploy/Dockerfile with buildah where no registry of images can be reached: the base that it names is made of Debian's packages and npm's.
#   scripts/build-image.sh [tag]
# Needs root, buildah, debootstrap, npm. CONTAINERS_STORAGE_CONF says where the images go.
set -euo pipefail
cd "$(dirname "$0")/.."
tag=${1:-sternpost}
release=$(sed -n 's/^ARG NODE=//p' deploy/Dockerfile)
major=${release%%-*}
suite=$(cut -d- -f2 <<< "$release")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
base=$work/base
debootstrap --variant=minbase "$suite" "$base" > "$work/debootstrap.log" || { tail -n 20 "$work/debootstrap.log"; exit 1; }
npm install --prefix "$base/usr/local" --global --no-audit --no-fund --silent "node@$major" npm@11
# Where npm looks for its settings depends on where the program is.
mv --force "$base/usr/local/lib/node_modules/node/bin/node" "$base/usr/local/bin/node"
rm -rf "$base/usr/local/lib/node_modules/node" "$base/var/cache/apt/archives" "$base/var/lib/apt/lists"
# Whoever is behind a proxy has its authority among the machine's.
certificates=/etc/ssl/certs/ca-certificates.crt
if [ -e "$certificates" ]; then
  install -D --mode=644 "$certificates" "$base$certificates"
  mkdir -p "$base/usr/local/etc"
  echo "cafile=$certificates" > "$base/usr/local/etc/npmrc"
fi

printf 'FROM scratch\nCOPY . /\nENV PATH=/usr/local/bin:/usr/bin:/bin\n' > "$work/Containerfile"
buildah bud --isolation chroot --format docker --quiet --tag "node:$release" --file "$work/Containerfile" "$base" > "$work/id"
buildah bud --isolation chroot --format docker --quiet --ignorefile deploy/Dockerfile.dockerignore --tag "$tag" --file deploy/Dockerfile .
