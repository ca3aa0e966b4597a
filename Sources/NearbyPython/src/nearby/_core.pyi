# SPDX-License-Identifier: Apache-2.0
from typing import Any, Literal

from numpy.typing import NDArray

__version__: str

class Columns:
    @property
    def names(self) -> list[str]: ...
    @property
    def rows(self) -> int: ...
    @property
    def units(self) -> dict[str, str]: ...
    def column(self, name: str, /) -> NDArray[Any] | list[bool]: ...
    def validity(self, name: str, /) -> list[bool] | None: ...
    def words(self, name: str, /) -> list[str] | None: ...
    def schema(self) -> object: ...
    def array(self) -> object: ...
    def stream(self) -> object: ...

class Estimate:
    """What is known of one peer at one moment, as seen from the device then.

    Lengths are metres, angles radians. A value that is not known well enough is None.
    """

    @property
    def time_ns(self) -> int:
        """Nanoseconds."""

    @property
    def timestamp(self) -> float:
        """Seconds."""

    @property
    def peer(self) -> int:
        """The peer's number."""

    @property
    def status(self) -> Literal["unknown", "notConverged", "converged"]:
        """unknown, notConverged or converged."""

    @property
    def converged(self) -> bool: ...
    @property
    def reasons(self) -> list[str]:
        """What stands in the way of convergence."""

    @property
    def distance(self) -> float | None:
        """Metres."""

    @property
    def distance_sigma(self) -> float | None: ...
    @property
    def direction(self) -> tuple[float, float, float] | None:
        """The unit vector from the device to the peer in device axes, (x, y, z)."""

    @property
    def horizontal_angle(self) -> float | None:
        """The bearing relative to the device's heading, radians, positive to the right."""

    @property
    def horizontal_angle_sigma(self) -> float | None: ...
    @property
    def vertical(self) -> Literal["unknown", "same", "above", "below", "aboveOrBelow"]: ...
    @property
    def height_difference(self) -> float | None:
        """Metres that the peer is above the device."""

    @property
    def world(self) -> tuple[float, float, float] | None:
        """The peer's place in the odometry's world, metres; None until converged."""

    @property
    def mean(self) -> tuple[float, float, float] | None:
        """The posterior mean of that place, whatever the convergence."""

    @property
    def covariance(
        self,
    ) -> tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]] | None:
        """The posterior covariance, m²: three rows of three."""

    @property
    def hypotheses(self) -> int:
        """How many hypotheses are alive."""

class Engine:
    def __init__(self, configuration: str | Engine | None, up: int = ..., axes: int = ..., /) -> None: ...
    def add_pose(
        self,
        time: float,
        x: float,
        y: float,
        z: float,
        qx: float,
        qy: float,
        qz: float,
        qw: float,
    ) -> Literal["accepted", "jumped", "not finite", "not later", "instead"]:
        """Extends the device's trajectory.

        Args:
            time: Seconds as a float or nanoseconds as an int; after that of the pose before.
            x, y, z: The device in the odometry's world, metres.
            qx, qy, qz, qw: Its attitude, device to world; of any length but zero.

        Returns:
            `accepted`, `jumped` (the odometry's world has jumped), `not finite` or `not later` (left out), or
            `instead` (accepted, and the pose before it, which was stamped far ahead, is taken back).
        """

    def add_sample(
        self,
        peer: int,
        time: float,
        distance: float = ...,
        azimuth: float = ...,
        elevation: float = ...,
        height_difference: float = ...,
        distance_sigma: float = ...,
        azimuth_sigma: float = ...,
        elevation_sigma: float = ...,
        height_difference_sigma: float = ...,
        nlos: bool | None = None,
    ) -> Literal["all", "partial", "rejected"]:
        """Fuses a ranging sample.

        Add the pose at or after its time first, if it is there.

        Args:
            peer: The peer's number.
            time: Seconds as a float or nanoseconds as an int; up to a second late.
            distance: Metres from the antenna to the peer; NaN for what was not measured.
            azimuth: Radians, positive to the right.
            elevation: Radians, positive up.
            height_difference: Metres that the peer is above the antenna.
            distance_sigma, azimuth_sigma, elevation_sigma, height_difference_sigma: One standard deviation
                of each; NaN for that of the configuration.
            nlos: Whether the radio believes that something stands in the line of sight.

        Returns:
            How much of it was used: `all`, `partial` or `rejected`.
        """

    def _add_peer(self, name: str | None, motion: int, /) -> int: ...
    def _set_motion(self, peer: int, motion: int, /) -> None: ...
    def _add_tracking(self, time: float, state: int, lumens: float, /) -> None: ...
    def _estimate(self, peer: int, /) -> Estimate: ...
    def _estimate_at(self, peer: int, time: float, /) -> Estimate: ...
    def _run(
        self,
        poses: dict[str, NDArray[Any]],
        samples: dict[str, NDArray[Any]],
        tracking: dict[str, NDArray[Any]],
        /,
    ) -> tuple[Columns, dict[str, int]]: ...

class Locator:
    def __init__(
        self,
        configuration: str | None,
        up: int,
        axes: int,
        anchors: list[float],
        clocks: list[float],
        /,
    ) -> None: ...
    def add_pose(
        self,
        time: float,
        x: float,
        y: float,
        z: float,
        qx: float,
        qy: float,
        qz: float,
        qw: float,
    ) -> Literal["accepted", "jumped", "not finite", "not later", "instead"]:
        """Extends the device's trajectory."""

    def _add_difference(
        self, time: float, from_anchor: int, to_anchor: int, metres: float, sigma: float, /
    ) -> str: ...
    def _locate(
        self,
    ) -> tuple[
        int,
        tuple[float, float, float] | None,
        tuple[float, float, float, float, float, float],
        float,
        float | None,
        float,
    ]: ...

class Smoother:
    def __init__(self, configuration: str | None, up: int, axes: int, /) -> None: ...
    def add_peer(self, name: str | None, motion: int, /) -> int: ...
    def add(
        self,
        poses: dict[str, NDArray[Any]],
        samples: dict[str, NDArray[Any]],
        tracking: dict[str, NDArray[Any]],
        /,
    ) -> dict[str, int]: ...
    def solve(self) -> Columns: ...

class Recording:
    def __init__(self, folder: str, /) -> None: ...
    @property
    def frames(self) -> tuple[int, int]: ...
    def info(self) -> str: ...
    def configuration(self, configuration: str | None, /) -> str: ...
    def calibrate(self, configuration: str | None, /) -> tuple[str, str]: ...
    def read(self, table: int, /) -> Columns: ...
    def run(self, configuration: str | None, /) -> tuple[Columns, str]: ...
    def smooth(self, configuration: str | None, /) -> Columns: ...

def configuration(configuration: str | None, /) -> str: ...
def simulate(
    scenario: str, settings: str | None, seed: int, peers: int, table: int, /
) -> tuple[Columns, str]: ...
def batch_rows(recording: str | None, summary: str, /) -> str: ...
def evaluate(result: str, recording: str | None, /) -> str: ...
