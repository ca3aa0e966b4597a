# SPDX-License-Identifier: Apache-2.0
"""Frames, interpolation and path lengths."""

import tempfile
import unittest
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from comparison.recordings import Frames, Poses, Trajectory, read_trajectory


def straight(times: list[float]) -> Trajectory:
    """A device that moves along x at 1 m/s and turns left at 0.1 rad/s."""
    moments = np.array(times)
    turns = Rotation.from_rotvec(np.outer(moments, [0, 0, 0.1])).as_matrix()
    return Trajectory(moments, Poses(np.asarray(turns), np.outer(moments, [1.0, 0, 0])))


class FrameTests(unittest.TestCase):
    """Whatever a recording calls its axes, ahead is ahead and up is up."""

    def test_axes_of_the_device(self) -> None:
        ahead_left_up = {
            "ros": np.eye(3),
            "arkit": np.array([[0.0, 0, -1], [-1, 0, 0], [0, 1, 0]]),
            "camera": np.array([[0.0, 0, 1], [-1, 0, 0], [0, -1, 0]]),
        }
        for axes, vectors in ahead_left_up.items():
            with self.subTest(axes=axes):
                turned = vectors @ Frames.named("z", axes).device.T
                np.testing.assert_allclose(turned, np.eye(3), atol=1e-12)

    def test_up_of_the_world(self) -> None:
        for up, vector in {"y": [0.0, 1, 0], "z": [0.0, 0, 1]}.items():
            with self.subTest(up=up):
                turn = Frames.named(up, "ros").world
                np.testing.assert_allclose(turn @ vector, [0, 0, 1])
                self.assertAlmostEqual(float(np.linalg.det(turn)), 1)

    def test_a_level_phone_looks_along_the_horizon(self) -> None:
        # ARKit's identity looks along -z in a y-up world, which is +y in the z-up one.
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trajectory.txt"
            file.write_text("# t x y z qx qy qz qw\n0 1 2 3 0 0 0 1\n1 1 2 3 0 0 0 1\n")
            poses = read_trajectory(file, Frames.named("y", "arkit")).poses
        np.testing.assert_allclose(poses.rotations[0] @ [1, 0, 0], [0, 1, 0], atol=1e-12)
        np.testing.assert_allclose(poses.positions[0], [1, -3, 2])


class InterpolationTests(unittest.TestCase):
    """Poses between poses."""

    def test_between_two_poses(self) -> None:
        poses = straight([0, 1, 2]).at(np.array([0.25, 2.0]))
        np.testing.assert_allclose(poses.positions, np.array([[0.25, 0, 0], [2, 0, 0]]))
        yaw = np.arctan2(poses.rotations[:, 1, 0], poses.rotations[:, 0, 0])
        np.testing.assert_allclose(yaw, [0.025, 0.2])

    def test_nothing_outside_and_in_long_gaps(self) -> None:
        moments = np.array([-0.1, 0.0, 0.5, 2.0, 4.0, 4.1])
        poses = straight([0, 1, 4]).at(moments)
        self.assertEqual(poses.known.tolist(), [False, True, True, False, True, False])


class PathTests(unittest.TestCase):
    """How far odometry has come."""

    def test_path_counts_metres_and_arc_adds_turns(self) -> None:
        path, arc = straight(list(np.arange(0, 10.5, 0.5))).path_lengths()
        self.assertAlmostEqual(path[-1], 10)
        self.assertAlmostEqual(arc[-1], 10 + 0.25 * 1.0)

    def test_jitter_is_no_path(self) -> None:
        rng = np.random.default_rng(1)
        noise = 0.005 * rng.standard_normal((1000, 3))
        still = Trajectory(np.arange(1000.0), Poses(np.tile(np.eye(3), (1000, 1, 1)), noise))
        self.assertEqual(still.path_lengths()[0][-1], 0)
