#!/usr/bin/env python3
"""Prints how large the engine is, by folder: lines, deciding constants, booleans.

A constant is a `static let` or `constexpr` whose value is a number; those of tests, tables and unit conversions count
alike, so the figures compare one state of the code with another one. A boolean is a stored or computed property or
function whose type is `Bool`.

    Packaging/count-lines.py            prints the table
    Packaging/count-lines.py A B        prints it for two revisions, A -> B
"""

import collections
import pathlib
import re
import subprocess
import sys

ENGINE = ["Sources/NearbyFusion", "Sources/CNearbyKernels", "Sources/NearbySmoothing"]
CODE = {".swift", ".cpp", ".hpp", ".h"}
CONSTANT = re.compile(r"\b(?:static let|constexpr \w+)\s+\w+(?:: \w+)?\s*=\s*-?[0-9.][0-9_.e+-]*\s*(?://.*|;.*)?$")
BOOLEAN = re.compile(r"\b(?:var|let) \w+(?:: Bool\b|\s*=\s*(?:true|false)$)|\bfunc \w+\(.*-> Bool\b")


def sources(revision: str | None) -> dict[str, str]:
    """The text of each source file, of the working copy or of a revision."""
    command = ["git", "ls-files"] if revision is None else ["git", "ls-tree", "-r", "--name-only", revision]
    names = subprocess.run([*command, "--", *ENGINE], check=True, capture_output=True, text=True).stdout.split("\n")
    names = [name for name in names if pathlib.Path(name).suffix in CODE]
    if revision is None:
        return {name: pathlib.Path(name).read_text() for name in names if pathlib.Path(name).exists()}
    shown = (subprocess.run(["git", "show", f"{revision}:{name}"], check=True, capture_output=True, text=True).stdout
             for name in names)
    return dict(zip(names, shown))


def counts(texts: dict[str, str]) -> dict[str, list[int]]:
    """Lines, constants and booleans of each folder, and of all."""
    folders: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0, 0])
    for name, text in texts.items():
        lines = text.splitlines()
        found = [len(lines), sum(bool(CONSTANT.search(line)) for line in lines),
                 sum(bool(BOOLEAN.search(line)) for line in lines)]
        for folder in ("/".join(name.split("/")[1:-1]), "all"):
            folders[folder] = [a + b for a, b in zip(folders[folder], found)]
    return folders


def main() -> None:
    revisions = sys.argv[1:] or [None]
    if len(revisions) > 2 or any(str(each).startswith("-") for each in revisions):
        sys.exit(__doc__)
    tables = [counts(sources(revision)) for revision in revisions]
    folders = sorted({folder for table in tables for folder in table} - {"all"}) + ["all"]
    print(f"{'folder':44}" + "".join(f"{title:>17}" for title in ("lines", "constants", "booleans")))
    for folder in folders:
        cells = zip(*(table.get(folder, [0, 0, 0]) for table in tables))
        print(f"{folder:44}" + "".join(f"{' -> '.join(map(str, cell)):>17}" for cell in cells))


if __name__ == "__main__":
    main()
