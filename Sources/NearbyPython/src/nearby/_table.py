# SPDX-License-Identifier: Apache-2.0
"""Tables of results: columns in the library's memory, shared with numpy and Arrow without copies."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nearby import _core

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.figure import Figure


class Table:
    """Columns of equal length.

    `table["distance"]` is a numpy array: numbers without a value are NaN, words without one are None. The
    table offers `__arrow_c_stream__`, so that `polars.DataFrame(table)`, `pyarrow.table(table)` and DuckDB
    read it without copies. Arrays and Arrow data keep the memory alive.
    """

    def __init__(self, columns: _core.Columns) -> None:
        self._columns = columns
        self._cache: dict[str, NDArray[Any]] = {}

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order."""
        return list(self._columns.names)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column that has one."""
        return dict(self._columns.units)

    def __len__(self) -> int:
        return int(self._columns.rows)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def keys(self) -> list[str]:
        """The names of the columns."""
        return self.columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column as an array of shape (rows,): float64, int64, int32, or objects for words."""
        if name not in self._cache:
            self._cache[name] = self._array(name)
        return self._cache[name]

    def _array(self, name: str) -> NDArray[Any]:
        words = self._columns.words(name)
        values = self._columns.column(name)
        if words is None and not isinstance(values, list):
            return values
        known = self._columns.validity(name)
        if words is not None:
            array: NDArray[Any] = np.array([*words, None], dtype=object)[np.asarray(values)]
        else:
            array = np.array(values, dtype=bool if known is None else object)
        if known is not None:
            array[~np.array(known, dtype=bool)] = None
        return array

    def codes(self, name: str) -> NDArray[np.int32]:
        """The indices of a column of words in `words(name)`, shape (rows,)."""
        return np.asarray(self._columns.column(name), dtype=np.int32)

    def words(self, name: str) -> list[str]:
        """The different words of a column of words."""
        return list(self._columns.words(name) or [])

    # Arrow

    def __arrow_c_schema__(self) -> object:
        return self._columns.schema()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._columns.schema(), self._columns.array()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._columns.stream()

    def to_arrow(self) -> pyarrow.Table:
        """The table as a `pyarrow.Table`, without copies; the units are in the fields' metadata."""
        import pyarrow

        table: pyarrow.Table = pyarrow.table(self)
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a `pandas.DataFrame`; words become categories."""
        import pandas

        frame: dict[str, Any] = {}
        for name in self.columns:
            words = self.words(name)
            if words:
                codes = self._known_codes(name)
                frame[name] = pandas.Categorical.from_codes(codes, pandas.Index(words))
            else:
                frame[name] = self[name]
        return pandas.DataFrame(frame)

    def _known_codes(self, name: str) -> NDArray[np.int32]:
        known = self._columns.validity(name)
        codes = self.codes(name)
        return codes if known is None else np.where(np.array(known), codes, np.int32(-1))

    def to_polars(self) -> polars.DataFrame:
        """The table as a `polars.DataFrame`."""
        import polars

        return polars.DataFrame(self)

    # Looks

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        """The first and the last rows, for notebooks."""
        rows = len(self)
        shown = list(range(rows)) if rows <= 10 else [*range(5), *range(rows - 5, rows)]
        units = self.units

        def title(name: str) -> str:
            unit = units.get(name)
            return html.escape(f"{name} [{unit}]" if unit and unit != "1" else name)

        head = "".join(f"<th>{title(name)}</th>" for name in self.columns)
        body = ""
        for place, row in enumerate(shown):
            if rows > 10 and place == 5:
                body += f'<tr><td colspan="{len(self.columns)}">…</td></tr>'
            cells = "".join(f"<td>{_cell(self[name][row])}</td>" for name in self.columns)
            body += f"<tr>{cells}</tr>"
        kind = html.escape(type(self).__name__)
        return (
            f"<table><caption>{kind}: {rows} rows</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


class Estimates(Table):
    """What is known of the peers after each sample: the columns of `estimates.csv` or `smoothed.csv`.

    Attributes:
        counts: How many poses and samples were used, by `run` and `smooth` on arrays.
        summary: The contents of `summary.json`, by `Recording.run`.
    """

    def __init__(
        self,
        columns: _core.Columns,
        counts: dict[str, int] | None = None,
        summary: dict[str, Any] | None = None,
        up: str = "y",
    ) -> None:
        super().__init__(columns)
        self.counts = counts or {}
        self.summary = summary or {}
        self._up = up

    @property
    def peers(self) -> list[str]:
        """The names of the peers."""
        return self.words("peer")

    def plot(self) -> Figure:
        """A quick look: where the peers are seen from above, and their distances over time."""
        # Seen from above, x to the right; in a world with y up the viewer looks along -z.
        depth, sign = ("z", -1) if self._up == "y" else ("y", 1)
        figure = _picture()
        above, over_time = figure.subplots(1, 2)
        codes = self.codes("peer")
        for index, name in enumerate(self.peers):
            rows = codes == index
            if not rows.any():
                continue
            color = f"C{index}"
            x, y = self["mean_x"][rows], sign * self[f"mean_{depth}"][rows]
            above.plot(x, y, ".", markersize=2, color=color, alpha=0.4)
            above.plot(x[-1:], y[-1:], "*", markersize=12, color=color, label=name)
            time, distance = self["timestamp"][rows], self["distance"][rows]
            over_time.plot(time, distance, color=color, linewidth=1)
            if "distance_sigma" in self:
                sigma = self["distance_sigma"][rows]
                over_time.fill_between(
                    time, distance - 2 * sigma, distance + 2 * sigma, color=color, alpha=0.2
                )
        above.set(title="peers from above", xlabel="x [m]", ylabel=f"{'-' * (sign < 0)}{depth} [m]")
        above.set_aspect("equal", adjustable="datalim")
        above.legend()
        over_time.set(title="distance ± 2σ", xlabel="time [s]", ylabel="distance [m]")
        return figure


def _picture() -> Figure:
    """A figure that notebooks show, whatever they know of matplotlib."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        def _repr_png_(self) -> bytes:
            png = io.BytesIO()
            self.savefig(png, format="png")
            return png.getvalue()

    return Picture(figsize=(10, 4.5), layout="constrained")


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return html.escape(str(value))
