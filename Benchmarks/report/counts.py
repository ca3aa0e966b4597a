# SPDX-License-Identifier: Apache-2.0
"""Instructions and allocations: what is the same on every run, whatever else the machine does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

REGION = "measured_region"
"""The function inside of which callgrind collects."""


@dataclass(frozen=True)
class Count:
    """What some operations of a workload took together."""

    allocations: int
    instructions: int
    operations: int

    @property
    def instructions_each(self) -> float:
        """Instructions of one operation."""
        return self.instructions / self.operations

    @property
    def allocations_each(self) -> float:
        """Allocations of one operation."""
        return self.allocations / self.operations


def count_all(program: Path, chosen: re.Pattern[str], keep: Path) -> dict[str, Count]:
    """Counts every workload whose name matches; callgrind's files are kept in a folder."""
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed: run `make bench-setup`")
    keep.mkdir(parents=True, exist_ok=True)
    allocations = {}
    printed = subprocess.run(
        [str(program), "allocations", chosen.pattern], check=True, capture_output=True, text=True
    )
    for line in printed.stdout.splitlines():
        name, count, operations = line.split()
        allocations[name] = int(count), int(operations)
    with tempfile.TemporaryDirectory() as folder:
        # Valgrind 3.19 gives up on the debug information that Swift's linker writes.
        stripped = Path(folder) / "count"
        subprocess.run(["strip", "--strip-debug", "-o", stripped, program], check=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda name: _instructions(stripped, name, keep), allocations)
            return {
                name: Count(allocations[name][0], instructions, allocations[name][1])
                for name, instructions in zip(allocations, found, strict=True)
            }


def _instructions(program: Path, name: str, keep: Path) -> int:
    file = keep / f"callgrind.{name}"
    command = [
        "valgrind",
        "--tool=callgrind",
        f"--toggle-collect={REGION}",
        f"--callgrind-out-file={file}",
        str(program),
        "run",
        name,
    ]
    environment = {"PATH": os.environ["PATH"], "SWIFT_DETERMINISTIC_HASHING": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    total = re.search(r"^totals: (\d+)", file.read_text(), re.MULTILINE)
    if total is None:
        sys.exit(f"{file}: callgrind wrote no total")
    return int(total[1])
