#!/bin/sh
# Builds a release in build/release: source archive, source distribution and wheel of the Python
# package, Debian package, SHA256SUMS. The same commit gives the same bytes.
#   tools/release.sh [twice]
# `twice` builds everything twice and compares. The sources and the time stamp are those of the commit.
set -eu
cd "$(dirname "$0")/.."
out=build/release

say() { printf 'release: %s\n' "$*" >&2; }

[ -z "$(git status --porcelain)" ] || {
    say "there are uncommitted changes; commit them first"
    exit 1
}
version=$(sed -n 's/^#define DDSC_VERSION_[MP][A-Z]* \([0-9]*\)$/\1/p' include/ddsc/ddsc.h | paste -sd .)
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH
umask 022

make_release() {
    tree=$PWD/build/release-tree
    rm -rf $out "$tree"
    mkdir -p $out "$tree"
    say "source archive"
    git archive --format=tar --prefix="ddsc-$version/" "$commit" | gzip -9n >"$out/ddsc-$version-source.tar.gz"
    tar -xzf "$out/ddsc-$version-source.tar.gz" -C "$tree" --strip-components=1
    say "Debian package"
    {
        cmake -S "$tree" -B "$tree/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DDDSC_TESTS=OFF -DDDSC_CUDA=OFF -DDDSC_MPI=OFF \
            -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON -DCMAKE_C_FLAGS="-ffile-prefix-map=$tree=." &&
            cmake --build "$tree/build" -j "$(nproc)" &&
            (cd "$tree/build" && cpack -G DEB)
    } >build/release.log 2>&1 || {
        cat build/release.log >&2
        exit 1
    }
    cp "$tree"/build/*.deb $out
    say "Python package"
    tools/wheel.sh from "$tree"
    cp build/dist/* $out
    (cd $out && sha256sum -- *.deb *.gz *.whl >SHA256SUMS)
    cat $out/SHA256SUMS
}

make_release
if [ "${1:-}" = twice ]; then
    cp $out/SHA256SUMS build/release-first
    make_release
    cmp build/release-first $out/SHA256SUMS || {
        say "two runs gave different bytes"
        exit 1
    }
    say "two runs gave the same bytes"
fi
