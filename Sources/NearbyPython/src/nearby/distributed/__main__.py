# SPDX-License-Identifier: Apache-2.0
"""`python -m nearby.distributed SOURCE --output FOLDER`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from nearby._errors import NearbyError
from nearby.distributed._engines import ENGINES
from nearby.distributed._run import Options, Progress, run

# As `nearby` and sysexits.h have them.
_USAGE, _BAD_DATA, _TEMPORARY = 64, 65, 75


class _Line:
    """One line of progress on standard error: rewritten on a terminal, else every ten seconds."""

    def __init__(self, is_quiet: bool) -> None:
        self.is_quiet = is_quiet
        self.is_terminal = sys.stderr.isatty()
        self.begin = time.monotonic()
        self.last = 0.0

    def show(self, progress: Progress, is_last: bool = False) -> None:
        now = time.monotonic()
        if self.is_quiet or (not is_last and now - self.last < (0.2 if self.is_terminal else 10)):
            return
        self.last = now
        rate = progress.bytes_done / max(1e-9, now - self.begin) / 1e6
        text = (
            f"{progress.tasks_done} of {progress.tasks} tasks ({progress.tasks_kept} kept), "
            f"{progress.recordings_done} of {progress.recordings} recordings, "
            f"{progress.samples} samples, {rate:.1f} MB/s"
        )
        end = "\n" if is_last or not self.is_terminal else ""
        print(("\r" if self.is_terminal else "") + text, end=end, file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m nearby.distributed",
        description="Locate the peers of many recordings, on one machine or on many.",
        epilog="A second run keeps the parts that are there and does the rest. Exit status: 65 when a "
        "recording failed, 75 when a task could not be done.",
    )
    parser.add_argument("source", help="a local folder or a URL, with recordings in it or below")
    parser.add_argument("-o", "--output", required=True, help="a local folder or a URL for the results")
    parser.add_argument(
        "--calibration",
        choices=["off", "report", "use"],
        default="use",
        help="what is done with errors of radio and odometry that a recording tells",
    )
    parser.add_argument("--config", type=Path, help="settings of the engine, a JSON file")
    parser.add_argument("--engine", choices=sorted(ENGINES), default="local", help="what runs the tasks")
    parser.add_argument("--workers", type=int, help="tasks at a time (default: as many as cores)")
    parser.add_argument("--task-bytes", type=int, default=Options.task_bytes, help="bytes of a task")
    parser.add_argument("--storage-options", type=json.loads, default={}, help="options for fsspec, JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing unless something is wrong")
    return parser.parse_args()


def main() -> int:
    arguments = _arguments()
    options = Options(
        config=arguments.config,
        calibration=arguments.calibration,
        engine=arguments.engine,
        workers=arguments.workers,
        task_bytes=arguments.task_bytes,
        source_options=arguments.storage_options if "://" in arguments.source else {},
        output_options=arguments.storage_options if "://" in arguments.output else {},
    )
    line = _Line(arguments.quiet)
    try:
        report = run(arguments.source, arguments.output, options, line.show)
    except (NearbyError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return _BAD_DATA
    line.show(report.progress, is_last=True)
    for task, reason in report.lost:
        print(f"error: {len(task.items)} recordings from {task.items[0].id} on: {reason}", file=sys.stderr)
    if report.progress.recordings_failed:
        failed = report.progress.recordings_failed
        print(f"{failed} recordings failed; failures.csv says why", file=sys.stderr)
    return _TEMPORARY if report.lost else _BAD_DATA if report.progress.recordings_failed else 0


if __name__ == "__main__":
    sys.exit(main())
