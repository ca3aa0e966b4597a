# SPDX-License-Identifier: Apache-2.0
"""Scores estimates against the truth, by the definitions of the engine's `ErrorStatistics`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .recordings import Array, Recording

WRONG_METRES = 0.5
WRONG_SIGMAS = 3.4
"""An estimate is confidently wrong when it is off by more than both."""


@dataclass(frozen=True)
class Estimates:
    """What a method made of each sample: the peer as seen from the device, in device axes.

    Rows without an estimate are not a number.
    """

    means: Array
    covariances: Array

    @staticmethod
    def none(count: int) -> Estimates:
        """No estimates yet."""
        return Estimates(np.full((count, 3), np.nan), np.full((count, 3, 3), np.nan))


@dataclass(frozen=True)
class Errors:
    """The errors at each sample at which both an estimate and the truth exist."""

    times: Array
    metres: Array
    distance_metres: Array
    bearing_degrees: Array
    normalized_nees: Array
    is_confidently_wrong: NDArray[np.bool_]


@dataclass(frozen=True)
class Score:
    """A method on a recording, in numbers; not a number where there is nothing to compute from."""

    samples: int
    half: float
    """RMSE of the position over the second half, metres."""
    distance: float
    """Median error of the distance there, metres."""
    bearing: float
    """Median error of the horizontal angle there, degrees."""
    nees: float
    """Mean NEES over the dimension there: 1 is right, more is over-confident."""
    wrong: float
    """Share of confidently wrong samples there."""
    wrong_overall: float
    """The same share over the whole recording."""


def errors(recording: Recording, estimates: Estimates) -> Errors:
    """The errors of the estimates."""
    truth = recording.truth.in_device(recording.true_peers)
    # A pose that is missing is so in its position, and the errors inherit that.
    difference = estimates.means - truth
    known = np.isfinite(difference).all(axis=1) & recording.odometry.known
    estimated, truth, difference = estimates.means[known], truth[known], difference[known]
    upright = recording.odometry.rotations[known]
    error = np.einsum("nij,nj->ni", upright, difference)
    covariance = upright @ estimates.covariances[known] @ upright.transpose(0, 2, 1)
    metres = np.linalg.norm(error, axis=1)
    along = error / np.maximum(metres, 1e-300)[:, None]
    sigma = np.sqrt(np.maximum(0, np.einsum("ni,nij,nj->n", along, covariance, along)))
    rotations = recording.truth.rotations[known]
    return Errors(
        times=recording.samples.times[known],
        metres=metres,
        distance_metres=np.abs(np.linalg.norm(estimated, axis=1) - np.linalg.norm(truth, axis=1)),
        bearing_degrees=_bearing_degrees(
            np.einsum("nij,nj->ni", rotations, estimated),
            np.einsum("nij,nj->ni", rotations, truth),
        ),
        normalized_nees=_normalized_nees(error, covariance, 2 if recording.is_planar else 3),
        is_confidently_wrong=(metres > WRONG_METRES) & (metres > WRONG_SIGMAS * sigma),
    )


def score(recording: Recording, estimates: Estimates) -> Score:
    """The numbers of a method on a recording, all peers together."""
    found = errors(recording, estimates)
    times = recording.samples.times
    half = found.times >= (times[0] + times[-1]) / 2
    return Score(
        samples=len(found.times),
        half=float(np.sqrt(_mean(found.metres[half] ** 2))),
        distance=_median(found.distance_metres[half]),
        bearing=_median(found.bearing_degrees[half]),
        nees=_mean(found.normalized_nees[half]),
        wrong=_mean(found.is_confidently_wrong[half].astype(float)),
        wrong_overall=_mean(found.is_confidently_wrong.astype(float)),
    )


def _bearing_degrees(vectors: Array, others: Array) -> Array:
    cross = vectors[:, 0] * others[:, 1] - vectors[:, 1] * others[:, 0]
    dot = vectors[:, 0] * others[:, 0] + vectors[:, 1] * others[:, 1]
    degrees = np.abs(np.rad2deg(np.arctan2(cross, dot)))
    degrees[(cross == 0) & (dot == 0)] = np.nan
    return degrees


def _normalized_nees(error: Array, covariance: Array, dimension: int) -> Array:
    part, own = error[:, :dimension], covariance[:, :dimension, :dimension]
    nees = np.full(len(error), np.nan)
    regular = np.asarray(np.isfinite(own).all(axis=(1, 2)))
    regular[regular] = np.linalg.eigvalsh(own[regular])[:, 0] > 0
    solved = np.linalg.solve(own[regular], part[regular][:, :, None])[:, :, 0]
    nees[regular] = np.sum(part[regular] * solved, axis=1) / dimension
    return nees


def _mean(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")


def _median(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else float("nan")
