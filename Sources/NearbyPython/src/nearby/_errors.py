# SPDX-License-Identifier: Apache-2.0
"""The exceptions of this package."""

from __future__ import annotations

from typing import NoReturn


class NearbyError(Exception):
    """A failure: what is wrong, where, and what to do about it.

    Attributes:
        code: The kind of fault, one word, such as ``malformedNumber``.
        message: The fault.
        file: The file; ``None`` when there is none.
        line: The line in the file, from 1; ``None`` when there is none.
        column: The byte in the line, from 1; ``None`` when there is none.
        remedy: What to do about it.
    """

    def __init__(
        self,
        text: str,
        code: str = "",
        message: str = "",
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        remedy: str = "",
    ) -> None:
        super().__init__(text)
        self.code = code
        self.message = message or text
        self.file = file
        self.line = line
        self.column = column
        self.remedy = remedy

    def __reduce__(self) -> tuple[object, ...]:
        # With all attributes, as errors travel between processes.
        arguments = (self.code, self.message, self.file, self.line, self.column, self.remedy)
        return type(self), (str(self), *arguments)


class ArgumentError(NearbyError, ValueError):
    """An argument has a value that it cannot have."""


class ConfigurationError(NearbyError, ValueError):
    """The settings are not JSON, name something that does not exist, or have a value out of bounds."""


class UnknownPeerError(NearbyError, LookupError):
    """A sample or a question names a peer that was not added."""


class RecordingError(NearbyError):
    """A file of a recording is missing or has a fault."""


_BY_STATUS: dict[int, type[NearbyError]] = {
    1: ArgumentError,
    2: ArgumentError,
    3: UnknownPeerError,
    4: ConfigurationError,
    5: RecordingError,
}


def fail(
    status: int,
    text: str,
    code: str,
    message: str,
    file: str,
    line: int,
    column: int,
    remedy: str,
) -> NoReturn:
    """Raises the exception of a status of the C library."""
    kind = _BY_STATUS.get(status, NearbyError)
    raise kind(text, code, message, file or None, line or None, column or None, remedy)
