# SPDX-License-Identifier: Apache-2.0
"""Scoring against values worked out by hand."""

import unittest

import numpy as np

from comparison.scoring import Estimates, errors, score

from .support import walk


class ScoringTests(unittest.TestCase):
    """Errors count in the device's frame, whatever the worlds are."""

    def setUp(self) -> None:
        self.recording = walk()
        self.truth = self.recording.truth.in_device(self.recording.true_peers)
        self.count = len(self.recording.samples)
        self.unit = np.tile(np.eye(3), (self.count, 1, 1))

    def test_the_truth_scores_zero_in_any_world(self) -> None:
        found = score(self.recording, Estimates(self.truth, self.unit))
        self.assertEqual(found.samples, self.count)
        self.assertAlmostEqual(found.half, 0)
        self.assertAlmostEqual(found.bearing, 0)

    def test_an_offset_in_the_device_is_the_error(self) -> None:
        found = score(self.recording, Estimates(self.truth + [0.3, 0, -0.4], self.unit))
        self.assertAlmostEqual(found.half, 0.5)
        self.assertAlmostEqual(found.nees, 0.25 / 3)

    def test_only_the_second_half_counts(self) -> None:
        means = self.truth.copy()
        means[self.recording.samples.times < 10] += 5
        found = score(self.recording, Estimates(means, 1e-4 * self.unit))
        self.assertAlmostEqual(found.half, 0)
        self.assertEqual(found.wrong, 0)
        self.assertAlmostEqual(found.wrong_overall, 0.5)

    def test_a_covariance_turns_with_the_device(self) -> None:
        flat = np.tile(np.diag([4.0, 1, 1]), (self.count, 1, 1))
        found = errors(self.recording, Estimates(self.truth + [2.0, 0, 0], flat))
        np.testing.assert_allclose(found.normalized_nees, 1 / 3)

    def test_wrong_is_beyond_half_a_metre_and_the_claim(self) -> None:
        for offset, sigma, expected in [(0.4, 0.01, 0), (1.0, 0.3, 0), (1.0, 0.29, 1)]:
            with self.subTest(offset=offset, sigma=sigma):
                estimates = Estimates(self.truth + [offset, 0, 0], sigma**2 * self.unit)
                self.assertEqual(score(self.recording, estimates).wrong, expected)

    def test_the_plane_has_two_dimensions(self) -> None:
        recording = walk(is_planar=True)
        truth = recording.truth.in_device(recording.true_peers)
        flat = np.tile(np.diag([1.0, 1, 0]), (self.count, 1, 1))
        found = score(recording, Estimates(truth + [1.0, 1, 0], flat))
        self.assertAlmostEqual(found.nees, 1)

    def test_a_bearing_error_is_about_gravity(self) -> None:
        upright = self.recording.truth.rotations
        turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
        means = np.einsum("nji,jk,nkl,nl->ni", upright, turn, upright, self.truth)
        found = score(self.recording, Estimates(means, self.unit))
        self.assertAlmostEqual(found.bearing, 90)

    def test_what_is_not_estimated_is_not_scored(self) -> None:
        found = score(self.recording, Estimates.none(self.count))
        self.assertEqual(found.samples, 0)
        self.assertTrue(np.isnan(found.half))
