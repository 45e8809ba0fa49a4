#!/bin/sh
# Installs ddsc, moves the installed tree, then builds and runs programs that use it: C and C++20, shared and static,
# with pkg-config and with the CMake package.
#   run.sh BUILD-DIRECTORY SOURCE-DIRECTORY
set -eu
build=$1 source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/first" >/dev/null
mkdir "$scratch/elsewhere"
mv "$scratch/first" "$scratch/elsewhere/place"
prefix=$scratch/elsewhere/place
library=$(dirname "$(find "$prefix" -name 'libddsc.so' | head -n 1)")
export PKG_CONFIG_PATH="$library/pkgconfig"
strict="-Wall -Wextra -pedantic -Werror"
say() { echo "install: $*"; }
same() { # WHAT EXPECTED PROGRAM...
    what=$1 expected=$2
    shift 2
    found=$("$@") || { say "$what: exit $?"; exit 1; }
    [ "$found" = "$expected" ] || { say "$what printed '$found', not '$expected'"; exit 1; }
}

# The installed files do not contain the old location.
if grep -rl "$scratch/first" "$library/pkgconfig" "$library/cmake"; then
    say "these name the place they were first installed to"
    exit 1
fi
shared=$(pkg-config --cflags --libs ddsc)
static=$(pkg-config --cflags --libs --static ddsc | sed 's/-lddsc/-l:libddsc.a/')

"$prefix/bin/ddsc" generate gaussians --clusters 5 --quiet -o "$scratch/clouds.npz"
for example in "$source"/examples/*.c; do
    name=$(basename "$example" .c)
    expected=$(cat "${example%.c}.out")
    # shellcheck disable=SC2086 # flags are meant to split
    {
        cc -std=c17 $strict "$example" $shared -Wl,-rpath,"$library" -o "$scratch/$name"
        cc -std=c17 $strict "$example" $static -o "$scratch/$name-static"
    }
    same "$name" "$expected" "$scratch/$name" "$scratch/clouds.npz"
    same "$name, static" "$expected" "$scratch/$name-static" "$scratch/clouds.npz"
done
if ldd "$scratch/transport-static" | grep libddsc; then
    say "the static program asks for the shared library"
    exit 1
fi
# shellcheck disable=SC2086
{
    c++ -std=c++20 $strict "$source/tests/install/consumer.cpp" $shared -Wl,-rpath,"$library" -o "$scratch/cpp"
    c++ -std=c++20 $strict "$source/tests/install/consumer.cpp" $static -o "$scratch/cpp-static"
    cc -std=c17 $strict "$source/tests/install/own_names.c" $static -o "$scratch/own"
    # The compiler warns about experimental functions on request.
    cc -std=c17 -DDDSC_WARN_EXPERIMENTAL -c "$source/examples/graph_from_csr.c" $shared -o "$scratch/warned.o" \
        2>"$scratch/warned"
}
same "C++" "C++ sees the library" "$scratch/cpp"
same "C++, static" "C++ sees the library" "$scratch/cpp-static"
same "own names" "45 0 1" "$scratch/own"
grep -q "experimental: may change in any version" "$scratch/warned"

mkdir "$scratch/consumer"
cat >"$scratch/consumer/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(consumer C CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(ddsc 0.1 REQUIRED)
add_executable(by_shared $source/examples/cluster_clouds.c)
target_link_libraries(by_shared PRIVATE ddsc::ddsc)
add_executable(by_static $source/examples/cluster_clouds.c)
target_link_libraries(by_static PRIVATE ddsc::ddsc_static)
add_executable(cpp_static $source/tests/install/consumer.cpp)
target_link_libraries(cpp_static PRIVATE ddsc::ddsc_static)
CMAKE
cmake -S "$scratch/consumer" -B "$scratch/consumer/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$scratch/consumer/build" >/dev/null
expected=$(cat "$source/examples/cluster_clouds.out")
same "find_package" "$expected" "$scratch/consumer/build/by_shared"
same "find_package, static" "$expected" "$scratch/consumer/build/by_static"
same "find_package, C++, static" "C++ sees the library" "$scratch/consumer/build/cpp_static"

"$prefix/bin/ddsc" --version >/dev/null
# Only public names of any kind are visible.
for symbols in "-D $library/libddsc.so" "-g $library/libddsc.a"; do
    # shellcheck disable=SC2086
    nm --defined-only $symbols | awk 'NF == 3 && $3 !~ /^ddsc_/ { print; bad = 1 } END { exit bad }' || {
        say "these names are no one's business"
        exit 1
    }
done

# A missing library is named with the command that installs it.
if cmake -S "$source" -B "$scratch/bare" -DCMAKE_FIND_ROOT_PATH=/nowhere -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
    -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY >"$scratch/bare.log" 2>&1; then
    say "configured without libraries"
    exit 1
fi
for words in "OpenBLAS" "LAPACKE" "jansson" "sudo apt install" "libopenblas-openmp-dev" "liblapacke-dev" "zlib1g-dev"; do
    grep -q "$words" "$scratch/bare.log" || { say "no word of $words"; cat "$scratch/bare.log"; exit 1; }
done
say "shared and static library, pkg-config file and CMake package work, wherever they are moved to"
