# SPDX-License-Identifier: Apache-2.0
"""Lays out the results."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from .scoring import Score

HEADER = """\
| recording | method | start | samples | half m | dist m | bearing ° | NEES/n | wrong % | µs |
|---|---|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True)
class Result:
    """A method on a recording."""

    recording: str
    method: str
    start: str
    samples_in_recording: int
    stride: int
    """One in so many samples of each peer was used."""
    score: Score
    microseconds_per_sample: float


def table_row(result: Result) -> str:
    """A row of the table in Markdown."""
    score = result.score
    cells = [
        result.recording,
        result.method,
        result.start,
        _samples(result),
        _number(score.half, 3),
        _number(score.distance, 3),
        _number(score.bearing, 2),
        _number(score.nees, 2),
        _number(100 * score.wrong, 1),
        _number(result.microseconds_per_sample, 0),
    ]
    return "| " + " | ".join(cells) + " |"


def as_json(results: list[Result], settings: dict[str, Any]) -> str:
    """All results and the settings behind them; numbers that do not exist are null."""
    document = {"settings": settings, "results": [asdict(result) for result in results]}
    return json.dumps(_finite(document), indent=2, allow_nan=False)


def _samples(result: Result) -> str:
    """Which samples were used; a time limit leaves fewer of them than the stride says."""
    used = "all" if result.stride == 1 else f"1 in {result.stride}"
    done = result.score.samples * result.stride / result.samples_in_recording
    return used if done > 0.95 else f"{used}, first {100 * done:.0f} %"


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if math.isfinite(value) else "-"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
