# SPDX-License-Identifier: Apache-2.0
"""Many recordings, on one machine or on many: `python -m nearby.distributed SOURCE --output FOLDER`.

Recordings and results lie on any store that fsspec knows: a local folder, `s3://bucket/dataset`. The work is
cut into tasks of 10 to 100 recordings, which run in local processes, on Ray or on Dask. A task writes one
Parquet part, named by the digest of its input, the settings and the versions. A part appears whole or not at
all. A second run therefore keeps what is there and does the rest, whatever ended the first.
"""

from nearby.distributed._run import Options, Progress, Report, run

__all__ = ["Options", "Progress", "Report", "run"]
