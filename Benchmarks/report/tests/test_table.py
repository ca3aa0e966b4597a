# SPDX-License-Identifier: Apache-2.0
"""The table says what was measured, and whether the goals are met."""

import json
import tempfile
import unittest
from pathlib import Path

from report.counts import Count
from report.rows import ROWS, Row
from report.table import Measured, as_text, cells, goals
from report.times import Time, Times, Timing, quickest, read_times


def row(workload: str) -> Row:
    """The row of a workload."""
    return next(row for row in ROWS if row.workload == workload)


def metric(best: float, median: float) -> dict[str, object]:
    """A metric as the benchmark plugin exports it."""
    return {"scorePercentiles": {"0.0": best, "50.0": median}}


def update(nanoseconds: float, floor: float) -> Timing:
    """A timing with a floor."""
    return Timing(Time(nanoseconds, nanoseconds), Time(floor, floor))


class GoalTests(unittest.TestCase):
    """Verdicts."""

    def test_a_goal_is_met_at_its_limit(self) -> None:
        measured = Measured(Times({"Kernels.update.1": update(120, 100)}), {}, {})
        self.assertIn("≤ 1.2 × floor: yes", goals(measured, row("Kernels.update.1")))

    def test_a_goal_is_missed_above_its_limit(self) -> None:
        measured = Measured(Times({"Kernels.update.1": update(130, 100)}), {}, {})
        self.assertIn("≤ 1.2 × floor: NO, 1.3", goals(measured, row("Kernels.update.1")))

    def test_of_a_rate_more_is_better(self) -> None:
        text = row("Recordings.parse.ranging")
        for nanoseconds, said in ((2.5, "yes"), (5, "NO, 200")):
            timing = Timing(Time(nanoseconds, nanoseconds), None)
            measured = Measured(Times({text.workload: timing}), {}, {})
            self.assertEqual(goals(measured, text), f"≥ 400 MB/s: {said}")

    def test_a_bank_is_held_against_one_update(self) -> None:
        timings = {
            "Kernels.update.1": update(200, 100),
            "Kernels.update.32": update(4200, 3200),
        }
        said = goals(Measured(Times(timings), {}, {}), row("Kernels.update.32"))
        self.assertIn("≤ 5 µs: yes, ≤ 20 × one update: NO, 21", said)

    def test_a_batch_is_held_against_its_goal_on_two_cores(self) -> None:
        batch = {
            "recordings": 1000,
            "cores": 2,
            "secondsAllCores": 20,
            "speedup": 1.95,
            "peakMegabytesAll": 25,
            "peakMegabytesTenth": 24,
        }
        for speedup, cores, said in ((1.95, 2, "1.9: yes"), (1.8, 2, "1.9: NO"), (3, 4, "core;")):
            measured = Measured(Times(), {}, {}, batch=batch | {"speedup": speedup, "cores": cores})
            self.assertIn(said, as_text(measured))
            self.assertIn("50 recordings/s", as_text(measured))

    def test_allocations_are_counted_for_one_operation(self) -> None:
        counts = {"Engine.pose": Count(allocations=1, instructions=10, operations=1000)}
        self.assertEqual(
            goals(Measured(Times(), counts, {}), row("Engine.pose")), "≤ 0 allocations: NO, 0.001"
        )


class TableTests(unittest.TestCase):
    """Cells."""

    def test_the_fastest_peer_is_shown(self) -> None:
        measured = Measured(
            Times({"Engine.sample.converged": update(500, 250)}),
            {},
            {},
            peers={"updates": {"slow": 9e6, "fast": 5e5}},
        )
        shown = cells(measured, row("Engine.sample.converged"))
        self.assertEqual(shown[4:7], ["2.00", "fast 500 µs", "1e+03"])

    def test_a_workload_without_a_row_is_not_lost(self) -> None:
        measured = Measured(Times({"New.thing": update(1, 1)}), {}, {})
        self.assertIn("New.thing", as_text(measured))


class TimesTests(unittest.TestCase):
    """What the plugin exports."""

    def test_a_row_is_that_of_its_quickest_round(self) -> None:
        rounds = [
            Times({"A": update(500, 250), "B": update(3, 1)}, {"hour1": Time(8, 9)}),
            Times(
                {"A": update(400, 260), "B": update(4, 2)},
                {"hour1": Time(7, 9)},
                {"level": Time(5, 6)},
            ),
        ]
        times = quickest(rounds)
        self.assertEqual(times.workloads, {"A": update(400, 260), "B": update(3, 1)})
        self.assertEqual(times.hours, {"hour1": Time(7, 9)})
        self.assertEqual(times.costliest, {"level": Time(5, 6)})
        self.assertEqual(quickest(rounds[:1]).costliest, {})

    def test_metrics_of_other_benchmarks_are_not_taken(self) -> None:
        elements = [
            {
                "benchmark": "package.benchmark.Kernels.A.b",
                "secondaryMetrics": {
                    "Time (wall clock)": metric(21, 31),
                    "A.b time": metric(20_000, 30_000),
                    "A.b operations": metric(10, 10),
                    "A.b floor": metric(5000, 6000),
                    "Z floor": metric(1, 1),
                },
            },
            {
                "benchmark": "package.benchmark.Engine.Engine.hours",
                "secondaryMetrics": {
                    "Engine.hours hour1": metric(700, 800),
                    "A.b floor": metric(1, 1),
                },
            },
        ]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "run.json"
            file.write_text(json.dumps(elements))
            times = read_times(file)
        self.assertEqual(times.workloads, {"A.b": Timing(Time(2000, 3000), Time(500, 600))})
        self.assertEqual(times.workloads["A.b"].ratio, 4)
        self.assertEqual(times.hours, {"hour1": Time(700, 800)})
