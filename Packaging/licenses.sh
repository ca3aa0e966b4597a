#!/bin/bash
# Gathers the licences of what a library or program carries: licenses.sh FOLDER PACKAGE...
# PACKAGE is a package of Debian whose code it holds. Nearby's own and that of Swift are added, and the texts to
# which the packages' refer. Where Debian's texts are not installed, they are left out with a word.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
output=$1
shift
mkdir -p "$output"
rm -f "$output"/*
cp "$here/../LICENSE" "$output/nearby.txt"
swift=$(dirname "$(dirname "$(realpath "$(command -v swift)")")")/share/swift/LICENSE.txt
if [ -e "$swift" ]; then cp "$swift" "$output/swift.txt"; else echo "no licence of Swift in $swift" >&2; fi
for package in "$@"; do
  text=/usr/share/doc/$package/copyright
  if [ ! -e "$text" ]; then echo "no licence of $package in $text" >&2; continue; fi
  cp "$text" "$output/$package.txt"
  for common in $(grep -ohE '/usr/share/common-licenses/[A-Za-z]+(-[0-9]+(\.[0-9]+)?)?' "$text" | sort -u); do
    if [ -e "$common" ]; then cp "$common" "$output/$(basename "$common").txt"; fi
  done
done
