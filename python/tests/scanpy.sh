#!/bin/sh
# Tests with the newest scanpy, anndata and scikit-learn, in a virtual environment of their own (build/venv-scanpy, about
# 700 MB). Needs PyPI.
#   python/tests/scanpy.sh [install | PYTEST-ARGUMENT...]
set -eu
cd "$(dirname "$0")/../.."
venv=build/venv-scanpy
pins=tools/pip/scanpy.txt
[ -x $venv/bin/python ] || /usr/bin/python3 -m venv $venv
cmp -s $pins $venv/pins || {
    $venv/bin/pip install -q --require-hashes --no-deps --only-binary=:all: -r $pins
    cp $pins $venv/pins
}
# The package is the one that python/tests/run.sh built. It uses no C API of numpy, so it works with any version.
python/tests/run.sh install
site=build/venv/lib/ddsc-site
[ -d $site ] || site=$(echo build/venv/lib/python3*/site-packages)
mkdir -p $venv/site
ln -sfn "$PWD/$site/ddsc" $venv/site/ddsc
[ "${1:-}" != install ] || exit 0
[ $# -gt 0 ] || set -- python/tests/test_scanpy.py python/tests/test_notebooks.py python/tests/test_sklearn.py python/tests/test_anndata.py \
    python/tests/test_frames.py python/tests/test_html.py
PYTHONPATH="$PWD/$venv/site" DDSC="$PWD/build/ddsc" exec $venv/bin/python -m pytest -q -p no:cacheprovider -rs "$@"
