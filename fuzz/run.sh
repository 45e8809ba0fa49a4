#!/bin/sh
# run.sh BUILD-DIRECTORY SECONDS: runs every fuzz target for this time, starting with its seeds, one target per
# processor. New inputs are stored in BUILD-DIRECTORY/corpus for the next run. An input on which a reader fails is
# written to BUILD-DIRECTORY/finds and makes the script fail.
set -eu
build=$1
seconds=${2:-60}
here=$(dirname "$0")

# one_target PROGRAM: runs one target. xargs starts this script once per target, with the program as $3.
one_target() {
    reader=${1##*/fuzz_}
    mkdir -p "$build/corpus/$reader"
    log=$build/finds/$reader.log
    if "$1" -max_total_time="$seconds" -timeout=20 -max_len=8192 \
        -artifact_prefix="$build/finds/$reader-" "$build/corpus/$reader" "$here/corpus/$reader" \
        >"$log" 2>&1; then
        echo "fuzz: $reader for $seconds s: $(grep DONE "$log" || true)"
    else
        tail -n 40 "$log" >&2
        echo "fuzz: $reader is broken (see $log)" >&2
        return 1
    fi
}
if [ $# -gt 2 ]; then
    one_target "$3"
    exit
fi
mkdir -p "$build/finds"
printf '%s\n' "$build"/fuzz_* | xargs -P "$(nproc)" -n 1 "$0" "$build" "$seconds" || {
    echo "fuzz: a target is broken (see $build/finds)" >&2
    exit 1
}
