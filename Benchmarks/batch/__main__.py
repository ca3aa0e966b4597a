# SPDX-License-Identifier: Apache-2.0
"""Times `nearby batch` over simulated and committed recordings: `python3 -m batch --help`."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Run:
    """What one batch cost."""

    seconds: float
    megabytes: float


def run(nearby: Path, roots: list[Path], jobs: int) -> Run:
    """Runs one batch into a folder of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="nearby-batch-") as output:
        command = [nearby, "batch", *roots, "--output", output, "--jobs", str(jobs), "--quiet"]
        start = time.monotonic()
        process = subprocess.Popen([str(word) for word in command])
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        if status != 0:
            sys.exit(f"the batch ended with status {os.waitstatus_to_exitcode(status)}")
    return Run(seconds, usage.ru_maxrss / 1024)


def quickest(runs: list[Run]) -> float:
    """The seconds of the run that took fewest."""
    return min(run.seconds for run in runs)


def simulate(nearby: Path, folder: Path, count: int) -> None:
    """Makes so many recordings, unless they are there."""
    if len(list(folder.glob("*/recording.json"))) == count:
        return
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(
        [nearby, "simulate", "find", "--count", str(count), "--output", folder, "--quiet"],
        check=True,
    )


def measure(nearby: Path, work: Path, count: int, roots: list[Path], repeats: int) -> dict:
    """Times one job and as many as there are cores in turn; then a tenth of the recordings.

    The quickest of each are compared: other programs slow a machine down for seconds at a time.
    """
    cores = len(os.sched_getaffinity(0))
    simulate(nearby, work / "all", count)
    simulate(nearby, work / "tenth", max(1, count // 10))
    roots = [work / "all", *roots]
    one: list[Run] = []
    many: list[Run] = []
    for _ in range(repeats):
        one.append(run(nearby, roots, 1))
        many.append(run(nearby, roots, cores))
    tenth = run(nearby, [work / "tenth"], cores)
    whole = run(nearby, [work / "all"], cores)
    listed = subprocess.run(
        [nearby, "batch", *roots, "--list"], check=True, capture_output=True, text=True
    )
    recordings = len(listed.stdout.splitlines())
    return {
        "recordings": recordings,
        "cores": cores,
        "secondsOneJob": quickest(one),
        "secondsAllCores": quickest(many),
        "speedup": quickest(one) / quickest(many),
        "allSecondsOneJob": [r.seconds for r in one],
        "allSecondsAllCores": [r.seconds for r in many],
        "peakMegabytesTenth": tenth.megabytes,
        "peakMegabytesAll": whole.megabytes,
        "simulated": count,
    }


def main() -> None:
    """Measures and writes."""
    parser = argparse.ArgumentParser(prog="batch", description=__doc__)
    parser.add_argument("--nearby", type=Path, default=Path(".build/release/nearby"))
    parser.add_argument("--work", type=Path, default=Path("out/bench/batch"))
    parser.add_argument("--count", type=int, default=1000, help="simulated recordings")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", type=Path, default=Path("out/bench/batch.json"))
    parser.add_argument("roots", type=Path, nargs="*", help="more recordings")
    arguments = parser.parse_args()
    result = measure(
        arguments.nearby, arguments.work, arguments.count, arguments.roots, arguments.repeats
    )
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
