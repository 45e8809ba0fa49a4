#!/bin/sh
# run.sh BUILD-DIRECTORY SECONDS: every fuzz target for that long, from its seeds. What it learns is kept
# in BUILD-DIRECTORY/corpus for the next run; an input that breaks a reader lands in
# BUILD-DIRECTORY/finds and makes the script fail.
set -eu
build=$1
seconds=${2:-60}
here=$(dirname "$0")
mkdir -p "$build/finds"
failed=""
for target in "$build"/fuzz_*; do
    reader=${target##*/fuzz_}
    mkdir -p "$build/corpus/$reader"
    echo "fuzz: $reader for $seconds s"
    log=$build/finds/$reader.log
    if "$target" -max_total_time="$seconds" -timeout=20 -max_len=16384 \
        -artifact_prefix="$build/finds/$reader-" "$build/corpus/$reader" "$here/corpus/$reader" \
        >"$log" 2>&1; then
        grep DONE "$log" || true
    else
        tail -n 40 "$log" >&2
        failed="$failed $reader"
    fi
done
[ -z "$failed" ] || {
    echo "fuzz: broken:$failed (see $build/finds)" >&2
    exit 1
}
