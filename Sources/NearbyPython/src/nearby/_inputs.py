# SPDX-License-Identifier: Apache-2.0
"""Arrays and tables of the caller as columns that the library reads where they lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearby._errors import ArgumentError
from nearby._table import Table

Columns = dict[str, NDArray[Any]]

_NUMBERS = {np.dtype(name) for name in ("f8", "f4", "i8", "i4", "u4", "i2", "i1", "u1")}
_POSE_COLUMNS = ("x", "y", "z", "qx", "qy", "qz", "qw")
_SAMPLE_COLUMNS = (
    "distance",
    "azimuth",
    "elevation",
    "height_difference",
    "distance_sigma",
    "azimuth_sigma",
    "elevation_sigma",
    "height_difference_sigma",
)
_SAMPLE_LAYOUTS = {
    2: ("timestamp", "distance"),
    3: ("timestamp", "peer", "distance"),
    5: ("timestamp", "peer", "distance", "azimuth", "elevation"),
}
_STATES = ("normal", "limited", "notAvailable")
_REASONS = ("unspecified", "initializing", "relocalizing", "excessiveMotion", "insufficientFeatures")


def poses(table: Any) -> Columns:
    """The columns of poses.

    Args:
        table: An array of shape (N, 8): seconds, x, y, z, qx, qy, qz, qw; or a table with these columns and
            `timestamp` (seconds) or `time_ns`.
    """
    if table is None:
        return {}
    get = _reader(table, {8: ("timestamp", *_POSE_COLUMNS)}, "poses")
    result = {"time": _time(get, "poses")}
    for name in _POSE_COLUMNS:
        column = get(name)
        if column is None:
            raise _missing("poses", name)
        result[name] = _numbers(column)
    return result


def samples(table: Any, names: list[str] | None) -> tuple[Columns, list[str]]:
    """The columns of samples, and the names of their peers.

    Args:
        table: An array of shape (N, 2), (N, 3) or (N, 5); or a table.
        names: The names of the peers; None to take those that the samples have.
    """
    if table is None:
        return {}, names or []
    get = _reader(table, _SAMPLE_LAYOUTS, "samples")
    result = {"time": _time(get, "samples")}
    for name in _SAMPLE_COLUMNS:
        column = get(name)
        if column is not None:
            result[name] = _numbers(column)
    peer = get("peer")
    if peer is None:
        return result | _sight(get), names or ["0"]
    result["peer"], names = _peers(table, peer, names)
    return result | _sight(get), names


def tracking(table: Any) -> Columns:
    """The columns of the odometry's quality: `timestamp` or `time_ns`, `state`, `reason`,
    `ambient_intensity` (lumens)."""
    if table is None:
        return {}
    get = _reader(table, {}, "tracking")
    states = get("state")
    if states is None:
        raise _missing("tracking", "state")
    reasons = get("reason")
    pairs = zip(states, [None] * len(states) if reasons is None else reasons, strict=True)
    numbers = np.fromiter((state(word, reason) for word, reason in pairs), "i4", len(states))
    result = {"time": _time(get, "tracking"), "state": numbers}
    light = get("ambient_intensity")
    if light is not None:
        result["lumens"] = _numbers(light)
    return result


def state(word: Any, reason: Any) -> int:
    """The number of a state of tracking."""
    if word not in _STATES:
        raise ArgumentError(f"tracking: state is {str(word)!r}; it can be {', '.join(_STATES)}")
    if word == "normal":
        return 0
    if word == "notAvailable":
        return 6
    return 1 + _REASONS.index(reason) if reason in _REASONS else 1


def _reader(table: Any, layouts: dict[int, tuple[str, ...]], what: str) -> Any:
    """A function that gives a column by its name, or None."""
    if isinstance(table, np.ndarray) and table.dtype.names is None:
        if table.ndim != 2 or table.shape[1] not in layouts:
            shapes = " or ".join(f"(N, {count})" for count in layouts)
            raise ArgumentError(f"{what} have the shape {table.shape}, not {shapes}")
        places = {name: index for index, name in enumerate(layouts[table.shape[1]])}
        return lambda name: table[:, places[name]] if name in places else None
    if isinstance(table, Table):
        return lambda name: table[name] if name in table.columns else None
    if isinstance(table, np.ndarray):
        return lambda name: table[name] if name in (table.dtype.names or ()) else None
    if isinstance(table, Mapping):
        return lambda name: None if table.get(name) is None else _array(table[name])
    columns = getattr(table, "column_names", None) or getattr(table, "columns", None)
    if columns is not None and hasattr(table, "__getitem__"):
        known = {str(name) for name in columns}
        return lambda name: _array(table[name]) if name in known else None
    if hasattr(table, "__arrow_c_stream__"):
        import pyarrow

        return _reader(pyarrow.table(table), layouts, what)
    raise ArgumentError(f"{what} are a {type(table).__name__}; pass an array or a table of columns")


def _array(column: Any) -> NDArray[Any]:
    if isinstance(column, np.ndarray):
        return column
    if getattr(column, "num_chunks", 0) == 1:  # pyarrow: one chunk is read where it lies
        return np.asarray(column.chunk(0).to_numpy(zero_copy_only=False))
    return np.asarray(column)


def _numbers(column: NDArray[Any]) -> NDArray[Any]:
    """A column of numbers; missing ones are NaN."""
    column = np.asarray(column)
    if column.dtype in _NUMBERS:
        return column
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        missing = np.array([value is None for value in column])
        return np.where(missing, np.nan, column).astype(np.float64)


def _time(get: Any, what: str) -> NDArray[Any]:
    """Times: nanoseconds as integers, or seconds as floats."""
    column = get("time_ns")
    if column is not None:
        return np.asarray(column).astype(np.int64, copy=False)
    column = get("timestamp")
    if column is None:
        raise _missing(what, "timestamp or time_ns")
    column = np.asarray(column)
    if column.dtype.kind == "M":
        return column.astype("datetime64[ns]").view(np.int64)
    if column.dtype.kind == "m":
        return column.astype("timedelta64[ns]").view(np.int64)
    return column if column.dtype == np.float64 else column.astype(np.float64)


def _peers(table: Any, column: NDArray[Any], names: list[str] | None) -> tuple[NDArray[Any], list[str]]:
    if isinstance(table, Table) and names is None:
        return table.codes("peer"), table.words("peer")
    column = np.asarray(column)
    if column.dtype.kind == "f" and np.all(column == np.floor(column)):
        column = column.astype(np.int64)
    if column.dtype.kind in "iu":
        if column.dtype not in _NUMBERS:
            column = column.astype(np.int64)
        if names is None:
            names = [str(number) for number in range(int(column.max(initial=-1)) + 1)]
        return column, names
    words, places, codes = np.unique(column.astype(str), return_index=True, return_inverse=True)
    order = np.argsort(places)
    known = [str(word) for word in words[order]]
    if names is None:
        return np.argsort(order).astype(np.int32)[codes], known
    unknown = [word for word in known if word not in names]
    if unknown:
        raise ArgumentError(f"samples name the peer {unknown[0]}, which is not among peers")
    return np.array([names.index(str(word)) for word in words], np.int32)[codes], names


def _sight(get: Any) -> Columns:
    column = get("nlos")
    if column is None:
        return {}
    column = np.asarray(column)
    if column.dtype.kind in "biu":
        return {"sight": np.where(column, 2, 1).astype(np.uint8)}
    missing = (None, "", np.nan)
    values = [0 if value in missing else 2 if value else 1 for value in column]
    return {"sight": np.array(values, np.uint8)}


def _missing(what: str, name: str) -> ArgumentError:
    return ArgumentError(f"{what} have no column {name}")
