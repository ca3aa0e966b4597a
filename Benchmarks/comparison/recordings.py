# SPDX-License-Identifier: Apache-2.0
"""Reads a recording, and nothing of it that the comparison does not need."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path as FilePath

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

Array = NDArray[np.float64]

LONGEST_GAP = 2.0
"""Between two poses further apart than this nothing is interpolated, seconds."""

JITTER_METRES = 0.04
JITTER_RADIANS = 0.02
"""Steps below these are noise of the odometry and no path, as in the engine."""

TURN_RADIUS = 0.25
"""Turning on the spot lets yaw drift like moving on an arc of this radius, metres."""

_WORLD_FROM = {
    "z": np.eye(3),
    "y": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
}
_DEVICE_FROM = {
    "ros": np.eye(3),
    "arkit": np.array([[0.0, 0, -1], [-1, 0, 0], [0, 1, 0]]),
    "camera": np.array([[0.0, 0, 1], [-1, 0, 0], [0, -1, 0]]),
}


@dataclass(frozen=True)
class Frames:
    """Takes the recording's coordinates to this package's."""

    world: Array
    device: Array

    @staticmethod
    def named(up: str, axes: str) -> Frames:
        """The frames of a recording, by the words in its `recording.json`."""
        return Frames(_WORLD_FROM[up], _DEVICE_FROM[axes])


@dataclass(frozen=True)
class Poses:
    """Poses of the device, world from device, one a row; not a number where there is none."""

    rotations: Array
    positions: Array

    @property
    def known(self) -> NDArray[np.bool_]:
        """Where there is a pose."""
        return np.asarray(np.isfinite(self.positions).all(axis=1))

    def in_device(self, points: Array) -> Array:
        """World points as seen from the device, point by pose."""
        return np.einsum("nji,nj->ni", self.rotations, points - self.positions)


@dataclass(frozen=True)
class Trajectory:
    """A path of the device through a world."""

    times: Array
    poses: Poses

    def at(self, times: Array) -> Poses:
        """The poses at other times: straight in position, shorter arc in attitude.

        There is none before the first pose, after the last, and in gaps of more than two seconds.
        """
        inside = np.clip(times, self.times[0], self.times[-1])
        after = np.clip(np.searchsorted(self.times, inside), 1, len(self.times) - 1)
        gap = self.times[after] - self.times[after - 1]
        known = (times == inside) & ((gap <= LONGEST_GAP) | np.isin(times, self.times))
        positions = np.stack(
            [np.interp(inside, self.times, axis) for axis in self.poses.positions.T], axis=1
        )
        positions[~known] = np.nan
        turns = Slerp(self.times, Rotation.from_matrix(self.poses.rotations))
        return Poses(turns(inside).as_matrix(), positions)

    def path_lengths(self) -> tuple[Array, Array]:
        """The lengths along which position and yaw have drifted at each pose, metres."""
        positions, rotations = self.poses.positions, self.poses.rotations
        path, arc = np.zeros(len(self.times)), np.zeros(len(self.times))
        anchor = 0
        for index in range(1, len(self.times)):
            step = float(np.linalg.norm(positions[index] - positions[anchor]))
            cosine = (np.sum(rotations[index] * rotations[anchor]) - 1) / 2
            turn = float(np.arccos(np.clip(cosine, -1, 1)))
            path[index], arc[index] = path[index - 1], arc[index - 1]
            if step > JITTER_METRES or turn > JITTER_RADIANS:
                path[index] += step
                arc[index] += step + TURN_RADIUS * turn
                anchor = index
        return path, arc


@dataclass(frozen=True)
class Noise:
    """What a recording says of its sensors: one sigma, metres and radians."""

    range: float
    azimuth: float
    elevation: float
    position_drift: float
    """Metres per square root of a metre travelled."""
    yaw_drift: float
    """Radians per square root of a metre travelled."""


@dataclass(frozen=True)
class Samples:
    """The rows of `ranging.csv` in time order; what was not measured is not a number."""

    times: Array
    peers: NDArray[np.int64]
    """Places in the recording's list of peers."""
    ranges: Array
    azimuths: Array
    """Positive to the right, as everywhere in this project."""
    elevations: Array

    def __len__(self) -> int:
        return len(self.times)


@dataclass(frozen=True)
class Recording:
    """A recording, with the device's pose at every sample."""

    folder: FilePath
    name: str
    frames: Frames
    is_planar: bool
    antenna: Array
    """In device axes, metres."""
    noise: Noise
    peer_names: list[str]
    samples: Samples
    trajectory: Trajectory
    odometry: Poses
    """The device at each sample, as the odometry has it."""
    path: Array
    """How far position has drifted at each sample, metres of path."""
    arc: Array
    """The same for yaw, metres of path."""
    truth: Poses
    """The device at each sample, in the world of the truth."""
    true_peers: Array
    """The peer of each sample, in the world of the truth."""


def read_recording(folder: FilePath) -> Recording:
    """Reads a recording that holds the truth."""
    manifest = json.loads((folder / "recording.json").read_text())
    frames = Frames.named(
        manifest.get("world", {}).get("up", "y"), manifest.get("device", {}).get("axes", "arkit")
    )
    samples, names = _read_samples(folder / "ranging.csv")
    trajectory = read_trajectory(folder / "trajectory.txt", frames)
    path, arc = trajectory.path_lengths()
    return Recording(
        folder=folder,
        name=manifest["name"],
        frames=frames,
        is_planar=manifest.get("trajectory", {}).get("planar", False),
        antenna=frames.device @ np.array(manifest.get("device", {}).get("antenna", [0.0, 0, 0])),
        noise=_noise(manifest),
        peer_names=names,
        samples=samples,
        trajectory=trajectory,
        odometry=trajectory.at(samples.times),
        path=np.interp(samples.times, trajectory.times, path),
        arc=np.interp(samples.times, trajectory.times, arc),
        truth=read_trajectory(folder / "truth/trajectory.txt", frames).at(samples.times),
        true_peers=_read_true_peers(folder / "truth/peers.csv", frames, samples, names),
    )


def read_trajectory(file: FilePath, frames: Frames) -> Trajectory:
    """Reads a trajectory in the TUM format; of poses with one time the first counts."""
    rows = np.loadtxt(file, comments="#", ndmin=2)
    rows = rows[np.concatenate([[True], np.diff(rows[:, 0]) > 0])]
    rotations = Rotation.from_quat(rows[:, 4:8]).as_matrix()
    return Trajectory(
        rows[:, 0],
        Poses(frames.world @ rotations @ frames.device.T, rows[:, 1:4] @ frames.world.T),
    )


def _noise(manifest: dict) -> Noise:
    ranging, odometry = manifest.get("ranging", {}), manifest.get("trajectory", {})
    return Noise(
        range=ranging.get("rangeSigma", 0.10),
        azimuth=np.deg2rad(ranging.get("azimuthSigmaDegrees", 3.5)),
        elevation=np.deg2rad(ranging.get("elevationSigmaDegrees", 5.0)),
        position_drift=odometry.get("positionDrift", 0.01),
        yaw_drift=np.deg2rad(odometry.get("yawDriftDegrees", 0.3)),
    )


def _read_samples(file: FilePath) -> tuple[Samples, list[str]]:
    with file.open(newline="") as lines:
        rows = sorted(csv.DictReader(lines), key=lambda row: float(row["timestamp"]))
    names = sorted({row["peer"] for row in rows})

    def column(name: str) -> Array:
        return np.array([float(row.get(name) or "nan") for row in rows])

    peers = np.array([names.index(row["peer"]) for row in rows])
    samples = Samples(
        column("timestamp"), peers, column("distance"), column("azimuth"), column("elevation")
    )
    return samples, names


def _read_true_peers(file: FilePath, frames: Frames, samples: Samples, names: list[str]) -> Array:
    positions = np.full((len(samples), 3), np.nan)
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    for index, name in enumerate(names):
        own = [row for row in rows if row["peer"] == name]
        if len(own) > 1:
            raise ValueError(f"{file}: {name} moves; this comparison knows peers at rest only")
        if own:
            place = np.array([float(own[0][axis]) for axis in "xyz"])
            positions[samples.peers == index] = frames.world @ place
    return positions
