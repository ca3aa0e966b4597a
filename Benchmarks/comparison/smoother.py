# SPDX-License-Identifier: Apache-2.0
"""Incremental smoothing of the whole path and all peers together, with gtsam.

One pose of the antenna for each time at which something was measured, joined by odometry; peers
are points; each has a range bias and scale. Planar recordings have planar poses and points.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import gtsam
import numpy as np
from gtsam.symbol_shorthand import E, L, X

from .ekf import RANGE_BIAS_SIGMA, RANGE_SCALE_SIGMA
from .recordings import Array, Noise, Recording
from .scoring import Estimates
from .starts import SIGMA_METRES, Start

POSITION_FLOOR = 1e-3
ANGLE_FLOOR = 1e-4
"""The least noise of a step of odometry, metres and radians: what keeps the equations regular."""

CAUCHY_WIDTH = 2.0
"""Ranges and angles off by more sigmas than this begin to lose their weight."""

RELINEARIZE_ABOVE = 0.05
RELINEARIZE_EVERY = 10
"""A variable is linearised anew when it has moved by so much, looked at every so many updates."""


@dataclass(frozen=True)
class Step:
    """A step of the odometry: the poses at its ends, and how much path it drifted along."""

    before: tuple[Array, Array]
    after: tuple[Array, Array]
    path: float
    arc: float


class Space(Protocol):
    """What differs between the plane and space."""

    def pose(self, rotation: Array, position: Array) -> Any:
        """A pose of the library's."""

    def point(self, place: Array) -> Array:
        """A point of the library's."""

    def first_pose(self, key: int, pose: Any) -> Any:
        """Holds the first pose."""

    def odometry(self, key: int, step: Step, noise: Noise) -> Any:
        """Joins a pose to the one before."""

    def bearing(self, keys: tuple[int, int], azimuth: float, elevation: float) -> Any | None:
        """The angles of a sample; none when one that is needed is missing."""

    def read(self, values: Any, pose: int, point: int) -> tuple[Any, Array]:
        """A pose and a point among values."""

    def estimate(self, isam: Any, pose: int, point: int) -> tuple[Any, Array]:
        """The current estimate of a pose and a point."""

    def relative(self, pose: Any, point: Array) -> tuple[Array, Array, Array]:
        """The point as seen from the pose, and how that depends on each."""


class Volume:
    """Three dimensions."""

    def __init__(self, noise: Noise) -> None:
        self._noise = noise

    def pose(self, rotation: Array, position: Array) -> gtsam.Pose3:
        """A pose of the library's."""
        return gtsam.Pose3(gtsam.Rot3(rotation), position)

    def point(self, place: Array) -> Array:
        """A point of the library's."""
        return np.asarray(place, dtype=float)

    def first_pose(self, key: int, pose: gtsam.Pose3) -> Any:
        """Holds the first pose."""
        model = gtsam.noiseModel.Diagonal.Sigmas(_floors(3, 3))
        return gtsam.PriorFactorPose3(key, pose, model)

    def odometry(self, key: int, step: Step, noise: Noise) -> Any:
        """Joins a pose to the one before; yaw drifts about gravity."""
        before, after = self.pose(*step.before), self.pose(*step.after)
        up = step.after[0].T @ np.array([0.0, 0, 1])
        covariance = np.diag(_floors(3, 3) ** 2)
        covariance[:3, :3] += noise.yaw_drift**2 * step.arc * np.outer(up, up)
        covariance[3:, 3:] += noise.position_drift**2 * step.path * np.eye(3)
        model = gtsam.noiseModel.Gaussian.Covariance(covariance)
        return gtsam.BetweenFactorPose3(X(key - 1), X(key), before.between(after), model)

    def bearing(self, keys: tuple[int, int], azimuth: float, elevation: float) -> Any | None:
        """A direction; azimuth and elevation keep their own sigmas. None when one is missing."""
        if not np.isfinite([azimuth, elevation]).all():
            return None
        level, height = np.cos(elevation), np.sin(elevation)
        ahead, left = np.cos(azimuth), -np.sin(azimuth)
        direction = gtsam.Unit3(np.array([level * ahead, level * left, height]))
        across = np.array(
            [[level * left, -level * ahead, 0], [-height * ahead, -height * left, level]]
        )
        slopes = direction.basis().T @ across.T
        variances = np.diag([self._noise.azimuth**2, self._noise.elevation**2])
        # Straight above, azimuth says nothing; the floor keeps the covariance regular.
        covariance = slopes @ variances @ slopes.T + 1e-6 * np.eye(2)
        model = _robust(gtsam.noiseModel.Gaussian.Covariance(covariance))
        return gtsam.BearingFactor3D(*keys, direction, model)

    def read(self, values: gtsam.Values, pose: int, point: int) -> tuple[gtsam.Pose3, Array]:
        """A pose and a point among values."""
        return values.atPose3(pose), values.atPoint3(point)

    def estimate(self, isam: gtsam.ISAM2, pose: int, point: int) -> tuple[gtsam.Pose3, Array]:
        """The current estimate of a pose and a point."""
        return isam.calculateEstimatePose3(pose), isam.calculateEstimatePoint3(point)

    def relative(self, pose: gtsam.Pose3, point: Array) -> tuple[Array, Array, Array]:
        """The point as seen from the pose, and how that depends on each."""
        rotation = pose.rotation().matrix()
        vector = rotation.T @ (point - pose.translation())
        x, y, z = vector
        turning = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return vector, np.hstack([turning, -np.eye(3)]), rotation.T


class Plane:
    """Two dimensions."""

    def __init__(self, noise: Noise) -> None:
        self._noise = noise

    def pose(self, rotation: Array, position: Array) -> gtsam.Pose2:
        """A pose of the library's."""
        return gtsam.Pose2(position[0], position[1], np.arctan2(rotation[1, 0], rotation[0, 0]))

    def point(self, place: Array) -> Array:
        """A point of the library's."""
        return np.asarray(place[:2], dtype=float)

    def first_pose(self, key: int, pose: gtsam.Pose2) -> Any:
        """Holds the first pose."""
        model = gtsam.noiseModel.Diagonal.Sigmas(_floors(1, 2)[::-1])
        return gtsam.PriorFactorPose2(key, pose, model)

    def odometry(self, key: int, step: Step, noise: Noise) -> Any:
        """Joins a pose to the one before."""
        before, after = self.pose(*step.before), self.pose(*step.after)
        along = np.sqrt(POSITION_FLOOR**2 + noise.position_drift**2 * step.path)
        yaw = np.sqrt(ANGLE_FLOOR**2 + noise.yaw_drift**2 * step.arc)
        model = gtsam.noiseModel.Diagonal.Sigmas(np.array([along, along, yaw]))
        return gtsam.BetweenFactorPose2(X(key - 1), X(key), before.between(after), model)

    def bearing(self, keys: tuple[int, int], azimuth: float, elevation: float) -> Any | None:
        """A bearing; None when there is no azimuth."""
        if not np.isfinite(azimuth):
            return None
        model = _robust(gtsam.noiseModel.Isotropic.Sigma(1, self._noise.azimuth))
        return gtsam.BearingFactor2D(*keys, gtsam.Rot2(-azimuth), model)

    def read(self, values: gtsam.Values, pose: int, point: int) -> tuple[gtsam.Pose2, Array]:
        """A pose and a point among values."""
        return values.atPose2(pose), values.atPoint2(point)

    def estimate(self, isam: gtsam.ISAM2, pose: int, point: int) -> tuple[gtsam.Pose2, Array]:
        """The current estimate of a pose and a point."""
        return isam.calculateEstimatePose2(pose), isam.calculateEstimatePoint2(point)

    def relative(self, pose: gtsam.Pose2, point: Array) -> tuple[Array, Array, Array]:
        """The point as seen from the pose, and how that depends on each."""
        rotation = pose.rotation().matrix()
        vector = rotation.T @ (point - pose.translation())
        turning = np.array([[vector[1]], [-vector[0]]])
        return vector, np.hstack([-np.eye(2), turning]), rotation.T


def range_factor(space: Space, keys: tuple[int, int, int], measured: float, model: Any) -> Any:
    """A range from a pose to a point with a bias and a scale: the library's own know no scale."""
    pose_key, point_key, errors_key = keys

    def error(_: Any, values: gtsam.Values, jacobians: list[Array] | None) -> Array:
        pose, point = space.read(values, pose_key, point_key)
        vector, by_pose, by_point = space.relative(pose, point)
        distance = max(1e-6, float(np.linalg.norm(vector)))
        bias, scale = values.atVector(errors_key)
        if jacobians is not None:
            slope = (1 + scale) / distance * vector
            jacobians[0] = (slope @ by_pose)[None, :]
            jacobians[1] = (slope @ by_point)[None, :]
            jacobians[2] = np.array([[1.0, distance]])
        return np.array([(1 + scale) * distance + bias - measured])

    return gtsam.CustomFactor(model, list(keys), error)


def run_smoother(
    recording: Recording, starts: dict[int, Start], seconds: float = np.inf, stride: int = 1
) -> tuple[Estimates, float]:
    """Smooths a recording; gives the estimates and the microseconds of CPU time per sample.

    An estimate is of the moment after its sample. Of each peer's samples one in `stride` is used;
    others, and those not done after so many seconds of work, are without an estimate.
    """
    estimates = Estimates.none(len(recording.samples))
    smoother = Smoother(recording, starts)
    begin = time.process_time()
    done = 0
    for together in _samples_by_time(recording, starts, stride):
        if time.process_time() - begin > seconds:
            break
        smoother.add(together)
        for index in together:
            mean, covariance = smoother.relative(index)
            estimates.means[index], estimates.covariances[index] = mean, covariance
        done += len(together)
    return estimates, 1e6 * (time.process_time() - begin) / max(1, done)


def run_batch(
    recording: Recording, starts: dict[int, Start], stride: int = 1
) -> tuple[Estimates, float]:
    """The same as `run_smoother`, but all at once, by Levenberg's and Marquardt's method.

    Each estimate is from the whole recording, past and future.
    """
    estimates = Estimates.none(len(recording.samples))
    begin = time.process_time()
    graph = _Whole()
    smoother = Smoother(recording, starts, graph)
    times = list(_samples_by_time(recording, starts, stride))
    for together in times:
        smoother.add(together)
    graph.solve()
    for pose, together in enumerate(times):
        for index in together:
            estimates.means[index], estimates.covariances[index] = smoother.relative(index, pose)
    done = sum(len(together) for together in times)
    return estimates, 1e6 * (time.process_time() - begin) / max(1, done)


class _Whole:
    """All factors, solved in the end; until then an estimate is where it begins."""

    def __init__(self) -> None:
        self._graph, self._values = gtsam.NonlinearFactorGraph(), gtsam.Values()
        self._marginals: Any = None

    def update(self, graph: gtsam.NonlinearFactorGraph, values: gtsam.Values) -> None:
        """Adds factors, and where their new unknowns begin."""
        self._graph.push_back(graph)
        self._values.insert(values)

    def solve(self) -> None:
        """Finds the minimum, and the covariances there."""
        optimizer = gtsam.LevenbergMarquardtOptimizer(self._graph, self._values)
        self._values = optimizer.optimize()
        self._marginals = gtsam.Marginals(self._graph, self._values)

    def calculateEstimatePose2(self, key: int) -> gtsam.Pose2:  # noqa: N802
        """As of the library's incremental smoother."""
        return self._values.atPose2(key)

    def calculateEstimatePose3(self, key: int) -> gtsam.Pose3:  # noqa: N802
        """As of the library's incremental smoother."""
        return self._values.atPose3(key)

    def calculateEstimatePoint2(self, key: int) -> Array:  # noqa: N802
        """As of the library's incremental smoother."""
        return np.asarray(self._values.atPoint2(key))

    def calculateEstimatePoint3(self, key: int) -> Array:  # noqa: N802
        """As of the library's incremental smoother."""
        return np.asarray(self._values.atPoint3(key))

    def jointMarginalCovariance(self, keys: list[int]) -> Any:  # noqa: N802
        """As of the library's incremental smoother."""
        return self._marginals.jointMarginalCovariance(keys)


class Smoother:
    """The path so far and all peers met so far."""

    def __init__(
        self, recording: Recording, starts: dict[int, Start], graph: _Whole | None = None
    ) -> None:
        self._recording = recording
        self._starts = starts
        self._space: Space = (Plane if recording.is_planar else Volume)(recording.noise)
        self._range_model = _robust(gtsam.noiseModel.Isotropic.Sigma(1, recording.noise.range))
        parameters = gtsam.ISAM2Params()
        parameters.setRelinearizeThreshold(RELINEARIZE_ABOVE)
        parameters.relinearizeSkip = RELINEARIZE_EVERY
        self._isam = graph or gtsam.ISAM2(parameters)
        self._count = 0
        self._last = 0
        self._peers: set[int] = set()

    def add(self, together: list[int]) -> None:
        """Uses samples of one time."""
        graph, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
        pose = self._add_pose(together[0], graph, values)
        for index in together:
            peer = int(self._recording.samples.peers[index])
            if peer not in self._peers:
                self._add_peer(peer, pose, graph, values)
            self._add_measurements(index, peer, graph)
        self._isam.update(graph, values)
        self._last = together[0]
        self._count += 1

    def relative(self, index: int, pose_number: int | None = None) -> tuple[Array, Array]:
        """The peer of a sample as seen from a pose, and its covariance; from the newest pose if none."""
        number = self._count - 1 if pose_number is None else pose_number
        pose_key, point_key = X(number), L(int(self._recording.samples.peers[index]))
        pose, point = self._space.estimate(self._isam, pose_key, point_key)
        vector, by_pose, by_point = self._space.relative(pose, point)
        joint = self._isam.jointMarginalCovariance([pose_key, point_key])
        slopes = np.hstack([by_pose, by_point])
        both = np.block(
            [
                [joint.at(pose_key, pose_key), joint.at(pose_key, point_key)],
                [joint.at(point_key, pose_key), joint.at(point_key, point_key)],
            ]
        )
        mean, covariance = np.zeros(3), np.zeros((3, 3))
        size = len(vector)
        mean[:size], covariance[:size, :size] = vector, slopes @ both @ slopes.T
        return mean + self._recording.antenna, covariance

    def _antenna_pose(self, index: int) -> tuple[Array, Array]:
        odometry = self._recording.odometry
        rotation = odometry.rotations[index]
        return rotation, odometry.positions[index] + rotation @ self._recording.antenna

    def _add_pose(self, index: int, graph: Any, values: Any) -> Any:
        here = self._antenna_pose(index)
        if self._count == 0:
            pose = self._space.pose(*here)
            graph.add(self._space.first_pose(X(0), pose))
        else:
            before = self._antenna_pose(self._last)
            path = self._recording.path[index] - self._recording.path[self._last]
            arc = self._recording.arc[index] - self._recording.arc[self._last]
            step = Step(before, here, path, arc)
            graph.add(self._space.odometry(self._count, step, self._recording.noise))
            pose = self._newest_pose().compose(
                self._space.pose(*before).between(self._space.pose(*here))
            )
        values.insert(X(self._count), pose)
        return pose

    def _newest_pose(self) -> Any:
        return self._space.estimate(self._isam, X(self._count - 1), L(min(self._peers)))[0]

    def _add_peer(self, peer: int, pose: Any, graph: Any, values: Any) -> None:
        """A peer begins where it is told to be, as seen from the device."""
        start = self._starts[peer]
        seen = self._space.point(start.in_device - self._recording.antenna)
        place = pose.transformFrom(seen)
        model = gtsam.noiseModel.Isotropic.Sigma(len(place), SIGMA_METRES)
        prior = gtsam.PriorFactorPoint2 if len(place) == 2 else gtsam.PriorFactorPoint3
        graph.add(prior(L(peer), place, model))
        values.insert(L(peer), place)
        sigmas = gtsam.noiseModel.Diagonal.Sigmas(np.array([RANGE_BIAS_SIGMA, RANGE_SCALE_SIGMA]))
        graph.add(gtsam.PriorFactorVector(E(peer), np.zeros(2), sigmas))
        values.insert(E(peer), np.zeros(2))
        self._peers.add(peer)

    def _add_measurements(self, index: int, peer: int, graph: Any) -> None:
        samples = self._recording.samples
        pose = X(self._count)
        if np.isfinite(samples.ranges[index]):
            keys = (pose, L(peer), E(peer))
            measured = float(samples.ranges[index])
            graph.add(range_factor(self._space, keys, measured, self._range_model))
        bearing = self._space.bearing(
            (pose, L(peer)), float(samples.azimuths[index]), float(samples.elevations[index])
        )
        if bearing is not None:
            graph.add(bearing)


def _samples_by_time(
    recording: Recording, starts: dict[int, Start], stride: int
) -> Iterator[list[int]]:
    """The samples that are used, those of one time together."""
    seen = dict.fromkeys(starts, 0)
    together: list[int] = []
    for index, peer in enumerate(recording.samples.peers):
        if peer not in starts or index < starts[peer].sample or not recording.odometry.known[index]:
            continue
        seen[peer] += 1
        if (seen[peer] - 1) % stride:
            continue
        if together and recording.samples.times[together[0]] != recording.samples.times[index]:
            yield together
            together = []
        together.append(index)
    if together:
        yield together


def _robust(model: Any) -> Any:
    cauchy = gtsam.noiseModel.mEstimator.Cauchy.Create(CAUCHY_WIDTH)
    return gtsam.noiseModel.Robust.Create(cauchy, model)


def _floors(angles: int, positions: int) -> Array:
    return np.array([ANGLE_FLOOR] * angles + [POSITION_FLOOR] * positions)
