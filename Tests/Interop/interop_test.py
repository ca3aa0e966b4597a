# SPDX-License-Identifier: Apache-2.0
"""Holds the command line's formats against the tools that others use for them.

    make interop-test
"""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from evo.core import metrics, sync
from evo.core.trajectory import PoseTrajectory3D
from evo.tools import file_interface

ROOT = Path(__file__).resolve().parents[2]
NEARBY = os.environ.get("NEARBY", ROOT / ".build/release/nearby")
FIXTURES = ROOT / "Tests/NearbyImportsTests/Fixtures"


def nearby(*arguments):
    return subprocess.run([NEARBY, *map(str, arguments)], check=True, capture_output=True, text=True)


class Interop(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def test_evo_reads_exported_trajectories(self):
        recording = ROOT / "Datasets/plaza2"
        nearby("run", recording, "--output", self.folder / "out", "--quiet")
        sources = [(recording,), (recording, "--truth"), (self.folder / "out", "--peer", "beacon-1")]
        for index, source in enumerate(sources):
            path = self.folder / f"{index}.tum"
            said = nearby("export", "tum", *source, "--output", path).stdout
            trajectory = file_interface.read_tum_trajectory_file(path)
            self.assertIsInstance(trajectory, PoseTrajectory3D)
            self.assertTrue(trajectory.check()[0], trajectory.check()[1])
            self.assertTrue(said.startswith(f"{trajectory.num_poses} lines"))

    def test_evo_agrees_about_the_error_of_odometry(self):
        """`nearby evaluate` and evo's absolute pose error, aligned, of the same two files."""
        recording, result = self.folder / "drift", self.folder / "result"
        nearby("simulate", "drift", "--output", recording)
        nearby("run", recording, "--output", result, "--quiet")
        said = json.loads(nearby("evaluate", result, "--json").stdout)["results"][0]["trajectory"]
        paths = {}
        for name, flags in [("odometry", []), ("truth", ["--truth"])]:
            paths[name] = self.folder / f"{name}.tum"
            nearby("export", "tum", recording, *flags, "-o", paths[name])
        truth, odometry = sync.associate_trajectories(
            file_interface.read_tum_trajectory_file(paths["truth"]),
            file_interface.read_tum_trajectory_file(paths["odometry"]),
        )
        odometry.align(truth)
        for relation, key in [
            (metrics.PoseRelation.translation_part, "rmse"),
            (metrics.PoseRelation.rotation_angle_deg, "rotationRMSEDegrees"),
        ]:
            error = metrics.APE(relation)
            error.process_data((truth, odometry))
            rmse = error.get_statistic(metrics.StatisticsType.rmse)
            self.assertGreater(rmse, 0.01)
            self.assertAlmostEqual(said[key] / rmse, 1, delta=1e-5)

    def test_evo_writes_what_is_read(self):
        """TUM and KITTI by evo, imported and exported: what evo reads is what it wrote."""
        written = file_interface.read_tum_trajectory_file(FIXTURES / "walk.tum")
        imports = {
            "tum": [FIXTURES / "walk.tum", "--up", "z", "--axes", "ros"],
            "euroc": [FIXTURES / "walk-8.euroc.csv", "--axes", "ros"],
            "kitti": [FIXTURES / "walk.kitti", FIXTURES / "walk.times", "--up", "z"],
        }
        for kind, arguments in imports.items():
            nearby("import", kind, *arguments, "--output", self.folder / kind)
            nearby("export", "tum", self.folder / kind, "--output", self.folder / f"{kind}.tum")
            read = file_interface.read_tum_trajectory_file(self.folder / f"{kind}.tum")
            np.testing.assert_allclose(read.positions_xyz, written.positions_xyz, atol=2e-9)
            for a, b in zip(read.poses_se3, written.poses_se3):
                np.testing.assert_allclose(a, b, atol=1e-8)


if __name__ == "__main__":
    unittest.main()
