# SPDX-License-Identifier: Apache-2.0
"""Checks that a wheel has the licence of all that it carries: check-wheel.py WHEEL..."""

import re
import sys
import zipfile

# What is inside the C library, and is seen in no file's name.
INSIDE = {"nearby", "swift", "libeigen3-dev", "liblapack3", "liblapacke", "libblas3", "libsqlite3-0"}
INSIDE |= {"libzstd1", "liblz4-1", "libmd0", "libstdc++6", "nanobind"}
# The packages of the libraries that auditwheel copies.
COPIED = {"libbz2": "libbz2-1.0"}
LARGEST = 10e6


def faults(path: str) -> list[str]:
    """What is wrong with a wheel."""
    names = zipfile.ZipFile(path).namelist()
    there = {
        name.rsplit("/", 1)[1][:-4] for name in names if re.search(r"\.dist-info/licenses/[^/]*\.txt$", name)
    }
    needed = set(INSIDE)
    for name in names:
        copied = re.search(r"\.libs/([a-z0-9]+?)(-[0-9a-f]+)?\.so", name)
        if copied:
            needed.add(COPIED.get(copied[1], copied[1]))
    found = [f"it has no licence of {name}" for name in sorted(needed - there)]
    size = sum(info.compress_size for info in zipfile.ZipFile(path).infolist())
    return found + ([f"it has {size} bytes, more than {LARGEST:.0f}"] if size > LARGEST else [])


wrong = [f"{path}: {fault}" for path in sys.argv[1:] for fault in faults(path)]
print("\n".join(wrong))
sys.exit(bool(wrong))
