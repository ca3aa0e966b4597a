#!/usr/bin/env python3
"""Checks what the engine and the session layer depend on, and how the engine imports the system's C library.

NearbyGeometry, NearbyFusion, NearbyEnvironment and NearbyInteraction must not depend, directly or not, on a library for
compression, databases, digests or linear algebra beyond Eigen's headers, on an importer, or on another package. In
NearbyGeometry and NearbyFusion, which the manifest offers to Apple's platforms, every import of a module of Linux must
be guarded by `#if canImport`. Nothing is compiled for Apple's platforms.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAN = ["NearbyGeometry", "NearbyFusion", "NearbyEnvironment", "NearbyInteraction"]
# Headers of Eigen, which are compiled in; the modules of this package that have no C library below them.
ALLOWED = {
    "ARKit", "CEigen", "CNearbyKernels", "NearbyEnvironment", "NearbyFusion", "NearbyGeometry", "NearbyInteraction",
    "NearbyRecordings", "NearbySimulation", "simd",
}
PORTABLE = ["NearbyGeometry", "NearbyFusion"]
OF_LINUX = r"\b(?:Glibc|FoundationEssentials|CDispatch)\b"


def dependencies(manifest: dict[str, object], name: str) -> set[str]:
    """All that a target depends on, directly or not."""
    direct: dict[str, list[str]] = {}
    for target in manifest["targets"]:  # type: ignore[attr-defined]
        direct[target["name"]] = [
            next(value[0] for key, value in entry.items() if isinstance(value, list))
            for entry in target["dependencies"]
        ]
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for other in direct.get(waiting.pop(), []):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def unguarded(text: str) -> list[int]:
    """The lines that import a module of Linux outside of a condition."""
    depth = 0
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip().startswith("#if canImport("):
            depth += 1
        elif line.strip() == "#endif":
            depth -= 1
        elif depth == 0 and re.match(rf"\s*(?:\w+ )?import {OF_LINUX}", line):
            lines.append(number)
    return lines


def main() -> int:
    """The exit status."""
    told = subprocess.run(
        ["swift", "package", "dump-package"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if told.returncode != 0:
        print(f"Package.swift cannot be read: {told.stderr.strip()}")
        return 1
    manifest = json.loads(told.stdout)
    faults = []
    for name in LEAN:
        reached = dependencies(manifest, name)
        if not reached and name != "NearbyGeometry":
            faults.append(f"Package.swift: there is no target {name}, or it depends on nothing")
        for other in sorted(reached - ALLOWED):
            faults.append(f"Package.swift: {name} depends on {other}")
    for name in PORTABLE:
        for path in sorted((ROOT / "Sources" / name).rglob("*.swift")):
            for number in unguarded(path.read_text(encoding="utf-8")):
                faults.append(f"{path.relative_to(ROOT)}:{number}: an import of Linux without #if canImport")
    print("\n".join(faults) or f"{', '.join(LEAN)}: no library below them but Eigen's headers; imports are guarded")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
