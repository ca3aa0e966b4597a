# SPDX-License-Identifier: Apache-2.0
"""`nearby.read_recording`."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import nearby
import numpy as np
import pytest
from test_run import matches_file, same


def test_a_run_is_that_of_the_command_line(plaza2: Path, cli_run: Path) -> None:
    recording = nearby.read_recording(plaza2)
    estimates = recording.run()
    matches_file(estimates, cli_run / "estimates.csv")
    summary = json.loads((cli_run / "summary.json").read_text())
    assert estimates.summary["errors"] == summary["errors"]
    assert estimates.summary["calibration"]["findings"] == summary["calibration"]["findings"]
    arrays = nearby.run(
        recording.poses,
        recording.ranging,
        recording.calibrate().configuration,
        up=recording.up,
        axes=recording.axes,
    )
    same(estimates, arrays)


def test_its_tables_are_those_of_the_files(plaza2: Path) -> None:
    recording = nearby.read_recording(plaza2)
    poses = np.loadtxt(plaza2 / "trajectory.txt")
    assert len(recording.poses) == len(poses)
    np.testing.assert_allclose(recording.poses["x"], poses[:, 1], rtol=1e-15)
    assert sorted(recording.ranging.words("peer")) == list(recording.peers)
    assert np.isnan(recording.ranging["azimuth"]).all()
    assert list(recording.ranging["nlos"][:3]) == [None, None, None]
    assert len(recording.tracking) == 0 and len(recording.true_peers) == 4
    assert recording.true_poses.units["x"] == "m"
    assert recording.info["trajectory"]["poseCount"] == len(poses)
    assert "beacon-0" in recording._repr_html_()


def test_settings_go_over_those_of_the_recording(plaza2: Path) -> None:
    recording = nearby.read_recording(plaza2)
    assert recording.configuration()["odometry"]["isPlanar"] is True
    changed = recording.configuration({"ranging": {"rangeSigma": 3}})
    assert changed["ranging"]["rangeSigma"] == 3 and changed["odometry"]["isPlanar"] is True
    other = recording.run({"ranging": {"rangeSigma": 3}})
    assert not np.array_equal(other["cov_xx"], recording.run()["cov_xx"])


def test_it_is_calibrated_unless_that_is_off(plaza2: Path) -> None:
    recording = nearby.read_recording(plaza2)
    found = recording.calibrate()
    scale = next(row for row in found.findings if row["quantity"] == "rangeScale")
    assert scale["isSignificant"] and abs(scale["value"] - 0.07) < 4 * scale["sigma"]
    assert found.configuration["ranging"]["rangeScaleSigma"] > 0.04
    off = recording.run(calibration="off")
    same(recording.run(found.configuration, calibration="off"), recording.run())
    report = recording.run(calibration="report")
    same(report, off)
    assert not any(row["isUsed"] for row in report.summary["calibration"]["findings"])
    assert "calibration" not in off.summary
    with pytest.raises(ValueError, match="calibration"):
        recording.run(calibration="on")  # type: ignore[arg-type]


def test_its_findings_are_those_of_info(plaza2: Path) -> None:
    findings = nearby.read_recording(plaza2).findings
    assert findings and {"severity", "kind", "message"} <= set(findings[0])


def test_a_fault_has_its_place_and_travels(plaza2: Path, tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(plaza2, folder)
    lines = (folder / "ranging.csv").read_text().splitlines()
    lines[16] = "12.5,beacon-1,abc"
    (folder / "ranging.csv").write_text("\n".join(lines))
    recording = nearby.read_recording(folder)
    with pytest.raises(nearby.RecordingError) as caught:
        recording.run()
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.file == str(folder / "ranging.csv") and error.line == 17
    assert error.remedy and error.code and str(error) == str(caught.value)
    with pytest.raises(nearby.RecordingError, match="there is no such folder"):
        nearby.read_recording(tmp_path / "nothing")
