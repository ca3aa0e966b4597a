# SPDX-License-Identifier: Apache-2.0
"""`nearby.simulate` and `nearby.evaluate`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import nearby
import numpy as np
import pytest


def test_a_run_is_that_of_the_command_line(cli: Path, tmp_path: Path) -> None:
    subprocess.run(
        [cli, "simulate", "indoor", "--seed", "7", "--peers", "2", "-q", "-o", tmp_path / "r"], check=True
    )
    recording = nearby.read_recording(tmp_path / "r")
    simulation = nearby.simulate("indoor", seed=7, peers=2)
    np.testing.assert_allclose(simulation.poses["x"], recording.poses["x"], atol=1e-6)
    order = np.argsort(simulation.ranging["time_ns"], kind="stable")
    np.testing.assert_allclose(
        simulation.ranging["distance"][order], recording.ranging["distance"], atol=1e-6
    )
    assert simulation.ranging.words("peer") == list(recording.peers) == ["peer1", "peer2"]


def test_estimates_can_be_judged_by_the_truth() -> None:
    simulation = nearby.simulate("find", seed=3)
    estimates = simulation.run()
    assert len(estimates) == len(simulation.ranging)
    converged = estimates["status"] == "converged"
    assert converged.sum() > 50
    square = sum((estimates[f"mean_{a}"] - simulation.ranging[f"true_{a}"]) ** 2 for a in "xyz")
    assert np.sqrt(np.mean(square[converged])) < 0.5


def test_settings_and_seeds_matter() -> None:
    one, other = nearby.simulate(seed=1), nearby.simulate(seed=2)
    assert not np.array_equal(one.ranging["distance"], other.ranging["distance"])
    assert np.array_equal(one.poses["x"], nearby.simulate(seed=1).poses["x"])
    noisy = nearby.simulate(seed=1, settings={"radio": {"rangeNoise": 1.0}})
    assert noisy.configuration["ranging"]["rangeSigma"] > 0.5
    assert nearby.simulate("nlos-40").ranging["distance_is_fault"].mean() > 0.2
    with pytest.raises(nearby.ArgumentError, match="there is no scenario nowhere; there are find, "):
        nearby.simulate("nowhere")
    with pytest.raises(nearby.ConfigurationError, match="rangeNoise"):
        nearby.simulate(settings={"radio": {"rangeNoise": -1}})
    with pytest.raises(nearby.ConfigurationError, match="did you mean rangeNoise"):
        nearby.simulate(settings={"radio": {"rangenoise": 1}})


def test_an_evaluation_is_that_of_the_command_line(cli: Path, cli_run: Path, plaza2: Path) -> None:
    expected = json.loads(subprocess.check_output([cli, "evaluate", cli_run, "--json"], text=True))["results"]
    found = nearby.evaluate(cli_run, plaza2)
    assert [entry["source"] for entry in found] == ["estimates", "smoothed"]
    assert found[0]["all"] == expected[0]["all"]
    with pytest.raises(nearby.RecordingError):
        nearby.evaluate("/no/such/folder")
