#!/bin/sh
# Cross-compiles the library, the program and the unit tests for 64-bit ARM in build/aarch64, and runs the tests under
# qemu-user. No arm64 packages are installed: headers and libraries of Debian's arm64 packages are unpacked into a
# folder that the compiler uses as its root.
#   packaging/aarch64.sh [CTEST-OPTION...]        default: -R '^test_', all unit tests
set -eu
cd "$(dirname "$0")/.."
root=$PWD/build/aarch64/root
out=build/aarch64/build

say() { printf 'aarch64: %s\n' "$*" >&2; }

for program in aarch64-linux-gnu-gcc qemu-aarch64-static mmdebstrap; do
    command -v $program >/dev/null || {
        say "needs $program: sudo apt install gcc-aarch64-linux-gnu qemu-user-static mmdebstrap"
        exit 1
    }
done

libraries="libc6-dev libopenblas-openmp-dev liblapacke-dev zlib1g-dev libjansson-dev libpng-dev libjpeg-dev
    libzstd-dev libhdf5-dev libcairo2-dev libcmocka-dev libgcc-12-dev"
[ "$(cat "$root/list" 2>/dev/null)" = "$libraries" ] || {
    say "Debian's libraries for arm64"
    rm -rf "$root"
    mkdir -p "$root"
    # shellcheck disable=SC2086 # the list is meant to split
    mmdebstrap --quiet --arch=arm64 --variant=extract --include="$(echo $libraries | tr ' ' ,)" \
        --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr bookworm "$root"
    # Makes absolute links relative to this root.
    find "$root/usr/lib" -type l -lname '/*' | while read -r link; do
        ln -sfn "$root$(readlink "$link")" "$link"
    done
    echo "$libraries" >"$root/list"
}

lib=$root/usr/lib/aarch64-linux-gnu
cat >build/aarch64/toolchain.cmake <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT $root)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,$lib/openblas-openmp -Wl,-rpath-link,$lib")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-Wl,-rpath-link,$lib/openblas-openmp -Wl,-rpath-link,$lib")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L $root
    -E LD_LIBRARY_PATH=$lib/openblas-openmp:$lib)
END
say "building"
{
    cmake -S . -B $out -DCMAKE_TOOLCHAIN_FILE="$PWD/build/aarch64/toolchain.cmake" -DDDSC_TESTS=ON &&
        cmake --build $out -j "$(nproc)"
} >build/aarch64/log 2>&1 || {
    tail -n 40 build/aarch64/log >&2
    exit 1
}
run="qemu-aarch64-static -L $root -E LD_LIBRARY_PATH=$lib/openblas-openmp:$lib $out/ddsc"
$run --version
$run generate shapes -o build/aarch64/shapes.npz --force -q
$run cluster build/aarch64/shapes.npz -k 2 -o build/aarch64/result --force -q
[ $# -gt 0 ] || set -- -R '^test_'
say "tests under qemu-user"
ctest --test-dir $out --output-on-failure -j "$(nproc)" --timeout 3600 "$@"
