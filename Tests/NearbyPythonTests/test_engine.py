# SPDX-License-Identifier: Apache-2.0
"""`nearby.Engine`: one sample at a time."""

from __future__ import annotations

import math
import threading

import nearby
import numpy as np
import pytest


def feed(engine: nearby.Engine, poses: np.ndarray, samples: np.ndarray) -> list[nearby.Estimate]:
    """Adds everything one by one and returns the estimate after each sample."""
    estimates = []
    rest = samples.tolist()
    for pose in poses.tolist():
        engine.add_pose(*pose)
        while rest and rest[0][0] <= pose[0]:
            time, peer, distance = rest.pop(0)
            engine.add_sample(int(peer), time, distance)
            estimates.append(engine.estimate(int(peer), time))
    return estimates


def test_one_by_one_gives_what_arrays_give(walk: tuple[np.ndarray, np.ndarray]) -> None:
    table = nearby.run(*walk)
    engine = nearby.Engine()
    assert [engine.add_peer(), engine.add_peer("bag")] == [0, 1]
    assert engine.peers == ["0", "bag"]
    estimates = feed(engine, *walk)
    assert len(estimates) == len(table)
    for row, estimate in enumerate(estimates):
        assert estimate.status == table["status"][row]
        if estimate.mean is not None:
            assert estimate.mean[0] == table["mean_x"][row]
        assert (estimate.distance is None) == np.isnan(table["distance"][row])
    last = engine.estimate(0)
    assert last.converged and last.reasons == [] and last.world is not None
    assert last.mean == pytest.approx((4, 0.5, -3), abs=0.3)
    assert np.linalg.eigvalsh(np.array(last.covariance)).min() > 0
    assert last.direction is not None and np.linalg.norm(last.direction) == pytest.approx(1)


def test_seconds_are_floats_and_nanoseconds_are_integers() -> None:
    one, other = nearby.Engine(), nearby.Engine()
    for engine in (one, other):
        engine.add_peer()
    for step in range(50):
        seconds, nanoseconds = step * 0.1, step * 100_000_000
        one.add_pose(seconds, step * 0.1, 0, 0, 0, 0, 0, 1)
        other.add_pose(nanoseconds, step * 0.1, 0, 0, 0, 0, 0, 1)
        assert one.add_sample(0, seconds, 3.0) == other.add_sample(0, nanoseconds, 3.0)
    assert one.estimate(0).mean == other.estimate(0).mean
    assert one.estimate(0).time_ns == 4_900_000_000


def test_what_becomes_of_each_is_told() -> None:
    engine = nearby.Engine()
    engine.add_peer()
    assert engine.add_sample(0, 0.0, 3.0) == "rejected"
    assert engine.add_pose(0.0, 0, 0, 0, 0, 0, 0, 1) == "accepted"
    assert engine.add_pose(0.0, 0, 0, 0, 0, 0, 0, 1) == "not later"
    assert engine.add_pose(0.1, float("nan"), 0, 0, 0, 0, 0, 1) == "not finite"
    assert engine.add_pose(0.1, 0, 0, 0, 0, 0, 0, 0) == "not finite"
    assert engine.add_sample(0, 0.0, 4.0, nlos=True) == "all"
    assert engine.add_sample(0, 0.01, 4.0, azimuth=9.0) == "partial"
    assert engine.add_pose(0.2, 90, 0, 0, 0, 0, 0, 1) == "jumped"
    engine.add_tracking(0.2, "limited", "excessiveMotion", 300)
    with pytest.raises(nearby.ArgumentError):
        engine.add_tracking(0.2, "fine")  # type: ignore[arg-type]


def test_mistakes_are_exceptions() -> None:
    engine = nearby.Engine()
    with pytest.raises(nearby.UnknownPeerError) as caught:
        engine.estimate(3)
    assert isinstance(caught.value, LookupError) and "there is no peer 3" in str(caught.value)
    with pytest.raises(nearby.UnknownPeerError):
        engine.add_sample(0, 0.0, 1.0)
    with pytest.raises(nearby.ArgumentError):
        engine.add_pose(1e300, 0, 0, 0, 0, 0, 0, 1)
    with pytest.raises(nearby.ArgumentError, match="there is a peer bag already"):
        engine.add_peer("bag"), engine.add_peer("bag")
    with pytest.raises(TypeError):
        engine.add_sample("bag", 0.0, 1.0)  # type: ignore[call-overload]


def test_a_motion_said_later_counts_from_the_next_sample() -> None:
    def walk(said: str | None) -> list[tuple[float, ...] | None]:
        engine = nearby.Engine()
        engine.add_peer()
        means = []
        for step in range(100):
            if step == 50 and said is not None:
                engine.set_motion(0, said)  # type: ignore[arg-type]
            engine.add_pose(step * 0.1, step * 0.1, 0, 0, 0, 0, 0, 1)
            engine.add_sample(0, step * 0.1, math.hypot(4 - step * 0.1, 3), azimuth=0.1)
            means.append(engine.estimate(0).mean)
        return means

    same, other = walk("stationary"), walk("moving")
    assert same == walk(None)
    assert same[:50] == other[:50] and same[50] != other[50]
    engine = nearby.Engine()
    with pytest.raises(nearby.UnknownPeerError):
        engine.set_motion(0, "moving")
    engine.add_peer()
    with pytest.raises(nearby.ArgumentError):
        engine.set_motion(0, "walking")  # type: ignore[arg-type]


def test_a_copy_goes_its_own_way(walk: tuple[np.ndarray, np.ndarray]) -> None:
    engine = nearby.Engine()
    engine.add_peer(), engine.add_peer()
    feed(engine, *walk)
    copy = engine.copy()
    before = engine.estimate(0).mean
    assert copy.add_peer("third") == 2 and copy.estimate(0).mean == before
    copy.add_sample(0, 29.9, 90.0)
    assert engine.estimate(0).mean == before
    with pytest.raises(nearby.UnknownPeerError):
        engine.estimate(2)


def test_batches_may_follow_single_calls(walk: tuple[np.ndarray, np.ndarray]) -> None:
    poses, samples = walk
    whole = nearby.run(poses, samples)
    engine = nearby.Engine()
    engine.add_peer(), engine.add_peer()
    cut = poses[450, 0]
    feed(engine, poses[:451], samples[samples[:, 0] <= cut])
    rest = engine.run(poses[451:], samples[samples[:, 0] > cut])
    assert np.array_equal(rest["mean_x"], whole["mean_x"][-len(rest) :])


def test_threads_may_share_an_engine() -> None:
    engine = nearby.Engine()
    engine.add_peer()
    poses = np.zeros((2000, 8))
    poses[:, 0], poses[:, 1], poses[:, 7] = np.arange(2000) * 0.01, np.arange(2000) * 0.01, 1

    def work() -> None:
        for _ in range(20):
            engine.run(poses, np.stack([poses[:, 0], np.full(2000, 3.0)], axis=1)[::50])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert engine.estimate(0).status in ("converged", "notConverged")
