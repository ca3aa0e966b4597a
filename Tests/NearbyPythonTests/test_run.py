# SPDX-License-Identifier: Apache-2.0
"""`nearby.run` and `nearby.smooth`."""

from __future__ import annotations

import csv
import json
import threading
import time
from pathlib import Path
from typing import Any

import nearby
import numpy as np
import pandas
import polars
import pyarrow
import pytest


def same(one: nearby.Table, other: nearby.Table) -> None:
    """Fails unless two tables have the same columns, bit for bit."""
    assert one.columns == other.columns
    for name in one.columns:
        if one[name].dtype == object:
            assert list(one[name]) == list(other[name]), name
        else:
            assert np.array_equal(one[name], other[name], equal_nan=True), name


def matches_file(table: nearby.Table, path: Path) -> None:
    """Fails unless a table has the values of a file, whose numbers have ten digits."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(table) > 1000
    for name in rows[0]:
        values = [row[name] for row in rows]
        if table[name].dtype == object:
            assert list(table[name]) == values, name
            continue
        numbers = np.array([float(value) if value else np.nan for value in values])
        assert np.array_equal(np.isnan(table[name].astype(float)), np.isnan(numbers)), name
        np.testing.assert_allclose(table[name], numbers, rtol=1e-9, atol=1e-9, err_msg=name)


def test_estimates_are_those_of_the_command_line(plaza2: Path, cli_run: Path) -> None:
    poses = np.loadtxt(plaza2 / "trajectory.txt")
    with (plaza2 / "ranging.csv").open(newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: float(row["timestamp"]))
    samples = {
        "timestamp": np.array([float(row["timestamp"]) for row in rows]),
        "peer": np.array([row["peer"] for row in rows]),
        "distance": np.array([float(row["distance"]) for row in rows]),
    }
    about = json.loads((plaza2 / "recording.json").read_text())
    estimates = nearby.run(
        poses,
        samples,
        cli_run / "configuration.json",
        up=about["world"]["up"],
        axes=about["device"]["axes"],
    )
    matches_file(estimates, cli_run / "estimates.csv")
    assert estimates.counts["poses_accepted"] == len(poses)


def test_smoothing_is_that_of_the_command_line(plaza2: Path, cli_run: Path) -> None:
    recording = nearby.read_recording(plaza2)
    smoothed = recording.smooth()
    matches_file(smoothed, cli_run / "smoothed.csv")
    again = nearby.smooth(
        recording.poses,
        recording.ranging,
        recording.calibrate().configuration,
        peers=recording.peers,
        up=recording.up,
        axes=recording.axes,
    )
    same(smoothed, again)


def as_dict(poses: np.ndarray, samples: np.ndarray) -> tuple[dict[str, Any], dict[str, Any]]:
    names = ("timestamp", "x", "y", "z", "qx", "qy", "qz", "qw")
    return (
        {name: poses[:, place] for place, name in enumerate(names)},
        {"timestamp": samples[:, 0], "peer": samples[:, 1].astype(int), "distance": samples[:, 2]},
    )


def as_structured(columns: dict[str, Any]) -> np.ndarray:
    rows = np.zeros(
        len(columns["timestamp"]), [(name, np.asarray(column).dtype) for name, column in columns.items()]
    )
    for name, column in columns.items():
        rows[name] = column
    return rows


class OnlyArrow:
    """A table that offers nothing but Arrow's stream."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.table = pyarrow.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "make",
    [dict, as_structured, pandas.DataFrame, polars.DataFrame, pyarrow.table, OnlyArrow],
    ids=["dict", "structured", "pandas", "polars", "pyarrow", "arrow stream"],
)
def test_tables_of_all_kinds_give_the_same(walk: tuple[np.ndarray, np.ndarray], make: Any) -> None:
    expected = nearby.run(*walk)
    assert expected["status"][-1] == "converged"
    poses, samples = as_dict(*walk)
    same(expected, nearby.run(make(poses), make(samples)))


def test_columns_may_lie_anyhow(walk: tuple[np.ndarray, np.ndarray]) -> None:
    poses, samples = walk
    expected = nearby.run(poses, samples)
    columns, ranging = as_dict(poses, samples)
    fortran = np.asfortranarray(poses)
    fortran.flags.writeable = False
    same(expected, nearby.run(fortran, samples))
    backwards = {name: np.flip(np.flip(column).copy()) for name, column in columns.items()}
    ranging["peer"] = ranging["peer"].astype(np.uint64)
    same(expected, nearby.run(backwards, ranging))
    ranging["peer"] = ["0" if peer == 0 else "1" for peer in ranging["peer"]]
    same(expected, nearby.run(columns, ranging))
    columns["time_ns"] = np.round(columns.pop("timestamp") * 1e9).astype(np.int64)
    same(expected, nearby.run(columns, ranging))
    ranging["timestamp"] = (ranging["timestamp"] * 1e9).round().astype("timedelta64[ns]")
    same(expected, nearby.run(columns, ranging))


def test_arrays_are_read_where_they_lie(walk: tuple[np.ndarray, np.ndarray]) -> None:
    poses, samples = walk
    from nearby import _inputs

    for name, column in _inputs.poses(poses).items():
        assert np.shares_memory(column, poses), name
    columns, _ = _inputs.samples(samples, None)
    assert np.shares_memory(columns["distance"], samples)
    table = pyarrow.table(as_dict(poses, samples)[0])
    address = table["x"].chunk(0).buffers()[1].address
    assert _inputs.poses(table)["x"].__array_interface__["data"][0] == address


def test_what_was_not_measured_may_be_none(walk: tuple[np.ndarray, np.ndarray]) -> None:
    poses, samples = walk
    _, ranging = as_dict(poses, samples)
    angles = [None if row % 3 else 0.1 for row in range(len(samples))]
    table = pyarrow.table(ranging | {"azimuth": pyarrow.array(angles, pyarrow.float64())})
    numbers = np.array([np.nan if angle is None else angle for angle in angles])
    same(nearby.run(poses, table), nearby.run(poses, ranging | {"azimuth": numbers}))
    flags = [None, True, False] * (len(samples) // 3)
    some = nearby.run(poses, ranging | {"nlos": np.array(flags, dtype=object)})
    none = nearby.run(poses, ranging)
    assert not np.array_equal(some["cov_xx"], none["cov_xx"])


def test_peers_may_move_and_have_names(walk: tuple[np.ndarray, np.ndarray]) -> None:
    moving = nearby.run(*walk, peers={"keys": "moving", "bag": "stationary"})
    assert moving.peers == ["keys", "bag"]
    still = nearby.run(*walk, peers=["keys", "bag"])
    assert not np.array_equal(moving["cov_xx"][-2:], still["cov_xx"][-2:])
    with pytest.raises(nearby.UnknownPeerError, match="row 1: there is no peer 1"):
        nearby.run(*walk, peers=["keys"])
    _, ranging = as_dict(*walk)
    ranging["peer"] = np.where(ranging["peer"] == 0, "keys", "shoes")
    with pytest.raises(nearby.ArgumentError, match="the peer shoes"):
        nearby.run(walk[0], ranging, peers=["keys", "bag"])


def test_tracking_that_is_lost_is_heeded(walk: tuple[np.ndarray, np.ndarray]) -> None:
    tracking = {
        "timestamp": [0.0, 20.0],
        "state": ["normal", "notAvailable"],
        "reason": [None, None],
    }
    estimates = nearby.run(*walk, tracking=tracking)
    assert estimates["used"][-1] == "rejected" and estimates["used"][150] == "all"
    with pytest.raises(nearby.ArgumentError, match="state is 'lost'"):
        nearby.run(*walk, tracking={"timestamp": [0.0], "state": ["lost"]})


def test_faults_are_typed_and_located(walk: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    poses, samples = walk
    with pytest.raises(nearby.ConfigurationError) as caught:
        nearby.run(poses, samples, '{\n  "ranging": {"rangeSigma": -1}\n}')
    assert (caught.value.line, caught.value.column) == (2, 29)
    assert caught.value.code == "valueOutOfRange" and isinstance(caught.value, ValueError)
    with pytest.raises(nearby.ConfigurationError, match="did you mean rangeSigma"):
        nearby.run(poses, samples, {"ranging": {"rangesigma": 1}})
    with pytest.raises(nearby.ArgumentError, match=r"shape \(900, 7\), not \(N, 8\)"):
        nearby.run(poses[:, :7], samples)
    with pytest.raises(nearby.ArgumentError, match="poses have no column qw"):
        nearby.run({name: column for name, column in as_dict(*walk)[0].items() if name != "qw"}, samples)
    broken = samples.copy()
    broken[17, 0] = np.nan
    with pytest.raises(nearby.ArgumentError, match="samples, row 17: time"):
        nearby.run(poses, broken)
    with pytest.raises(ValueError, match="another length"):
        nearby.run(as_dict(*walk)[0] | {"x": np.zeros(3)}, samples)
    with pytest.raises(nearby.ArgumentError, match="up is 'x'"):
        nearby.run(poses, samples, up="x")  # type: ignore[arg-type]
    settings = tmp_path / "settings.json"
    settings.write_text('{"ranging": {"rangeSigma": 0.2}}')
    assert nearby.configuration(settings)["ranging"]["rangeSigma"] == 0.2


def test_nothing_in_gives_an_empty_table() -> None:
    estimates = nearby.run(None, None)
    assert len(estimates) == 0 and len(estimates.columns) == 28
    assert len(estimates.to_pandas()) == 0 and estimates.to_polars().height == 0
    assert len(nearby.run(np.zeros((0, 8)), np.zeros((0, 2)))) == 0


def test_other_threads_go_on_meanwhile(plaza2: Path) -> None:
    recording = nearby.read_recording(plaza2)
    ticks: list[float] = []
    is_over = threading.Event()

    def tick() -> None:
        while not is_over.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    recording.smooth()
    end = time.perf_counter()
    is_over.set()
    thread.join()
    assert sum(begin < moment < end for moment in ticks) > 5
