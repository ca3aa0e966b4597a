# SPDX-License-Identifier: Apache-2.0
"""Where a method that cannot find a peer by itself is told that the peer is.

The engine starts from nothing. The others need a position, and get one that only the truth could
give: the true one, a metre off. A wrong start is the mirror image of it, which the first part of a
path cannot tell from the right one.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .recordings import Array, Recording

StartKind = Literal["fair", "mirrored"]

OFFSET_METRES = 1.0
"""How far a start is off."""
SIGMA_METRES = 1.0
"""What a start claims of itself, one sigma for each axis."""
CHORD_METRES = 1.0
"""The direction of the path is taken between its beginning and its first pose so far away."""
LEVEL_METRES = 0.5
"""A peer higher or lower than the device by less than this is no different in the mirror."""


@dataclass(frozen=True)
class Start:
    """A position to begin with."""

    sample: int
    """The peer's first sample, with which to begin."""
    in_world: Array
    """The peer in the odometry's world, metres."""
    in_device: Array
    """The same as seen from the device at that sample."""


def starts(recording: Recording, kind: StartKind) -> dict[int, Start]:
    """The starts of all peers of a recording, by their places in its list of peers."""
    relative = recording.truth.in_device(recording.true_peers)
    known = np.isfinite(relative).all(axis=1) & recording.odometry.known
    found = {}
    for peer, name in enumerate(recording.peer_names):
        samples = np.flatnonzero(known & (recording.samples.peers == peer))
        if len(samples) == 0:
            continue
        first = int(samples[0])
        rotation, device = (
            recording.odometry.rotations[first],
            recording.odometry.positions[first],
        )
        place = device + rotation @ relative[first] + _offset(name, recording.is_planar)
        if kind == "mirrored":
            place = mirrored(recording, place, device)
        found[peer] = Start(first, place, rotation.T @ (place - device))
    return found


def mirrored(recording: Recording, place: Array, device: Array) -> Array:
    """The mirror image of a place in the odometry's world.

    In space it is that in height, when the peer is not level with the device; else, and in planar
    recordings, that in the vertical plane through the beginning of the path.
    """
    if not recording.is_planar and abs(place[2] - device[2]) > LEVEL_METRES:
        return np.array([place[0], place[1], 2 * device[2] - place[2]])
    normal = _normal_of_first_chord(recording.trajectory.poses.positions)
    beginning = recording.trajectory.poses.positions[0]
    return place - 2 * normal * (normal @ (place - beginning))


def _normal_of_first_chord(positions: Array) -> Array:
    chords = (positions - positions[0])[:, :2]
    lengths = np.linalg.norm(chords, axis=1)
    far = np.flatnonzero(lengths > CHORD_METRES)
    end = far[0] if len(far) else int(np.argmax(lengths))
    chord = chords[end] / lengths[end]
    return np.array([-chord[1], chord[0], 0.0])


def _offset(name: str, is_planar: bool) -> Array:
    """A vector of fixed length in a direction that depends on nothing but the peer's name."""
    direction = np.random.default_rng(zlib.crc32(name.encode())).normal(size=3)
    if is_planar:
        direction[2] = 0
    return OFFSET_METRES * direction / np.linalg.norm(direction)
