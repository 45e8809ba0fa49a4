#!/bin/sh
# Builds a source distribution in build/dist and, from it, a wheel that includes all libraries.
#   tools/wheel.sh [from TREE | check | fallback]
# `from` uses the sources of another tree (for a release, those of the commit). `check` builds nothing. It installs
# the existing wheel in a Debian 12 without compiler and BLAS, and runs the package's tests there with the program of
# the wheel. `fallback` installs the source distribution in a Debian 12 with a compiler but without BLAS, where the
# build uses the OpenBLAS of PyPI. Tools come from PyPI, pinned by hash in tools/pip, and go to build/wheel-venv.
set -eu
cd "$(dirname "$0")/.."
venv=build/wheel-venv
out=build/dist
unpacked=build/wheel-source
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
CMAKE_BUILD_PARALLEL_LEVEL=$(nproc)
export SOURCE_DATE_EPOCH CMAKE_BUILD_PARALLEL_LEVEL
umask 022

say() { printf 'wheel: %s\n' "$*" >&2; }

# quiet COMMAND...: shows the output only if the command fails.
quiet() {
    "$@" >build/wheel.log 2>&1 || {
        cat build/wheel.log >&2
        exit 1
    }
}

get_tools() {
    mkdir -p build
    cmp -s tools/pip/wheel.txt $venv/tools || {
        rm -rf $venv
        /usr/bin/python3 -m venv $venv
        quiet $venv/bin/pip install -q --require-hashes --no-deps --only-binary=:all: -r tools/pip/wheel.txt
        cp tools/pip/wheel.txt $venv/tools
    }
}

make_wheel() { # TREE
    get_tools
    rm -rf $out build/wheel-raw $unpacked
    say "source distribution"
    quiet $venv/bin/python -m build --no-isolation --sdist -o $out "$1/python"
    say "wheel, from the source distribution"
    mkdir $unpacked
    tar -xzf $out/ddsc-*.tar.gz -C $unpacked --strip-components=1
    # The files, and the input of their build-id, contain no path of this machine.
    quiet $venv/bin/pip wheel -q --no-build-isolation --no-deps -w build/wheel-raw \
        --config-settings=cmake.define.DDSC_PORTABLE=ON \
        --config-settings=cmake.define.CMAKE_BUILD_WITH_INSTALL_RPATH=ON \
        --config-settings=cmake.define.CMAKE_C_FLAGS="-ffile-prefix-map=$PWD/$unpacked=." \
        --config-settings=build-dir="$PWD/$unpacked/build" ./$unpacked
    PATH="$PWD/$venv/bin:$PATH" quiet $venv/bin/auditwheel repair -w $out build/wheel-raw/ddsc-*.whl
    $venv/bin/auditwheel show $out/ddsc-*.whl >build/wheel-show.txt
    if ! tr '\n' ' ' <build/wheel-show.txt | grep -q 'platform tag: *"manylinux_'; then
        cat build/wheel-show.txt >&2
        say "auditwheel does not accept it as a manylinux wheel"
        exit 1
    fi
    [ "$(stat -c %s $out/ddsc-*.whl)" -lt 25000000 ] || {
        ls -l $out >&2
        say "the wheel must be smaller than 25 MB"
        exit 1
    }
    ls -l $out >&2
}

# The packages that the tests use. Either all or none are present.
get_wheelhouse() {
    wheelhouse=$PWD/build/wheelhouse
    cmp -s tools/pip/wheelhouse.txt "$wheelhouse/list" || {
        get_tools
        rm -rf "$wheelhouse" "$wheelhouse.part"
        say "packages for the tests, from PyPI"
        quiet $venv/bin/pip download -q --require-hashes --no-deps --only-binary=:all: -d "$wheelhouse.part" \
            -r tools/pip/wheelhouse.txt
        cp tools/pip/wheelhouse.txt "$wheelhouse.part/list"
        mv "$wheelhouse.part" "$wheelhouse"
    }
}

# inside SCRIPT PACKAGES WHEEL-OR-SDIST: runs SCRIPT in a Debian 12 with these packages, and with the wheels and the
# tests in /try.
inside() {
    command -v mmdebstrap >/dev/null || {
        say "the check needs mmdebstrap: sudo apt install mmdebstrap"
        exit 1
    }
    get_wheelhouse
    files=$(mktemp -d)
    trap 'rm -rf "$files"' EXIT
    mkdir "$files/ddsc" "$files/wheels"
    cp -r python docs include cli README.md "$files/ddsc"
    cp "$wheelhouse"/*.whl "$3" "$files/wheels"
    cp "tools/$1" "$files/"
    mmdebstrap --quiet --variant=minbase --include="$2" --format=null \
        --customize-hook="cp -r '$files' \"\$1/try\"" \
        --customize-hook="env -i PATH=\"\$PATH\" LANG=C.UTF-8 chroot \"\$1\" sh /try/$1" bookworm /dev/null
}

case "${1:-}" in
check)
    say "tests in a bare Debian 12"
    inside wheel_inside.sh python3,python3-venv,locales $out/ddsc-*.whl
    say "the wheel passes the package's tests there"
    ;;
fallback)
    say "built in a Debian 12 without OpenBLAS"
    inside fallback_inside.sh python3,python3-dev,python3-venv,gcc,libc6-dev,cmake,ninja-build,zlib1g-dev,libjansson-dev \
        $out/ddsc-*.tar.gz
    say "the source distribution builds there with the OpenBLAS of PyPI"
    ;;
from) make_wheel "$2" ;;
'') make_wheel . ;;
*)
    say "unknown: $1"
    exit 2
    ;;
esac
