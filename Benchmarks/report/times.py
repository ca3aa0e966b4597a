# SPDX-License-Identifier: Apache-2.0
"""Wall time, from the file that the benchmark plugin exports."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Time:
    """Nanoseconds of one operation."""

    best: float
    median: float


@dataclass(frozen=True)
class Timing:
    """What was timed of a workload in one run."""

    operation: Time
    floor: Time | None

    @property
    def ratio(self) -> float | None:
        """How many times the floor's time it takes, at its best and at the floor's best."""
        return self.operation.best / self.floor.best if self.floor else None


HOURS = "Engine.hours"


def read_times(file: Path) -> tuple[dict[str, Timing], dict[str, Time]]:
    """The timings by workload, and the cost of a sample in each window of the long walk."""
    timings: dict[str, Timing] = {}
    hours: dict[str, Time] = {}
    for element in json.loads(file.read_text()):
        # package.benchmark.TARGET.NAME
        name = element["benchmark"].split(".", 3)[3]
        # The exporter hands on the metrics of earlier benchmarks, too: ours bear their names.
        metrics = element["secondaryMetrics"]
        if name == HOURS:
            for metric, values in metrics.items():
                if metric.startswith(f"{HOURS} "):
                    hours[metric.removeprefix(f"{HOURS} ")] = _time(values, 1)
            continue
        operations = _percentile(metrics[f"{name} operations"], "50.0")
        floor = metrics.get(f"{name} floor")
        # Wall time is exported in microseconds.
        timings[name] = Timing(
            operation=_time(metrics["Time (wall clock)"], operations / 1000),
            floor=_time(floor, operations) if floor else None,
        )
    return timings, hours


def _time(metric: dict[str, Any], operations: float) -> Time:
    return Time(
        _percentile(metric, "0.0") / operations, _percentile(metric, "50.0") / operations
    )


def _percentile(metric: dict[str, Any], percentile: str) -> float:
    return float(metric["scorePercentiles"][percentile])
