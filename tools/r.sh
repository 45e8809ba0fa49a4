#!/bin/sh
# Builds, checks and tests the R package with the library of build/.
#   tools/r.sh            builds build/r/ddsc_VERSION.tar.gz, runs R CMD check (with its tests) and looks for errors and warnings
# R CMD check compiles the package from that archive, so only files that the package contains are used.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
out=$root/build/r
say() { printf 'r: %s\n' "$*" >&2; }

rm -rf "$out"
mkdir -p "$out"
export DDSC_INCLUDE="$root/include" DDSC_LIB="$root/build" DDSC="$root/build/ddsc"
[ -n "${DDSC_DATA:-}" ] || DDSC_DATA=$(dirname "$root")/shared/data
# The program replaces OpenBLAS kernels that are older than the processor. R cannot, so both use the same ones.
if [ -z "${OPENBLAS_CORETYPE:-}" ] && grep -qw avx2 /proc/cpuinfo 2>/dev/null; then
    export OPENBLAS_CORETYPE=Haswell
fi
export DDSC_DATA _R_CHECK_FORCE_SUGGESTS_=false _R_CHECK_CRAN_INCOMING_=false LC_ALL=C.UTF-8

say "warnings of the compiler are errors"
includes=$(R CMD config --cppflags)
for file in r/ddsc/src/*.c; do
    # shellcheck disable=SC2086 # flags are meant to split
    gcc -std=c17 -O2 -Wall -Wextra -Wshadow -Werror -Wno-cast-function-type -isystem "${includes#-I}" -Iinclude \
        -fsyntax-only "$file"
done
say "source package"
git ls-files -co --exclude-standard r/ddsc | tar -cf - -T - | tar -xf - -C "$out"
cd "$out"
R CMD build r/ddsc >build.log 2>&1 || {
    cat build.log >&2
    exit 1
}
say "R CMD check"
R CMD check --no-manual ddsc_*.tar.gz >check.log 2>&1 || {
    cat check.log >&2
    tail -n 60 ddsc.Rcheck/tests/testthat.Rout.fail >&2 2>/dev/null || true
    exit 1
}
if grep -qE '^Status:.*(WARNING|ERROR)' check.log; then
    cat check.log >&2
    exit 1
fi
sed -n 's/^\[ FAIL.*/r: &/p' ddsc.Rcheck/tests/testthat.Rout | tail -n 1 >&2
say "examples of docs/r.md"
mkdir lib
R CMD INSTALL -l lib ddsc_*.tar.gz >install.log 2>&1
awk '/^<!-- not run/ { skip = 1 } /^```/ { code = /^```r$/ && !skip; if (code || skip) { skip = code ? 0 : skip } next }
    code' "$root/docs/r.md" >examples.R
(cd lib && R_LIBS="$PWD" Rscript ../examples.R >../examples.log 2>&1) || {
    cat examples.log >&2
    exit 1
}
grep '^Status' check.log >&2
