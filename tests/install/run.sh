#!/bin/sh
# Install into a scratch prefix, then build and run the example against what was installed: once by
# pkg-config, once by the CMake package.
#   run.sh BUILD-DIRECTORY SOURCE-DIRECTORY
set -eu
build=$1 source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
library=$(dirname "$(find "$scratch/prefix" -name 'libddsc.so' | head -n 1)")
export PKG_CONFIG_PATH="$library/pkgconfig" LD_LIBRARY_PATH="$library"

# pkg-config: the prefix was chosen at install time, so it is passed on.
flags=$(pkg-config --define-variable=prefix="$scratch/prefix" --cflags --libs ddsc)
# shellcheck disable=SC2086
cc -std=c17 -Wall -Wextra -Werror "$source/examples/cluster_clouds.c" $flags -o "$scratch/by-pkg-config"
expected=$(printf 'cloud %s\n' '0: cluster 0' '1: cluster 0' '2: cluster 0' '3: cluster 1' '4: cluster 1' '5: cluster 1')
[ "$("$scratch/by-pkg-config")" = "$expected" ]

mkdir "$scratch/consumer"
cat >"$scratch/consumer/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(consumer C)
find_package(ddsc 0.1 REQUIRED)
add_executable(consumer $source/examples/cluster_clouds.c)
target_link_libraries(consumer PRIVATE ddsc::ddsc)
CMAKE
cmake -S "$scratch/consumer" -B "$scratch/consumer/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" >/dev/null
cmake --build "$scratch/consumer/build" >/dev/null
[ "$("$scratch/consumer/build/consumer")" = "$expected" ]

"$scratch/prefix/bin/ddsc" --version >/dev/null
# Nothing but the public names is exported.
nm -D --defined-only "$library/libddsc.so" | awk '$2 ~ /[TDBR]/ && $3 !~ /^ddsc_/ { print; bad = 1 } END { exit bad }'
echo "installed library, pkg-config file and CMake package work"
