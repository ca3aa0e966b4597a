# SPDX-License-Identifier: Apache-2.0
"""The engine and the smoother."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from nearby import _core, _inputs
from nearby._errors import ArgumentError
from nearby._table import Estimates

Up = Literal["y", "z"]
Axes = Literal["arkit", "ros", "camera"]
Motion = Literal["stationary", "moving", "unknown"]
Peers = Sequence[str] | Mapping[str, Motion]
Configuration = Mapping[str, Any] | str | Path

_UPS: tuple[Up, ...] = ("y", "z")
_AXES: tuple[Axes, ...] = ("arkit", "ros", "camera")
_MOTIONS = ("stationary", "moving", "unknown")


def run(
    poses: Any,
    samples: Any,
    config: Configuration | None = None,
    *,
    tracking: Any = None,
    peers: Peers | None = None,
    up: Up = "y",
    axes: Axes = "arkit",
) -> Estimates:
    """Runs the engine over poses and samples, as if they were live.

    Args:
        poses: An array of shape (N, 8), float64: seconds, x, y, z (metres), qx, qy, qz, qw (the device's
            attitude in the world, any length but zero); or a table (a dict of arrays, a structured array,
            pandas, polars, pyarrow) with `timestamp` (seconds) or `time_ns`, `x`, `y`, `z`, `qx`, `qy`,
            `qz`, `qw`. In time order. Columns are read where they lie.
        samples: An array of shape (M, 2): seconds, distance; of shape (M, 3): seconds, peer, distance; of
            shape (M, 5): seconds, peer, distance, azimuth, elevation; or a table with `timestamp` or
            `time_ns` and any of `peer` (names, or numbers such as radio addresses), `distance`, `azimuth`,
            `elevation`, `height_difference`, each also with `_sigma`, and `nlos` (bool). Metres and radians;
            NaN was not measured. In the order of arrival, up to a second late.
        config: Settings that differ from the defaults: a dict, JSON text, or the path of a JSON file, with
            the keys of `configuration()`.
        tracking: A table with `timestamp` or `time_ns`, `state` (normal, limited, notAvailable), `reason`
            and `ambient_intensity` (lumens); None for normal all the time.
        peers: The names of the peers, or a dict from names to `stationary`, `moving` or `unknown`. None for
            those that the samples name, all stationary.
        up: The axis of the world that points up.
        axes: The device's axes.

    Returns:
        A table with a row for each sample and the state after it.

    Raises:
        ArgumentError, ConfigurationError, UnknownPeerError
    """
    names = list(peers) if peers is not None else None
    sample_columns, names = _inputs.samples(samples, names)
    engine = Engine(config, up=up, axes=axes)
    for name in names:
        engine.add_peer(name, peers[name] if isinstance(peers, Mapping) else "stationary")
    return engine._estimates(_inputs.poses(poses), sample_columns, _inputs.tracking(tracking))


def smooth(
    poses: Any,
    samples: Any,
    config: Configuration | None = None,
    *,
    tracking: Any = None,
    peers: Peers | None = None,
    up: Up = "y",
    axes: Axes = "arkit",
) -> Estimates:
    """Estimates from all samples together, past and future; the arguments are those of `run`.

    Returns:
        A table with a row for each sample and the columns of `smoothed.csv`: the mean and covariance of the
        peer's position in the odometry's world as it was then (m, m²), distance, direction, horizontal
        angle, and the probability of the mode.
    """
    names = list(peers) if peers is not None else None
    sample_columns, names = _inputs.samples(samples, names)
    smoother = _core.Smoother(_json(config), _number(up, _UPS, "up"), _number(axes, _AXES, "axes"))
    for name in names:
        motion = peers[name] if isinstance(peers, Mapping) else "stationary"
        smoother.add_peer(name, _number(motion, _MOTIONS, "motion"))
    counts = smoother.add(_inputs.poses(poses), sample_columns, _inputs.tracking(tracking))
    return Estimates(smoother.solve(), counts, up=up)


def configuration(config: Configuration | None = None) -> dict[str, Any]:
    """All settings, after some were changed.

    Args:
        config: Settings that differ from the defaults: a dict, JSON text, or the path of a JSON file.

    Raises:
        ConfigurationError: With the line and column of the first fault.
    """
    return dict(json.loads(_core.configuration(_json(config))))


class Engine(_core.Engine):
    """An engine that takes one pose or sample at a time.

    Args:
        config: Settings that differ from the defaults, as for `run`.
        up: The axis of the world that points up.
        axes: The device's axes.

    Calls of several threads on one engine wait for each other.
    """

    def __init__(self, config: Configuration | None = None, *, up: Up = "y", axes: Axes = "arkit") -> None:
        super().__init__(_json(config), _number(up, _UPS, "up"), _number(axes, _AXES, "axes"))
        self._up: str = up

    def add_peer(self, name: str | None = None, motion: Motion = "stationary") -> int:
        """Adds a peer; samples of it may follow.

        Args:
            name: Its name in tables; its number when None.
            motion: How it may move; of an `unknown` one the engine finds out.

        Returns:
            Its number: 0, 1, 2 and so on.
        """
        return self._add_peer(name, _number(motion, _MOTIONS, "motion"))

    def set_motion(self, peer: int, motion: Motion) -> None:
        """Changes how a peer may move, with the peer's next sample; all that is known of it stays.

        Args:
            peer: The peer's number.
            motion: How it may move from now on.
        """
        self._set_motion(peer, _number(motion, _MOTIONS, "motion"))

    def add_tracking(
        self,
        time: float,
        state: Literal["normal", "limited", "notAvailable"],
        reason: str | None = None,
        ambient_intensity: float = math.nan,
    ) -> None:
        """Takes note of the odometry's quality and the light, from the next pose on.

        Args:
            time: Seconds as a float or nanoseconds as an int.
            state: How well it tracks.
            reason: Why tracking is limited: `initializing`, `relocalizing`, `excessiveMotion` or
                `insufficientFeatures`.
            ambient_intensity: Lumens; 1000 is a well lit room.
        """
        self._add_tracking(time, _inputs.state(state, reason), ambient_intensity)

    def estimate(self, peer: int, time: float | None = None) -> _core.Estimate:
        """What is known of a peer.

        Args:
            peer: The peer's number.
            time: A moment after its last sample; None for that of its newest sample.
        """
        return self._estimate(peer) if time is None else self._estimate_at(peer, time)

    def run(self, poses: Any, samples: Any, *, tracking: Any = None) -> Estimates:
        """Adds many poses and samples at once, as `nearby.run` takes them.

        Peers must have been added; samples name them, or give their numbers from 0 where these are no names.
        The estimates are those of the calls one by one. Ctrl-C ends a run; the engine has then taken what
        came before.
        """
        columns, _ = _inputs.samples(samples, self.peers)
        return self._estimates(_inputs.poses(poses), columns, _inputs.tracking(tracking))

    def _estimates(
        self, poses: _inputs.Columns, samples: _inputs.Columns, tracking: _inputs.Columns
    ) -> Estimates:
        columns, counts = self._run(poses, samples, tracking)
        return Estimates(columns, counts, up=self._up)

    @property
    def peers(self) -> list[str]:
        """The names of the peers, by their numbers."""
        columns, _ = self._run({}, {}, {})
        return list(columns.words("peer") or [])

    def copy(self) -> Engine:
        """An engine that has seen the same and goes its own way from here."""
        copy = Engine.__new__(Engine)
        _core.Engine.__init__(copy, self)
        copy._up = self._up
        return copy


def _number(word: str, words: tuple[Any, ...], name: str) -> int:
    if word not in words:
        raise ArgumentError(f"{name} is {word!r}; it can be {', '.join(words)}")
    return words.index(word)


def _json(config: Configuration | None) -> str | None:
    if config is None:
        return None
    if isinstance(config, Mapping):
        return json.dumps(config)
    if isinstance(config, Path) or not config.lstrip().startswith(("{", "[")):
        return Path(config).read_text(encoding="utf-8")
    return config
