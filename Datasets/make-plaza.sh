#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes Datasets/plaza1 and Datasets/plaza2 again from the Python package gtsam, or checks with
# --check that they are what they would become.
#
#   Datasets/make-plaza.sh            fetch the package, write both recordings anew
#   Datasets/make-plaza.sh --check    fetch, write elsewhere, compare byte for byte
#
# PLAZA=FOLDER takes Plaza1_.mat and Plaza2_.mat from a folder and fetches nothing.
# NEARBY=PROGRAM runs that program in place of building the one of this package.
# Needs python3 with pip unless PLAZA is set.
set -eu

version=4.3.0
datasets=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case "${1:-}" in
  '') output=$datasets ;;
  --check) output=$work ;;
  *) echo "usage: $0 [--check]" >&2; exit 64 ;;
esac

if [ -z "${PLAZA:-}" ]; then
  python3 -m pip download --quiet --no-deps --dest "$work/wheel" "gtsam==$version"
  PLAZA=$work/plaza
  mkdir "$PLAZA"
  python3 - "$work"/wheel/gtsam-*.whl "$PLAZA" <<'PYTHON'
import pathlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
for name in ("Plaza1_.mat", "Plaza2_.mat"):
    pathlib.Path(sys.argv[2], name).write_bytes(wheel.read("gtsam/Data/" + name))
PYTHON
fi

# The files as they were when the committed recordings were made.
(cd "$PLAZA" && sha256sum --check --quiet) <<'SUMS'
9ccbfec19942eabecfa3206bff983bf708b98d6c7db462d81c55376f92d75847  Plaza1_.mat
72f0abe0fea2050eb5ee1cffc8c43823266a35785b7cdecac4ec5eae727561a2  Plaza2_.mat
SUMS

if [ -z "${NEARBY:-}" ]; then
  swift build --package-path "$datasets/.." --configuration release --product nearby
  NEARBY=$(swift build --package-path "$datasets/.." --configuration release --show-bin-path)/nearby
fi

for name in plaza1 plaza2; do
  "$NEARBY" import plaza "$PLAZA" --name "$name" --output "$output/$name" --overwrite
done
if [ "$output" = "$work" ]; then
  for name in plaza1 plaza2; do diff -r "$work/$name" "$datasets/$name"; done
  echo "both are byte for byte what is committed"
fi
