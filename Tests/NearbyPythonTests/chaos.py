# SPDX-License-Identifier: Apache-2.0
"""Runs `nearby.distributed` while its workers are killed and its object store fails.

    python chaos.py DATASET EXPECTED_BATCH_CSV --engine ray --kills 3
    python chaos.py DATASET EXPECTED_BATCH_CSV --engine dask --kills 3 --s3-errors 0.2

The results must be those of `nearby batch` on the same dataset: every recording once, the same table byte for
byte. `make distributed-measure` makes the dataset and runs this on each engine.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec
import psutil
import pyarrow.dataset
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

BUCKET = "chaos"
Application = Callable[..., Iterable[bytes]]


@dataclass
class Outcome:
    """What a run did."""

    seconds: float
    processor_seconds: float
    """Of the driver and of all processes that it started, those of the engine included."""
    kills: int
    driver_bytes: int
    status: int
    errors: str


class FailingStore:
    """Moto's S3 as a server that answers some requests with 503."""

    def __init__(self, share: float, seed: int = 1) -> None:
        self.share = share
        self.failures = 0
        self.random = random.Random(seed)
        self.application: Application = DomainDispatcherApplication(create_backend_app)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if self.random.random() < self.share:
            self.failures += 1
            start_response("503 Slow Down", [("Content-Type", "application/xml")])
            return [b"<Error><Code>SlowDown</Code><Message>injected</Message></Error>"]
        return self.application(environ, start_response)


@contextlib.contextmanager
def failing_s3(share: float) -> Iterator[tuple[dict[str, Any], FailingStore]]:
    """An S3 that fails so often; gives the options of fsspec for it."""
    store = FailingStore(0)
    server = make_server("127.0.0.1", 0, store, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    options = {
        "key": "test",
        "secret": "test",
        "client_kwargs": {"region_name": "eu-central-1"},
        "endpoint_url": f"http://127.0.0.1:{server.server_port}",
    }
    s3 = fsspec.filesystem("s3", **options)
    s3.mkdir(BUCKET)
    store.share = share
    try:
        yield options, store
    finally:
        server.shutdown()
        thread.join()


def upload(folder: Path, options: dict[str, Any], name: str) -> str:
    """Copies a dataset into the store and gives its URL."""
    fsspec.filesystem("s3", **options).put(str(folder), f"{BUCKET}/{name}", recursive=True)
    return f"s3://{BUCKET}/{name}"


def workers(driver: psutil.Process) -> list[psutil.Process]:
    """The processes that run tasks."""
    found = []
    for process in driver.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            command = " ".join(process.cmdline())
            is_pool = "spawn_main" in command and "resource_tracker" not in command
            if is_pool or command.startswith("ray::work"):
                found.append(process)
    return found


def run_while_killing(
    arguments: list[str],
    kills: int,
    has_begun: Callable[[], bool],
    seed: int = 1,
    gap: tuple[float, float] = (2, 8),
) -> Outcome:
    """Runs the module and, once it has begun, kills a random worker so often, at random moments."""
    chance = random.Random(seed)
    begin = time.monotonic()
    killed, largest = 0, 0
    spent: dict[int, float] = {}
    with tempfile.TemporaryFile("w+") as errors:
        driver = subprocess.Popen([sys.executable, "-m", "nearby.distributed", *arguments], stderr=errors)
        process = psutil.Process(driver.pid)
        due: float | None = None
        while driver.poll() is None:
            time.sleep(0.05)
            with contextlib.suppress(psutil.Error):
                largest = max(largest, process.memory_info().rss)
                for own in [process, *process.children(recursive=True)]:
                    times = own.cpu_times()
                    spent[own.pid] = times.user + times.system
            if due is None and has_begun():
                due = time.monotonic() + chance.uniform(*gap)
            if killed < kills and due is not None and time.monotonic() > due:
                with contextlib.suppress(psutil.Error):
                    if found := workers(process):
                        chance.choice(found).kill()
                        killed += 1
                        due = time.monotonic() + chance.uniform(*gap)
        errors.seek(0)
        return Outcome(
            seconds=time.monotonic() - begin,
            processor_seconds=sum(spent.values()),
            kills=killed,
            driver_bytes=largest,
            status=driver.returncode,
            errors=errors.read(),
        )


def check(store: Any, output: str, expected: Path) -> int:
    """Fails unless every recording is there once, and the table is the expected one.

    Returns:
        How many recordings there are.
    """
    table = store.cat_file(f"{output}/batch.csv")
    assert table == expected.read_bytes(), "batch.csv is not that of nearby batch"
    filesystem = pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(store))
    runs = pyarrow.dataset.dataset(f"{output}/runs", filesystem=filesystem).to_table()
    names = runs["recording"].to_pylist()
    assert len(names) == len(set(names)), "a recording is there twice"
    estimates = pyarrow.dataset.dataset(f"{output}/estimates", filesystem=filesystem)
    assert estimates.count_rows() == sum(runs["samples"].to_pylist()), "estimates are missing or double"
    return len(names)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("expected", type=Path)
    parser.add_argument("--engine", default="local")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--s3-errors", type=float)
    parser.add_argument("--workers", default="2")
    given = parser.parse_args()
    common = ["--engine", given.engine, "--workers", given.workers, "--quiet"]
    with contextlib.ExitStack() as stack:
        if given.s3_errors is None:
            store: Any = fsspec.filesystem("file")
            output = stack.enter_context(tempfile.TemporaryDirectory())
            arguments = [str(given.dataset), "--output", output, *common]
        else:
            import json

            options, server = stack.enter_context(failing_s3(given.s3_errors))
            server.share = 0
            source = upload(given.dataset, options, given.dataset.name)
            server.share = given.s3_errors
            store, output = fsspec.filesystem("s3", **options), f"{BUCKET}/out"
            arguments = [source, "--output", f"s3://{output}", *common]
            arguments += ["--storage-options", json.dumps(options)]

        def has_begun() -> bool:
            store.invalidate_cache()
            return bool(store.exists(f"{output}/runs"))

        outcome = run_while_killing(arguments, given.kills, has_begun, seed=os.getpid())
        print(outcome.errors, end="", file=sys.stderr)
        if given.s3_errors is not None:
            server.share = 0
            print(f"{server.failures} requests failed")
        count = check(store, output, given.expected)
        print(
            f"{given.engine}: {count} recordings in {outcome.seconds:.1f} s, "
            f"{outcome.processor_seconds:.1f} s of processors, {outcome.kills} workers killed, "
            f"driver {outcome.driver_bytes / 1e6:.0f} MB, exit status {outcome.status}"
        )


if __name__ == "__main__":
    main()
