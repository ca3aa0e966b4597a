# SPDX-License-Identifier: Apache-2.0
"""Compares methods on recordings and prints a table: `python -m comparison --help`."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import get_args

from .ekf import run_ekf
from .engine import check_scoring, run_engine, run_own_smoother
from .recordings import Recording, read_recording
from .report import HEADER, Result, as_json, table_row
from .scoring import score
from .smoother import run_batch, run_smoother
from .starts import StartKind, starts

OWN_RECORDINGS = ["Datasets/plaza1", "Datasets/plaza2"]
MORE_RECORDINGS = "../shared/data"

EKF_MODELS = {"filterpy EKF, bias": False, "filterpy EKF, bias and scale": True}
"""The filter with and without a scale of the range: neither is best everywhere."""


def main() -> None:
    """Reads the arguments, runs every method on every recording, prints as it goes."""
    arguments = _arguments()
    results: list[Result] = []
    print(HEADER)
    for folder in arguments.recordings or _default_recordings():
        recording = read_recording(folder)
        for result in compare(recording, arguments):
            print(table_row(result), flush=True)
            results.append(result)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(as_json(results, _settings(arguments)) + "\n")


def compare(recording: Recording, arguments: argparse.Namespace) -> Iterator[Result]:
    """The results of all methods on a recording, one by one."""
    count = len(recording.samples)
    run = run_engine(arguments.nearby, recording)
    check_scoring(recording, run)
    yield Result(
        recording.name,
        "nearby",
        "none",
        count,
        1,
        score(recording, run.estimates),
        run.microseconds_per_sample,
    )
    estimates, cost = run_own_smoother(arguments.nearby, recording)
    found = score(recording, estimates)
    yield Result(recording.name, "nearby, smoothed", "none", count, 1, found, cost)
    if arguments.engine_only:
        return
    stride = math.ceil(count / arguments.smoother_samples)
    for kind in get_args(StartKind):
        begin = starts(recording, kind)
        for method, estimates_scale in EKF_MODELS.items():
            estimates, cost = run_ekf(recording, begin, arguments.seconds, estimates_scale)
            found = score(recording, estimates)
            yield Result(recording.name, method, kind, count, 1, found, cost)
        estimates, cost = run_smoother(recording, begin, arguments.seconds, stride)
        found = score(recording, estimates)
        yield Result(
            recording.name, "gtsam ISAM2, bias and scale", kind, count, stride, found, cost
        )
        estimates, cost = run_batch(recording, begin, stride)
        found = score(recording, estimates)
        yield Result(
            recording.name, "gtsam LM, bias and scale", kind, count, stride, found, cost
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="comparison",
        description="Runs nearby, a filterpy EKF, gtsam's ISAM2 and its batch solver on the same recordings.",
    )
    parser.add_argument("recordings", nargs="*", type=Path, help="folders that hold the truth")
    parser.add_argument("--nearby", type=Path, default=Path(".build/release/nearby"))
    parser.add_argument("--json", type=Path, help="write all results to this file")
    parser.add_argument(
        "--engine-only",
        action="store_true",
        help="leave the other methods out: their rows do not change with the engine",
    )
    parser.add_argument(
        "--seconds", type=float, default=300, help="the time limit of a method, for each run"
    )
    parser.add_argument(
        "--smoother-samples",
        type=int,
        default=1600,
        help="the smoother is given at most so many samples, evenly spread",
    )
    return parser.parse_args()


def _default_recordings() -> list[Path]:
    own = [Path(folder) for folder in OWN_RECORDINGS]
    names = {folder.name for folder in own}
    more = sorted(file.parent for file in Path(MORE_RECORDINGS).glob("*/recording.json"))
    return own + [folder for folder in more if folder.name not in names]


def _settings(arguments: argparse.Namespace) -> dict[str, object]:
    return {
        "secondsPerRun": arguments.seconds,
        "smootherSamples": arguments.smoother_samples,
        "versions": {name: version(name) for name in ("filterpy", "gtsam", "numpy", "scipy")},
        "python": sys.version.split()[0],
    }


if __name__ == "__main__":
    main()
