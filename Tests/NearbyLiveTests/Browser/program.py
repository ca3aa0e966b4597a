# SPDX-License-Identifier: Apache-2.0
"""A running `nearby live`, and its events."""
import contextlib
import http.client
import json
import os
import pathlib
import signal
import subprocess
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
NEARBY = pathlib.Path(os.environ.get("NEARBY", ROOT / ".build-live/release/nearby"))


class Live:
    """A running `nearby live`."""

    def __init__(self, folder, *arguments, piped=False, environment=None):
        self.process = subprocess.Popen(
            [NEARBY, "live", *map(str, arguments)], cwd=folder, env=environment,
            stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline().decode()
        if not line.startswith("http"):
            self.process.kill()
            raise AssertionError(line + self.process.stderr.read().decode())
        self.url = line.strip()
        parts = urllib.parse.urlsplit(self.url)
        self.port, self.path = parts.port, parts.path

    def send(self, lines):
        self.process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        self.process.stdin.flush()

    def ask(self, method="GET", path=None, body=None, host=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.putrequest(method, self.path if path is None else path, skip_host=True)
            connection.putheader("Host", host or f"127.0.0.1:{self.port}")
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(body or "")))
            connection.endheaders((body or "").encode())
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, number=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                with contextlib.suppress(BrokenPipeError):
                    stream and stream.close()
        return self.process.returncode


class Stream:
    """The events of a page, read by hand."""

    def __init__(self, live):
        self.connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=10)
        self.connection.request("GET", live.path + "events")
        self.answer = self.connection.getresponse()

    def next(self):
        name = data = None
        while True:
            line = self.answer.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data = line[6:]
            elif not line and name:
                return name, json.loads(data)

    def close(self):
        self.answer.close()
        self.connection.close()
