# SPDX-License-Identifier: Apache-2.0
"""Two batches of the same recordings, compared pair by pair."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nearby._errors import ArgumentError


@dataclass(frozen=True)
class Metric:
    """A column of `batch.csv` that tells how good a result is: the smaller, the better."""

    name: str
    unit: str
    is_ratio: bool = False
    """Whether one is best; it is then compared by the absolute logarithm."""

    @property
    def title(self) -> str:
        """The name with the unit, as a column is called."""
        return f"{self.name}_{self.unit}" if self.unit and not self.name.endswith("degrees") else self.name

    def badness(self, value: float) -> float:
        """What is compared."""
        if not self.is_ratio:
            return value
        return abs(math.log(value)) if value > 0 else math.nan


METRICS = (
    Metric("rmse_second_half", "m"),
    Metric("rmse_converged", "m"),
    Metric("distance_error", "m"),
    Metric("bearing_error_degrees", "degrees"),
    Metric("final_error", "m"),
    Metric("error_95", "m"),
    Metric("seconds_to_convergence", "s"),
    Metric("losses", ""),
    Metric("nees", "", is_ratio=True),
    Metric("falsely_converged_share", ""),
    Metric("wrongly_published_share", ""),
    Metric("smoothed_rmse_second_half", "m"),
    Metric("smoothed_nees", "", is_ratio=True),
)
_RESAMPLES = 2000
_KEY = ("recording", "group", "peer")


@dataclass(frozen=True)
class Summary:
    """One metric over a group of recordings, or over all.

    Attributes:
        group: The folder of the recordings; `all` for all of them.
        metric: The column.
        unit: Its unit; of a metric for which one is best, differences are of the absolute logarithm.
        pairs: The peers of recordings for which both batches have a value.
        mean_a, mean_b: The means over these pairs.
        difference: The mean of `b - a`: negative when the second batch is better.
        low, high: The 95 % confidence interval of it, by resampling recordings.
        wins, losses, ties: In how many pairs the second batch is better, worse, equal.
        only_a, only_b: For how many only one batch has a value, such as a time to converge.
    """

    group: str
    metric: str
    unit: str
    pairs: int
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    wins: int
    losses: int
    ties: int
    only_a: int
    only_b: int

    @property
    def is_clear(self) -> bool:
        """Whether the confidence interval leaves zero out."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Pair:
    """One metric of one peer of one recording: a row of the tidy table."""

    recording: str
    group: str
    peer: str
    metric: str
    unit: str
    a: float
    b: float
    difference: float


class Comparison:
    """Two batches, pair by pair.

    Attributes:
        pairs: The tidy table: a row for each metric of each peer of each recording.
        summaries: Each metric over each group, then over all.
        only_a, only_b: The peers of recordings that only one batch has.
    """

    def __init__(
        self,
        a: Mapping[tuple[str, ...], Mapping[str, float]],
        b: Mapping[tuple[str, ...], Mapping[str, float]],
    ) -> None:
        self.only_a = sorted(set(a) - set(b))
        self.only_b = sorted(set(b) - set(a))
        both = [key for key in a if key in b]
        if not both:
            raise ArgumentError("the two batches have no recording in common; their names must be equal")
        self.pairs = [
            _pair(key, metric, a[key].get(metric.name, math.nan), b[key].get(metric.name, math.nan))
            for key in both
            for metric in METRICS
        ]
        self.summaries = list(self._summaries())

    def _summaries(self) -> Iterator[Summary]:
        groups = sorted({pair.group for pair in self.pairs})
        for group in [*(groups if len(groups) > 1 else []), "all"]:
            for metric in METRICS:
                rows = [p for p in self.pairs if p.metric == metric.name and group in ("all", p.group)]
                summary = _summary(group, metric, rows)
                if summary.pairs + summary.only_a + summary.only_b:
                    yield summary

    def worst(self, metric: str = "rmse_second_half", count: int = 10) -> list[Pair]:
        """The pairs in which the second batch is worse by most, the worst first."""
        rows = [pair for pair in self.pairs if pair.metric == metric and pair.difference > 0]
        return sorted(rows, key=lambda pair: (-pair.difference, pair.recording, pair.peer))[:count]

    def located_by_one(self, metric: str = "rmse_second_half") -> tuple[list[Pair], list[Pair]]:
        """The pairs with a value in the first batch only, and those with one in the second only.

        They have no difference, so that no mean and no list of the worst shows them.
        """
        rows = [pair for pair in self.pairs if pair.metric == metric]
        first = [pair for pair in rows if math.isfinite(pair.a) and not math.isfinite(pair.b)]
        return first, [pair for pair in rows if math.isfinite(pair.b) and not math.isfinite(pair.a)]

    def wide(self) -> list[dict[str, str | float]]:
        """A row for each peer of each recording, three columns for each metric, units in their names."""
        rows: dict[tuple[str, ...], dict[str, str | float]] = {}
        titles = {metric.name: metric.title for metric in METRICS}
        for pair in self.pairs:
            key = (pair.recording, pair.group, pair.peer)
            row = rows.setdefault(key, dict(zip(_KEY, key, strict=True)))
            title = titles[pair.metric]
            row |= {f"{title}_a": pair.a, f"{title}_b": pair.b, f"{title}_difference": pair.difference}
        return list(rows.values())

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes `summary.csv`, `pairs.csv` (tidy), `wide.csv` and `worst.csv` into a folder."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        _write(path / "summary.csv", [vars(summary) for summary in self.summaries])
        _write(path / "pairs.csv", [vars(pair) for pair in self.pairs])
        _write(path / "wide.csv", self.wide())
        worst = [pair for metric in METRICS for pair in self.worst(metric.name)]
        _write(path / "worst.csv", [vars(pair) for pair in worst], [field.name for field in fields(Pair)])

    def __str__(self) -> str:
        means = ("mean a", "mean b", "b - a", "95 %")
        head = ("group", "metric", "pairs", *means, "wins", "losses", "ties", "only a", "only b")
        rows = [
            (
                summary.group,
                f"{summary.metric} [{summary.unit}]" if summary.unit else summary.metric,
                str(summary.pairs),
                f"{summary.mean_a:.4g}",
                f"{summary.mean_b:.4g}",
                f"{summary.difference:+.3g}",
                f"{summary.low:+.3g} to {summary.high:+.3g}" + (" *" if summary.is_clear else ""),
                str(summary.wins),
                str(summary.losses),
                str(summary.ties),
                str(summary.only_a),
                str(summary.only_b),
            )
            for summary in self.summaries
        ]
        widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            for row in [head, *rows]
        ]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"


def compare(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> Comparison:
    """Compares two batches of the same recordings: `a` before, `b` after.

    Args:
        a, b: Output folders of `nearby batch` or `nearby.distributed`, or their `batch.csv`.

    Returns:
        Paired differences with confidence intervals, wins and losses, the worst pairs.

    Raises:
        ArgumentError: When they have no recording in common.
    """
    return Comparison(_read(a), _read(b))


def _read(path: str | os.PathLike[str]) -> dict[tuple[str, ...], dict[str, float]]:
    table = Path(path)
    if table.is_dir():
        table /= "batch.csv"
    with table.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [name for name in _KEY if name not in (reader.fieldnames or ())]
        if missing:
            raise ArgumentError(f"{table} has no column {missing[0]}; pass the batch.csv of nearby batch")
        names = [metric.name for metric in METRICS]
        return {
            tuple(row[name] for name in _KEY): {name: _number(row.get(name)) for name in names}
            for row in reader
        }


def _number(text: str | None) -> float:
    return float(text) if text else math.nan


def _pair(key: tuple[str, ...], metric: Metric, a: float, b: float) -> Pair:
    difference = metric.badness(b) - metric.badness(a)
    return Pair(key[0], key[1], key[2], metric.name, metric.unit, a, b, difference)


def _summary(group: str, metric: Metric, rows: Sequence[Pair]) -> Summary:
    there = [row for row in rows if math.isfinite(row.difference)]
    differences = np.array([row.difference for row in there])
    low, high = _interval([row.recording for row in there], differences)
    return Summary(
        group=group,
        metric=metric.name,
        unit=metric.unit,
        pairs=len(there),
        mean_a=_mean([row.a for row in there]),
        mean_b=_mean([row.b for row in there]),
        difference=_mean(differences),
        low=low,
        high=high,
        wins=int((differences < 0).sum()),
        losses=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        only_a=sum(math.isfinite(row.a) and not math.isfinite(row.b) for row in rows),
        only_b=sum(math.isfinite(row.b) and not math.isfinite(row.a) for row in rows),
    )


def _mean(values: Sequence[float] | NDArray[np.float64]) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _interval(recordings: Sequence[str], differences: NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % interval of the mean difference, by a bootstrap over recordings.

    The peers of a recording share its trajectory, so they are drawn together. Equal input gives equal bounds.
    """
    _, places = np.unique(np.array(recordings, dtype=str), return_inverse=True)
    count = int(places.max(initial=-1)) + 1
    if count < 2:
        return math.nan, math.nan
    sums = np.bincount(places, differences, count)
    sizes = np.bincount(places, minlength=count)
    random = np.random.default_rng(1)
    means = np.empty(_RESAMPLES)
    for index in range(_RESAMPLES):
        drawn = random.integers(0, count, count)
        means[index] = sums[drawn].sum() / sizes[drawn].sum()
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def _write(path: Path, rows: Sequence[Mapping[str, object]], names: Sequence[str] | None = None) -> None:
    columns = list(names or (rows[0] if rows else ()))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: _cell(value) for name, value in row.items()})


def _cell(value: object) -> object:
    return "" if isinstance(value, float) and not math.isfinite(value) else value
