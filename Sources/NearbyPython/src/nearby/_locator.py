# SPDX-License-Identifier: Apache-2.0
"""Locating the device itself, by range differences to anchors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nearby import _core
from nearby._engine import _AXES, _UPS, Axes, Configuration, Up, _json, _number
from nearby._errors import ArgumentError


@dataclass(frozen=True)
class Anchor:
    """The prior of an anchor's place.

    Attributes:
        position: Metres in the site's world; None for an anchor that is to be located.
        sigma: One standard deviation along each axis, metres; 0 for an exact place.
    """

    position: tuple[float, float, float] | None = None
    sigma: float = 0.0


@dataclass(frozen=True)
class Clocks:
    """How the clocks of anchors err, as lengths: a nanosecond is 0.3 m.

    Attributes:
        offset_sigma: The offset at first, one sigma, metres.
        rate_sigma: The rate at first, one sigma, metres per second.
        rate_walk: The random walk of the rate: one sigma after a second, metres per second.
    """

    offset_sigma: float = 0.15
    rate_sigma: float = 0.0
    rate_walk: float = 0.0


@dataclass(frozen=True)
class Fix:
    """Where the device is.

    Attributes:
        time_ns: The time of the newest pose, nanoseconds.
        position: Metres in the site's world; None while it is not known.
        covariance: xx, xy, xz, yy, yz, zz, square metres.
        position_sigma: The root of its trace, metres.
        yaw: The turn about gravity from the odometry's world to the site's, counterclockwise as seen from
            above, radians; None while it is not known.
        yaw_sigma: Its standard deviation, radians.
    """

    time_ns: int
    position: tuple[float, float, float] | None
    covariance: tuple[float, float, float, float, float, float]
    position_sigma: float
    yaw: float | None
    yaw_sigma: float


class Locator(_core.Locator):
    """Locates a device that only listens, by how much farther one anchor is than another (DL-TDoA).

    Args:
        anchors: The anchors; later they go by their numbers, from 0.
        clocks: How their clocks err; None for clocks that are kept together.
        config: Settings that differ from the defaults, as for `run`.
        up: The axis of the world that points up.
        axes: The device's axes.
    """

    def __init__(
        self,
        anchors: Sequence[Anchor],
        clocks: Clocks | None = None,
        config: Configuration | None = None,
        *,
        up: Up = "y",
        axes: Axes = "arkit",
    ) -> None:
        numbers: list[float] = []
        for anchor in anchors:
            place = anchor.position
            if place is None:
                numbers += [0.0, 0.0, 0.0, math.nan]
            elif math.isnan(anchor.sigma):
                raise ArgumentError("the sigma of an anchor is not a number; pass 0 for an exact place")
            else:
                numbers += [*place, anchor.sigma]
        model = [clocks.offset_sigma, clocks.rate_sigma, clocks.rate_walk] if clocks else []
        super().__init__(_json(config), _number(up, _UPS, "up"), _number(axes, _AXES, "axes"), numbers, model)

    def add_difference(
        self, time: float, from_anchor: int, to_anchor: int, metres: float, sigma: float = math.nan
    ) -> str:
        """Adds how much farther one anchor is than another. Add first the pose at or after its time.

        Args:
            time: Seconds as a float or nanoseconds as an int.
            from_anchor: The number of the anchor whose distance is taken off.
            to_anchor: The number of the anchor whose distance it is taken off from.
            metres: The difference of the distances.
            sigma: Its standard deviation, metres; NaN for that of the configuration.

        Returns:
            `accepted`, or why it was left out: `no difference`, `without pose` or `too late`.
        """
        return self._add_difference(time, from_anchor, to_anchor, metres, sigma)

    def locate(self) -> Fix | None:
        """Where the device is at the newest pose; None before there is anything to go by."""
        time, position, covariance, sigma, yaw, yaw_sigma = self._locate()
        if math.isinf(sigma):
            return None
        return Fix(time, position, covariance, sigma, yaw, yaw_sigma)
