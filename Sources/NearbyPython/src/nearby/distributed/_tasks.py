# SPDX-License-Identifier: Apache-2.0
"""Tasks: some recordings each, and the Parquet part that a task writes."""

from __future__ import annotations

import functools
import hashlib
import io
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nearby import _core
from nearby._errors import NearbyError
from nearby._recording import CalibrationMode, Recording
from nearby._table import Table
from nearby.distributed._store import Item, Store

# Changes when the same input gives other bytes.
FORMAT = 1
LEAST, MOST = 10, 100

RUNS = pa.schema(
    [
        pa.field("recording", pa.string()),
        pa.field("samples", pa.int64()),
        pa.field("lines", pa.string()),
        pa.field("error", pa.string()),
        pa.field("error_file", pa.string()),
        pa.field("error_line", pa.int64()),
        pa.field("error_column", pa.int64()),
    ]
)


@dataclass(frozen=True)
class Task:
    """Some recordings that are run one after the other, and whose results are one part."""

    source: str
    output: str
    items: tuple[Item, ...]
    settings: str | None
    calibration: CalibrationMode
    digest: str
    source_options: Mapping[str, Any] = field(default_factory=dict)
    output_options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def part(self) -> str:
        """The name of its files."""
        return f"part-{self.digest}.parquet"

    @property
    def bytes(self) -> int:
        """The size of its recordings."""
        return sum(item.bytes for item in self.items)


@dataclass(frozen=True)
class Done:
    """What a task did."""

    recordings: int
    failed: int
    samples: int


def divided(items: Sequence[Item], task_bytes: int) -> Iterator[tuple[Item, ...]]:
    """Cuts recordings into tasks of about so many bytes, at most a hundred recordings each.

    Where it is cut depends on the names nearby only: a recording that is added or removed changes a task or
    two, and the parts of all others are kept.
    """
    begin, size = 0, 0
    for index, item in enumerate(items):
        size += item.bytes
        count = index + 1 - begin
        is_landmark = hashlib.sha256(item.id.encode()).digest()[0] < 8
        is_enough = size >= task_bytes / 2 and count >= LEAST and is_landmark
        if is_enough or count >= MOST or (size >= task_bytes and count >= 1):
            yield tuple(items[begin : index + 1])
            begin, size = index + 1, 0
    if begin < len(items):
        yield tuple(items[begin:])


@functools.cache
def build() -> str:
    """The digest of the engine's machine code: builds of one version may differ."""
    digest = hashlib.sha256()
    for path in sorted(Path(_core.__file__).parent.glob("*.so*")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def digest(items: Sequence[Item], settings: str | None, calibration: CalibrationMode = "use") -> str:
    """The digest of a task's input, the settings, the calibration, the version and the build of the engine."""
    about = {
        "format": FORMAT,
        "engine": _core.__version__,
        "build": build(),
        "settings": json.loads(settings) if settings else None,
        "calibration": calibration,
        "recordings": [[item.id, item.fingerprint] for item in items],
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:32]


def work(task: Task) -> Done:
    """Runs the recordings of a task and writes its parts: the estimates first, then the runs.

    The part of the runs tells that the task is done.
    """
    source = Store(task.source, task.source_options)
    output = Store(task.output, task.output_options)
    tables: list[pa.Table] = []
    runs: list[dict[str, Any]] = []
    for item in task.items:
        table, row = _run(source, item, task)
        runs.append(row)
        if table is not None:
            tables.append(table)
    if tables:
        output.write(f"estimates/{task.part}", parquet(pa.concat_tables(tables)))
    output.write(f"runs/{task.part}", parquet(pa.Table.from_pylist(runs, RUNS)))
    return Done(
        recordings=len(runs),
        failed=sum(row["error"] is not None for row in runs),
        samples=sum(row["samples"] for row in runs),
    )


def _run(source: Store, item: Item, task: Task) -> tuple[pa.Table | None, dict[str, Any]]:
    """The estimates of a recording, and its row of the runs."""
    row: dict[str, Any] = {"recording": item.id, "samples": 0, "error": None}
    with tempfile.TemporaryDirectory(prefix="nearby-") as copy:
        folder = source.fetch(item, copy)
        try:
            recording = Recording(folder)
            settings, _ = recording._settings(task.settings, task.calibration)
            columns, summary = recording._core.run(settings)
        except NearbyError as error:
            # The place in the store, and not in the copy.
            own = f"{source.url}{item.path[len(source.root) :]}" if folder == copy else folder
            row |= {
                "error": str(error).replace(folder, own),
                "error_file": error.file and error.file.replace(folder, own),
                "error_line": error.line,
                "error_column": error.column,
            }
            return None, row
    table = _named(Table(columns).to_arrow(), item)
    return table, row | {"samples": len(table), "lines": _core.batch_rows(item.id, summary)}


def _named(table: pa.Table, item: Item) -> pa.Table:
    """Estimates with the names of the recording and of its group before them."""
    group = item.id.rpartition("/")[0] or "."
    names = pa.DictionaryArray.from_arrays(
        pa.array([0] * len(table), pa.int32()), pa.array([item.id], pa.string())
    )
    groups = pa.DictionaryArray.from_arrays(
        pa.array([0] * len(table), pa.int32()), pa.array([group], pa.string())
    )
    return table.add_column(0, "group", groups).add_column(0, "recording", names)


def parquet(table: pa.Table) -> bytes:
    """A table as a Parquet file; equal tables give equal bytes."""
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()
