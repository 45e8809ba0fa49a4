#!/bin/sh
# tools/wheel.sh runs this in the bare system. /try has the wheels and the tests.
set -eu
for program in cc gcc ld; do
    ! command -v $program >/dev/null || { echo "found $program; this check needs a bare system" >&2; exit 1; }
done
found=$(find / -xdev \( -name 'libopenblas*' -o -name 'liblapack*' -o -name 'libblas*' -o -name 'libgfortran*' \
    -o -name 'libgomp*' -o -name 'libjansson*' \) -not -path '/try/*' | head -1)
[ -z "$found" ] || { echo "found $found; this check needs a bare system" >&2; exit 1; }
python3 -m venv /try/venv
/try/venv/bin/pip install -q --no-index --find-links /try/wheels ddsc
/try/venv/bin/ddsc --version
/try/venv/bin/python -m ddsc demo -o /try/demo >/dev/null
/try/venv/bin/python -c "import ddsc; print(ddsc.DDSC(2).fit(ddsc.make_shapes()).n_clusters_, 'clusters, numpy alone')"
/try/venv/bin/pip install -q --no-index --find-links /try/wheels scipy scikit-learn pandas matplotlib tqdm pytest \
    hypothesis POT anndata
cd /try/ddsc
DDSC=/try/venv/bin/ddsc exec /try/venv/bin/python -m pytest -q -p no:cacheprovider -rs python/tests
