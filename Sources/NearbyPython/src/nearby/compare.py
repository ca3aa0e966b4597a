# SPDX-License-Identifier: Apache-2.0
"""`python -m nearby.compare A B`: two batches of the same recordings, pair by pair."""

from __future__ import annotations

import argparse
import sys

from nearby._compare import Comparison, Metric, Pair, Summary, compare
from nearby._errors import NearbyError

__all__ = ["Comparison", "Metric", "Pair", "Summary", "compare"]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m nearby.compare",
        description="Compare two batches of the same recordings, pair by pair.",
        epilog="Smaller is better for every metric; a star marks an interval that leaves zero out.",
    )
    parser.add_argument("a", help="an output folder of `nearby batch`, or its batch.csv: before")
    parser.add_argument("b", help="likewise: after")
    parser.add_argument("-o", "--output", help="a folder for summary.csv, pairs.csv, wide.csv and worst.csv")
    parser.add_argument("--metric", default="rmse_second_half", help="what the worst ten are listed by")
    arguments = parser.parse_args()
    try:
        comparison = compare(arguments.a, arguments.b)
    except (NearbyError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 65
    if arguments.output:
        comparison.write(arguments.output)
    print(comparison)
    for name, other in ((arguments.a, comparison.only_a), (arguments.b, comparison.only_b)):
        if other:
            print(f"\n{len(other)} rows are in {name} only, such as {other[0][0]}")
    for name, pairs in zip(
        (arguments.a, arguments.b), comparison.located_by_one(arguments.metric), strict=True
    ):
        if pairs:
            count = "1 peer has" if len(pairs) == 1 else f"{len(pairs)} peers have"
            print(f"\n{count} a {arguments.metric} in {name} only:")
        for pair in pairs[:10]:
            print(f"  {pair.recording} {pair.peer}")
    worst = comparison.worst(arguments.metric)
    if worst:
        print(f"\nworse by most in {arguments.metric}:")
        for pair in worst:
            print(f"  {pair.recording} {pair.peer}: {pair.a:.4g} -> {pair.b:.4g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
