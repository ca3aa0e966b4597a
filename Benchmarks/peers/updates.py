# SPDX-License-Identifier: Apache-2.0
"""Filters that take in one sample: nanoseconds of a prediction and three scalar updates.

filterpy and gtsam run as they do in the comparison of accuracy. kalman-py gets the same state as
filterpy there, without its gate: position, the range's bias and its scale.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SMOOTHER_STRIDE = 50
"""The smoother gets one sample in so many: its cost grows with the path."""


def peers(folder: Path) -> dict[str, Callable[[], float]]:
    """The filters by package, over a recording that holds the truth to start from."""
    return {
        "filterpy": lambda: _filterpy(folder),
        "kalman-py": lambda: _kalman_py(folder),
        "gtsam": lambda: _gtsam(folder),
    }


def _recording(folder: Path) -> tuple[Any, dict[int, Any]]:
    """The recording as the comparison reads it, and where its filters start."""
    from comparison.recordings import read_recording
    from comparison.starts import starts

    with tempfile.TemporaryDirectory() as name:
        # The comparison knows a peer at rest by its one row of truth.
        at_rest = Path(name)
        (at_rest / "truth").mkdir()
        for file in ("recording.json", "trajectory.txt", "ranging.csv", "truth/trajectory.txt"):
            (at_rest / file).symlink_to((folder / file).resolve())
        rows = (folder / "truth/peers.csv").read_text().splitlines()
        (at_rest / "truth/peers.csv").write_text("\n".join(rows[:2]) + "\n")
        recording = read_recording(at_rest)
    return recording, starts(recording, "fair")


def _filterpy(folder: Path) -> float:
    from comparison.ekf import run_ekf

    return 1000 * run_ekf(*_recording(folder))[1]


def _gtsam(folder: Path) -> float:
    from comparison.smoother import run_smoother

    return 1000 * run_smoother(*_recording(folder), stride=SMOOTHER_STRIDE)[1]


def _kalman_py(folder: Path) -> float:
    recording, starts = _recording(folder)
    start = starts[0]
    filters = _Filters(recording, start.in_world)
    begin = time.process_time_ns()
    for index in range(start.sample, len(recording.samples)):
        filters.add(index)
    spent = time.process_time_ns() - begin
    truth = recording.true_peers[-1]
    if np.linalg.norm(filters.mean[:3] - truth) > 1:
        raise ValueError(f"kalman-py is at {filters.mean[:3]}, the peer at {truth}")
    return spent / (len(recording.samples) - start.sample)


class _Filters:
    """One state, and a filter for each kind of measurement that takes turns on it.

    kalman-py ties a filter to its measurement model, so the state is handed on.
    """

    def __init__(self, recording: Any, place: np.ndarray) -> None:
        from kalman_py import ExtendedKalmanFilter

        self._recording = recording
        self._vector = np.zeros(3)
        self._rotation = np.eye(3)
        noise = recording.noise
        unchanged = np.eye(5)
        models = [
            (self._range, self._range_gradient, noise.range),
            (self._azimuth, self._azimuth_gradient, noise.azimuth),
            (self._elevation, self._elevation_gradient, noise.elevation),
        ]
        self._filters = [
            ExtendedKalmanFilter(
                f=lambda x, _: x,
                h=model,
                Q=np.diag([1e-5, 1e-5, 1e-5, 0, 0]),
                R=np.array([[sigma**2]]),
                x0=np.append(place, [0.0, 0.0]),
                P0=np.diag([1.0, 1.0, 1.0, 0.15**2, 0.03**2]),
                jac_f=lambda _x, _t: unchanged,
                jac_h=gradient,
                residual_z=np.subtract if model == self._range else _wrapped,
            )
            for model, gradient, sigma in models
        ]

    @property
    def mean(self) -> np.ndarray:
        """The state's mean."""
        return self._filters[0].x

    def add(self, index: int) -> None:
        """Predicts and takes in what was measured."""
        samples, odometry = self._recording.samples, self._recording.odometry
        self._rotation, self._device = odometry.rotations[index], odometry.positions[index]
        first = self._filters[0]
        first.predict(0.1)
        x, p = first.x, first.P
        values = (samples.ranges[index], samples.azimuths[index], samples.elevations[index])
        for filter_, value in zip(self._filters, values, strict=True):
            if np.isfinite(value):
                filter_.x, filter_.P = x, p
                filter_.update([value])
                x, p = filter_.x, filter_.P
        first.x, first.P = x, p

    def _in_device(self, x: np.ndarray) -> np.ndarray:
        return self._rotation.T @ (x[:3] - self._device)

    def _range(self, x: np.ndarray) -> np.ndarray:
        return np.array([(1 + x[4]) * np.linalg.norm(x[:3] - self._device) + x[3]])

    def _range_gradient(self, x: np.ndarray) -> np.ndarray:
        vector = x[:3] - self._device
        distance = np.linalg.norm(vector)
        return np.append((1 + x[4]) * vector / distance, [1.0, distance])[None, :]

    def _azimuth(self, x: np.ndarray) -> np.ndarray:
        ahead, left, _ = self._in_device(x)
        return np.array([np.arctan2(-left, ahead)])

    def _azimuth_gradient(self, x: np.ndarray) -> np.ndarray:
        ahead, left, _ = self._in_device(x)
        slope = np.array([left, -ahead, 0.0]) / (ahead**2 + left**2)
        return np.append(self._rotation @ slope, [0.0, 0.0])[None, :]

    def _elevation(self, x: np.ndarray) -> np.ndarray:
        ahead, left, up = self._in_device(x)
        return np.array([np.arctan2(up, np.hypot(ahead, left))])

    def _elevation_gradient(self, x: np.ndarray) -> np.ndarray:
        ahead, left, up = self._in_device(x)
        level = np.hypot(ahead, left)
        slope = np.array([-ahead * up / level, -left * up / level, level])
        slope /= ahead**2 + left**2 + up**2
        return np.append(self._rotation @ slope, [0.0, 0.0])[None, :]


def _wrapped(measured: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (measured - predicted + np.pi) % (2 * np.pi) - np.pi
