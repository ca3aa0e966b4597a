#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draw the figure of the page on the chain: a simulated office, before and after the joint fit.

The raw odometry's path, the path that the joint fit corrects, the true one, and the peers of the map
with their covariance. Needs the program of `make build` and nothing else.

    Packaging/draw-office.py [SEED]
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / ".build/release/nearby"
PICTURE = ROOT / "Sources/NearbyFusion/NearbyFusion.docc/Resources/office.svg"

# Pixels per metre, of the margin, and how much larger than one sigma ellipses are drawn.
SCALE, MARGIN, SIGMAS = 26, 30, 3
# Paths are drawn with one pose in so many.
THINNING = 30


def path(file: Path) -> list[tuple[float, float]]:
    """Read the ground plan of a trajectory: x to the right, z down."""
    rows = [line.split() for line in file.read_text().splitlines() if not line.startswith("#")]
    return [(float(row[1]), float(row[3])) for row in rows[::THINNING]]


def ellipse(xx: float, xz: float, zz: float) -> tuple[float, float, float]:
    """Return the half axes and the turn in degrees of a covariance of x and z."""
    middle, half = (xx + zz) / 2, math.hypot((xx - zz) / 2, xz)
    turn = math.degrees(0.5 * math.atan2(2 * xz, xx - zz))
    return math.sqrt(middle + half), math.sqrt(max(middle - half, 0)), turn


def run(folder: Path, seed: int) -> None:
    """Simulate the office, and run the engine on it."""
    for command in (
        ["simulate", "level-office", "--seed", str(seed), "--output", folder / "office"],
        ["run", folder / "office", "--output", folder / "out", "--map", folder / "map.json"],
    ):
        subprocess.run([PROGRAM, *command], check=True, stdout=subprocess.DEVNULL)


class Picture:
    """Lines and marks in metres, as SVG."""

    def __init__(self, points: list[tuple[float, float]]) -> None:
        """Fit the picture to points."""
        xs, zs = [x for x, _ in points], [z for _, z in points]
        self.left, self.top = min(xs), min(zs)
        self.width = (max(xs) - self.left) * SCALE + 2 * MARGIN
        self.height = (max(zs) - self.top) * SCALE + 2 * MARGIN + 24
        self.parts: list[str] = []

    def at(self, x: float, z: float) -> tuple[float, float]:
        """Return the pixel of a place."""
        return (x - self.left) * SCALE + MARGIN, (z - self.top) * SCALE + MARGIN

    def line(self, points: list[tuple[float, float]], style: str) -> None:
        """Draw a path."""
        text = " ".join("{:.1f},{:.1f}".format(*self.at(*point)) for point in points)
        self.parts.append(f'<polyline points="{text}" fill="none" {style}/>')

    def peer(self, name: str, place: list[float], covariance: tuple, truth: tuple) -> None:
        """Draw a peer: where it is, and where it was found."""
        x, y = self.at(*truth)
        self.parts.append(
            f'<path d="M{x - 4:.1f},{y:.1f}h8m-4,-4v8" stroke="#111" stroke-width="1.2"/>'
        )
        along, across, turn = ellipse(*covariance)
        x, y = self.at(place[0], place[2])
        self.parts.append(
            f'<ellipse rx="{SIGMAS * along * SCALE:.1f}" ry="{SIGMAS * across * SCALE:.1f}"'
            f' transform="translate({x:.1f},{y:.1f}) rotate({turn:.1f})"'
            ' fill="#d6272822" stroke="#d62728"/>'
            f'<text x="{x + 9:.1f}" y="{y - 7:.1f}">{name}</text>'
        )

    def write(self, file: Path, legend: list[tuple[str, str]]) -> None:
        """Write the picture with a legend below."""
        x, y = MARGIN, self.height - 14
        for label, style in legend:
            self.parts.append(
                f'<path d="M{x},{y - 4:.0f}h22" fill="none" {style}/>'
                f'<text x="{x + 28}" y="{y:.0f}">{label}</text>'
            )
            x += 50 + 7 * len(label)
        file.parent.mkdir(exist_ok=True)
        file.write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:.0f} {self.height:.0f}"'
            ' font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )


def main() -> None:
    """Draw it."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(folder, seed)
        raw = path(folder / "office/trajectory.txt")
        corrected = path(folder / "out/trajectory-corrected.txt")
        true = path(folder / "office/truth/trajectory.txt")
        found = json.loads((folder / "map.json").read_text())
        rows = (folder / "office/truth/peers.csv").read_text().splitlines()[1:]
    truths = {row.split(",")[1]: tuple(map(float, row.split(",")[2:5])) for row in rows}
    styles = {
        "odometry": 'stroke="#999" stroke-width="0.8"',
        "true": 'stroke="#111" stroke-width="0.8" stroke-dasharray="4 3"',
        "corrected": 'stroke="#1f77b4" stroke-width="1.2"',
    }
    places = [(x, z) for x, _, z in truths.values()]
    picture = Picture(raw + corrected + true + places)
    for points, style in zip((raw, corrected, true), ("odometry", "corrected", "true")):
        picture.line(points, styles[style])
    draw_peers(picture, found, truths)
    legend = [
        ("path of the odometry", styles["odometry"]),
        ("corrected by the joint fit", styles["corrected"]),
        ("true path, and + true peers", styles["true"]),
        (f"peers found, {SIGMAS} sigma", 'stroke="#d62728"'),
    ]
    picture.write(PICTURE, legend)
    print(PICTURE.relative_to(ROOT))


def draw_peers(picture: Picture, found: dict, truths: dict) -> None:
    """Draw the peers of a map."""
    covariance = found["covariance"]
    for index, peer in enumerate(found["peers"]):
        x, z = 5 * index, 5 * index + 2
        truth = truths[peer["id"]]
        picture.peer(
            peer["id"],
            peer["position"],
            (covariance[x][x], covariance[x][z], covariance[z][z]),
            (truth[0], truth[2]),
        )


if __name__ == "__main__":
    main()
