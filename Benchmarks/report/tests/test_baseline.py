# SPDX-License-Identifier: Apache-2.0
"""The gate lets nothing worse pass, and nothing better fail."""

import tempfile
import unittest
from pathlib import Path

from report.baseline import failures, improvements, read_baseline, write_baseline
from report.counts import Count

BEFORE = {"A.b": Count(allocations=3, instructions=1000, operations=10)}


def now(allocations: int = 3, instructions: int = 1000, operations: int = 10) -> dict[str, Count]:
    """The same workload counted anew."""
    return {"A.b": Count(allocations, instructions, operations)}


class GateTests(unittest.TestCase):
    """What the gate says."""

    def test_the_same_passes(self) -> None:
        self.assertEqual(failures(BEFORE, now()), [])

    def test_one_allocation_more_fails(self) -> None:
        [said] = failures(BEFORE, now(allocations=4))
        self.assertIn("allocates 0.4 times an operation, before 0.3", said)

    def test_one_allocation_less_passes(self) -> None:
        self.assertEqual(failures(BEFORE, now(allocations=2)), [])

    def test_instructions_within_the_tolerance_pass(self) -> None:
        self.assertEqual(failures(BEFORE, now(instructions=1029)), [])

    def test_instructions_beyond_the_tolerance_fail(self) -> None:
        [said] = failures(BEFORE, now(instructions=1040))
        self.assertIn("104 instructions an operation, before 100: +4.0%, allowed +3%", said)

    def test_costs_are_of_one_operation(self) -> None:
        self.assertEqual(failures(BEFORE, now(6, 2000, 20)), [])
        self.assertEqual(len(failures(BEFORE, now(7, 2100, 20))), 2)

    def test_an_unknown_workload_fails(self) -> None:
        self.assertEqual(failures({}, now()), ["A.b is not in the baseline"])

    def test_much_better_is_said(self) -> None:
        self.assertEqual(
            improvements(BEFORE, now(instructions=900)), ["A.b takes -10.0% instructions"]
        )
        self.assertEqual(improvements(BEFORE, now()), [])


class FileTests(unittest.TestCase):
    """The committed file."""

    def test_what_is_written_is_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "baseline.json"
            self.assertEqual(read_baseline(file), {})
            write_baseline(file, BEFORE)
            self.assertEqual(read_baseline(file), BEFORE)
