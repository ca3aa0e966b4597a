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
    floor_instructions: int | None = None
    """Those of the floor for as many operations; known for the table, not kept in the baseline."""

    @property
    def ratio(self) -> float | None:
        """How many times the floor's instructions it takes."""
        return self.instructions / self.floor_instructions if self.floor_instructions else None

    @property
    def instructions_each(self) -> float:
        """Instructions of one operation."""
        return self.instructions / self.operations

    @property
    def allocations_each(self) -> float:
        """Allocations of one operation."""
        return self.allocations / self.operations


def count_all(
    program: Path, chosen: re.Pattern[str], keep: Path, with_floors: bool
) -> dict[str, Count]:
    """Counts every workload whose name matches; callgrind's files are kept in a folder."""
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed: run `make bench-setup`")
    keep.mkdir(parents=True, exist_ok=True)
    printed = subprocess.run(
        [str(program), "allocations", chosen.pattern], check=True, capture_output=True, text=True
    )
    workloads = [line.split() for line in printed.stdout.splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        # Valgrind 3.19 gives up on the debug information that Swift's linker writes.
        stripped = Path(folder) / "count"
        subprocess.run(["strip", "--strip-debug", "-o", stripped, program], check=True)

        def count(workload: list[str]) -> Count:
            name, allocations, operations, floor = workload
            return Count(
                int(allocations),
                _instructions(stripped, "run", name, keep),
                int(operations),
                _instructions(stripped, "floor", name, keep)
                if with_floors and floor == "floor"
                else None,
            )

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(count, workloads)
            return dict(zip((workload[0] for workload in workloads), found, strict=True))


def _instructions(program: Path, task: str, name: str, keep: Path) -> int:
    file = keep / f"callgrind.{name}{'.floor' if task == 'floor' else ''}"
    command = [
        "valgrind",
        "--tool=callgrind",
        f"--toggle-collect={REGION}",
        f"--callgrind-out-file={file}",
        str(program),
        task,
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
