# SPDX-License-Identifier: Apache-2.0
"""Columns that are not what they seem: refused with a word, or taken as they are meant."""

from __future__ import annotations

import resource
from typing import Any

import nearby
import numpy as np
import pandas
import polars
import pytest
from nearby import ArgumentError

Walk = tuple[np.ndarray, np.ndarray]


def table(samples: np.ndarray) -> dict[str, Any]:
    return {"timestamp": samples[:, 0], "peer": samples[:, 1].astype(int), "distance": samples[:, 2]}


@pytest.mark.parametrize("kind", [np.uint32, np.int64, np.uint64, np.float64])
def test_radio_addresses_are_names(walk: Walk, kind: Any) -> None:
    poses, samples = walk
    columns = table(samples)
    numbers = np.array([2**31 + 7, 0xA1])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = nearby.run(poses, columns | {"peer": numbers[columns["peer"]].astype(kind)})
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "kilobytes"
    assert set(result.peers) == {"161", str(2**31 + 7)}
    expected = nearby.run(poses, columns)
    assert np.array_equal(result["distance"], expected["distance"], equal_nan=True)
    named = [{"0": str(2**31 + 7), "1": "161"}[name] for name in expected["peer"]]
    assert list(result["peer"]) == named


def test_the_motion_of_a_radio_address_can_be_told(walk: Walk) -> None:
    poses, samples = walk
    columns = table(samples)
    columns["peer"] = np.array([4660, 161])[columns["peer"]]
    result = nearby.run(poses, columns, peers={"161": "moving", "4660": "stationary"})
    assert result["peer"][0] == "4660" and result.peers == ["161", "4660"]
    # Numbers that are no names count the peers, as they always did.
    result = nearby.run(*walk, peers=["keys", "bag"])
    assert result["peer"][0] == "keys"


@pytest.mark.parametrize("name", ["range", "Range", "distances", "dist", "azimut", "Elevation", "peer_id"])
def test_a_column_of_another_name_is_told(walk: Walk, name: str) -> None:
    poses, samples = walk
    columns = table(samples)
    if name == "peer_id":
        columns[name] = columns.pop("peer")
    elif name in ("azimut", "Elevation"):
        columns[name] = columns["distance"] * 0
    else:
        columns[name] = columns.pop("distance")
        columns["azimuth"] = columns[name] * 0
    with pytest.raises(ArgumentError, match=f"samples have a column {name}.*rename it to "):
        nearby.run(poses, columns)


def test_samples_that_measure_nothing_are_told(walk: Walk) -> None:
    poses, samples = walk
    columns = table(samples)
    columns["metres"] = columns.pop("distance")
    with pytest.raises(
        ArgumentError, match="no column distance, azimuth, .*they have timestamp, peer, metres"
    ):
        nearby.run(poses, columns)
    # Other columns are the caller's own.
    columns = table(samples) | {"rssi": samples[:, 0], "channel": samples[:, 0]}
    nearby.run(poses, columns)


@pytest.mark.parametrize("make", [dict, pandas.DataFrame, polars.DataFrame])
def test_integers_are_no_seconds(walk: Walk, make: Any) -> None:
    poses, samples = walk
    columns = table(samples)
    columns["timestamp"] = (columns["timestamp"] * 1e9).astype(int)
    with pytest.raises(ArgumentError, match="samples: timestamp holds integers; pass seconds as floats, or"):
        nearby.run(poses, make(columns))
    columns["timestamp"] = [int(time) for time in columns["timestamp"]]
    with pytest.raises(ArgumentError, match="timestamp holds integers"):
        nearby.run(poses, {**columns, "timestamp": np.array(columns["timestamp"], dtype=object)})
    columns["time_ns"] = samples[:, 0] * 1e9
    with pytest.raises(ArgumentError, match="samples: time_ns holds no integers"):
        nearby.run(poses, make(columns))
    with pytest.raises(ArgumentError, match="poses: timestamp holds integers"):
        nearby.run(poses.astype(int), samples)


@pytest.mark.parametrize("missing", [None, np.nan, "", pandas.NA, pandas.NaT])
def test_a_missing_peer_is_none(walk: Walk, missing: Any) -> None:
    poses, samples = walk
    columns = table(samples)
    peers = np.array(["a"] * len(samples), dtype=object)
    peers[7] = missing
    with pytest.raises(ArgumentError, match="samples: peer is .* in row 7; pass a name or a number"):
        nearby.run(poses, columns | {"peer": peers})
    with pytest.raises(ArgumentError, match="in row 7"):
        nearby.run(poses, pandas.DataFrame(columns | {"peer": pandas.Series(peers)}))


@pytest.mark.parametrize("number", [-1, 1.5, np.nan, np.inf])
def test_a_number_that_no_peer_has_is_told(walk: Walk, number: float) -> None:
    poses, samples = walk
    samples = samples.copy()
    samples[7, 1] = number
    with pytest.raises(ArgumentError, match=r"samples: peer is -?\S+ in row 7"):
        nearby.run(poses, samples)
    with pytest.raises(ArgumentError, match="in row 7"):
        nearby.run(poses, samples, peers=["a", "b"])


def test_what_is_masked_was_not_measured(walk: Walk) -> None:
    poses, samples = walk
    columns = table(samples)
    wrong = columns["distance"].copy()
    wrong[10::3] = 999.0
    masked = np.ma.masked_greater(wrong, 900)
    expected = nearby.run(poses, columns | {"distance": np.where(wrong > 900, np.nan, wrong)})
    as_columns = nearby.run(poses, columns | {"distance": masked})
    assert np.array_equal(as_columns["mean_x"], expected["mean_x"], equal_nan=True)
    as_array = nearby.run(
        poses, np.ma.masked_greater(np.where(np.arange(3) == 2, wrong[:, None], samples), 900)
    )
    assert np.array_equal(as_array["mean_x"], expected["mean_x"], equal_nan=True)
    sight = np.ma.masked_array(np.ones(len(wrong), bool), mask=True)
    unknown = nearby.run(poses, columns | {"nlos": sight})
    assert np.array_equal(unknown["mean_x"], nearby.run(poses, columns)["mean_x"], equal_nan=True)


@pytest.mark.parametrize("name", ["timestamp", "time_ns"])
def test_a_masked_time_is_told(walk: Walk, name: str) -> None:
    poses, samples = walk
    columns = table(samples)
    time = columns.pop("timestamp")
    values = time if name == "timestamp" else (time * 1e9).astype(np.int64)
    columns[name] = np.ma.masked_array(values, mask=np.arange(len(time)) == 7)
    with pytest.raises(ArgumentError, match="row 7"):
        nearby.run(poses, columns)


def test_poses_in_another_order_are_told(walk: Walk) -> None:
    poses, samples = walk
    with pytest.raises(ArgumentError, match="poses: .* the first in row 1; sort the rows by time"):
        nearby.run(poses[::-1], samples)
    swapped = poses.copy()
    swapped[[40, 41]] = swapped[[41, 40]]
    with pytest.warns(UserWarning, match="poses: 1 of .* the first in row 41; they are left out"):
        result = nearby.run(swapped, samples)
    assert result.counts["poses_not_later"] == 1


def test_a_name_is_not_cut(walk: Walk) -> None:
    with pytest.raises(ValueError, match="NUL"):
        nearby.Engine().add_peer("keys\0bag")
    with pytest.raises(ValueError, match="NUL"):
        nearby.Recording("there\0is none")
