# SPDX-License-Identifier: Apache-2.0
"""What of a processor decides how many instructions the same program takes."""

from __future__ import annotations

import platform
from pathlib import Path

DISPATCHED = ("avx", "avx2", "fma", "erms", "fsrm")
"""The C library and the kernels choose their code by these; callgrind shows no AVX-512."""


def processor(info: Path = Path("/proc/cpuinfo")) -> str:
    """The architecture and those of its features: counts of the same kind may be compared."""
    flags: set[str] = set()
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("flags"):
                flags = set(line.split(":", 1)[1].split())
                break
    return " ".join([platform.machine(), *(flag for flag in DISPATCHED if flag in flags)])
