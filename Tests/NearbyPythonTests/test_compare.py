# SPDX-License-Identifier: Apache-2.0
"""`nearby.compare`: two batches, pair by pair."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from nearby import ArgumentError
from nearby.compare import Comparison, compare

COLUMNS = ["recording", "group", "peer", "rmse_second_half", "seconds_to_convergence", "nees"]


def batch(path: Path, shift: float, noise: float = 0.05, seed: int = 1) -> Path:
    """A table of 80 recordings in two groups, with two peers each, shifted by some metres."""
    random = np.random.default_rng(seed)
    level = np.random.default_rng(7).uniform(0.5, 2, 160)
    path.mkdir()
    with (path / "batch.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for row in range(160):
            group = "walks/a" if row < 80 else "walks/b"
            error = level[row] + shift + random.normal(0, noise)
            seconds = "" if row == 3 and shift else 10 + row
            writer.writerow([f"{group}/{row // 2:03}", group, f"peer{row % 2}", error, seconds, 2.0])
    return path


def find(comparison: Comparison, group: str, metric: str = "rmse_second_half"):  # type: ignore[no-untyped-def]
    (found,) = [s for s in comparison.summaries if (s.group, s.metric) == (group, metric)]
    return found


def test_a_shift_is_found_with_its_interval(tmp_path: Path) -> None:
    comparison = compare(batch(tmp_path / "a", 0), batch(tmp_path / "b", 0.1, seed=2))
    everything = find(comparison, "all")
    assert everything.pairs == 160 and everything.unit == "m"
    assert everything.low < 0.1 < everything.high and everything.is_clear
    assert everything.high - everything.low < 0.04
    assert everything.losses > everything.wins and everything.wins + everything.losses == 160
    assert find(comparison, "walks/a").pairs == find(comparison, "walks/b").pairs == 80
    seconds = find(comparison, "all", "seconds_to_convergence")
    assert (seconds.only_a, seconds.only_b, seconds.ties) == (1, 0, 159)
    assert find(comparison, "all", "nees").difference == 0
    with pytest.raises(ValueError, match="values to unpack"):
        find(comparison, "all", "smoothed_nees")


def test_intervals_hold_zero_as_often_as_they_claim(tmp_path: Path) -> None:
    false_alarms = 0
    for seed in range(20):
        one = batch(tmp_path / f"a{seed}", 0, seed=2 * seed)
        other = batch(tmp_path / f"b{seed}", 0, seed=2 * seed + 1)
        false_alarms += find(compare(one, other), "all").is_clear
    assert false_alarms <= 4, "expected one of twenty"


def test_the_worst_come_first_and_the_tables_agree(tmp_path: Path) -> None:
    comparison = compare(batch(tmp_path / "a", 0), batch(tmp_path / "b", 0.1, seed=2))
    worst = comparison.worst(count=10)
    assert len(worst) == 10 and worst[0].difference == max(p.difference for p in worst)
    comparison.write(tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "summary.csv",
        "pairs.csv",
        "wide.csv",
        "worst.csv",
    }
    with (tmp_path / "out" / "wide.csv").open(newline="") as file:
        wide = list(csv.DictReader(file))
    with (tmp_path / "out" / "pairs.csv").open(newline="") as file:
        pairs = [row for row in csv.DictReader(file) if row["metric"] == "rmse_second_half"]
    assert len(wide) == len(pairs) == 160
    assert [row["rmse_second_half_m_difference"] for row in wide] == [row["difference"] for row in pairs]
    assert "rmse_second_half [m]" in str(comparison) and "<pre>" in comparison._repr_html_()


def test_the_command_prints_the_table(tmp_path: Path) -> None:
    a, b = batch(tmp_path / "a", 0), batch(tmp_path / "b", -0.2)
    program = [sys.executable, "-m", "nearby.compare"]
    output = subprocess.check_output([*program, a, b / "batch.csv"], text=True)
    assert "b - a" in output and " *" in output
    failed = subprocess.run([*program, a, "/no/such"], check=False, capture_output=True, text=True)
    assert failed.returncode == 65 and "No such file" in failed.stderr
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "batch.csv").write_text(",".join(COLUMNS) + "\nother,.,peer,1,2,3\n")
    with pytest.raises(ArgumentError, match="no recording in common"):
        compare(a, tmp_path / "c")


def test_recordings_that_one_side_lost_are_shown(tmp_path: Path) -> None:
    for name, rows in {"a": ("1,2,3", "2,2,3"), "b": ("1,2,3", ",,")}.items():
        (tmp_path / name).mkdir()
        lines = [f"walk-{number},.,peer,{row}" for number, row in enumerate(rows)]
        (tmp_path / name / "batch.csv").write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
    comparison = compare(tmp_path / "a", tmp_path / "b")
    first, second = comparison.located_by_one()
    assert [pair.recording for pair in first] == ["walk-1"] and not second
    program = [sys.executable, "-m", "nearby.compare", tmp_path / "a", tmp_path / "b"]
    output = subprocess.check_output(program, text=True)
    assert "only a" in output.splitlines()[0]
    assert f"1 peer has a rmse_second_half in {tmp_path / 'a'} only:\n  walk-1 peer" in output
