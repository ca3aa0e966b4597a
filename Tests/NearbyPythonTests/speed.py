# SPDX-License-Identifier: Apache-2.0
"""Measures calls and batches against their goals: `make python-speed`. Times are of the processor."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import nearby
import numpy as np
from conftest import place

SAMPLES = 10_000
REPEATS = 15


def best(call: Callable[[], object]) -> float:
    """The shortest of several times, seconds."""
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


def walk(poses_per_second: int) -> tuple[np.ndarray, np.ndarray]:
    """A walk around one beacon, ten samples a second."""
    times = np.arange(SAMPLES) / 10
    noise = np.random.default_rng(1).normal(0, 0.1, SAMPLES)
    distance = np.linalg.norm(place(times) - [4, 0.5, -3], axis=1) + noise
    samples = np.stack([times, distance], axis=1)
    times = np.arange(SAMPLES // 10 * poses_per_second) / poses_per_second
    poses = np.zeros((len(times), 8))
    poses[:, 0], poses[:, 1:4], poses[:, 7] = times, place(times), 1
    return poses, samples


def each(function: Callable[..., object], *arguments: object) -> float:
    """Microseconds of one call, the loop around it left out."""
    calls = range(20_000)

    def loop() -> None:
        for _ in calls:
            function(*arguments)

    def empty() -> None:
        for _ in calls:
            pass

    return (best(loop) - best(empty)) / len(calls) * 1e6


def main() -> int:
    poses, samples = walk(10)
    engine = nearby.Engine()
    peer = engine.add_peer()
    engine.run(poses[:2000], samples[:2000])
    # A sample that is too late and a pose that is not later cost the engine next to nothing.
    figures = [
        ("10 000 samples and poses from numpy, ms", 1e3 * best(lambda: nearby.run(poses, samples)), 12),
        ("with 30 poses a second, ms", 1e3 * best(lambda: nearby.run(*walk(30))), None),
        ("add_sample, rejected at once, us", each(engine.add_sample, peer, 0, 3.0), 0.3),
        ("add_pose, rejected at once, us", each(engine.add_pose, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), 0.3),
        ("estimate, us", each(engine._estimate, peer), None),
    ]
    for name, value, goal in figures:
        print(f"{name:42} {value:8.2f}" + (f"   goal {goal}" if goal else ""))
    return int(any(goal and value > goal for _, value, goal in figures))


if __name__ == "__main__":
    sys.exit(main())
