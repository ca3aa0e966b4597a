# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C during a long call is heard, and no thread waits for a call of another."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import nearby
import numpy as np
import pytest
from conftest import place

# The walk around eight beacons that the child processes run: for many seconds.
WALK = """
import sys, threading, time, numpy as np, nearby
from conftest import place

def walk(samples, peers=8):
    times = np.arange(samples) / 40
    beacons = np.random.default_rng(1).uniform(-6, 6, (peers, 3))[np.arange(samples) % peers]
    distance = np.linalg.norm(beacons - place(times), axis=1)
    distance += np.random.default_rng(2).normal(0, 0.1, samples)
    poses = np.zeros((samples, 8))
    poses[:, 0], poses[:, 1:4], poses[:, 7] = times, place(times), 1
    return poses, np.stack([times, np.arange(samples) % peers, distance], axis=1)

def late(call):
    print("running", flush=True)
    try:
        call()
    except KeyboardInterrupt:
        print("heard", time.monotonic(), flush=True)
        return
    print("missed", flush=True)
"""


@pytest.mark.parametrize(
    "call",
    ["nearby.run(*walk(2_000_000))", "nearby.smooth(*walk(60_000))", "recording.smooth()"],
)
def test_ctrl_c_is_heard(call: str, plaza2: Path) -> None:
    script = WALK + f"recording = nearby.read_recording({str(plaza2)!r})\n"
    if call.startswith("recording"):
        script += "late(lambda: [recording.smooth() for _ in range(100)])"
    else:
        name, arguments = call.split("(*", 1)
        script += f"arrays = {arguments[:-1]}\nlate(lambda: {name}(*arrays))"
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent
    )
    assert child.stdout and child.stdout.readline() == "running\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    sent = time.monotonic()
    word, *heard = child.stdout.readline().split()
    assert word == "heard" and float(heard[0]) - sent < 0.3
    assert child.wait(timeout=10) == 0


def test_an_engine_goes_on_after_an_interrupted_run() -> None:
    script = WALK + (
        "engine = nearby.Engine()\n"
        "for _ in range(8): engine.add_peer()\n"
        "poses, samples = walk(2_000_000)\n"
        "late(lambda: engine.run(poses, samples))\n"
        "assert engine.estimate(0).distance is not None\n"
        "before = engine.estimate(0).time_ns\n"
        "assert 0 < before < poses[-1, 0] * 1e9, before\n"
        "engine.run(poses[-100:], samples[-100:])\n"
        "assert engine.estimate(0).time_ns > before\n"
        "print('good')"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent
    )
    assert child.stdout and child.stdout.readline() == "running\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline().startswith("heard")
    assert child.stdout.readline() == "good\n"


def test_a_call_that_waits_for_a_run_lets_other_threads_go_on() -> None:
    samples = 40_000
    times = np.arange(samples) / 40
    poses = np.zeros((samples, 8))
    poses[:, 0], poses[:, 1:4], poses[:, 7] = times, place(times), 1
    peer = np.arange(samples) % 8
    beacons = np.random.default_rng(1).uniform(-6, 6, (8, 3))[peer]
    ranging = np.stack([times, peer, np.linalg.norm(beacons - place(times), axis=1)], axis=1)
    engine = nearby.Engine()
    for _ in range(8):
        engine.add_peer()
    ticks: list[float] = []
    is_over = threading.Event()

    def tick() -> None:
        while not is_over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    ticker = threading.Thread(target=tick)
    runner = threading.Thread(target=engine.run, args=(poses, ranging))
    ticker.start()
    runner.start()
    time.sleep(0.1)
    begin = time.monotonic()
    assert runner.is_alive(), "the run was too short to wait for"
    engine.estimate(0)
    engine.estimate(0, 2000.0)
    engine.copy()
    waited = time.monotonic() - begin
    runner.join()
    is_over.set()
    ticker.join()
    assert waited > 0.25, "the calls were to wait for the run"
    assert max(np.diff(ticks)) < 0.2
