# SPDX-License-Identifier: Apache-2.0
"""Runs the engine and reads what it writes."""

from __future__ import annotations

import csv
import json
import resource
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .recordings import Array, Recording
from .scoring import Errors, Estimates, errors, score

TOLERANCE = 1e-3
"""By how much two scorings may differ, as a ratio: single precision and nine digits in files."""


class ScoringDisagreement(Exception):
    """This package's scoring and the engine's own differ."""


@dataclass(frozen=True)
class EngineRun:
    """What the engine made of a recording."""

    estimates: Estimates
    is_converged: Array
    microseconds_per_sample: float
    """CPU time of the whole program, reading and writing text included."""
    reported_errors: dict[str, float | None]


def run_engine(program: Path, recording: Recording) -> EngineRun:
    """Runs the engine over a recording, from nothing, with the recording's own settings."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program), "run", str(recording.folder), "--output", folder, "--json"]
        before = _seconds_of_children()
        finished = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = _seconds_of_children() - before
        with (Path(folder) / "estimates.csv").open(newline="") as lines:
            rows = list(csv.DictReader(lines))
    summary = json.loads(finished.stdout)
    if len(rows) != len(recording.samples):
        raise ScoringDisagreement(f"{len(rows)} estimates, {len(recording.samples)} samples")
    return EngineRun(
        estimates=_estimates(recording, rows),
        is_converged=np.array([row["status"] == "converged" for row in rows]),
        microseconds_per_sample=1e6 * seconds / summary["samples"],
        reported_errors=summary["errors"],
    )


def run_own_smoother(program: Path, recording: Recording) -> tuple[Estimates, float]:
    """Smooths a recording with the engine's own smoother; the microseconds are of the whole program."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program), "run", str(recording.folder), "--output", folder, "--smooth"]
        before = _seconds_of_children()
        subprocess.run([*command, "--quiet"], check=True, capture_output=True)
        seconds = _seconds_of_children() - before
        with (Path(folder) / "smoothed.csv").open(newline="") as lines:
            rows = list(csv.DictReader(lines))
    return _estimates(recording, rows), 1e6 * seconds / len(rows)


def check_scoring(recording: Recording, run: EngineRun) -> None:
    """Holds this package's scoring of the engine against the engine's own.

    Raises `ScoringDisagreement` when they differ: then no number of the table would mean anything.
    """
    own = score(recording, run.estimates)
    converged = _errors_of_rows(recording, run, run.is_converged)
    pairs: dict[str, float] = {
        "samples": own.samples,
        "rmseSecondHalf": own.half,
        "medianDistanceErrorSecondHalf": own.distance,
        "medianBearingErrorDegreesSecondHalf": own.bearing,
        "meanNormalizedNEES": float(np.nanmean(converged.normalized_nees)),
        "falselyConvergedShare": float(np.mean(converged.is_confidently_wrong)),
    }
    for name, ours in pairs.items():
        theirs = run.reported_errors[name]
        if theirs is not None and abs(ours - theirs) > TOLERANCE * max(abs(theirs), 1e-3):
            raise ScoringDisagreement(f"{recording.name}: {name} is {theirs}, here {ours}")


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _errors_of_rows(recording: Recording, run: EngineRun, chosen: Array) -> Errors:
    means = np.where(chosen[:, None], run.estimates.means, np.nan)
    return errors(recording, Estimates(means, run.estimates.covariances))


def _estimates(recording: Recording, rows: list[dict[str, str]]) -> Estimates:
    def columns(*names: str) -> Array:
        return np.array([[float(row[name] or "nan") for name in names] for row in rows])

    turn = recording.frames.world
    means = columns("mean_x", "mean_y", "mean_z") @ turn.T
    xx, xy, xz, yy, yz, zz = columns("cov_xx", "cov_xy", "cov_xz", "cov_yy", "cov_yz", "cov_zz").T
    world = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    device_from_world = recording.odometry.rotations.transpose(0, 2, 1) @ turn
    return Estimates(
        recording.odometry.in_device(means),
        device_from_world @ world @ device_from_world.transpose(0, 2, 1),
    )
