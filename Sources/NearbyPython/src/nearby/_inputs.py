# SPDX-License-Identifier: Apache-2.0
"""Arrays and tables of the caller as columns that the library reads where they lie."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearby._errors import ArgumentError
from nearby._table import Table

Columns = dict[str, NDArray[Any]]

_NUMBERS = {np.dtype(name) for name in ("f8", "f4", "i8", "i4", "u4", "i2", "i1", "u1")}
_POSE_COLUMNS = ("x", "y", "z", "qx", "qy", "qz", "qw")
_MEASURED_COLUMNS = ("distance", "azimuth", "elevation", "height_difference")
_SAMPLE_COLUMNS = (*_MEASURED_COLUMNS, *(f"{name}_sigma" for name in _MEASURED_COLUMNS))
# What others call these columns.
_SYNONYMS = {"range": "distance", "dist": "distance", "range_sigma": "distance_sigma", "peer_id": "peer"}
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
    get.check_names(_POSE_COLUMNS)
    result = {"time": _time(get)}
    _check_order(result["time"])
    for name in _POSE_COLUMNS:
        column = get(name)
        if column is None:
            raise _missing(get, name)
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
    get.check_names(("peer", "nlos", *_SAMPLE_COLUMNS))
    if not any(name in get.names for name in _MEASURED_COLUMNS):
        raise _missing(get, f"{', '.join(_MEASURED_COLUMNS[:-1])} or {_MEASURED_COLUMNS[-1]}")
    result = {"time": _time(get)}
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
    get.check_names(("state", "reason", "ambient_intensity"))
    states = get("state")
    if states is None:
        raise _missing(get, "state")
    reasons = get("reason")
    pairs = zip(states, [None] * len(states) if reasons is None else reasons, strict=True)
    numbers = np.fromiter((state(word, reason) for word, reason in pairs), "i4", len(states))
    result = {"time": _time(get), "state": numbers}
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


@dataclass(frozen=True)
class _Columns:
    """The columns of the caller's table."""

    what: str
    names: tuple[str, ...]
    column: Callable[[str], Any]

    def __call__(self, name: str) -> Any:
        """A column, or None; what is masked is NaN, or None where that is no number."""
        column = self.column(name) if name in self.names else None
        if not isinstance(column, np.ma.MaskedArray):
            return column
        if not np.ma.is_masked(column):
            return column.data
        if column.dtype.kind == "f":
            return column.filled(np.nan)
        objects = column.data.astype(object)
        objects[np.ma.getmaskarray(column)] = None
        return objects

    def check_names(self, known: Iterable[str]) -> None:
        """Refuses a misspelled column, which would be left out without a word."""
        absent = [name for name in known if name not in self.names]
        for name in self.names:
            word = _SYNONYMS.get(name.lower(), name.lower())
            likely = [] if name in known else difflib.get_close_matches(word, absent, 1, 0.85)
            if likely:
                raise ArgumentError(
                    f"{self.what} have a column {name}, which is none of theirs; "
                    f"rename it to {likely[0]}, or leave it out"
                )


def _reader(table: Any, layouts: dict[int, tuple[str, ...]], what: str) -> _Columns:
    if isinstance(table, np.ndarray) and table.dtype.names is None:
        if table.ndim != 2 or table.shape[1] not in layouts:
            shapes = " or ".join(f"(N, {count})" for count in layouts)
            raise ArgumentError(f"{what} have the shape {table.shape}, not {shapes}")
        layout = layouts[table.shape[1]]
        return _Columns(what, layout, lambda name: table[:, layout.index(name)])
    if isinstance(table, Table):
        return _Columns(what, tuple(table.columns), lambda name: table[name])
    if isinstance(table, np.ndarray):
        return _Columns(what, table.dtype.names or (), lambda name: table[name])
    if isinstance(table, Mapping):
        there = tuple(str(name) for name in table if table[name] is not None)
        return _Columns(what, there, lambda name: _array(table[name]))
    columns = getattr(table, "column_names", None)
    columns = getattr(table, "columns", None) if columns is None else columns
    if columns is not None and hasattr(table, "__getitem__"):
        return _Columns(what, tuple(str(name) for name in columns), lambda name: _array(table[name]))
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


def _time(get: _Columns) -> NDArray[Any]:
    """Times: nanoseconds as integers, or seconds as floats."""
    column = get("time_ns")
    if column is not None:
        _check_is_whole(get, "time_ns", column)
        column = _plain(column)
        if column.size and column.dtype.kind not in "iu":
            raise ArgumentError(f"{get.what}: time_ns holds no integers; pass seconds as timestamp")
        return column.astype(np.int64, copy=False)
    column = get("timestamp")
    if column is None:
        raise _missing(get, "timestamp or time_ns")
    _check_is_whole(get, "timestamp", column)
    column = _plain(column)
    if column.dtype.kind == "M":
        return column.astype("datetime64[ns]").view(np.int64)
    if column.dtype.kind == "m":
        return column.astype("timedelta64[ns]").view(np.int64)
    if column.size and column.dtype.kind in "iu":
        raise ArgumentError(
            f"{get.what}: timestamp holds integers; pass seconds as floats, or nanoseconds as time_ns"
        )
    return column if column.dtype == np.float64 else _numbers(column).astype(np.float64)


def _check_is_whole(get: _Columns, name: str, column: Any) -> None:
    """Refuses rows whose time is masked or missing."""
    column = np.asarray(column)
    if column.dtype.kind == "O":
        missing = np.array([value is None for value in column], bool)
        if missing.any():
            raise ArgumentError(
                f"{get.what}: {name} is missing in row {int(np.argmax(missing))}; leave the row out"
            )


def _check_order(time: NDArray[Any]) -> None:
    """Tells of poses that are not after the pose before them, which the engine leaves out."""
    late = np.flatnonzero(time[1:] <= np.maximum.accumulate(time)[:-1]) + 1
    if not late.size:
        return
    place = f"{late.size} of {time.size} are not after the pose before them, the first in row {late[0]}"
    if 2 * late.size > time.size:
        raise ArgumentError(f"poses: {place}; sort the rows by time")
    warnings.warn(f"poses: {place}; they are left out", stacklevel=4)


def _plain(column: Any) -> NDArray[Any]:
    """A column in the type of its values, where it was one of objects."""
    column = np.asarray(column)
    return np.asarray(column.tolist()) if column.dtype.kind == "O" else column


def _peers(table: Any, column: NDArray[Any], names: list[str] | None) -> tuple[NDArray[Any], list[str]]:
    if isinstance(table, Table) and names is None:
        return table.codes("peer"), table.words("peer")
    column = np.asarray(column)
    _check_peers(column)
    if column.dtype.kind == "f":
        column = column.astype(np.int64)
    if column.dtype.kind in "iu":
        return _numbered_peers(column, names)
    words, places, codes = np.unique(column.astype(str), return_index=True, return_inverse=True)
    order = np.argsort(places)
    known = [str(word) for word in words[order]]
    if names is None:
        return np.argsort(order).astype(np.int32)[codes], known
    unknown = [word for word in known if word not in names]
    if unknown:
        raise ArgumentError(f"samples name the peer {unknown[0]}, which is not among peers")
    return np.array([names.index(str(word)) for word in words], np.int32)[codes], names


def _numbered_peers(column: NDArray[Any], names: list[str] | None) -> tuple[NDArray[Any], list[str]]:
    """Numbers are names, such as radio addresses; if they are no names of the peers, they count these."""
    numbers, codes = np.unique(column, return_inverse=True)
    words = [str(number) for number in numbers]
    if names is None:
        return codes.astype(np.int32), words
    if set(words) <= set(names):
        return np.array([names.index(word) for word in words], np.int32)[codes], names
    return column if column.dtype in _NUMBERS else column.astype(np.int64), names


def _check_peers(column: NDArray[Any]) -> None:
    """Refuses rows whose peer is missing, or is a number that no peer has."""
    if column.dtype.kind == "f":
        wrong = ~(column == np.floor(column)) | (column < 0) | (column >= 2**63)
    elif column.dtype.kind in "iu":
        wrong = column < 0
    elif column.dtype.kind == "U":
        wrong = column == ""
    else:
        wrong = np.fromiter((_is_no_peer(value) for value in column), bool, len(column))
    if wrong.any():
        row = int(np.argmax(wrong))
        value = column[row].item() if isinstance(column[row], np.generic) else column[row]
        raise ArgumentError(
            f"samples: peer is {value!r} in row {row}; pass a name or a number from 0, or leave the row out"
        )


def _is_no_peer(value: Any) -> bool:
    if isinstance(value, str):
        return not value
    # pandas has two more values for what is missing, of which nothing can be asked.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _sight(get: _Columns) -> Columns:
    column = get("nlos")
    if column is None:
        return {}
    column = np.asarray(column)
    if column.dtype.kind in "biu":
        return {"sight": np.where(column, 2, 1).astype(np.uint8)}
    missing = (None, "", np.nan)
    values = [0 if value in missing else 2 if value else 1 for value in column]
    return {"sight": np.array(values, np.uint8)}


def _missing(get: _Columns, name: str) -> ArgumentError:
    return ArgumentError(f"{get.what} have no column {name}; they have {', '.join(get.names) or 'none'}")
