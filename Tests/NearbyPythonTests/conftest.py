# SPDX-License-Identifier: Apache-2.0
"""What the tests share: recordings, the command line, a simulated walk."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

TOP = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def plaza2() -> Path:
    return TOP / "Datasets" / "plaza2"


@pytest.fixture(scope="session")
def cli() -> Path:
    """The command line: `NEARBY`, or as `make build` leaves it."""
    program = Path(os.environ.get("NEARBY", TOP / ".build" / "release" / "nearby"))
    if not program.exists():
        pytest.fail(f"there is no {program}; `make python-test` builds it")
    return program


@pytest.fixture(scope="session")
def cli_run(cli: Path, plaza2: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `nearby run --smooth` writes for plaza2."""
    folder = tmp_path_factory.mktemp("run")
    subprocess.run([cli, "run", plaza2, "-o", folder, "--smooth", "--quiet"], check=True)
    return folder


def place(time: np.ndarray) -> np.ndarray:
    """Where the device of the walk is, shape (N, 3)."""
    return np.stack([2 * np.cos(time / 2), 1.4 + 0.5 * np.sin(1.1 * time), 2 * np.sin(time / 2)], axis=1)


@pytest.fixture
def walk() -> tuple[np.ndarray, np.ndarray]:
    """Poses of shape (900, 8) and samples of shape (300, 3) of the peers 0 and 1."""
    random = np.random.default_rng(1)
    time = np.arange(900) / 30
    poses = np.zeros((len(time), 8))
    poses[:, 0], poses[:, 1:4], poses[:, 7] = time, place(time), 1
    time = np.arange(300) / 10
    peer = np.arange(300) % 2
    beacons = np.array([[4, 0.5, -3], [-3, 2, 1]])[peer]
    distance = np.linalg.norm(beacons - place(time), axis=1) + random.normal(0, 0.05, len(time))
    return poses, np.stack([time, peer, distance], axis=1)
