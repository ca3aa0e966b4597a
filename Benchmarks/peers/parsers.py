# SPDX-License-Identifier: Apache-2.0
"""Readers of text with numbers, each on one core: nanoseconds a byte, at the best of some runs."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

# Polars reads this when it is imported.
os.environ["POLARS_MAX_THREADS"] = "1"

RUNS = 15


def peers(file: Path, separator: str) -> dict[str, Callable[[], float]]:
    """The readers by package. The first line, a heading or a comment, is left out by all."""
    return {
        "pandas": lambda: _best(file, lambda: _pandas(file, separator)),
        "polars": lambda: _best(file, lambda: _polars(file, separator)),
        "pyarrow": lambda: _best(file, lambda: _pyarrow(file, separator)),
    }


def _best(file: Path, read: Callable[[], int]) -> float:
    rows = file.read_bytes().count(b"\n") - 1
    best = float("inf")
    for _ in range(RUNS):
        begin = time.perf_counter_ns()
        found = read()
        best = min(best, time.perf_counter_ns() - begin)
        if found != rows:
            raise ValueError(f"{file}: {found} rows read, {rows} are there")
    return best / file.stat().st_size


def _pandas(file: Path, separator: str) -> int:
    import pandas

    return len(pandas.read_csv(file, sep=separator, header=None, skiprows=1, engine="c"))


def _polars(file: Path, separator: str) -> int:
    import polars

    return polars.read_csv(file, separator=separator, has_header=False, skip_rows=1).height


def _pyarrow(file: Path, separator: str) -> int:
    from pyarrow import csv

    table = csv.read_csv(
        file,
        read_options=csv.ReadOptions(
            use_threads=False, skip_rows=1, autogenerate_column_names=True
        ),
        parse_options=csv.ParseOptions(delimiter=separator),
    )
    return table.num_rows


def fast_float(program: Path, file: Path, separator: str) -> float:
    """The same of the program beside this file, whose parser comes from Debian."""
    printed = subprocess.run(
        [program, file, separator, str(RUNS)], check=True, capture_output=True, text=True
    ).stdout
    rows, nanoseconds = map(int, printed.split())
    if rows != file.read_bytes().count(b"\n") - 1:
        raise ValueError(f"{file}: fast_float read {rows} rows")
    return nanoseconds / file.stat().st_size
