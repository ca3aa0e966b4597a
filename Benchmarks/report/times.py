# SPDX-License-Identifier: Apache-2.0
"""Wall time, from the file that the benchmark plugin exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


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


@dataclass(frozen=True)
class Times:
    """Everything that was timed in one run."""

    workloads: dict[str, Timing] = field(default_factory=dict)
    hours: dict[str, Time] = field(default_factory=dict)
    """What a sample costs in each window of the long walk."""
    costliest: dict[str, Time] = field(default_factory=dict)
    """The costliest single sample of each walk that looks for one."""


def read_times(file: Path) -> Times:
    """What the plugin has exported."""
    times = Times()
    for element in json.loads(file.read_text()):
        # package.benchmark.TARGET.NAME
        name = element["benchmark"].split(".", 3)[3]
        # The exporter hands on the metrics of earlier benchmarks, too: ours bear their names.
        metrics = element["secondaryMetrics"]
        own = {
            metric.removeprefix(f"{name} "): values
            for metric, values in metrics.items()
            if metric.startswith(f"{name} ")
        }
        if name == "Engine.hours":
            times.hours.update({window: _time(values, 1) for window, values in own.items()})
            continue
        if name == "Engine.costliest":
            times.costliest.update({walk: _time(values, 1) for walk, values in own.items()})
            continue
        operations = _percentile(own["operations"], "50.0")
        floor = own.get("floor")
        times.workloads[name] = Timing(
            operation=_time(own["time"], operations),
            floor=_time(floor, operations) if floor else None,
        )
    return times


def quickest(rounds: Sequence[Times]) -> Times:
    """Each row as in the round in which it was quickest, with the floor of that round.

    Other programs slow a machine down for seconds or minutes at a time.
    """
    return Times(
        workloads=_quickest([times.workloads for times in rounds], lambda it: it.operation.best),
        hours=_quickest([times.hours for times in rounds], lambda it: it.best),
        costliest=_quickest([times.costliest for times in rounds], lambda it: it.best),
    )


def _quickest(rounds: Sequence[dict[str, T]], best: Callable[[T], float]) -> dict[str, T]:
    names = {name: None for rows in rounds for name in rows}
    return {name: min((rows[name] for rows in rounds if name in rows), key=best) for name in names}


def _time(metric: dict[str, Any], operations: float) -> Time:
    return Time(_percentile(metric, "0.0") / operations, _percentile(metric, "50.0") / operations)


def _percentile(metric: dict[str, Any], percentile: str) -> float:
    return float(metric["scorePercentiles"][percentile])
