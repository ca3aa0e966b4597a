# SPDX-License-Identifier: Apache-2.0
"""A recording without noise, made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from comparison.recordings import Frames, Noise, Poses, Recording, Samples, Trajectory

PEER = np.array([6.0, 4.0, 1.5])
"""The peer in the odometry's world."""


def walk(is_planar: bool = False, count: int = 200) -> Recording:
    """A device that walks a wide curve and measures everything exactly."""
    times = np.linspace(0, 20, count)
    height = np.zeros(count) if is_planar else 0.5 * np.sin(times)
    positions = np.stack([0.5 * times, 2 * np.sin(0.4 * times), height], axis=1)
    tilt = np.zeros(count) if is_planar else 0.2 * np.sin(times)
    rotations = Rotation.from_euler("ZY", np.stack([0.3 * times, tilt], axis=1)).as_matrix()
    poses = Poses(rotations, positions)
    trajectory = Trajectory(times, poses)
    place = PEER * [1, 1, 0] if is_planar else PEER
    antenna = np.array([0.4, 0.2, 0.0 if is_planar else 0.1])
    vectors = poses.in_device(np.tile(place, (count, 1))) - antenna
    distances = np.linalg.norm(vectors, axis=1)
    truth, true_place = _in_another_world(poses, place)
    path, arc = trajectory.path_lengths()
    return Recording(
        folder=Path("nowhere"),
        name="walk",
        frames=Frames.named("z", "ros"),
        is_planar=is_planar,
        antenna=antenna,
        noise=Noise(0.1, np.deg2rad(3.5), np.deg2rad(5), 0.01, np.deg2rad(0.3)),
        peer_names=["peer"],
        samples=Samples(
            times,
            np.zeros(count, dtype=np.int64),
            distances,
            np.arctan2(-vectors[:, 1], vectors[:, 0]),
            np.full(count, np.nan) if is_planar else np.arcsin(vectors[:, 2] / distances),
        ),
        trajectory=trajectory,
        odometry=poses,
        path=path,
        arc=arc,
        truth=truth,
        true_peers=np.tile(true_place, (count, 1)),
    )


def ranges_only(recording: Recording) -> Recording:
    """The same recording by a radio that measures no angles."""
    nothing = np.full(len(recording.samples), np.nan)
    samples = replace(recording.samples, azimuths=nothing, elevations=nothing)
    return replace(recording, samples=samples)


def _in_another_world(poses: Poses, place: np.ndarray) -> tuple[Poses, np.ndarray]:
    """The same as seen from a world that shares nothing but gravity."""
    turn = Rotation.from_euler("z", 1.1).as_matrix()
    shift = np.array([3.0, -2.0, 0.7])
    return Poses(turn @ poses.rotations, poses.positions @ turn.T + shift), turn @ place + shift
