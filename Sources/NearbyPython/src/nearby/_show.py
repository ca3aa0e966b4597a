# SPDX-License-Identifier: Apache-2.0
"""Results in Rerun: paths, peers with their ellipsoids, numbers over time."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nearby._recording import Recording, read_recording
from nearby._table import Estimates

if TYPE_CHECKING:
    import rerun

Array = NDArray[np.float64]

SIGMAS = (1.0, 3.4)
"""The ellipsoids that are drawn, in standard deviations; 3.4 is the bound of a false convergence."""

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442")
"""Okabe and Ito's colours, one for each peer."""

_NUMBERS = ("distance", "distance_sigma", "horizontal_angle", "nis", "hypotheses")
_PATHS = {"raw": "#5b636d", "corrected": "#0072b2", "smoothed": "#009e73", "true": "#1d2126"}
_LONGEST_CLOCK = 1e8
"""Times beyond this, seconds, are dates; others count from the start of something."""


def show(
    result: Estimates | str | os.PathLike[str],
    recording: Recording | str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    spawn: bool = True,
    save: str | os.PathLike[str] | None = None,
) -> rerun.RecordingStream:
    """Shows a result in Rerun: the device's paths, the peers with ellipsoids, numbers over time, events.

    Needs `rerun-sdk`: `pip install rerun-sdk`. Positions are in the recording's own world, times are its own.

    Args:
        result: The folder that `nearby run` wrote, or what `run` has returned.
        recording: The recording of the result; None for the one that a folder's summary names. A table needs
            it for the device's path and for errors.
        name: The name of the recording in Rerun; by default that of the folder.
        spawn: Whether a viewer is opened.
        save: A file to write instead, `.rrd`; no viewer is opened.

    Returns:
        Rerun's stream, to which more can be logged.

    Raises:
        ImportError: When Rerun is not installed.
        FileNotFoundError: When the folder has no `estimates.csv`.
    """
    try:
        import rerun as rr
    except ImportError as error:
        raise ImportError(
            "nearby.show needs Rerun; install it with: pip install rerun-sdk "
            '(or: pip install "nearby-fusion[show]")'
        ) from error

    columns, folder = _columns(result)
    opened = _recording(recording, folder)
    up = opened.up if opened else getattr(result, "_up", "y")
    stream = rr.RecordingStream(f"nearby-{name or (folder.name if folder else 'result')}")
    peers = list(dict.fromkeys(columns["peer"]))
    stream.send_blueprint(_blueprint(peers))
    if save is not None:
        stream.save(os.fspath(save))
    elif spawn:
        stream.spawn()

    stream.log("world", _upright(up), static=True)
    truth = _Truth(opened) if opened else None
    if opened:
        _log_device(stream, opened, folder, truth)
    modes = _read(folder / "modes.csv") if folder and (folder / "modes.csv").exists() else None
    for index, peer in enumerate(peers):
        colour = PALETTE[index % len(PALETTE)]
        own = _of_peer(columns, peer)
        _log_peer(stream, str(peer), colour, own, truth)
        if modes and (modes["peer"] == peer).any():
            _log_modes(stream, str(peer), colour, own["timestamp"], _of_peer(modes, peer))
    _log_events(stream, columns)
    stream.flush()
    return stream


# What there is


def _columns(
    result: Estimates | str | os.PathLike[str],
) -> tuple[dict[str, NDArray[Any]], Path | None]:
    """The columns of the estimates, and the folder that they are in."""
    if isinstance(result, Estimates):
        return {key: result[key] for key in result.columns}, None
    folder = Path(result)
    return _read(folder / "estimates.csv"), folder


def _read(path: Path) -> dict[str, NDArray[Any]]:
    """The columns of a table of a result."""
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    columns: dict[str, NDArray[Any]] = {}
    for index, key in enumerate(header):
        words = [row[index] for row in rows]
        if key in ("peer", "status", "reasons", "vertical", "used"):
            columns[key] = np.array(words, dtype=object)
        else:
            columns[key] = np.array([float(word) if word else math.nan for word in words])
    return columns


def _recording(recording: Recording | str | os.PathLike[str] | None, folder: Path | None) -> Recording | None:
    if isinstance(recording, Recording):
        return recording
    path = recording
    if path is None and folder is not None:
        path = json.loads((folder / "summary.json").read_text(encoding="utf-8")).get("recording")
    return None if path is None else read_recording(path)


def _of_peer(columns: Mapping[str, NDArray[Any]], peer: object) -> dict[str, NDArray[Any]]:
    """The rows of a peer."""
    rows = columns["peer"] == peer
    return {key: column[rows] for key, column in columns.items()}


def _poses(table: Mapping[str, NDArray[Any]]) -> tuple[Array, Array, Array]:
    """Times, positions of shape (N, 3), and quaternions of shape (N, 4), the scalar last."""
    place = np.stack([table[key] for key in ("x", "y", "z")], axis=1)
    turn = np.stack([table[key] for key in ("qx", "qy", "qz", "qw")], axis=1)
    return np.asarray(table["timestamp"]), place, turn


class _Truth:
    """The truth of a recording, brought to the world of its odometry."""

    def __init__(self, recording: Recording) -> None:
        def table(source: Any) -> dict[str, NDArray[Any]]:
            return {key: source[key] for key in source.columns}

        self.odometry = _poses(table(recording.poses))
        self.poses = _poses(table(recording.true_poses)) if len(recording.true_poses) else None
        self.peers = table(recording.true_peers) if len(recording.true_peers) else None
        # The horizontal axes, so that a turn from the first to the second is one about what points up.
        self.level = (2, 0) if recording.up == "y" else (0, 1)

    def path(self, onto: tuple[Array, Array]) -> Array | None:
        """The true path turned about gravity and shifted onto another one, shape (N, 3)."""
        if self.poses is None:
            return None
        time, place = onto
        known = (time >= self.poses[0][0]) & (time <= self.poses[0][-1])
        if not known.any():
            return None
        true = _at(time[known], self.poses[0], self.poses[1])
        (a, b), other = self.level, place[known]
        p, q = true - true.mean(axis=0), other - other.mean(axis=0)
        angle = math.atan2(
            float((p[:, a] * q[:, b] - p[:, b] * q[:, a]).sum()),
            float((p[:, a] * q[:, a] + p[:, b] * q[:, b]).sum()),
        )
        turn = np.eye(3)
        turn[[a, b], [a, b]] = math.cos(angle)
        turn[a, b], turn[b, a] = -math.sin(angle), math.sin(angle)
        moved: Array = (self.poses[1] - true.mean(axis=0)) @ turn.T + other.mean(axis=0)
        return moved

    def places(self, peer: str, time: Array) -> Array | None:
        """Where a peer is in the odometry's world, through the device's two poses; NaN where not known."""
        if self.poses is None or self.peers is None:
            return None
        own = self.peers["peer"] == peer
        if not own.any():
            return None
        true = np.stack([self.peers[key][own] for key in ("x", "y", "z")], axis=1)
        place = _at(time, np.asarray(self.peers["timestamp"][own]), true)
        in_device = np.einsum(
            "nji,nj->ni",
            _matrices(_turns_at(time, self.poses[0], self.poses[2])),
            place - _at(time, *self.poses[:2]),
        )
        turned = np.einsum(
            "nij,nj->ni", _matrices(_turns_at(time, self.odometry[0], self.odometry[2])), in_device
        )
        moved: Array = turned + _at(time, *self.odometry[:2])
        return moved


# Numbers


def _at(time: Array, times: Array, values: Array) -> Array:
    """Values interpolated at times."""
    return np.stack([np.interp(time, times, column) for column in values.T], axis=1)


def _turns_at(time: Array, times: Array, turns: Array) -> Array:
    """Quaternions interpolated at times; poses are close enough for straight lines."""
    signs = np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0, -1.0, 1.0)
    between = _at(time, times, turns * np.cumprod([1.0, *signs])[:, None])
    turned: Array = between / np.linalg.norm(between, axis=1, keepdims=True)
    return turned


def _matrices(turns: Array) -> Array:
    """Rotation matrices of shape (N, 3, 3) of quaternions, the scalar last."""
    x, y, z, w = turns.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def _ellipsoids(covariances: Array) -> tuple[Array, Array]:
    """The half axes of one sigma, shape (N, 3), and the quaternions of the axes, shape (N, 4)."""
    variances, axes = np.linalg.eigh(covariances)
    # Eigenvectors have no sign, but a rotation takes a right-handed frame.
    axes[:, :, 0] *= np.sign(np.linalg.det(axes))[:, None]
    # The quaternion is the eigenvector of the largest eigenvalue (Bar-Itzhack, 2000).
    r = axes
    k = np.empty((len(r), 4, 4))
    k[:, 0, 0] = r[:, 0, 0] - r[:, 1, 1] - r[:, 2, 2]
    k[:, 1, 1] = r[:, 1, 1] - r[:, 0, 0] - r[:, 2, 2]
    k[:, 2, 2] = r[:, 2, 2] - r[:, 0, 0] - r[:, 1, 1]
    k[:, 3, 3] = r[:, 0, 0] + r[:, 1, 1] + r[:, 2, 2]
    for a, b, value in [
        (0, 1, r[:, 0, 1] + r[:, 1, 0]),
        (0, 2, r[:, 0, 2] + r[:, 2, 0]),
        (1, 2, r[:, 1, 2] + r[:, 2, 1]),
        (0, 3, r[:, 2, 1] - r[:, 1, 2]),
        (1, 3, r[:, 0, 2] - r[:, 2, 0]),
        (2, 3, r[:, 1, 0] - r[:, 0, 1]),
    ]:
        k[:, a, b] = k[:, b, a] = value
    turns: Array = np.linalg.eigh(k)[1][:, :, 3]
    # A millimetre at least, so that the ellipsoid of a plane is seen, too.
    return np.maximum(np.sqrt(np.maximum(variances, 0)), 5e-4), turns


def _moments(rows: Mapping[str, NDArray[Any]]) -> tuple[Array, Array]:
    """The means, shape (N, 3), and the covariances, shape (N, 3, 3), of the columns of a table."""
    mean = np.stack([np.asarray(rows[f"mean_{key}"], dtype=float) for key in "xyz"], axis=1)
    entries = {
        key: np.asarray(rows[f"cov_{key}"], dtype=float) for key in ("xx", "xy", "xz", "yy", "yz", "zz")
    }
    square = np.array([[entries["".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])
    return mean, np.moveaxis(square, 2, 0)


# What is logged


def _upright(up: str) -> Any:
    import rerun as rr

    return rr.ViewCoordinates.RIGHT_HAND_Y_UP if up == "y" else rr.ViewCoordinates.RIGHT_HAND_Z_UP


def _times(time: Array) -> list[rerun.TimeColumn]:
    import rerun as rr

    is_date = len(time) > 0 and float(np.max(np.abs(time))) > _LONGEST_CLOCK
    return [rr.TimeColumn("time", timestamp=time) if is_date else rr.TimeColumn("time", duration=time)]


def _colour(text: str, opacity: float = 1.0) -> list[int]:
    return [*(int(text[at : at + 2], 16) for at in (1, 3, 5)), round(255 * opacity)]


def _log_device(
    stream: rerun.RecordingStream, recording: Recording, folder: Path | None, truth: _Truth | None
) -> None:
    import rerun as rr

    time, place, turn = truth.odometry if truth else _poses(recording.poses)  # type: ignore[arg-type]
    columns = [*rr.Transform3D.columns(translation=place, quaternion=turn)]
    stream.send_columns("world/device", _times(time), columns)
    stream.log("world/device", rr.TransformAxes3D(0.5), static=True)
    paths = {"raw": (time, place)}
    for kind in ("corrected", "smoothed"):
        file = folder / f"trajectory-{kind}.txt" if folder else None
        if file and file.exists():
            read = np.loadtxt(file, ndmin=2)
            paths[kind] = (read[:, 0], read[:, 1:4])
    strips = {kind: path for kind, (_, path) in paths.items()}
    true = truth.path(paths.get("corrected", paths["raw"])) if truth else None
    if true is not None:
        strips["true"] = true
    for kind, strip in strips.items():
        stream.log(
            f"world/path/{kind}", rr.LineStrips3D([strip], colors=[_colour(_PATHS[kind])]), static=True
        )


def _log_peer(
    stream: rerun.RecordingStream,
    peer: str,
    colour: str,
    rows: Mapping[str, NDArray[Any]],
    truth: _Truth | None,
) -> None:
    import rerun as rr

    part = rr.escape_entity_path_part(peer)
    time = np.asarray(rows["timestamp"], dtype=float)
    mean, covariance = _moments(rows)
    known = np.isfinite(mean).all(axis=1) & np.isfinite(covariance).all(axis=(1, 2))
    if known.any():
        half, turns = _ellipsoids(covariance[known])
        count = len(SIGMAS)
        stream.log(
            f"world/peers/{part}",
            rr.Ellipsoids3D.from_fields(
                colors=[_colour(colour, 0.8 / sigma) for sigma in SIGMAS],
                labels=[peer, ""],
                show_labels=True,
            ),
            static=True,
        )
        columns = rr.Ellipsoids3D.columns(
            centers=np.repeat(mean[known], count, axis=0),
            half_sizes=np.concatenate([half * sigma for sigma in SIGMAS], axis=1).reshape(-1, 3),
            quaternions=np.repeat(turns, count, axis=0),
        ).partition(lengths=[count] * int(known.sum()))
        stream.send_columns(f"world/peers/{part}", _times(time[known]), columns)
    numbers = {key: np.asarray(rows[key], dtype=float) for key in _NUMBERS if key in rows}
    numbers["sigma"] = np.sqrt(np.maximum(np.trace(covariance, axis1=1, axis2=2), 0))
    true = truth.places(peer, time) if truth else None
    if true is not None:
        numbers["error"] = np.linalg.norm(mean - true, axis=1)
        stream.send_columns(
            f"world/truth/{part}",
            _times(time),
            rr.Points3D.columns(positions=true),
        )
        stream.log(
            f"world/truth/{part}",
            rr.Points3D.from_fields(colors=[_colour(colour)], radii=[0.06]),
            static=True,
        )
    for key, values in numbers.items():
        finite = np.isfinite(values)
        if not finite.any():
            continue
        stream.send_columns(
            f"numbers/{key}/{part}", _times(time[finite]), rr.Scalars.columns(scalars=values[finite])
        )
        stream.log(
            f"numbers/{key}/{part}", rr.SeriesLines(names=[peer], colors=[_colour(colour)]), static=True
        )


def _log_modes(
    stream: rerun.RecordingStream, peer: str, colour: str, times: Array, modes: Mapping[str, NDArray[Any]]
) -> None:
    """An ellipsoid of one sigma for each mode, and none after samples that leave one."""
    import rerun as rr

    stamps, counts = np.unique(modes["timestamp"], return_counts=True)
    # A peer has one sample at a time; the samples without modes take away those before.
    time = np.unique(times)
    lengths = np.zeros(len(time), dtype=int)
    lengths[np.searchsorted(time, stamps)] = counts
    mean, covariance = _moments(modes)
    half, turns = _ellipsoids(covariance)
    path = f"world/modes/{rr.escape_entity_path_part(peer)}"
    opacities = np.clip(0.2 + 0.6 * modes["weight"], 0, 1)
    columns = rr.Ellipsoids3D.columns(
        centers=mean,
        half_sizes=half,
        quaternions=turns,
        colors=[_colour(colour, float(opacity)) for opacity in opacities],
    ).partition(lengths=lengths)
    stream.send_columns(path, _times(time), columns)


def _log_events(stream: rerun.RecordingStream, columns: Mapping[str, NDArray[Any]]) -> None:
    """Convergence won and lost, with the reasons."""
    import rerun as rr

    if "status" not in columns:
        return
    converged: dict[str, bool] = {}
    times, texts, levels = [], [], []
    reasons = list(columns["reasons"]) if "reasons" in columns else [""] * len(columns["peer"])
    for time, peer, status, reason in zip(
        columns["timestamp"], columns["peer"], columns["status"], reasons, strict=True
    ):
        now = status == "converged"
        if now == converged.get(peer, False):
            continue
        converged[peer] = now
        why = "" if now or not reason else f": {str(reason).replace(';', ', ')}"
        times.append(float(time))
        texts.append(f"{peer} converged" if now else f"{peer}: convergence lost{why}")
        levels.append("INFO" if now else "WARN")
    if times:
        stream.send_columns("events", _times(np.array(times)), rr.TextLog.columns(text=texts, level=levels))


def _blueprint(peers: Sequence[object]) -> rerun.blueprint.Blueprint:
    """The layout: the world on the left, numbers over time and events on the right."""
    import rerun.blueprint as rrb

    def series(key: str, title: str) -> rrb.TimeSeriesView:
        return rrb.TimeSeriesView(origin=f"numbers/{key}", name=title)

    return rrb.Blueprint(
        rrb.Horizontal(
            rrb.Spatial3DView(origin="world", name="world"),
            rrb.Vertical(
                series("distance", "distance (m)"),
                series("sigma", "σ of the position (m)"),
                series("error", "error (m)"),
                series("nis", "NIS"),
                rrb.TextLogView(origin="events", name="events"),
            ),
            column_shares=[3, 2],
        ),
        collapse_panels=True,
    )
