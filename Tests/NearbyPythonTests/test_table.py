# SPDX-License-Identifier: Apache-2.0
"""Tables: numpy, Arrow, pandas, polars, DuckDB, looks."""

from __future__ import annotations

import gc
from pathlib import Path

import duckdb
import nearby
import numpy as np
import pandas
import polars
import pyarrow
import pytest


@pytest.fixture
def table(walk: tuple[np.ndarray, np.ndarray]) -> nearby.Estimates:
    return nearby.run(*walk)


def test_arrow_reads_the_columns_where_they_lie(table: nearby.Estimates) -> None:
    arrow = pyarrow.table(table)
    arrow.validate(full=True)
    assert arrow.column_names == table.columns
    address = arrow["distance_sigma"].chunk(0).buffers()[1].address
    assert table["distance_sigma"].__array_interface__["data"][0] == address
    assert arrow["world_x"].null_count == int(np.isnan(table["world_x"]).sum()) > 0
    units = {field.name: field.metadata[b"unit"].decode() for field in arrow.schema if field.metadata}
    assert units == table.units
    assert units["cov_xx"] == "m2" and units["time_ns"] == "ns"
    assert pyarrow.record_batch(table).num_rows == len(table)


def test_a_table_may_be_read_often_and_dies_last(table: nearby.Estimates) -> None:
    arrow, again, column = pyarrow.table(table), pyarrow.table(table), table["mean_x"]
    expected = column.copy()
    one = again["mean_x"]
    del table, again
    gc.collect()
    assert np.array_equal(column, expected)
    assert np.array_equal(arrow["mean_x"].to_numpy(), expected, equal_nan=True)
    assert np.array_equal(one.to_numpy(), expected, equal_nan=True)
    with pytest.raises(ValueError):
        column[0] = 1


def test_a_capsule_that_nobody_reads_is_freed(table: nearby.Estimates) -> None:
    for _ in range(100):
        table.__arrow_c_stream__()
        table.__arrow_c_array__()
        table.__arrow_c_schema__()


def test_pandas_polars_and_duckdb_read_it(table: nearby.Estimates) -> None:
    frame = table.to_pandas()
    assert isinstance(frame["status"].dtype, pandas.CategoricalDtype)
    assert frame["status"].iloc[-1] == "converged"
    assert frame["distance"].isna().sum() == np.isnan(table["distance"]).sum()
    polar = table.to_polars()
    assert polar["distance"].null_count() == np.isnan(table["distance"]).sum()
    mean = polar.filter(polars.col("peer") == "1")["mean_x"].tail(1).item()
    assert mean == table["mean_x"][table["peer"] == "1"][-1]
    arrow = table.to_arrow()
    found = duckdb.sql("select peer, count(*), max(timestamp) from arrow group by peer order by peer")
    assert found.fetchall() == [("0", 150, 29.8), ("1", 150, 29.9)]
    assert arrow.num_rows == 300


def test_it_looks_well(table: nearby.Estimates, tmp_path: Path) -> None:
    page = table._repr_html_()
    assert "300 rows" in page and "distance [m]" in page and page.count("<tr>") == 12
    assert repr(table).startswith("<Estimates: 300 rows of timestamp, time_ns, peer")
    table.plot().savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    with pytest.raises(KeyError):
        table["no such column"]
    assert "distance" in table and len(list(table)) == 28


def test_it_can_be_pickled_as_arrow(table: nearby.Estimates) -> None:
    import pickle

    arrow = pickle.loads(pickle.dumps(table.to_arrow()))
    assert arrow.num_rows == 300
