# SPDX-License-Identifier: Apache-2.0
"""A store of files: a local folder or an object store, by fsspec. Its faults are waited out."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import fsspec

Value = TypeVar("Value")

MANIFEST = "recording.json"
# The files of a recording, those of the truth in a folder of their own.
FILES = (
    MANIFEST,
    "trajectory.txt",
    "ranging.csv",
    "tracking.csv",
    "truth/trajectory.txt",
    "truth/peers.csv",
)
# What tells one content of a file from another, the best first.
_FINGERPRINTS = ("ETag", "etag", "md5Hash", "checksum", "mtime", "LastModified", "created")
_TRIES = 10
# Beyond so many folders, those of an object store are listed at once.
_MOST_FOLDERS = 1000


@dataclass(frozen=True)
class Item:
    """A recording of a store."""

    id: str
    """Its name: the last part of the source's path, and its path below that."""
    path: str
    """Its folder in the store."""
    files: tuple[str, ...]
    """The files that it has, of `FILES`."""
    bytes: int
    """The size of all its files."""
    fingerprint: str
    """Changes with the content of any of them."""


Listing = Mapping[str, Mapping[str, Any]]


def _local_listings(root: str) -> Iterator[Listing]:
    """The files of each local recording."""
    for folder, below, files in os.walk(root, followlinks=True):
        if MANIFEST in files:
            below.clear()
            paths = [path for path in (f"{folder}/{name}" for name in FILES) if os.path.isfile(path)]
            states = {path: os.stat(path) for path in paths}
            yield {path: {"size": s.st_size, "mtime": s.st_mtime_ns} for path, s in states.items()}
        below[:] = [name for name in below if not name.startswith(".")]


def patiently(call: Callable[[], Value]) -> Value:
    """Calls a function of a store again, after a while, when it fails.

    What is missing or forbidden stays so and is not asked for again.
    """
    for tried in range(1, _TRIES + 1):
        try:
            return call()
        except (FileNotFoundError, PermissionError, NotADirectoryError, IsADirectoryError):
            raise
        except Exception:
            if tried == _TRIES:
                raise
            time.sleep(random.uniform(0.5, 1) * min(30, 0.1 * 2**tried))
    raise AssertionError("the loop returns or raises")


def _appear(target: str, make: Callable[[str], object]) -> None:
    """Makes a local file under another name and renames it when it is whole."""
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    unfinished = f"{folder}/.{uuid.uuid4().hex}.unfinished"
    try:
        make(unfinished)
        os.replace(unfinished, target)
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)


class Store:
    """A folder of a store."""

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        self.url = url.rstrip("/")
        self.options = dict(options or {})
        self.fs, root = fsspec.core.url_to_fs(self.url, **self.options)
        self.root = str(root).rstrip("/")
        protocol = self.fs.protocol
        self.is_local = "file" in ((protocol,) if isinstance(protocol, str) else protocol)

    # Recordings

    def items(self) -> list[Item]:
        """The recordings in the folder and below, ordered by their names byte by byte.

        A folder that holds `recording.json` is a recording and is not searched further. Hidden folders are
        skipped.
        """
        items = [item for found in self._listings() for item in self._items(found)]
        if not items:
            raise FileNotFoundError(
                f"{self.url}: no recording lies in this folder or below; a recording is a folder with {MANIFEST}"
            )
        return sorted(items, key=lambda item: item.id.encode())

    def _listings(self) -> Iterator[Listing]:
        """The files below, some folders at a time: a listing takes much more memory than its recordings."""
        if not patiently(lambda: self.fs.exists(self.root)):
            raise FileNotFoundError(f"{self.url}: there is no such folder; check the path")
        if self.is_local:
            yield from _local_listings(self.root)
            return
        top = patiently(lambda: self.fs.ls(self.root, detail=True))
        folders = [str(info["name"]) for info in top if info["type"] == "directory"]
        has_manifest = any(str(info["name"]).endswith("/" + MANIFEST) for info in top)
        # An object store lists what is below a name in one request for a thousand files, so that many small
        # folders are listed at once there.
        if has_manifest or len(folders) > _MOST_FOLDERS:
            folders = [self.root]
        for folder in folders:
            yield patiently(lambda folder=folder: self.fs.find(folder, detail=True))  # type: ignore[misc]
            self.fs.invalidate_cache()

    def _items(self, found: Listing) -> Iterator[Item]:
        folders = {str(path).rpartition("/")[0] for path in found if str(path).endswith("/" + MANIFEST)}
        return (self._item(folder, found) for folder in self._outermost(folders))

    def _outermost(self, folders: set[str]) -> Iterator[str]:
        for folder in folders:
            below = folder[len(self.root) :].strip("/")
            parts = below.split("/") if below else []
            if any(part.startswith(".") for part in parts):
                continue
            above = ("/".join([self.root, *parts[:count]]) for count in range(len(parts)))
            if not any(path in folders for path in above):
                yield folder

    def _item(self, folder: str, found: Listing) -> Item:
        files = {name: found[f"{folder}/{name}"] for name in FILES if f"{folder}/{name}" in found}
        prints = [
            (name, info["size"], next((str(info[key]) for key in _FINGERPRINTS if info.get(key)), ""))
            for name, info in files.items()
        ]
        root = self.root.rpartition("/")[2]
        return Item(
            id=(root + folder[len(self.root) :]).strip("/"),
            path=folder,
            files=tuple(files),
            bytes=sum(int(info["size"] or 0) for info in files.values()),
            fingerprint=hashlib.sha256(json.dumps(prints).encode()).hexdigest()[:32],
        )

    def fetch(self, item: Item, folder: str) -> str:
        """The recording as a local folder: the store's own, or a copy in the given one."""
        if self.is_local:
            return item.path
        for name in item.files:
            content = patiently(lambda name=name: self.fs.cat_file(f"{item.path}/{name}"))  # type: ignore[misc]
            target = os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(content)
        return folder

    # Results

    def read(self, name: str) -> bytes:
        """The content of a file."""
        return bytes(patiently(lambda: self.fs.cat_file(f"{self.root}/{name}")))

    def names(self, folder: str) -> set[str]:
        """The names of the files in a folder; none when it is not there."""
        try:
            self.fs.invalidate_cache()
            return {
                str(path).rpartition("/")[2]
                for path in patiently(lambda: self.fs.ls(f"{self.root}/{folder}", False))
            }
        except FileNotFoundError:
            return set()

    def write(self, name: str, content: bytes) -> None:
        """Makes a file appear whole, in place of one of the same name."""
        target = f"{self.root}/{name}"
        if self.is_local:
            patiently(lambda: _appear(target, lambda path: Path(path).write_bytes(content)))
        else:
            # An object appears when all of it has arrived.
            patiently(lambda: self.fs.pipe_file(target, content))

    def put(self, name: str, path: str) -> None:
        """Makes a copy of a local file appear whole; it may be larger than the memory."""
        target = f"{self.root}/{name}"
        if self.is_local:
            patiently(lambda: _appear(target, lambda unfinished: shutil.copyfile(path, unfinished)))
        else:
            patiently(lambda: self.fs.put_file(path, target))

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        try:
            patiently(lambda: self.fs.rm_file(f"{self.root}/{name}"))
        except FileNotFoundError:
            pass
