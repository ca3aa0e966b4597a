# SPDX-License-Identifier: Apache-2.0
"""`nearby.show`."""

from __future__ import annotations

import builtins
from collections import Counter
from pathlib import Path
from typing import Any

import nearby
import numpy as np
import pytest


def rows(path: Path) -> Counter[str]:
    """How many rows each entity of a file of Rerun has over time, and those that hold for all times as 0."""
    from rerun.chunk import RrdReader

    counts: Counter[str] = Counter()
    for chunk in RrdReader(path).stream().to_chunks():
        counts[chunk.entity_path] += 0 if chunk.is_static else chunk.num_rows
    return counts


def test_a_folder_becomes_paths_ellipsoids_and_numbers(cli_run: Path, plaza2: Path, tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    nearby.show(cli_run, plaza2, save=tmp_path / "a.rrd")
    counts = rows(tmp_path / "a.rrd")
    estimates = nearby.read_recording(plaza2).run()
    for peer in estimates.peers:
        own = estimates["peer"] == peer
        part = peer.replace("-", r"\-") if f"/world/peers/{peer}" not in counts else peer
        assert counts[f"/world/peers/{part}"] == np.isfinite(estimates["mean_x"][own]).sum()
        assert counts[f"/numbers/distance/{part}"] == np.isfinite(estimates["distance"][own]).sum()
        assert counts[f"/numbers/error/{part}"] > 0
    assert counts["/world/device"] == len(nearby.read_recording(plaza2).poses)
    assert {f"/world/path/{kind}" for kind in ("raw", "corrected", "smoothed", "true")} <= set(counts)
    assert counts["/events"] > 0


def test_modes_come_and_go(tmp_path: Path) -> None:
    rerun = pytest.importorskip("rerun")
    from nearby._show import _log_modes
    from rerun.chunk import RrdReader

    stream = rerun.RecordingStream("test")
    stream.save(tmp_path / "a.rrd")
    modes = {
        "timestamp": np.array([2.0, 2, 3, 3, 3]),
        "weight": np.array([0.7, 0.3, 0.5, 0.3, 0.2]),
        **{f"mean_{key}": np.arange(5.0) for key in "xyz"},
        **{f"cov_{key}": np.full(5, float(key[0] == key[1])) for key in ("xx", "xy", "xz", "yy", "yz", "zz")},
    }
    _log_modes(stream, "keys", "#0072b2", np.array([1.0, 2, 3, 4]), modes)
    stream.disconnect()
    chunks = [c for c in RrdReader(tmp_path / "a.rrd").stream().to_chunks() if "modes" in c.entity_path]
    batch = chunks[0].to_record_batch()
    centers = next(name for name in batch.schema.names if name.endswith("centers"))
    assert [len(row or []) for row in batch.column(centers).to_pylist()] == [0, 2, 3, 0]


def test_a_table_is_shown_without_a_recording(plaza2: Path, tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    recording = nearby.read_recording(plaza2)
    estimates = recording.run()
    nearby.show(estimates, save=tmp_path / "a.rrd")
    assert not any("path" in entity for entity in rows(tmp_path / "a.rrd"))
    nearby.show(estimates, recording, save=tmp_path / "b.rrd")
    assert any("path" in entity for entity in rows(tmp_path / "b.rrd"))


def test_ellipsoids_are_the_covariance() -> None:
    from nearby._show import _ellipsoids, _matrices

    random = np.random.default_rng(1)
    roots = random.normal(size=(50, 3, 3))
    covariances = roots @ np.swapaxes(roots, 1, 2)
    half, turns = _ellipsoids(covariances)
    axes = _matrices(turns)
    assert np.allclose(np.linalg.det(axes), 1)
    again = axes @ (half[:, :, None] ** 2 * np.eye(3)) @ np.swapaxes(axes, 1, 2)
    np.testing.assert_allclose(again, covariances, atol=1e-5)


def test_the_error_is_that_of_the_run(plaza2: Path) -> None:
    """The error behind the curve: RMSE of the converged samples as in the summary."""
    from nearby._show import _Truth

    recording = nearby.read_recording(plaza2)
    estimates = recording.run()
    truth = _Truth(recording)
    squares: list[float] = []
    for peer in estimates.peers:
        own = (estimates["peer"] == peer) & (estimates["status"] == "converged")
        mean = np.stack([estimates[f"mean_{key}"][own] for key in "xyz"], axis=1)
        places = truth.places(peer, estimates["timestamp"][own])
        assert places is not None
        squares += list(((mean - places) ** 2).sum(axis=1))
    rmse = estimates.summary["errors"]["rmseConverged"]
    assert abs(np.sqrt(np.mean(squares)) / rmse - 1) < 0.01


def test_without_rerun_the_remedy_is_named(cli_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = builtins.__import__

    def without(name: str, *arguments: Any, **named: Any) -> Any:
        if name.split(".")[0] == "rerun":
            raise ImportError(name)
        return known(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install rerun-sdk"):
        nearby.show(cli_run)
