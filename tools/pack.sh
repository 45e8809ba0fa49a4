#!/bin/sh
# Packs a build into one folder for a machine that has a GPU but not the libraries: the program, plug-ins, device tests,
# their shared libraries (without the C library) and bench/gpu.py.
#
#     tools/pack.sh DIR [BUILD]        then on that machine: DIR/go ddsc --version, DIR/go test_device, DIR/go bench images.idx
set -eu
[ $# -ge 1 ] || { echo "usage: tools/pack.sh DIR [BUILD]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
to=$1
build=$(cd "${2:-$root/build}" && pwd)
[ ! -e "$to" ] || { echo "pack: $to already exists" >&2; exit 1; }
for file in ddsc libddsc.so.0 tests/libddsc_reference.so tests/test_device; do
    [ -e "$build/$file" ] || { echo "pack: $build/$file is missing (cmake -DDDSC_TESTS=ON)" >&2; exit 1; }
done
mkdir -p "$to/lib"
cp "$build/ddsc" "$build"/tests/test_device "$build"/tests/test_device_bounds "$build"/tests/test_device_eigen "$to"
# Both plug-ins are in one folder, because the fault tests use the reference device on every machine.
cp "$build/tests/libddsc_reference.so" "$to/lib"
if [ -e "$build/libddsc_cuda.so" ]; then
    cp "$build/libddsc_cuda.so" "$to/lib"
else
    echo "pack: libddsc_cuda.so: skipped, it was not built"
fi
cp "$root/bench/gpu.py" "$root/bench/deformed.py" "$to"
for file in "$to"/ddsc "$to"/test_device*; do
    ldd "$file"
done | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -v -E '/(libc|libm|libdl|librt|libpthread|libresolv|libnss_[a-z]*)\.so' |
    while read -r library; do
        cp -L "$library" "$to/lib"
    done
cat >"$to/go" <<'END'
#!/bin/sh
# Runs a program with the libraries and plug-ins of this folder. "bench" runs gpu.py on the plug-in.
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" DDSC_PLUGIN_PATH="$here/lib"
what=${1:?ddsc, bench or a test}
shift
[ "$what" != bench ] || exec "${PYTHON:-python3}" "$here/gpu.py" "$here/lib/libddsc_cuda.so" --program "$here/ddsc" "$@"
exec "$here/$what" "$@"
END
chmod +x "$to/go"
echo "pack: $(du -sh "$to" | cut -f1) in $to"
