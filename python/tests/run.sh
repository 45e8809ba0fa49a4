#!/bin/sh
# The tests of the Python package, in a virtual environment under build/venv that sees the Debian
# packages. Nothing is installed or built again in vain.
#   python/tests/run.sh [install | file FILE | PYTEST-ARGUMENT...]
# `file` runs one file of tests with the package as it was last installed; ctest does this for every file.
set -eu
cd "$(dirname "$0")/../.."
venv=build/venv
CMAKE_BUILD_PARALLEL_LEVEL=$(nproc)
export CMAKE_BUILD_PARALLEL_LEVEL
site=$venv/lib/ddsc-site

# run_tests FILE-OR-FOLDER [PYTEST-ARGUMENT...]
run_tests() {
    [ ! -d $site ] || export PYTHONPATH="$PWD/$site${PYTHONPATH:+:$PYTHONPATH}"
    export DDSC="$PWD/build/ddsc"
    exec $venv/bin/python -m pytest -q -p no:cacheprovider -rs "$@"
}
if [ "${1:-}" = file ]; then
    [ -f $venv/built ] || {
        echo "skipped: python/tests/run.sh install has not installed the package"
        exit 77
    }
    run_tests "$2"
fi

say() { printf 'python: %s\n' "$*" >&2; }

[ -x $venv/bin/python ] || /usr/bin/python3 -m venv --system-site-packages $venv

# Packages that Debian does not provide, pinned by hash. Without PyPI, tests that need them are skipped.
extras=tools/pip/tests.txt
cmp -s $extras $venv/extras || {
    say "installing the packages of $extras from PyPI"
    if timeout 300 $venv/bin/pip install -q --retries 1 --timeout 15 --require-hashes --no-deps --only-binary=:all: \
        -r $extras >$venv/pip.log 2>&1; then
        cp $extras $venv/extras
    elif grep -q 'DO NOT MATCH THE HASHES' $venv/pip.log; then
        cat $venv/pip.log >&2
        exit 1
    else
        say "cannot install them (see $venv/pip.log); tests that need them are skipped"
    fi
}

# The library and the program are those of build/ where that is a release build: their objects are linked again, not
# compiled. The legs wheel and fallback build the package from its own sources.
shared=""
if grep -qs '^CMAKE_BUILD_TYPE:STRING=Release$' build/CMakeCache.txt; then
    cmake --build build --target ddsc_program -j "$CMAKE_BUILD_PARALLEL_LEVEL" >$venv/build.log 2>&1 || {
        cat $venv/build.log >&2
        exit 1
    }
    shared="$PWD/build"
fi

# The package: by pip as users do, or by CMake alone where scikit-build-core is missing.
changed() {
    [ ! -f $venv/built ] || [ -n "$(find CMakeLists.txt cmake include src cli python/src python/ddsc \
        python/CMakeLists.txt python/pyproject.toml -newer $venv/built -not -name '*.pyc' \
        -not -name __pycache__ -print -quit)" ]
}
if changed; then
    say "building the package"
    if [ -f $venv/extras ]; then
        $venv/bin/pip install -q --no-build-isolation --no-deps --force-reinstall \
            --config-settings=build-dir="$PWD/build/python" \
            --config-settings=cmake.define.DDSC_LIBRARY="$shared" ./python >$venv/build.log 2>&1 || {
            cat $venv/build.log >&2
            exit 1
        }
        rm -rf $site
    else
        {
            cmake -S python -B build/python-plain -DPython_EXECUTABLE=/usr/bin/python3 \
                -DDDSC_LIBRARY="$shared" &&
                cmake --build build/python-plain &&
                cmake --install build/python-plain --prefix $site
        } >$venv/build.log 2>&1 || {
            cat $venv/build.log >&2
            exit 1
        }
    fi
    touch $venv/built
fi
[ "${1:-}" != install ] || exit 0
run_tests python/tests "$@"
