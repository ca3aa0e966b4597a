# SPDX-License-Identifier: Apache-2.0
"""The gate lets nothing worse pass, and nothing better fail."""

import tempfile
import unittest
from pathlib import Path

from report.baseline import Baseline, failures, improvements, read_baseline, write_baseline
from report.counts import Count
from report.processor import processor

HERE = "here avx2"
BEFORE = Baseline(HERE, {"A.b": Count(allocations=3, instructions=1000, operations=10)})


def now(allocations: int = 3, instructions: int = 1000, operations: int = 10) -> dict[str, Count]:
    """The same workload counted anew."""
    return {"A.b": Count(allocations, instructions, operations)}


class GateTests(unittest.TestCase):
    """What the gate says."""

    def test_the_same_passes(self) -> None:
        self.assertEqual(failures(BEFORE, now(), HERE), [])

    def test_one_allocation_more_fails(self) -> None:
        [said] = failures(BEFORE, now(allocations=4), HERE)
        self.assertIn("allocates 0.4 times an operation, before 0.3", said)

    def test_of_hundreds_of_allocations_of_one_operation_one_more_passes(self) -> None:
        before = Baseline(HERE, {"A.b": Count(allocations=261, instructions=1000, operations=1)})
        for allocations, wrong in [(262, 0), (263, 0), (264, 1)]:
            found = failures(before, now(allocations, operations=1), HERE)
            self.assertEqual(len(found), wrong)

    def test_one_allocation_less_passes(self) -> None:
        self.assertEqual(failures(BEFORE, now(allocations=2), HERE), [])

    def test_instructions_within_the_tolerance_pass(self) -> None:
        self.assertEqual(failures(BEFORE, now(instructions=1029), HERE), [])

    def test_instructions_beyond_the_tolerance_fail(self) -> None:
        [said] = failures(BEFORE, now(instructions=1040), HERE)
        self.assertIn("104 instructions an operation, before 100: +4.0%, allowed +3%", said)

    def test_costs_are_of_one_operation(self) -> None:
        self.assertEqual(failures(BEFORE, now(6, 2000, 20), HERE), [])
        self.assertEqual(len(failures(BEFORE, now(7, 2100, 20), HERE)), 2)

    def test_instructions_of_another_processor_pass_and_its_allocations_do_not(self) -> None:
        self.assertEqual(failures(BEFORE, now(instructions=1040), "elsewhere"), [])
        self.assertEqual(len(failures(BEFORE, now(allocations=4), "elsewhere")), 1)

    def test_an_unknown_workload_fails(self) -> None:
        self.assertEqual(failures(Baseline(HERE, {}), now(), HERE), ["A.b is not in the baseline"])

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
            self.assertEqual(read_baseline(file), Baseline("", {}))
            write_baseline(file, BEFORE)
            self.assertEqual(read_baseline(file), BEFORE)


class ProcessorTests(unittest.TestCase):
    """What decides which code runs."""

    def test_only_what_code_is_chosen_by(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            info = Path(folder) / "cpuinfo"
            info.write_text("processor : 0\nflags\t\t: fpu fma sse2 avx2\n")
            self.assertTrue(processor(info).endswith(" avx2 fma"))
            self.assertNotIn("sse2", processor(info))

    def test_without_such_a_file_it_is_the_architecture(self) -> None:
        self.assertNotIn(" ", processor(Path("no such file")))
