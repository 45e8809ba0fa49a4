#!/bin/sh
# Rewrites the .txt files of this folder: versions and hashes of every package that is installed from PyPI.
#   tools/pip/refresh.sh [PIP-COMPILE-OPTION...]
# Without options, a version changes only if its .in file requires it; --upgrade selects the newest versions.
# Needs CPython 3.11 (Debian 12). The hashes cover the wheels of all platforms.
set -eu
cd "$(dirname "$0")"
venv=../../build/pip-tools
cmp -s pins.txt $venv/pins || {
    rm -rf $venv
    /usr/bin/python3 -m venv $venv
    $venv/bin/pip install -q --require-hashes --no-deps --only-binary=:all: -r pins.txt
    cp pins.txt $venv/pins
}
export CUSTOM_COMPILE_COMMAND="tools/pip/refresh.sh"

# pin NAME PIP-COMPILE-OPTION...: NAME.in -> NAME.txt
pin() {
    name=$1
    shift
    $venv/bin/pip-compile -q --generate-hashes --strip-extras --no-emit-options --annotation-style=line \
        --pip-args=--only-binary=:all: --output-file="$name.txt" "$@" "$name.in"
    sed -i '/^# WARNING: The following packages were not pinned/,$d' "$name.txt" # --no-deps leaves them to apt
}

for name in axe macos pins scanpy wheel wheelhouse; do
    pin $name --allow-unsafe "$@"
done
# These two share an environment that includes Debian's packages, so the packages in debian.txt are omitted. h5py is
# also omitted, but not constrained, because PyPI has no wheel of Debian's version.
from_apt="--unsafe-package=h5py $(sed -n 's/^\([A-Za-z0-9-]*\)==.*/--unsafe-package=\1/p' debian.txt)"
# shellcheck disable=SC2086 # the list is meant to split
pin tests $from_apt --constraint=debian.txt "$@"
# shellcheck disable=SC2086
pin docs $from_apt --constraint=debian.txt --constraint=tests.txt "$@"
