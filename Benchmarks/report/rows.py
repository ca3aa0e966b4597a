# SPDX-License-Identifier: Apache-2.0
"""What each row of the table is, and the goals that it has."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Quantity(Enum):
    """What a goal is about."""

    NANOSECONDS = "ns"
    FLOORS = "× floor"
    MEGABYTES = "MB/s"
    ALLOCATIONS = "allocations"
    UPDATES = "× one update"


@dataclass(frozen=True)
class Goal:
    """A limit: an upper one, but for megabytes a second."""

    quantity: Quantity
    limit: float

    def is_met(self, value: float) -> bool:
        """Whether a value keeps to it."""
        return value >= self.limit if self.is_lower else value <= self.limit

    @property
    def is_lower(self) -> bool:
        """Whether more is better."""
        return self.quantity is Quantity.MEGABYTES

    def __str__(self) -> str:
        if self.quantity is Quantity.NANOSECONDS:
            return f"≤ {duration(self.limit)}"
        return f"{'≥' if self.is_lower else '≤'} {self.limit:g} {self.quantity.value}"


@dataclass(frozen=True)
class Row:
    """A workload as people speak of it."""

    workload: str
    title: str
    goals: tuple[Goal, ...] = ()
    peers: str | None = None
    """The group of peers to hold it against."""

    @property
    def is_text(self) -> bool:
        """Whether its operation is a byte."""
        return self.workload.startswith("Recordings.")


def duration(nanoseconds: float) -> str:
    """A time with a unit that leaves a small number."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


ONE_UPDATE = "Kernels.update.1"

_NO_ALLOCATION = Goal(Quantity.ALLOCATIONS, 0)
_FAST_TEXT = (Goal(Quantity.MEGABYTES, 400),)


def _at_most(nanoseconds: float) -> Goal:
    return Goal(Quantity.NANOSECONDS, nanoseconds)


ROWS = [
    Row(ONE_UPDATE, "bare update", (Goal(Quantity.FLOORS, 1.2), _NO_ALLOCATION)),
    Row("Kernels.update.1.atonce", "bare update, floor linearised once"),
    Row("Kernels.update.1.robust", "bare update, floor with faults"),
    Row("Kernels.update.8", "bare update of 8 hypotheses"),
    Row(
        "Kernels.update.32",
        "bare update of 32 hypotheses",
        (_at_most(5000), Goal(Quantity.UPDATES, 20), _NO_ALLOCATION),
    ),
    Row("Kernels.update.96", "bare update of 96 hypotheses"),
    Row(
        "Engine.sample.converged",
        "sample, converged",
        (_at_most(300), Goal(Quantity.FLOORS, 2.5), _NO_ALLOCATION),
        peers="updates",
    ),
    Row("Engine.sample.bank8", "sample, bank of 8"),
    Row("Engine.sample.bank32", "sample, bank of 32", (_NO_ALLOCATION,)),
    Row("Engine.sample.bank96", "sample, bank of 96"),
    Row("Engine.pose", "pose taken in", (_at_most(30), _NO_ALLOCATION)),
    Row("Engine.interpolation", "pose interpolated", (_NO_ALLOCATION,)),
    Row("Engine.estimate.later", "outputs at a later pose", (_at_most(100), _NO_ALLOCATION)),
    Row("Engine.second.ambiguous", "second of an ambiguous walk"),
    Row("Engine.second.peers1", "second with 1 peer"),
    Row(
        "Engine.second.peers10",
        "second with 10 peers, fitted together",
        (_at_most(5e6), _NO_ALLOCATION),
    ),
    Row("Engine.second.peers1000", "second with 1000 peers"),
    Row("Engine.level.peers2", "sample of a level walk, 2 peers", (_at_most(10e3),)),
    Row("Engine.level.peers8", "sample of a level walk, 8 peers", (_at_most(25e3),)),
    Row("Engine.level.peers32", "sample of a level walk, 32 peers", (_at_most(60e3),)),
    Row("Recordings.parse.trajectory", "read trajectory.txt", _FAST_TEXT, peers="trajectory"),
    Row("Recordings.parse.ranging", "read ranging.csv", _FAST_TEXT, peers="ranging"),
    Row("Recordings.parse.tracking", "read tracking.csv", _FAST_TEXT),
    Row("Recordings.parse.peers", "read truth/peers.csv", _FAST_TEXT),
    Row("Recordings.parse.estimates", "read estimates.csv", _FAST_TEXT, peers="estimates"),
    Row("Runs.fusion.walk", "fusing 10 000 samples", (_at_most(10e6),)),
    Row("Runs.replay.walk", "text to estimates, in process"),
    Row("Runs.command.walk", "nearby run, with start-up", (_at_most(60e6),)),
    Row("Runs.replay.plaza1", "plaza1, text to estimates"),
    Row("Runs.replay.plaza2", "plaza2, text to estimates"),
    Row("Sessions.second.100", "second of 100 sessions"),
]
