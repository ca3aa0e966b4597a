#!/bin/bash
# Tests the C library as a program sees it: test.sh FOLDER FUZZ_SECONDS, from the top of the repository.
# The folder is that of `make c-library`.
set -euo pipefail
library=$(realpath "$1")
seconds=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "c-test: $1" >&2; exit 1; }

export PKG_CONFIG_PATH="$library/lib/pkgconfig"
export LD_LIBRARY_PATH="$library/lib"
flags=$(pkg-config --cflags --libs nearby)

# Exported names are those that a compiler finds declared in the header, and no others.
gcc -std=c11 -fsyntax-only -aux-info "$work/declared" -x c "$library/include/nearby.h"
sed -n 's/^.*nearby\.h:.*\bextern\b.*[ *]\(nearby_[a-z_]*\) (.*/\1/p' "$work/declared" \
  | sort -u >"$work/names"
nm --dynamic --defined-only "$library/lib/libnearby.so" | awk '{ print $3 }' | sed 's/@.*//' \
  | grep -v '^NEARBY_0$' | sort -u >"$work/exported"
diff "$work/names" "$work/exported" || fail "the exported names (>) are not those of nearby.h (<)"
[ "$(wc -l <"$work/names")" -gt 20 ] || fail "hardly any names were found in nearby.h"
echo "exports: $(wc -l <"$work/names") names, those of nearby.h and no others"
if ldd "$library/lib/libnearby.so" | grep -i swift; then fail "the Swift runtime is not inside"; fi

strict="-Wall -Wextra -Wpedantic -Werror -g -fsanitize=address,undefined -fno-sanitize-recover=all"
clang_flags="-fuse-ld=lld"
build() { # compiler, flags, source, program
  # shellcheck disable=SC2086
  "$1" $2 $strict "$3" -o "$4" $flags -lm -pthread
}
built=0
for compiler in gcc clang; do
  command -v $compiler >/dev/null || { echo "$compiler is not installed: left out"; continue; }
  extra=$([ $compiler = clang ] && echo $clang_flags || true)
  cxx=$([ $compiler = gcc ] && echo g++ || echo clang++)
  build $compiler "-std=c11 $extra" Sources/CNearby/Examples/locate.c "$work/locate"
  "$work/locate" >"$work/located"
  diff Tests/NearbyCTests/Library/locate.txt "$work/located" || fail "locate.c, $compiler"
  build $cxx "-std=c++17 $extra" Sources/CNearby/Examples/run.cpp "$work/run"
  "$work/run" Datasets/plaza2 >"$work/ran"
  grep -q '^beacon-6: converged' "$work/ran" || fail "run.cpp, $cxx"
  "$work/run" /no/such/folder 2>"$work/error" && fail "run.cpp does not notice a missing folder"
  grep -q '^/no/such/folder: there is no such folder' "$work/error" || fail "run.cpp: the error"
  echo "$compiler: the examples in C and C++ run clean under the address sanitizer"
  built=$((built + 1))
done
[ $built -gt 0 ] || fail "there is no C compiler"

compiler=$(command -v gcc || command -v clang)
build "$compiler" "-std=c11 -D_GNU_SOURCE" Tests/NearbyCTests/Library/fuzz.c "$work/fuzz"
"$work/fuzz" "$seconds" "$(date +%s)" Datasets/plaza2
