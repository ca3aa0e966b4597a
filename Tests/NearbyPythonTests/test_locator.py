# SPDX-License-Identifier: Apache-2.0
import math

import nearby
import pytest

ANCHORS = [(-6.0, -5.0, 2.6), (6.0, -5.0, 0.4), (6.5, 5.0, 2.4), (-6.0, 5.5, 0.6), (0.0, -6.0, 2.8)]


def walk(locator: nearby.Locator, seconds: int = 20, clock: float = 0.0) -> tuple[float, float, float]:
    """Feeds a walk, z up, whose odometry's world is turned by a right angle; returns where it ends."""
    place = (0.0, 0.0, 0.0)
    for step in range(10 * seconds + 1):
        time = 0.1 * step
        place = (2 * math.sin(0.5 * time), 2 * math.cos(0.7 * time), 1.4 + 0.3 * math.sin(time))
        half = math.sqrt(0.5)
        locator.add_pose(time, place[1], -place[0], place[2], 0, 0, -half, half)
        distances = [math.dist(place, anchor) for anchor in ANCHORS]
        for anchor in range(1, len(ANCHORS)):
            metres = distances[anchor] - distances[0] + clock * time
            assert locator.add_difference(time, 0, anchor, metres, 0.1) == "accepted"
        if step % 5 == 4:
            locator.locate()
    return place


def test_the_device_is_located() -> None:
    locator = nearby.Locator([nearby.Anchor(place) for place in ANCHORS], up="z", axes="ros")
    assert locator.locate() is None
    place = walk(locator)
    fix = locator.locate()
    assert fix is not None and fix.position is not None and fix.yaw is not None
    assert math.dist(fix.position, place) < 0.1
    assert fix.position_sigma < 0.3
    assert fix.time_ns == 20_000_000_000
    assert abs(fix.yaw - math.pi / 2) < 0.05


def test_free_clocks_are_estimated() -> None:
    anchors = [nearby.Anchor(place) for place in ANCHORS]
    kept, free = (
        nearby.Locator(anchors, clocks, up="z", axes="ros")
        for clocks in (None, nearby.Clocks(300, 900, 0.03))
    )
    place = walk(kept, clock=5.0)
    walk(free, clock=5.0)
    wrong, right = kept.locate(), free.locate()
    assert right is not None and right.position is not None
    assert math.dist(right.position, place) < 0.5
    # Clocks that gain five metres a second are not kept together, and that is seen.
    assert wrong is None or wrong.position is None


def test_what_is_no_difference_is_left_out() -> None:
    locator = nearby.Locator([nearby.Anchor((0, 0, 0)), nearby.Anchor()])
    assert locator.add_difference(1.0, 0, 1, 2.0) == "without pose"
    assert locator.add_pose(1_000_000_000, 0, 0, 0, 0, 0, 0, 1) == "accepted"
    assert locator.add_difference(1.0, 0, 1, math.nan) == "no difference"
    assert locator.add_difference(1.0, 0, 2, 2.0) == "no difference"
    assert locator.add_difference(1_000_000_000, 0, 1, 2.0) == "accepted"


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(nearby.ConfigurationError, match="anchors"):
        nearby.Locator([nearby.Anchor((math.inf, 0, 0))])
    with pytest.raises(nearby.ArgumentError, match="sigma"):
        nearby.Locator([nearby.Anchor((0, 0, 0), math.nan)])
    with pytest.raises(nearby.ArgumentError, match="up is"):
        nearby.Locator([], up="x")  # type: ignore[arg-type]
