# SPDX-License-Identifier: Apache-2.0
"""What a program or a web page without the token can do to `nearby live`, over and over.

`attacks.py NAME PORT PATH` goes on until it is killed, and against the loopback interface only. PATH is for the
attacks that have the token.
"""
import resource
import socket
import sys
import time


class Attack:
    """Attacks a port."""

    def __init__(self, port, path):
        self.port, self.path = port, path

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def send(self, *pieces):
        """Sends pieces over a new connection and waits for its end."""
        with self.connect() as connection:
            for piece in pieces:
                connection.sendall(piece)
            while connection.recv(65_536):
                pass

    def head(self, method, path, *headers):
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *headers]
        return "\r\n".join([*lines, "", ""]).encode()

    # MARK: Long requests

    def line_100_kB(self):
        self.send(b"GET /" + b"a" * 100_000)

    def line_400_kB(self):
        self.send(b"GET /" + b"a" * 400_000)

    def line_3_MB(self):
        self.send(b"GET /" + b"a" * 3_000_000)

    def headers_without_end(self):
        self.send(b"GET / HTTP/1.1\r\n", *[b"a: b\r\n" * 1000] * 1000)

    def header_of_blanks(self):
        self.send(b"GET / HTTP/1.1\r\na:", *[b" " * 100_000] * 30)

    def line_ends_without_request(self):
        self.send(*[b"\r\n" * 1000] * 1000)

    def body_of_a_stranger(self):
        head = self.head("POST", f"/{'0' * 32}/input", "Content-Length: 3000000")
        self.send(head, b"x" * 3_000_000)

    def body_with_the_token(self):
        self.send(self.head("POST", self.path + "input", "Content-Length: 3000000"), b"x" * 3_000_000)

    def body_in_chunks(self):
        head = self.head("POST", self.path + "input", "Transfer-Encoding: chunked")
        self.send(head, *[b"3e8\r\n" + b"x" * 1000 + b"\r\n"] * 3000)

    def body_in_chunks_of_a_byte(self):
        head = self.head("POST", self.path + "input", "Transfer-Encoding: chunked")
        self.send(head, *[b"1\r\nx\r\n" * 1000] * 1000)

    def chunk_extension(self):
        head = self.head("POST", self.path + "input", "Transfer-Encoding: chunked")
        self.send(head, b"1;", *[b"a" * 100_000] * 30)

    # MARK: What a page's fetch can send

    def fetch_get(self):
        self.send(self.head("GET", "/" + "a" * 400_000, "Origin: http://example.org", "Sec-Fetch-Mode: no-cors"))

    def fetch_post(self):
        head = self.head(
            "POST", "/" + "a" * 400_000, "Origin: http://example.org", "Content-Type: text/plain",
            "Content-Length: 3000000")
        self.send(head, b"x" * 3_000_000)

    # MARK: Many connections

    def slowloris(self):
        """200 connections, each of which sends a byte every 100 ms."""
        connections = []
        while True:
            for connection in connections[:]:
                try:
                    connection.send(b"a")
                except OSError:
                    connection.close()
                    connections.remove(connection)
            while len(connections) < 200:
                connection = self.connect()
                connection.sendall(b"GET / HTTP/1.1\r\na: ")
                connections.append(connection)
            time.sleep(0.1)

    def crowd(self):
        """1200 connections that say nothing."""
        connections = [self.connect() for _ in range(1200)]
        time.sleep(60)
        return connections

    def crowd_that_returns(self):
        """1200 connections that say nothing, and come again when they are closed."""
        connections = []
        while True:
            for connection in connections[:]:
                try:
                    connection.recv(1, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    continue
                except OSError:
                    pass
                connection.close()
                connections.remove(connection)
            while len(connections) < 1200:
                connections.append(self.connect())
            time.sleep(0.05)

    def storm(self):
        """As many connections as can be opened, of which the last 1200 stay open."""
        connections = []
        while True:
            connections.append(self.connect())
            if len(connections) > 1200:
                connections.pop(0).close()

    def pipelined(self):
        """Requests whose answers nobody reads."""
        with self.connect() as connection:
            while True:
                connection.sendall(self.head("GET", "/") * 1000)


def main():
    name, port, path = sys.argv[1:]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4096), most))
    attack = Attack(int(port), path)
    while True:
        try:
            getattr(attack, name)()
        except OSError:
            time.sleep(0.01)


if __name__ == "__main__":
    main()
