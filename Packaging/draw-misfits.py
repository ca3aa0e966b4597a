#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draw the figures of the page on lasting errors: what is claimed of peers through an elevator, walls and a body.

For each scenario a picture of the error of each peer's place over time, and of three standard deviations
of it as they were published, heavy where the engine claimed to have converged. Needs the program of
`make build` and nothing else.

    Packaging/draw-misfits.py [SEED]
"""

import csv
import json
import math
import subprocess
import sys
import tempfile
from bisect import bisect_left
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / ".build/release/nearby"
PICTURES = ROOT / "Sources/NearbyFusion/NearbyFusion.docc/Resources"
SCENARIOS = ("elevator", "walls", "body")

# Pixels, metres at the top, and seconds of a walk.
WIDTH, HEIGHT, MARGIN, TOP, DURATION = 720, 200, 36, 4.0, 240.0
SIGMAS = 3
# Curves are drawn with one sample in so many.
THINNING = 3
# Seconds without an estimate from which on nothing is drawn in between.
LONGEST_GAP = 4.0
# What is written at an event, and on which side.
EVENTS = {"odometrySlipped": ("slip found ", "end"), "slipMeasured": (" measured", "start")}
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")

Vector = tuple[float, float, float]


def turned(quaternion: list[float], vector: Vector, sign: int = 1) -> Vector:
    """Turn a vector by a unit quaternion (x, y, z, w), or by its inverse."""
    x, y, z, w = quaternion
    q = (sign * x, sign * y, sign * z)
    t = tuple(2 * c for c in cross(q, vector))
    u = cross(q, t)
    return tuple(v + w * a + b for v, a, b in zip(vector, t, u))


def cross(a: Vector, b: Vector) -> Vector:
    """Return the cross product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def trajectory(file: Path) -> tuple[list[float], list[list[float]]]:
    """Read times and poses (x y z qx qy qz qw)."""
    lines = [line.split() for line in file.read_text().splitlines() if not line.startswith("#")]
    rows = [[float(value) for value in line] for line in lines]
    return [row[0] for row in rows], [row[1:] for row in rows]


def table(file: Path) -> list[dict[str, str]]:
    """Read a table."""
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


# Seconds, the error of a peer's place, so many published standard deviations, and whether it had converged.
Point = tuple[float, float, float, bool]


def errors(recording: Path, result: Path) -> tuple[dict[str, list[Point]], list[dict]]:
    """Return the errors of all peers of a run, and its events."""
    times, odometry = trajectory(recording / "trajectory.txt")
    true_times, true = trajectory(recording / "truth/trajectory.txt")
    places = {
        row["peer"]: tuple(float(row[axis]) for axis in "xyz")
        for row in table(recording / "truth/peers.csv")
    }
    tracks: dict[str, list[Point]] = {}
    for row in table(result / "estimates.csv"):
        if not row["mean_x"]:
            continue
        time = float(row["timestamp"])
        true_pose = true[min(bisect_left(true_times, time), len(true) - 1)]
        pose = odometry[min(bisect_left(times, time), len(odometry) - 1)]
        away = tuple(a - b for a, b in zip(places[row["peer"]], true_pose))
        offset = turned(pose[3:], turned(true_pose[3:], away, -1))
        place = [a + b for a, b in zip(pose, offset)]
        error = math.dist([float(row[f"mean_{axis}"]) for axis in "xyz"], place)
        sigma = math.sqrt(sum(float(row[f"cov_{axis}{axis}"]) for axis in "xyz"))
        point = (time - times[0], error, SIGMAS * sigma, row["status"] == "converged")
        tracks.setdefault(row["peer"], []).append(point)
    return tracks, json.loads((result / "summary.json").read_text()).get("events", [])


def at(time: float, metres: float) -> str:
    """Return the pixel of a time and an error."""
    x = MARGIN + time / DURATION * (WIDTH - 2 * MARGIN)
    y = HEIGHT - MARGIN - min(metres, TOP) / TOP * (HEIGHT - 2 * MARGIN)
    return f"{x:.1f},{y:.1f}"


def line(points: list[str], style: str) -> str:
    """Return a line."""
    return f'<polyline points="{" ".join(points)}" fill="none" {style}/>' if points[1:] else ""


def lines(points: list[Point], column: int, style: str, *, claimed: bool = False) -> list[str]:
    """Return the curve of a column, in pieces between which the peer was not heard, or claimed nothing."""
    pieces: list[list[str]] = [[]]
    before = 0.0
    for point in points:
        if point[0] - before > LONGEST_GAP or claimed and not point[3]:
            pieces.append([])
        before = point[0]
        if point[3] or not claimed:
            pieces[-1].append(at(point[0], point[column]))
    return [line(piece, style) for piece in pieces]


def draw(tracks: dict[str, list[Point]], events: list[dict], file: Path) -> None:
    """Draw the errors of a run."""
    parts = [
        line([at(0, metres), at(DURATION, metres)], 'stroke="#ddd"')
        + f'<text x="6" y="{at(0, metres).split(",")[1]}">{metres} m</text>'
        for metres in range(int(TOP) + 1)
    ]
    for event in events:
        time = event["secondsFound"]
        if event["kind"] not in EVENTS:
            continue
        text, anchor = EVENTS[event["kind"]]
        if event.get("metres"):
            text += f", {event['metres']:.1f} m"
        x = at(time, 0).split(",")[0]
        parts.append(
            line([at(time, 0), at(time, TOP)], 'stroke="#111" stroke-dasharray="2 3"')
            + f'<text x="{x}" y="{MARGIN - 8}" text-anchor="{anchor}">{text}</text>'
        )
    for (_, points), colour in zip(sorted(tracks.items()), COLOURS):
        stroke = f'stroke="{colour}" stroke-width='
        points = points[::THINNING]
        parts += lines(points, 2, stroke + '"0.8" stroke-dasharray="4 3"')
        parts += lines(points, 1, stroke + '"0.6"')
        parts += lines(points, 1, stroke + '"2.2"', claimed=True)
    parts += [
        f'<text x="{at(time, 0).split(",")[0]}" y="{HEIGHT - 16}">{time} s</text>'
        for time in range(0, int(DURATION) + 1, 60)
    ]
    file.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>\n'
        + "\n".join(part for part in parts if part)
        + "\n</svg>\n"
    )


def main() -> None:
    """Draw them."""
    seed = sys.argv[1] if len(sys.argv) > 1 else "5"
    with tempfile.TemporaryDirectory() as name:
        for scenario in SCENARIOS:
            recording, result = Path(name, scenario), Path(name, scenario + "-out")
            for command in (
                ["simulate", f"misfit-{scenario}", "--seed", seed, "--output", recording],
                ["run", recording, "--output", result, "--calibration", "off"],
            ):
                subprocess.run([PROGRAM, *command], check=True, stdout=subprocess.DEVNULL)
            picture = PICTURES / f"misfit-{scenario}.svg"
            draw(*errors(recording, result), picture)
            print(picture.relative_to(ROOT))


if __name__ == "__main__":
    main()
