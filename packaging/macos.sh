#!/bin/sh
# Builds a wheel for macOS (arm64 or x86-64) in build/dist and runs the package's tests with it. Needs Homebrew.
# UNVERIFIED: this script has not been run on a Mac.
#   packaging/macos.sh
set -eu
cd "$(dirname "$0")/.."
venv=build/wheel-venv
out=build/dist
say() { printf 'macos: %s\n' "$*" >&2; }

[ "$(uname -s)" = Darwin ] || {
    say "this script needs macOS; tools/wheel.sh builds the wheel for Linux"
    exit 1
}
# Homebrew's OpenBLAS is an OpenMP build with gcc, so ddsc must be compiled with gcc too.
brew install gcc cmake ninja openblas lapack jansson libpng jpeg-turbo zstd python@3.11
CC=$(find "$(brew --prefix)/bin" -name 'gcc-[0-9]*' | sort | tail -n 1)
CMAKE_PREFIX_PATH="$(brew --prefix openblas);$(brew --prefix lapack);$(brew --prefix)"
MACOSX_DEPLOYMENT_TARGET=$(sw_vers -productVersion | cut -d. -f1).0
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export CC CMAKE_PREFIX_PATH MACOSX_DEPLOYMENT_TARGET SOURCE_DATE_EPOCH
python=$(brew --prefix python@3.11)/bin/python3.11

say "tools"
rm -rf $venv $out build/wheel-raw
"$python" -m venv $venv
$venv/bin/pip install -q --require-hashes --no-deps --only-binary=:all: -r tools/pip/macos.txt
say "source distribution and wheel"
$venv/bin/python -m build --no-isolation --sdist -o $out python
$venv/bin/pip wheel -q --no-build-isolation --no-deps -w build/wheel-raw \
    --config-settings=cmake.define.DDSC_PORTABLE=ON $out/ddsc-*.tar.gz
$venv/bin/delocate-wheel -v -w $out build/wheel-raw/ddsc-*.whl
ls -l $out

say "tests with the wheel"
"$python" -m venv build/wheel-test
build/wheel-test/bin/pip install -q --require-hashes --no-deps --only-binary=:all: -r tools/pip/wheelhouse.txt
build/wheel-test/bin/pip install -q --no-deps $out/ddsc-*.whl
build/wheel-test/bin/ddsc --version
DDSC=$PWD/build/wheel-test/bin/ddsc build/wheel-test/bin/python -m pytest -q -p no:cacheprovider -rs python/tests
