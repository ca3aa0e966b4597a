# SPDX-License-Identifier: Apache-2.0
"""An extended Kalman filter for each peer, with filterpy.

The state is the peer's position in the odometry's world as it is now, the range's bias and, if
asked for, its scale. Measurements are used one by one, angles wrapped, each behind a gate.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from filterpy.kalman import ExtendedKalmanFilter

from .recordings import Array, Recording
from .scoring import Estimates
from .starts import SIGMA_METRES, Start

RANGE_BIAS_SIGMA = 0.15
RANGE_SCALE_SIGMA = 0.03
"""The priors of the range's errors, metres and a ratio: the engine's own defaults."""

PLANE_SIGMA = 0.05
"""The height of a peer in a planar recording, metres: as good as known."""

GATE = 10.83
"""The squared innovation over its variance that one true measurement in a thousand exceeds."""

PATIENCE = 20
"""After so many ranges rejected in a row the filter takes its position for lost."""

LOST_SIGMA_PER_DISTANCE = 0.5
"""The sigma of a lost position, as a ratio to the distance."""


@dataclass(frozen=True)
class Measurement:
    """A scalar measurement at a state: what is left of it, and how it depends on the state."""

    residual: float
    jacobian: Array
    variance: float


def run_ekf(
    recording: Recording,
    starts: dict[int, Start],
    seconds: float = np.inf,
    estimates_scale: bool = True,
) -> tuple[Estimates, float]:
    """Filters a recording; gives the estimates and the microseconds of CPU time per sample.

    It stops after so many seconds of work; what is not done by then is without an estimate.
    """
    estimates = Estimates.none(len(recording.samples))
    filters: dict[int, PeerFilter] = {}
    begin = time.process_time()
    done = 0
    for index, peer in enumerate(recording.samples.peers):
        if time.process_time() - begin > seconds:
            break
        if peer in starts and index >= starts[peer].sample and recording.odometry.known[index]:
            if peer not in filters:
                filters[peer] = PeerFilter(recording, starts[peer], estimates_scale)
            filters[peer].add(index)
            mean, covariance = filters[peer].relative(index)
            estimates.means[index], estimates.covariances[index] = mean, covariance
            done += 1
    return estimates, 1e6 * (time.process_time() - begin) / max(1, done)


class PeerFilter:
    """The filter of one peer."""

    def __init__(self, recording: Recording, start: Start, estimates_scale: bool = True) -> None:
        self._recording = recording
        scale_sigma = RANGE_SCALE_SIGMA if estimates_scale else 0.0
        self._range_error_sigmas = [RANGE_BIAS_SIGMA, scale_sigma]
        self._last = start.sample
        self._rejected = 0
        self._ekf = ExtendedKalmanFilter(dim_x=5, dim_z=1)
        self._ekf.x = np.append(start.in_world, [0.0, 0.0])
        height_sigma = PLANE_SIGMA if recording.is_planar else SIGMA_METRES
        sigmas = [SIGMA_METRES, SIGMA_METRES, height_sigma, *self._range_error_sigmas]
        self._ekf.P = np.diag(np.square(sigmas))
        self._ekf.F = np.eye(5)

    def add(self, index: int) -> None:
        """Uses a sample of this peer."""
        self._drift(index)
        samples, noise = self._recording.samples, self._recording.noise
        if np.isfinite(samples.ranges[index]):
            used = self._update(self._range(index, samples.ranges[index], noise.range))
            self._rejected = 0 if used else self._rejected + 1
            if self._rejected > PATIENCE:
                self._become_lost(index)
        if np.isfinite(samples.azimuths[index]):
            self._update(self._azimuth(index, samples.azimuths[index], noise.azimuth))
        if np.isfinite(samples.elevations[index]):
            self._update(self._elevation(index, samples.elevations[index], noise.elevation))

    def relative(self, index: int) -> tuple[Array, Array]:
        """The peer as seen from the device at a sample, and its covariance, in device axes."""
        rotation, device = self._pose(index)
        position, covariance = self._ekf.x[:3], self._ekf.P[:3, :3]
        return rotation.T @ (position - device), rotation.T @ covariance @ rotation

    def _pose(self, index: int) -> tuple[Array, Array]:
        odometry = self._recording.odometry
        return odometry.rotations[index], odometry.positions[index]

    def _drift(self, index: int) -> None:
        """The peer wanders in the odometry's world while that drifts."""
        path = self._recording.path[index] - self._recording.path[self._last]
        arc = self._recording.arc[index] - self._recording.arc[self._last]
        noise = self._recording.noise
        arm = self._ekf.x[:3] - self._pose(index)[1]
        turned = np.array([-arm[1], arm[0], 0.0])
        axes = np.array([1.0, 1.0, 0.0 if self._recording.is_planar else 1.0])
        self._ekf.Q = np.zeros((5, 5))
        self._ekf.Q[:3, :3] = noise.position_drift**2 * path * np.diag(
            axes
        ) + noise.yaw_drift**2 * arc * np.outer(turned, turned)
        self._ekf.predict()
        self._last = index

    def _update(self, measurement: Measurement) -> bool:
        """Uses a measurement unless it fails the gate."""
        row = measurement.jacobian[None, :]
        variance = float((row @ self._ekf.P @ row.T).item()) + measurement.variance
        if measurement.residual**2 > GATE * variance:
            return False
        residual = np.array([measurement.residual])
        self._ekf.update(
            residual,
            HJacobian=lambda _: row,
            Hx=lambda _: np.zeros(1),
            R=np.array([[measurement.variance]]),
        )
        return True

    def _become_lost(self, index: int) -> None:
        """Widens the position, so that ranges are believed again."""
        distance = float(np.linalg.norm(self.relative(index)[0]))
        variance = (LOST_SIGMA_PER_DISTANCE * distance) ** 2
        covariance = np.zeros((5, 5))
        covariance[:3, :3] = variance * np.eye(3)
        covariance[3:, 3:] = np.diag(np.square(self._range_error_sigmas))
        if self._recording.is_planar:
            covariance[2, 2] = PLANE_SIGMA**2
        self._ekf.P = covariance
        self._rejected = 0

    def _from_antenna(self, index: int) -> tuple[Array, Array]:
        rotation, device = self._pose(index)
        return rotation.T @ (self._ekf.x[:3] - device) - self._recording.antenna, rotation

    def _range(self, index: int, measured: float, sigma: float) -> Measurement:
        vector, rotation = self._from_antenna(index)
        distance = max(1e-6, float(np.linalg.norm(vector)))
        bias, scale = self._ekf.x[3:]
        jacobian = np.append((1 + scale) * rotation @ vector / distance, [1.0, distance])
        return Measurement(measured - (1 + scale) * distance - bias, jacobian, sigma**2)

    def _azimuth(self, index: int, measured: float, sigma: float) -> Measurement:
        (x, y, _), rotation = self._from_antenna(index)
        squared = max(1e-6, x * x + y * y)
        jacobian = np.append(rotation @ np.array([y, -x, 0.0]) / squared, [0.0, 0.0])
        residual = measured - np.arctan2(-y, x)
        return Measurement(float((residual + np.pi) % (2 * np.pi) - np.pi), jacobian, sigma**2)

    def _elevation(self, index: int, measured: float, sigma: float) -> Measurement:
        vector, rotation = self._from_antenna(index)
        x, y, z = vector
        level = max(1e-3, float(np.hypot(x, y)))
        squared = max(1e-6, float(vector @ vector))
        slope = np.array([-x * z / level, -y * z / level, level]) / squared
        jacobian = np.append(rotation @ slope, [0.0, 0.0])
        return Measurement(measured - float(np.arctan2(z, level)), jacobian, sigma**2)
