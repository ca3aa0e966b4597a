# SPDX-License-Identifier: Apache-2.0
"""The whole: list the recordings, run the tasks that are not done, put the tables together."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from nearby import _core
from nearby._engine import Configuration, _json, configuration
from nearby._errors import ArgumentError
from nearby._recording import CalibrationMode
from nearby.distributed import _engines, _tasks
from nearby.distributed._store import Store
from nearby.distributed._tasks import Done, Task

# Names the dataset whose results an output holds.
_SOURCE = "source.json"
_TEXTS = ("recording", "group", "peer", "motion", "status", "reasons")
_COUNTS = ("samples", "rejected", "losses")
_UNITS = {
    "duration": "s",
    "seconds_to_convergence": "s",
    "bearing_error_degrees": "deg",
    **dict.fromkeys(
        ("distance", "distance_sigma", "x", "y", "z", "sigma", "rmse_converged", "rmse_second_half"), "m"
    ),
    **dict.fromkeys(("distance_error", "final_error", "error_95", "jitter", "odometry_rmse"), "m"),
    **dict.fromkeys(("smoothed_x", "smoothed_y", "smoothed_z", "smoothed_rmse_second_half"), "m"),
}


@dataclass(frozen=True)
class Options:
    """How a dataset is run.

    Attributes:
        config: Settings that differ from those of each recording, as for `nearby.run`.
        calibration: What is done with errors of radio and odometry that a recording tells, as for
            `Recording.run`.
        engine: What runs the tasks.
        workers: How many tasks run at a time; as many as there are cores when None.
        task_bytes: About how many bytes of recordings a task has.
        source_options: Options of the source's store, for fsspec.
        output_options: Options of the output's store.
    """

    config: Configuration | None = None
    calibration: CalibrationMode = "use"
    engine: Literal["local", "ray", "dask"] = "local"
    workers: int | None = None
    task_bytes: int = 32_000_000
    source_options: Mapping[str, Any] = field(default_factory=dict)
    output_options: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Progress:
    """How far a run has got."""

    tasks: int = 0
    tasks_done: int = 0
    tasks_kept: int = 0
    recordings: int = 0
    recordings_done: int = 0
    recordings_failed: int = 0
    samples: int = 0
    bytes_done: int = 0


@dataclass(frozen=True)
class Report:
    """What a run did.

    Attributes:
        progress: The counts at the end.
        lost: Tasks that could not be done, and why; a second run tries them again.
    """

    progress: Progress
    lost: Sequence[tuple[Task, Exception]]


def run(
    source: str,
    output: str,
    options: Options | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Report:
    """Runs the engine over all recordings of a dataset.

    Args:
        source: A local folder or a URL, with recordings in it or below.
        output: A local folder or a URL that holds no results of another dataset. It becomes

            - `estimates/part-*.parquet`: the rows of `estimates.csv` of all recordings, with the columns
              `recording` and `group` before them; units are in the metadata of the columns,
            - `runs/part-*.parquet`: a row for each recording, with its error if it failed,
            - `batch.csv` and `batch.parquet`: a row for each peer of each recording, as of `nearby batch`,
            - `failures.csv`: the recordings that failed, and why,
            - `source.json`: the dataset.
        options: How it is run.
        progress: Called after each task.

    Returns:
        The counts, and the tasks that could not be done.

    Raises:
        ArgumentError: The output holds the results of another dataset.
    """
    options = options or Options()
    settings = _json(options.config)
    configuration(settings)  # A wrong setting is no error of each recording.
    tasks = _plan(source, output, settings, options)
    store = Store(output, options.output_options)
    _claim(store, Store(source, options.source_options).url)
    kept = store.names("runs")
    counts = Progress(tasks=len(tasks), recordings=sum(len(task.items) for task in tasks))
    waiting = []
    for task in tasks:
        if task.part not in kept:
            waiting.append(task)
            continue
        counts.tasks_kept += 1
        counts.tasks_done += 1
        counts.recordings_done += len(task.items)
    progress(counts)
    lost: list[tuple[Task, Exception]] = []
    # The largest first, so that all workers are busy until the end.
    waiting.sort(key=lambda task: -task.bytes)
    for task, result in _engines.ENGINES[options.engine](_tasks.work, waiting, options.workers):
        if isinstance(result, Done):
            counts.tasks_done += 1
            counts.recordings_done += result.recordings
            counts.samples += result.samples
            counts.bytes_done += task.bytes
        else:
            lost.append((task, result))
        progress(counts)
    gone = {task.digest for task, _ in lost}
    done = [task for task in tasks if task.digest not in gone]
    _prune(store, {task.part for task in done})
    counts.recordings_failed = _write_tables(store, done)
    return Report(counts, lost)


def _plan(source: str, output: str, settings: str | None, options: Options) -> list[Task]:
    items = Store(source, options.source_options).items()
    return [
        Task(
            source=source,
            output=output,
            items=part,
            settings=settings,
            calibration=options.calibration,
            digest=_tasks.digest(part, settings, options.calibration),
            source_options=options.source_options,
            output_options=options.output_options,
        )
        for part in _tasks.divided(items, options.task_bytes)
    ]


def _claim(store: Store, source: str) -> None:
    """Marks the output as that of a dataset: the parts of another one would be removed."""
    if "://" not in source:
        source = os.path.abspath(source)
    if _SOURCE in store.names(""):
        other = json.loads(store.read(_SOURCE))["source"]
        if other != source:
            raise ArgumentError(
                f"{store.url} holds the results of {other}, which those of {source} would replace; "
                f"choose another output, or remove {_SOURCE} from it"
            )
    else:
        store.write(_SOURCE, json.dumps({"source": source}).encode() + b"\n")


def _prune(store: Store, parts: set[str]) -> None:
    """Removes the parts of an earlier state of the dataset and of other settings: whoever reads the folder gets each row once."""
    for folder in ("runs", "estimates"):
        for name in store.names(folder):
            if name.startswith("part-") and name not in parts:
                store.remove(f"{folder}/{name}")


def _write_tables(store: Store, tasks: Sequence[Task]) -> int:
    """Puts the tables together, a part at a time.

    Returns:
        How many recordings failed.
    """
    header = _core.batch_rows(None, "")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="nearby-") as folder:
        paths = [os.path.join(folder, name) for name in ("batch.csv", "failures.csv", "batch.parquet")]
        with (
            open(paths[0], "w", encoding="utf-8", newline="") as table,
            open(paths[1], "w", encoding="utf-8", newline="") as failures,
            pq.ParquetWriter(paths[2], _schema(header), compression="zstd") as parquet,
        ):
            table.write(header)
            failures.write("recording,error\n")
            rows = csv.writer(failures, lineterminator="\n")
            for run in _runs(store, tasks):
                lines = "".join(line or "" for line in run["lines"].to_pylist())
                table.write(lines)
                if lines:
                    parquet.write_table(_typed(header, lines))
                for row in run.filter(run["error"].is_valid()).to_pylist():
                    rows.writerow([row["recording"], row["error"]])
                    failed += 1
        for path in paths:
            store.put(os.path.basename(path), path)
    return failed


def _runs(store: Store, tasks: Sequence[Task]) -> Iterator[pa.Table]:
    for task in tasks:
        yield pq.read_table(io.BytesIO(store.read(f"runs/{task.part}")))


def _schema(header: str) -> pa.Schema:
    fields = []
    for name in header.rstrip("\n").split(","):
        kind = pa.string() if name in _TEXTS else pa.int64() if name in _COUNTS else pa.float64()
        unit = _UNITS.get(name)
        fields.append(pa.field(name, kind, metadata={"unit": unit} if unit else None))
    return pa.schema(fields)


def _typed(header: str, lines: str) -> pa.Table:
    """Lines of `batch.csv` with the types and units of their columns."""
    schema = _schema(header)
    read = pyarrow.csv.read_csv(
        io.BytesIO((header + lines).encode()),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={field.name: field.type for field in schema}, strings_can_be_null=False
        ),
    )
    return read.cast(schema)
