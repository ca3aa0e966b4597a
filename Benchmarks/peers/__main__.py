# SPDX-License-Identifier: Apache-2.0
"""Times the peers: `python -m peers --help`."""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from . import parsers, updates


def main() -> None:
    """Times every peer that is installed and writes nanoseconds by group and name."""
    parser = argparse.ArgumentParser(prog="peers", description="Times other people's packages.")
    parser.add_argument("--recording", type=Path, default=Path("out/bench/recording"))
    parser.add_argument("--fast-float", type=Path, default=Path(".build-peers/fast_float_rows"))
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    full = arguments.recording.with_name(arguments.recording.name + "-full")
    estimates = arguments.recording.with_name(arguments.recording.name + "-estimates.csv")
    files = {
        "trajectory": (full / "trajectory.txt", " "),
        "ranging": (full / "ranging.csv", ","),
        "estimates": (estimates, ","),
    }
    results = {"updates": _timed(updates.peers(full))}
    for group, (file, separator) in files.items():
        results[group] = _timed(parsers.peers(file, separator))
        if arguments.fast_float.exists():
            results[group]["fast_float"] = parsers.fast_float(arguments.fast_float, file, separator)
    arguments.output.write_text(json.dumps(results, indent=2) + "\n")


def _timed(peers: dict[str, Callable[[], float]]) -> dict[str, float]:
    found = {}
    for package, measure in peers.items():
        try:
            importlib.import_module(package.replace("-", "_"))
        except ImportError:
            print(f"{package} is not installed: left out")
            continue
        found[f"{package} {version(package)}"] = measure()
    return found


if __name__ == "__main__":
    main()
