#!/bin/sh
# tools/wheel.sh runs this in a system with a compiler but without OpenBLAS. /try has the source distribution.
set -eu
found=$(find / -xdev \( -name 'libopenblas*' -o -name 'liblapack*' -o -name 'libblas*' -o -name 'cblas.h' \) \
    -not -path '/try/*' | head -1)
[ -z "$found" ] || { echo "found $found; this check needs a system without BLAS" >&2; exit 1; }
python3 -m venv /try/venv
pip="/try/venv/bin/pip install --no-index --find-links /try/wheels"
$pip -q pip
$pip -v ddsc >/try/log 2>&1 || { tail -40 /try/log; exit 1; }
grep -m 1 'taking those of PyPI' /try/log
ls /try/venv/lib/python3*/site-packages/ddsc/lib
! /try/venv/bin/pip show -q scipy-openblas32 2>/dev/null || { echo "the build did not remove its OpenBLAS" >&2; exit 1; }
/try/venv/bin/ddsc --version
$pip -q scipy scikit-learn pytest hypothesis POT
cd /try/ddsc
DDSC=/try/venv/bin/ddsc exec /try/venv/bin/python -m pytest -q -p no:cacheprovider python/tests/test_estimator.py \
    python/tests/test_distances.py python/tests/test_same_program.py python/tests/test_package.py python/tests/test_runtime.py
