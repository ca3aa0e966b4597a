# SPDX-License-Identifier: Apache-2.0
"""Counts, gates and prints: `python3 -m report --help`."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from .baseline import (
    RENEW,
    Baseline,
    failures,
    improvements,
    read_baseline,
    write_baseline,
)
from .counts import count_all
from .processor import processor
from .table import Measured, as_json, as_markdown, as_text
from .times import Times, quickest, read_times


def main() -> None:
    """Does what the arguments say; ends with 1 when the gate is shut."""
    arguments = _arguments()
    out: Path = arguments.out
    baseline = read_baseline(arguments.baseline)
    counts = count_all(
        arguments.count, arguments.only, out / "callgrind", with_floors=arguments.task == "table"
    )
    if arguments.task == "baseline":
        write_baseline(arguments.baseline, Baseline(processor(), counts))
        print(f"{arguments.baseline}: {len(counts)} workloads")
        return
    measured = Measured(times=Times(), counts=counts, baseline=baseline.counts)
    if arguments.task == "table":
        measured = Measured(
            times=quickest(
                [read_times(file) for file in sorted((out / "times").glob("*/Current_run.jmh.json"))]
            ),
            counts=counts,
            baseline=baseline.counts,
            peers=_read(out / "peers.json"),
            large=_read(out / "large.json"),
            batch=_read(out / "batch.json"),
        )
        (out / "table.md").write_text(as_markdown(measured))
        (out / "results.json").write_text(as_json(measured) + "\n")
    print(as_text(measured))
    for line in improvements(baseline, counts):
        print(f"better: {line}; {RENEW}")
    if baseline.processor != processor():
        print(
            f"the baseline is of another processor ({baseline.processor}; this is {processor()}): "
            "instructions are shown, allocations gated"
        )
    worse = failures(baseline, counts, processor())
    for line in worse:
        print(f"worse: {line}", file=sys.stderr)
    if worse:
        sys.exit(f"{len(worse)} of {len(counts)} counts are worse than the baseline; {RENEW}")


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text()) if file.exists() else {}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="report", description="Holds the benchmarks against their baseline and their goals."
    )
    parser.add_argument(
        "task",
        choices=["gate", "baseline", "table"],
        help="gate: count and compare; baseline: count and keep; table: with times, too",
    )
    parser.add_argument("--count", type=Path, default=Path(".build-bench/release/count"))
    parser.add_argument("--baseline", type=Path, default=Path("Benchmarks/baseline.json"))
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument(
        "--only", type=re.compile, default=re.compile(""), help="the workloads whose names match"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
