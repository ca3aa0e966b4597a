# SPDX-License-Identifier: Apache-2.0
"""Simulated runs, with the truth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nearby import _core
from nearby._engine import Configuration, run
from nearby._table import Estimates, Table


class Simulation:
    """A simulated run: what a recording holds, in ARKit's frames, and the truth.

    Attributes:
        poses: The odometry: `timestamp`, `time_ns`, `x`, `y`, `z` (metres), `qx`, `qy`, `qz`, `qw`.
        ranging: The samples in the order of arrival: `timestamp`, `time_ns`, `peer`, `distance` (metres),
            `azimuth`, `elevation` (radians), `height_difference`; `true_x`, `true_y`, `true_z`, the true
            place of the peer in the odometry's world as it was then; and `distance_is_fault` and so on.
        tracking: The odometry's quality.
        configuration: The settings of an engine that knows how accurate the sensors are.
    """

    def __init__(self, scenario: str, settings: str | None, seed: int, peers: int) -> None:
        self.scenario = scenario
        self.seed = seed
        tables = [_core.simulate(scenario, settings, seed, peers, table) for table in range(3)]
        self.poses, self.ranging, self.tracking = (Table(columns) for columns, _ in tables)
        self.configuration: dict[str, Any] = json.loads(tables[0][1])

    def run(self, config: Configuration | None = None) -> Estimates:
        """Runs the engine over it; row by row the result belongs to `ranging`.

        Args:
            config: Settings, as for `nearby.run`; those of `configuration` when None.
        """
        settings = self.configuration if config is None else config
        return run(self.poses, self.ranging, settings, tracking=self.tracking)

    def __repr__(self) -> str:
        return f"<Simulation {self.scenario} {self.seed}: {len(self.ranging)} samples>"


def simulate(
    scenario: str = "find",
    *,
    seed: int = 1,
    peers: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Simulation:
    """Draws a run of a scenario from a seed; the same arguments give the same run.

    Args:
        scenario: A name that `nearby simulate --list` shows.
        seed: The seed of the motion, the odometry and the radios.
        peers: How many peers; None for as many as the scenario has.
        settings: Settings that differ from the scenario's, such as `{"radio": {"rangeNoise": 0.3}}`.

    Raises:
        ArgumentError: When there is no such scenario; the message lists them.
        ConfigurationError
    """
    changes = None if settings is None else json.dumps(settings)
    return Simulation(scenario, changes, seed, peers or 0)
