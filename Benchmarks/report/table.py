# SPDX-License-Identifier: Apache-2.0
"""One table of everything, as text, as Markdown and as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from .baseline import change
from .counts import Count
from .rows import ONE_UPDATE, ROWS, Goal, Quantity, Row, duration
from .times import Times

HEADING = [
    "operation",
    "best",
    "median",
    "floor",
    "× floor",
    "fastest peer",
    "× faster",
    "allocations",
    "instructions",
    "× floor's",
    "change",
    "goals",
]


@dataclass(frozen=True)
class Measured:
    """All that is known of one run."""

    times: Times
    counts: dict[str, Count]
    baseline: dict[str, Count]
    peers: dict[str, dict[str, float]] = field(default_factory=dict)
    """By group: nanoseconds of an operation, or of a byte."""
    large: dict[str, float] = field(default_factory=dict)
    batch: dict[str, float] = field(default_factory=dict)

    def value(self, row: Row, quantity: Quantity) -> float | None:
        """A quantity of a row, if it was measured."""
        timing, count = self.times.workloads.get(row.workload), self.counts.get(row.workload)
        if quantity is Quantity.ALLOCATIONS:
            return count.allocations_each if count else None
        if timing is None:
            return None
        best = timing.operation.best
        one = self.times.workloads.get(ONE_UPDATE)
        return {
            Quantity.NANOSECONDS: best,
            Quantity.FLOORS: timing.ratio,
            Quantity.MEGABYTES: megabytes(best),
            Quantity.UPDATES: best / one.operation.best if one else None,
        }[quantity]

    def fastest_peer(self, row: Row) -> tuple[str, float] | None:
        """The name and the time of the fastest peer of a row."""
        found = self.peers.get(row.peers or "", {})
        return min(found.items(), key=lambda peer: peer[1]) if found else None


def megabytes(nanoseconds_per_byte: float) -> float:
    """Megabytes a second."""
    return 1000 / nanoseconds_per_byte


def cells(measured: Measured, row: Row) -> list[str]:
    """A row of the table, in words."""
    timing, count = measured.times.workloads.get(row.workload), measured.counts.get(row.workload)
    shown = _rate if row.is_text else duration
    best = median = floor = ratio = peer = faster = ""
    if timing:
        best, median = shown(timing.operation.best), shown(timing.operation.median)
        if timing.floor and timing.ratio:
            floor, ratio = shown(timing.floor.best), f"{timing.ratio:.2f}"
        found = measured.fastest_peer(row)
        if found:
            peer = f"{found[0]} {shown(found[1])}"
            faster = f"{found[1] / timing.operation.best:.3g}"
    allocations = instructions = counted_ratio = changed = ""
    if count:
        # A byte does not allocate; the file does.
        each = count.allocations if row.is_text else count.allocations_each
        allocations = f"{each:.4g}{' a file' if row.is_text else ''}"
        instructions = (
            f"{count.instructions_each:,.1f}"
            if row.is_text
            else (f"{count.instructions_each:,.0f}")
        )
        counted_ratio = f"{count.ratio:.2f}" if count.ratio else ""
        before = measured.baseline.get(row.workload)
        if before:
            changed = f"{change(before, count):+.1%}"
    return [
        row.title,
        best,
        median,
        floor,
        ratio,
        peer,
        faster,
        allocations,
        instructions,
        counted_ratio,
        changed,
        goals(measured, row),
    ]


def goals(measured: Measured, row: Row) -> str:
    """The goals of a row, each with whether it is met."""
    values = [(goal, measured.value(row, goal.quantity)) for goal in row.goals]
    return ", ".join(
        _verdict(goal, value)
        for goal, value in values
        if value is not None or measured.times.workloads
    )


def _verdict(goal: Goal, value: float | None) -> str:
    if value is None:
        return f"{goal}: not measured"
    if goal.is_met(value):
        return f"{goal}: yes"
    shown = duration(value) if goal.quantity is Quantity.NANOSECONDS else f"{value:.3g}"
    return f"{goal}: NO, {shown}"


def _rate(nanoseconds_per_byte: float) -> str:
    return f"{megabytes(nanoseconds_per_byte):,.0f} MB/s"


def present(measured: Measured) -> list[list[str]]:
    """The rows of which something was measured."""
    known = measured.times.workloads.keys() | measured.counts.keys()
    rows = [row for row in ROWS if row.workload in known]
    rows += [Row(name, name) for name in sorted(known - {row.workload for row in ROWS})]
    return [cells(measured, row) for row in rows]


def as_text(measured: Measured) -> str:
    """The table for a terminal, and what does not fit into it."""
    lines = [HEADING, *present(measured)]
    # A column without anything in it is left out.
    used = [i for i in range(len(HEADING)) if any(line[i] for line in lines[1:])]
    widths = {i: max(len(line[i]) for line in lines) for i in used}
    last = len(HEADING) - 1
    text = [
        "  ".join(
            line[i].ljust(widths[i]) if i in (0, last) else line[i].rjust(widths[i]) for i in used
        ).rstrip()
        for line in lines
    ]
    return "\n".join([*text, "", *notes(measured)])


def as_markdown(measured: Measured) -> str:
    """The table for a page."""
    lines = [HEADING, ["---"] * len(HEADING), *present(measured)]
    table = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([*table, "", *(f"{note}  " for note in notes(measured))]) + "\n"


def notes(measured: Measured) -> list[str]:
    """What has no row of its own kind: cores, hours, memory, every peer."""
    found = []
    for walk, time in measured.times.costliest.items():
        found.append(f"costliest sample of the {walk} walk: {duration(time.best)}")
    many = measured.times.workloads.get("Engine.second.peers1000")
    if many:
        share = many.operation.median / 1e9
        found.append(
            f"1000 peers at 10 Hz, poses at 60 Hz, an estimate for each sample: {share:.1%} "
            "of a core"
        )
    sessions = measured.times.workloads.get("Sessions.second.100")
    if sessions:
        found.append(
            "100 sessions at 10 Hz with camera assistance, their simulated world included: "
            f"{sessions.operation.median / 1e9:.1%} of a core"
        )
    if measured.times.hours:
        windows = ", ".join(
            f"{name} {duration(measured.times.hours[name].best)}"
            for name in sorted(measured.times.hours, key=_window_order)
        )
        found.append(f"a sample over ten hours: {windows}")
    if measured.large:
        found.append(
            f"{measured.large['samples']:,.0f} samples of {measured.large['bytes'] / 1e6:,.0f} MB "
            f"streamed and fused: at most {measured.large['peakMegabytes']:.0f} MB of memory, "
            f"{measured.large['seconds']:.0f} s"
        )
    if measured.batch:
        found.append(_batch(measured.batch))
    for group, peers in measured.peers.items():
        shown = duration if group == "updates" else _rate
        found.append(
            f"peers, {group}: " + ", ".join(f"{name} {shown(ns)}" for name, ns in peers.items())
        )
    return found


def _batch(batch: dict[str, float]) -> str:
    """How a batch scales, held against the goal where that is defined."""
    said = f"{batch['speedup']:.2f} × one core"
    if batch["cores"] == 2:
        said += f" (≥ 1.9: {'yes' if batch['speedup'] >= 1.9 else 'NO'})"
    return (
        f"a batch of {batch['recordings']:.0f} recordings: "
        f"{batch['recordings'] / batch['secondsAllCores']:.0f} recordings/s on "
        f"{batch['cores']:.0f} cores, {said}; at most {batch['peakMegabytesAll']:.0f} MB of memory, "
        f"{batch['peakMegabytesTenth']:.0f} MB with a tenth of them"
    )


def _window_order(name: str) -> tuple[bool, int]:
    return (not name.startswith("minute"), int("".join(filter(str.isdigit, name))))


def as_json(measured: Measured) -> str:
    """The same for programs: times in nanoseconds."""
    rows: dict[str, Any] = {}
    for name, timing in measured.times.workloads.items():
        rows[name] = {
            "bestNanoseconds": timing.operation.best,
            "medianNanoseconds": timing.operation.median,
            "floorNanoseconds": timing.floor.best if timing.floor else None,
            "ratioToFloor": timing.ratio,
        }
    for name, count in measured.counts.items():
        rows.setdefault(name, {}).update(
            allocations=count.allocations_each,
            instructions=count.instructions_each,
            instructionsToFloor=count.ratio,
        )
    everything = {
        "rows": rows,
        "hours": {name: time.best for name, time in measured.times.hours.items()},
        "costliestSampleNanoseconds": {
            walk: time.best for walk, time in measured.times.costliest.items()
        },
        "peers": measured.peers,
        "large": measured.large,
        "batch": measured.batch,
    }
    return json.dumps(everything, indent=2)
