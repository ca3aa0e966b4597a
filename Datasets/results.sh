#!/bin/bash
# Runs the engine on recordings that hold the truth and prints a table of its errors, all peers of a
# recording together: Datasets/results.sh Datasets/plaza1 Datasets/plaza2 ...
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- Datasets/plaza1 Datasets/plaza2
nearby=.build/release/nearby
[ -x "$nearby" ] || { echo "build first: make build" >&2; exit 64; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "| recording | half | dist | bearing | converged | NEES | converged and wrong |"
echo "|---|---|---|---|---|---|---|"
for recording in "$@"; do
  "$nearby" run "$recording" --output "$work/out" --json > "$work/summary.json"
  python3 - "$work/summary.json" <<'PYTHON'
import json, sys
s = json.load(open(sys.argv[1]))
e = s["errors"]
f = lambda x, n: "-" if x is None else f"{x:.{n}f}"
print("|", s["name"], "|", f(e["rmseSecondHalf"], 3), "|",
      f(e["medianDistanceErrorSecondHalf"], 3), "|",
      f(e["medianBearingErrorDegreesSecondHalf"], 2), "|",
      f(100 * e["convergedSamples"] / e["samples"], 0) + " % |",
      f(e["meanNormalizedNEES"], 2), "|",
      "-" if e["falselyConvergedShare"] is None else f(100 * e["falselyConvergedShare"], 2) + " %", "|")
PYTHON
done
