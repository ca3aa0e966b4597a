# SPDX-License-Identifier: Apache-2.0
"""The committed counts, and what has become worse than them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from .counts import Count

TOLERANCE = 0.03
"""Instructions may rise by this share: other versions of the C library and the compiler differ."""

RENEW = "if that is as it should be, `make bench-baseline` renews Benchmarks/baseline.json"


def read_baseline(file: Path) -> dict[str, Count]:
    """The counts of a file; none if there is no such file."""
    if not file.exists():
        return {}
    return {name: Count(**count) for name, count in json.loads(file.read_text()).items()}


def write_baseline(file: Path, counts: dict[str, Count]) -> None:
    """Writes the counts, one workload a line, so that a change of one is one line's change."""
    kept = {name: asdict(count) for name, count in counts.items()}
    for count in kept.values():
        del count["floor_instructions"]
    lines = [f"  {json.dumps(name)}: {json.dumps(count)}" for name, count in kept.items()]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def change(before: Count, now: Count) -> float:
    """By which share the instructions of an operation have risen."""
    return now.instructions_each / before.instructions_each - 1


def failures(baseline: dict[str, Count], counts: dict[str, Count]) -> list[str]:
    """What a gate must not let pass, in words."""
    found = []
    for name, now in counts.items():
        before = baseline.get(name)
        if before is None:
            found.append(f"{name} is not in the baseline")
            continue
        # By cross-multiplication: no rounding may hide one allocation.
        if now.allocations * before.operations > before.allocations * now.operations:
            found.append(
                f"{name} allocates {now.allocations_each:.6g} times an operation, "
                f"before {before.allocations_each:.6g}"
            )
        if change(before, now) > TOLERANCE:
            found.append(
                f"{name} takes {now.instructions_each:.4g} instructions an operation, before "
                f"{before.instructions_each:.4g}: {change(before, now):+.1%}, "
                f"allowed {TOLERANCE:+.0%}"
            )
    return found


def improvements(baseline: dict[str, Count], counts: dict[str, Count]) -> list[str]:
    """What has become so much better that the baseline should be renewed."""
    return [
        f"{name} takes {change(baseline[name], now):+.1%} instructions"
        for name, now in counts.items()
        if name in baseline and change(baseline[name], now) < -TOLERANCE
    ]
