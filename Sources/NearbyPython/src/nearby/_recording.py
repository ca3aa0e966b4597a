# SPDX-License-Identifier: Apache-2.0
"""Recordings on disk."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from nearby import _core
from nearby._engine import _AXES, _UPS, Axes, Configuration, Motion, Up, _json
from nearby._table import Estimates, Table


def read_recording(folder: str | os.PathLike[str]) -> Recording:
    """Opens a recording.

    Args:
        folder: A folder with `recording.json`, `trajectory.txt` and `ranging.csv`.

    Raises:
        RecordingError: With file, line and column of the first fault.
    """
    return Recording(folder)


def evaluate(
    result: str | os.PathLike[str], recording: str | os.PathLike[str] | None = None
) -> list[dict[str, Any]]:
    """Evaluates the results of a run by the truth of its recording, as `nearby evaluate --json` does.

    Args:
        result: The folder that `nearby run` wrote.
        recording: The recording's folder; None for the one that the results name.

    Returns:
        The figures of the estimates, and of the smoothed rows if there are any: errors in metres and radians,
        consistency, availability, seconds to converge.
    """
    folder = None if recording is None else os.fspath(recording)
    return list(json.loads(_core.evaluate(os.fspath(result), folder)))


CalibrationMode = Literal["off", "report", "use"]
"""What a run does with errors of radio and odometry that the recording itself tells."""


@dataclass(frozen=True)
class Calibration:
    """What a recording tells of its radio and odometry."""

    configuration: dict[str, Any]
    """All settings, with what was found in place of what contradicts it: `config` of another run."""
    findings: list[dict[str, Any]]
    """For each quantity `quantity`, `value`, `sigma`, `stated`, `isSignificant`, `isUsed`."""


class Recording:
    """A recording: its tables in its own frames, and runs over it.

    A table is read when it is first asked for.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)
        self._core = _core.Recording(self.folder)

    @cached_property
    def info(self) -> dict[str, Any]:
        """What `nearby info --json` prints: name, frames, peers, rates, gaps, faults, warnings."""
        return dict(json.loads(self._core.info()))

    @property
    def up(self) -> Up:
        """The axis of the world that points up: `y` or `z`."""
        return _UPS[self._core.frames[0]]

    @property
    def axes(self) -> Axes:
        """The device's axes: `arkit`, `ros` or `camera`."""
        return _AXES[self._core.frames[1]]

    @property
    def peers(self) -> dict[str, Motion]:
        """The names of the peers and how they may move, as `run` and `smooth` take them."""
        return {peer["peer"]["id"]: peer["peer"]["motion"] for peer in self.info["peers"]}

    @cached_property
    def poses(self) -> Table:
        """The odometry: `timestamp`, `time_ns`, `x`, `y`, `z` (metres), `qx`, `qy`, `qz`, `qw`."""
        return Table(self._core.read(0))

    @cached_property
    def ranging(self) -> Table:
        """The samples in time order: `timestamp`, `time_ns`, `peer`, `distance` (metres), `azimuth`,
        `elevation` (radians), `height_difference`, their `_sigma`, `rssi`, `nlos`."""
        return Table(self._core.read(1))

    @cached_property
    def tracking(self) -> Table:
        """The odometry's quality: `timestamp`, `time_ns`, `state`, `reason`, `ambient_intensity`."""
        return Table(self._core.read(2))

    @cached_property
    def true_poses(self) -> Table:
        """The device's true poses, in a world of their own; no rows without truth."""
        return Table(self._core.read(3))

    @cached_property
    def true_peers(self) -> Table:
        """The peers' true positions in that world: `timestamp`, `time_ns`, `peer`, `x`, `y`, `z`."""
        return Table(self._core.read(4))

    def configuration(self, config: Configuration | None = None) -> dict[str, Any]:
        """All settings for this recording: the defaults, what it says of its sensors, and changes."""
        return dict(json.loads(self._core.configuration(_json(config))))

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What is wrong or worth knowing: `severity`, `kind`, `message`, `remedy`; the most severe first."""
        return list(self.info["findings"])

    def calibrate(self, config: Configuration | None = None) -> Calibration:
        """Finds what the recording tells of its radio and odometry: clock, antenna, drift, noise.

        Args:
            config: Settings that differ from the recording's: a dict, JSON text, or a file's path.
        """
        settings, findings = self._core.calibrate(_json(config))
        return Calibration(json.loads(settings), json.loads(findings)["findings"])

    def run(self, config: Configuration | None = None, *, calibration: CalibrationMode = "use") -> Estimates:
        """Runs the engine over the recording, as `nearby run` does.

        Args:
            config: Settings that differ from the recording's: a dict, JSON text, or a file's path.
            calibration: `off`: settings are taken as they are. `report`: what the recording tells of them is
                in the summary. `use`: it is used too.

        Returns:
            The rows of `estimates.csv`; `summary` holds `summary.json`, with the errors where there is truth.
        """
        settings, findings = self._settings(config, calibration)
        columns, text = self._core.run(settings)
        summary = json.loads(text)
        if findings:
            summary["calibration"] = {"findings": findings, "rangeBiases": []}
        return Estimates(columns, summary=summary, up=self.up)

    def smooth(
        self, config: Configuration | None = None, *, calibration: CalibrationMode = "use"
    ) -> Estimates:
        """Smooths the recording, as `nearby run --smooth` does.

        Args:
            config: As for `run`.
            calibration: As for `run`.

        Returns:
            The rows of `smoothed.csv`.
        """
        settings, _ = self._settings(config, calibration)
        return Estimates(self._core.smooth(settings), up=self.up)

    def _settings(
        self, config: Configuration | None, mode: CalibrationMode
    ) -> tuple[str | None, list[dict[str, Any]]]:
        """The settings of a run as JSON, and what was found of them."""
        if mode not in get_args(CalibrationMode):
            raise ValueError(f"calibration is {mode!r}; it may be 'off', 'report' or 'use'")
        if mode == "off":
            return _json(config), []
        found = self.calibrate(config)
        if mode == "use":
            return json.dumps(found.configuration), found.findings
        return _json(config), [{**finding, "isUsed": False} for finding in found.findings]

    def __repr__(self) -> str:
        return f"<Recording {self.folder}>"

    def _repr_html_(self) -> str:
        """A summary for notebooks."""
        import html

        info = self.info
        rows = {
            "duration": f"{info['durationSeconds']:.1f} s",
            "poses": f"{info['trajectory']['poseCount']}, {info['trajectory']['pathLength']:.1f} m",
            "samples": len(self.ranging),
            "peers": ", ".join(self.peers),
            "truth": "yes" if info.get("truth") else "no",
        }
        body = "".join(
            f"<tr><th>{key}</th><td>{html.escape(str(value))}</td></tr>" for key, value in rows.items()
        )
        return f"<table><caption>{html.escape(info['name'])}</caption>{body}</table>"
