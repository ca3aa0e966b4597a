#!/usr/bin/env python3
"""Checks the list of Apple's names against what exists here.

AppleNames.csv lists the public names of Nearby Interaction, of the part of ARKit that session code touches, and of
simd. A name that is `present` must be used in the section of its type (`// MARK: - TYPE`) of the sources beside the
list, which the tests compile; a name that is `left out` must have a reason and be on the page AppleInterface.md.
"""

import csv
import pathlib
import re
import sys
from collections.abc import Iterable

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "Tests/AppSessionTests/AppleNames"
LIST = FOLDER / "AppleNames.csv"
PAGE = ROOT / "Sources/NearbyInteraction/NearbyInteraction.docc/AppleInterface.md"
COLUMNS = ["name", "framework", "introduced", "status", "reason"]


def sections(texts: Iterable[str]) -> dict[str, str]:
    """The code below each mark, without comments, by the mark's name."""
    found: dict[str, str] = {}
    for text in texts:
        parts = re.split(r"^ *// MARK: - (.+)$", text, flags=re.MULTILINE)
        for name, body in zip(parts[1::2], parts[2::2]):
            found[name.strip()] = found.get(name.strip(), "") + re.sub(r"//.*", "", body)
    return found


def is_used(name: str, code: dict[str, str]) -> bool:
    """Whether the section of the name's type uses the name."""
    kind, _, member = name.partition(".")
    body = code.get(kind, "")
    last = (member or kind).split("(")[0].split(".")[-1]
    if last != "init":
        return re.search(rf"\b{last}\b", body) is not None
    # The initializer of the type, or of the nested type, with its first label.
    made = name.split("(")[0].split(".")[-2]
    label = re.search(r"\((\w*):", name)
    first = rf"\s*{label.group(1)}:" if label and label.group(1) != "_" else ""
    return re.search(rf"\b{made}\({first}", body) is not None


def faults(rows: list[dict[str, str]], code: dict[str, str], page: str) -> list[str]:
    """What is wrong, a line each."""
    lines = []
    names = set()
    for number, row in enumerate(rows, start=2):
        name, status = row["name"], row["status"]
        fault = None
        if (name, row["framework"]) in names:
            fault = "is listed twice"
        elif not re.fullmatch(r"\d+\.\d+", row["introduced"]):
            fault = "has no version in which it was introduced"
        elif status == "present":
            if row["reason"]:
                fault = "is present and needs no reason"
            elif not is_used(name, code):
                fault = "is not used in the section of its type"
        elif status == "left out":
            if not row["reason"]:
                fault = "is left out without a reason"
            elif f"`{name}`" not in " ".join(page.split()):
                fault = f"is left out and not in {PAGE.name}"
        else:
            fault = f"has the status '{status}', which is neither present nor left out"
        names.add((name, row["framework"]))
        if fault:
            lines.append(f"{LIST.relative_to(ROOT)}:{number}: {name} {fault}")
    return lines


def left_out(rows: list[dict[str, str]]) -> str:
    """The list of names for the page, by their reasons."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row["status"] == "left out":
            reasons.setdefault(row["reason"], []).append(f"`{row['name']}`")
    return "\n".join(f"- {reason}: {', '.join(names)}" for reason, names in reasons.items())


def main() -> int:
    """The exit status."""
    with LIST.open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        rows = list(table)
    if table.fieldnames != COLUMNS:
        print(f"{LIST.relative_to(ROOT)}:1: the columns are not {','.join(COLUMNS)}")
        return 1
    if sys.argv[1:] == ["--left-out"]:
        print(left_out(rows))
        return 0
    code = sections(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.swift")))
    lines = faults(rows, code, PAGE.read_text(encoding="utf-8"))
    count = sum(row["status"] == "present" for row in rows)
    print("\n".join(lines) or f"Apple's names: {count} of {len(rows)} are present, the others are left out with a reason")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
