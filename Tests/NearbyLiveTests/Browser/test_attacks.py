# SPDX-License-Identifier: Apache-2.0
"""Attacks `nearby live` and measures how long its owner waits meanwhile.

Run by `make live-attack-test`, without a browser, and by `make live-test`.
"""
import contextlib
import json
import os
import pathlib
import re
import resource
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from program import Live, Stream

HERE = pathlib.Path(__file__).resolve().parent
# How long the owner may wait.
LIMIT = 1.0
SECONDS = float(os.environ.get("NEARBY_ATTACK_SECONDS", "3"))
# The descriptors that systems give a program by default.
DESCRIPTORS = 1024


class Watch(threading.Thread):
    """Reads the events, and measures the longest pause between two."""

    def __init__(self, live):
        super().__init__(daemon=True)
        self.stream = Stream(live)
        self.stream.next()
        self.last, self.longest, self.ends = time.monotonic(), 0.0, False

    def run(self):
        # An event that cannot be read ends it, and the pause grows.
        with contextlib.suppress(Exception):
            while not self.ends:
                self.stream.next()
                now = time.monotonic()
                self.longest, self.last = max(self.longest, now - self.last), now

    def stop(self):
        pause = max(self.longest, time.monotonic() - self.last)
        self.ends = True
        self.join(timeout=10)
        self.stream.close()
        return pause


def memory(live):
    """The most memory that was resident so far, MB."""
    status = pathlib.Path(f"/proc/{live.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1000


def descriptors(live):
    return len(os.listdir(f"/proc/{live.process.pid}/fd"))


class AttackTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *arguments, environment=None):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        # The program inherits it.
        resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, before[1]))
        try:
            live = Live(self.folder, *arguments, environment=environment)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        self.addCleanup(lambda: live.process.poll() is None and live.stop())
        return live

    def survives(self, name, count, limit=LIMIT):
        """Attacks from processes, and expects that page, events and steps come to the owner within a limit."""
        live = self.start("--scenario", "find", "--peers", "3")
        self.assertEqual(live.ask()[0], 200)
        memory_before = memory(live)
        watch = Watch(live)
        watch.start()
        attackers = [
            subprocess.Popen(
                [sys.executable, HERE / "attacks.py", name, str(live.port), live.path], stderr=subprocess.DEVNULL)
            for _ in range(count)]
        worst, most, asked = 0.0, 0, 0
        go = json.dumps({"do": "go", "x": 0, "y": 0})
        try:
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                for method, path, body, status in [
                    ("GET", live.path, None, 200), ("POST", live.path + "input", go, 204),
                ]:
                    begin = time.monotonic()
                    self.assertEqual(live.ask(method, path, body)[0], status)
                    worst = max(worst, time.monotonic() - begin)
                    asked += 1
                most = max(most, descriptors(live))
                time.sleep(0.02)
            pause = watch.stop()
            self.assertEqual([attacker.poll() for attacker in attackers], [None] * count)
        finally:
            for attacker in attackers:
                attacker.kill()
                attacker.wait()
        grown = memory(live) - memory_before
        print(f"\n{name}: {asked} requests, the slowest {1000 * worst:.0f} ms; longest pause of the events "
              f"{1000 * pause:.0f} ms; {most} descriptors; {grown:.1f} MB more", end="", flush=True)
        self.assertLess(worst, limit)
        self.assertLess(pause, LIMIT)
        self.assertLess(most, 256)
        self.assertLess(grown, 20)
        time.sleep(0.5)
        self.assertLess(descriptors(live), 64, "the connections of the attack are closed")

    def test_long_lines(self):
        for name, count in [("line_100_kB", 2), ("line_400_kB", 2), ("line_3_MB", 3)]:
            with self.subTest(name):
                self.survives(name, count)

    def test_long_heads(self):
        for name in ["headers_without_end", "header_of_blanks", "line_ends_without_request"]:
            with self.subTest(name):
                self.survives(name, 3)

    def test_long_bodies(self):
        for name in [
            "body_of_a_stranger", "body_with_the_token", "body_in_chunks", "body_in_chunks_of_a_byte",
            "chunk_extension",
        ]:
            with self.subTest(name):
                self.survives(name, 3)

    def test_what_a_page_can_send(self):
        for name in ["fetch_get", "fetch_post"]:
            with self.subTest(name):
                self.survives(name, 6)

    def test_many_connections(self):
        for name, count in [
            ("slowloris", 1), ("crowd", 1), ("crowd_that_returns", 1), ("pipelined", 2),
        ]:
            with self.subTest(name):
                self.survives(name, count)

    def test_a_program_that_does_nothing_but_connect(self):
        # It keeps the system's queue of 4096 connections full, and the owner waits in that queue. A page cannot do
        # this, and a program that can takes the processor from all others as well.
        self.survives("storm", 1, limit=3)

    # MARK: Limits

    def answer(self, live, *pieces, seconds=10):
        """All that is answered until the server closes the connection, and how long that takes."""
        begin, answer = time.monotonic(), b""
        with socket.create_connection(("127.0.0.1", live.port), timeout=seconds) as connection:
            for piece in pieces:
                connection.sendall(piece)
            while piece := connection.recv(65_536):
                answer += piece
        return answer.decode(), time.monotonic() - begin

    def test_limits_are_exact_and_the_answer_says_which(self):
        live = self.start("--scenario", "keys")

        def head(length):
            begin = f"GET {live.path} HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\nConnection: close\r\na: "
            return begin.encode() + b"a" * (length - len(begin) - 4) + b"\r\n\r\n"

        def body(length):
            begin = f"POST {live.path}input HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\nConnection: close\r\n"
            go = json.dumps({"do": "go", "x": 0, "y": 0}).encode()
            return begin.encode() + f"Content-Length: {length}\r\n\r\n".encode() + go + b" " * (length - len(go))

        for request, status in [
            (head(8192), 200), (head(8193), 431), (head(20_000), 431), (body(4096), 204), (body(4097), 413),
            (body(20_000), 413), (b"GET / HTTP/9.9\r\n\r\n", 400), (b"\x16\x03\x01\x02\x00" * 100, 400),
        ]:
            said, _ = self.answer(live, request)
            self.assertTrue(said.startswith(f"HTTP/1.1 {status} "), (len(request), status, said[:40]))
            self.assertIn("no-store", said)
        # In pieces of any size they are the same.
        for size in [1, 7, 4000]:
            request = head(8192)
            said, _ = self.answer(live, *[request[at:at + size] for at in range(0, len(request), size)])
            self.assertTrue(said.startswith("HTTP/1.1 200 "), (size, said[:40]))

    def test_a_request_has_five_seconds_as_a_whole(self):
        live = self.start("--scenario", "keys")
        with socket.create_connection(("127.0.0.1", live.port), timeout=20) as connection:
            begin = time.monotonic()
            connection.sendall(b"GET / HTTP/1.1\r\na: ")
            with contextlib.suppress(OSError):
                while time.monotonic() - begin < 15:
                    connection.send(b"a")
                    time.sleep(0.05)
            self.assertLess(time.monotonic() - begin, 6)
        _, seconds = self.answer(live)
        self.assertLess(seconds, 6)

    def test_connections_with_the_token_stay(self):
        live = self.start("--scenario", "keys")
        owner = socket.create_connection(("127.0.0.1", live.port), timeout=10)
        self.addCleanup(owner.close)
        request = f"GET {live.path}nothing HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\n\r\n".encode()
        owner.sendall(request)
        self.assertIn(b"404", owner.recv(65_536))
        crowd = [socket.create_connection(("127.0.0.1", live.port), timeout=10) for _ in range(300)]
        time.sleep(0.5)
        self.assertLess(descriptors(live), 180)
        owner.sendall(request)
        self.assertIn(b"404", owner.recv(65_536))
        for connection in crowd:
            connection.close()

    # MARK: The token

    def test_the_token_is_in_no_command_line(self):
        (self.folder / "bin").mkdir()
        (self.folder / "run").mkdir(mode=0o700)
        opener = self.folder / "bin/xdg-open"
        # It notes what it is given, and stays for a while as a browser does.
        opener.write_text('#!/bin/sh\nprintf "%s" "$1" > "$OPENED.new"\nmv "$OPENED.new" "$OPENED"\nsleep 3\n')
        opener.chmod(0o755)
        opened = self.folder / "opened"
        environment = os.environ | {
            "PATH": f"{opener.parent}:{os.environ['PATH']}", "OPENED": str(opened),
            "XDG_RUNTIME_DIR": str(self.folder / "run")}
        live = self.start("--scenario", "keys", "--open", environment=environment)
        end = time.monotonic() + 10
        while not opened.exists():
            self.assertLess(time.monotonic(), end, "xdg-open was not started")
            time.sleep(0.05)
        token = live.path.strip("/")
        self.assertEqual(len(token), 32)
        lines = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                lines.append(path.read_bytes().decode(errors="replace"))
        self.assertTrue(any(str(opener) in line for line in lines), "the browser is still running")
        self.assertEqual([line for line in lines if token in line], [])
        redirect = pathlib.Path(opened.read_text())
        self.assertTrue(redirect.is_relative_to(self.folder / "run"), redirect)
        self.assertEqual(stat.S_IMODE(redirect.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(redirect.parent.stat().st_mode), 0o700)
        self.assertIn(f'content="0; url={live.url}"', redirect.read_text())
        # It goes when the page is there.
        with contextlib.closing(Stream(live)) as stream:
            stream.next()
            end = time.monotonic() + 5
            while redirect.parent.exists():
                self.assertLess(time.monotonic(), end, "the file is still there")
                time.sleep(0.05)

    def test_the_redirect_goes_with_the_program(self):
        (self.folder / "bin").mkdir()
        (self.folder / "run").mkdir(mode=0o700)
        opener = self.folder / "bin/xdg-open"
        opener.write_text("#!/bin/sh\n")
        opener.chmod(0o755)
        environment = os.environ | {
            "PATH": f"{opener.parent}:{os.environ['PATH']}", "XDG_RUNTIME_DIR": str(self.folder / "run")}
        live = self.start("--scenario", "keys", "--open", environment=environment)
        end = time.monotonic() + 5
        while not list((self.folder / "run").glob("*/*.html")):
            self.assertLess(time.monotonic(), end, "there is no file")
            time.sleep(0.05)
        live.stop()
        self.assertEqual(list((self.folder / "run").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
