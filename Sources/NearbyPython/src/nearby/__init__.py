# SPDX-License-Identifier: Apache-2.0
"""Camera-assisted UWB ranging: where a peer is, from poses and ranging samples.

    import nearby

    estimates = nearby.run(poses, samples)
    estimates["distance"]                # a numpy array, metres
    estimates.to_pandas()

Units are metres, radians and seconds. A time is a float of seconds or an integer of nanoseconds, as
`time.time()` and `time.time_ns()` give them. Worlds are gravity aligned; frames are those of ARKit (y up,
the back camera looks along -z) unless `up` and `axes` say otherwise. NaN and None stand for what was not
measured or is not known.

- `run`, `smooth`: arrays or tables in, a table of estimates out.
- `Engine`: one sample at a time.
- `Locator`: where the device itself is, by range differences to anchors (DL-TDoA).
- `read_recording`: a folder in the recording format; its tables, runs and smoothing.
- `simulate`: runs of scenarios, drawn from a seed, with the truth.
- `show`: a result in Rerun, if `rerun-sdk` is installed.
- `evaluate`: the results of a run against the truth.
- `configuration`: all settings.
- `nearby.distributed`: many recordings, on one machine or on many.
"""

from nearby._core import Estimate, __version__
from nearby._engine import Engine, Peers, configuration, run, smooth
from nearby._errors import (
    ArgumentError,
    ConfigurationError,
    NearbyError,
    RecordingError,
    UnknownPeerError,
)
from nearby._locator import Anchor, Clocks, Fix, Locator
from nearby._recording import Calibration, Recording, evaluate, read_recording
from nearby._show import show
from nearby._simulation import Simulation, simulate
from nearby._table import Estimates, Table

__all__ = [
    "Anchor",
    "ArgumentError",
    "Calibration",
    "Clocks",
    "ConfigurationError",
    "Engine",
    "Estimate",
    "Estimates",
    "Fix",
    "Locator",
    "NearbyError",
    "Peers",
    "Recording",
    "RecordingError",
    "Simulation",
    "Table",
    "UnknownPeerError",
    "__version__",
    "configuration",
    "evaluate",
    "read_recording",
    "run",
    "show",
    "simulate",
    "smooth",
]
