# SPDX-License-Identifier: Apache-2.0
"""The methods find the peer of a recording without noise, and their Jacobians are right."""

import unittest
from typing import Any

import gtsam
import numpy as np
from gtsam.symbol_shorthand import E, L, X

from comparison.ekf import PeerFilter, run_ekf
from comparison.scoring import score
from comparison.smoother import Plane, Space, Volume, range_factor, run_smoother
from comparison.starts import mirrored, starts

from .support import PEER, ranges_only, walk

METHODS = {"ekf": run_ekf, "smoother": run_smoother}


class MethodTests(unittest.TestCase):
    """Exact measurements lead to the peer."""

    def test_a_fair_start_ends_at_the_peer(self) -> None:
        for is_planar in [False, True]:
            for recording in [walk(is_planar), ranges_only(walk(is_planar))]:
                for name, method in METHODS.items():
                    with self.subTest(name, planar=is_planar):
                        estimates, _ = method(recording, starts(recording, "fair"))
                        found = score(recording, estimates)
                        self.assertEqual(found.samples, len(recording.samples))
                        self.assertLess(found.half, 0.15)

    def test_a_time_limit_leaves_the_rest_without_estimates(self) -> None:
        recording = walk()
        for name, method in METHODS.items():
            with self.subTest(name):
                estimates, _ = method(recording, starts(recording, "fair"), seconds=0)
                self.assertTrue(np.isnan(estimates.means).all())

    def test_a_stride_leaves_samples_out(self) -> None:
        recording = walk()
        estimates, _ = run_smoother(recording, starts(recording, "fair"), stride=4)
        self.assertEqual(score(recording, estimates).samples, len(recording.samples) // 4)


class StartTests(unittest.TestCase):
    """Starts are as wrong as they say."""

    def test_a_fair_start_is_a_metre_off(self) -> None:
        for is_planar in [False, True]:
            start = starts(walk(is_planar), "fair")[0]
            place = PEER * [1, 1, 0] if is_planar else PEER
            self.assertAlmostEqual(float(np.linalg.norm(start.in_world - place)), 1)

    def test_a_mirror_image_fits_the_first_range(self) -> None:
        for is_planar in [False, True]:
            recording = walk(is_planar)
            device = recording.odometry.positions[0]
            image = mirrored(recording, PEER * [1, 1, 1 - is_planar], device)
            place = PEER * [1, 1, 1 - is_planar]
            self.assertGreater(np.linalg.norm(image - place), 1)
            self.assertAlmostEqual(
                float(np.linalg.norm(image - device)), float(np.linalg.norm(place - device))
            )


class JacobianTests(unittest.TestCase):
    """Jacobians against differences."""

    def test_measurements_of_the_filter(self) -> None:
        recording = walk()
        peer_filter = PeerFilter(recording, starts(recording, "fair")[0])
        ekf = peer_filter._ekf
        ekf.x[3:] = [0.1, 0.02]
        for measure in (peer_filter._range, peer_filter._azimuth, peer_filter._elevation):
            with self.subTest(measure.__name__):
                analytic = measure(50, 0.3, 1.0).jacobian
                numeric = np.zeros(5)
                for axis in range(5):
                    before = ekf.x.copy()
                    ekf.x[axis] += 1e-6
                    plus = measure(50, 0.3, 1.0).residual
                    ekf.x[axis] -= 2e-6
                    minus = measure(50, 0.3, 1.0).residual
                    ekf.x = before
                    numeric[axis] = -(plus - minus) / 2e-6
                np.testing.assert_allclose(analytic, numeric, atol=1e-6)

    def test_range_factor_of_the_smoother(self) -> None:
        model = gtsam.noiseModel.Unit.Create(1)
        turns: dict[type[Plane] | type[Volume], gtsam.Rot3] = {
            Plane: gtsam.Rot3.Rz(0.3),
            Volume: gtsam.Rot3.RzRyRx(0.1, 0.2, 0.3),
        }
        for kind, turn in turns.items():
            with self.subTest(kind.__name__):
                space: Space = kind(walk().noise)
                values = gtsam.Values()
                values.insert(X(0), space.pose(turn.matrix(), np.array([1.0, 2, 3])))
                values.insert(L(0), space.point(np.array([4.0, -2, 1])))
                values.insert(E(0), np.array([0.1, 0.02]))
                self._check(range_factor(space, (X(0), L(0), E(0)), 3.0, model), values)

    def _check(self, factor: gtsam.CustomFactor, values: gtsam.Values) -> None:
        linear: Any = factor.linearize(values)
        zero = values.zeroVectors()
        for key in list(factor.keys()):
            for axis in range(len(zero.at(key))):
                step = 1e-6 * np.eye(len(zero.at(key)))[axis]
                ends = []
                for sign in (1, -1):
                    delta = values.zeroVectors()
                    delta.update(_vector_values(key, sign * step))
                    exact = factor.unwhitenedError(values.retract(delta))
                    ends.append((exact, linear.error_vector(delta)))
                numeric, analytic = ((ends[0][i] - ends[1][i]) / 2e-6 for i in (0, 1))
                np.testing.assert_allclose(analytic, numeric, atol=1e-6)


def _vector_values(key: int, vector: np.ndarray) -> gtsam.VectorValues:
    values = gtsam.VectorValues()
    values.insert(key, vector)
    return values
