# SPDX-License-Identifier: Apache-2.0
"""The committed counts, and what has become worse than them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from .counts import Count

TOLERANCE = 0.03
"""Instructions may rise by this share: other versions of the C library and the compiler differ."""

GROWTH_TOLERANCE = 0.01
"""Allocations of one operation may rise by this share, rounded down: by none below a hundred.

An array that grows takes all the room that malloc happens to give it, which depends on what the
heap held before, down to the length of a path. A whole run with hundreds of allocations so has
one more or less.
"""

RENEW = "if that is as it should be, `make bench-baseline` renews Benchmarks/baseline.json"


@dataclass(frozen=True)
class Baseline:
    """What was counted, and on what kind of processor."""

    processor: str
    counts: dict[str, Count]


def read_baseline(file: Path) -> Baseline:
    """What a file holds; nothing if there is no such file."""
    if not file.exists():
        return Baseline("", {})
    kept = json.loads(file.read_text())
    counts = {name: Count(**count) for name, count in kept["counts"].items()}
    return Baseline(kept["processor"], counts)


def write_baseline(file: Path, baseline: Baseline) -> None:
    """Writes it, one workload a line, so that a change of one is one line's change."""
    kept = {name: asdict(count) for name, count in baseline.counts.items()}
    for count in kept.values():
        del count["floor_instructions"]
    lines = [f"    {json.dumps(name)}: {json.dumps(count)}" for name, count in kept.items()]
    processor = json.dumps(baseline.processor)
    counts = "{\n" + ",\n".join(lines) + "\n  }"
    file.write_text(f'{{\n  "processor": {processor},\n  "counts": {counts}\n}}\n')


def change(before: Count, now: Count) -> float:
    """By which share the instructions of an operation have risen."""
    return now.instructions_each / before.instructions_each - 1


def _allocates_more(before: Count, now: Count) -> bool:
    # By cross-multiplication: no rounding may hide one allocation.
    more = now.allocations * before.operations - before.allocations * now.operations
    spare = int(GROWTH_TOLERANCE * before.allocations / before.operations)
    return more > spare * before.operations * now.operations


def failures(baseline: Baseline, counts: dict[str, Count], processor: str) -> list[str]:
    """What a gate must not let pass, in words.

    Instructions are gated on the kind of processor that the baseline is of, and on no other.
    """
    found = []
    for name, now in counts.items():
        before = baseline.counts.get(name)
        if before is None:
            found.append(f"{name} is not in the baseline")
            continue
        if _allocates_more(before, now):
            found.append(
                f"{name} allocates {now.allocations_each:.6g} times an operation, "
                f"before {before.allocations_each:.6g}"
            )
        if processor == baseline.processor and change(before, now) > TOLERANCE:
            found.append(
                f"{name} takes {now.instructions_each:.4g} instructions an operation, before "
                f"{before.instructions_each:.4g}: {change(before, now):+.1%}, "
                f"allowed {TOLERANCE:+.0%}"
            )
    return found


def improvements(baseline: Baseline, counts: dict[str, Count]) -> list[str]:
    """What has become so much better that the baseline should be renewed."""
    return [
        f"{name} takes {change(baseline.counts[name], now):+.1%} instructions"
        for name, now in counts.items()
        if name in baseline.counts and change(baseline.counts[name], now) < -TOLERANCE
    ]
