"""The example programs in a pseudo terminal, as a user has them.

NEARBY_PROGRAMS names the folder of the programs.
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest
from typing import Self

FOLDER = pathlib.Path(os.environ.get("NEARBY_PROGRAMS", ".build/release")).resolve()
# Long, for busy machines; every wait ends as soon as its condition holds.
PATIENCE = 30.0
SHOWN = "\x1b[?1049h\x1b[?25l"
RESTORED = "\x1b[?25h\x1b[?1049l"


class Screen:
    """`nearby-devices` in a pseudo terminal of a size."""

    def __init__(self, *arguments: str, rows: int = 24, columns: int = 80) -> None:
        self.output = ""
        self.status: int | None = None
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            program = str(FOLDER / "nearby-devices")
            os.execv(program, [program, *arguments])
        self.modes = termios.tcgetattr(self.master)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)

    def read(self, seconds: float = 0.05) -> None:
        """Takes what the program wrote."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not select.select([self.master], [], [], 0.01)[0]:
                continue
            try:
                self.output += os.read(self.master, 65536).decode(errors="replace")
            except OSError:  # The program has ended.
                return

    def until(self, holds, what: str) -> None:
        """Reads until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"not within {PATIENCE} s: {what}; {self.output[-600:]!r}")
            self.read()

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def frame(self) -> list[str]:
        """The lines of the newest whole picture."""
        pictures = self.output.split("\x1b[H")
        whole = [p.split("\x1b[J")[0] for p in pictures[1:] if "\x1b[J" in p]
        # The terminal's driver puts another carriage return before each end of a line.
        lines = re.split(r"\r+\n", whole[-1]) if whole else []
        return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in lines]

    def next_frame(self) -> list[str]:
        """The lines of a picture that begins from now on."""
        self.output = ""
        self.until(lambda: len(self.frame()) > 0, "a picture")
        return self.frame()

    def wait(self, options: int = 0) -> int:
        """The status once the program has ended, or stopped."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG | options)
            if pid == self.pid:
                if not os.WIFSTOPPED(status):
                    self.status = status
                self.read(0.2)
                return status
        raise AssertionError(f"it has not ended: {self.output[-300:]!r}")

    def started(self) -> Self:
        self.until(lambda: SHOWN in self.output and len(self.frame()) > 2, "the first picture")
        return self

    def is_restored(self) -> bool:
        """Whether screen, cursor and modes are as before."""
        shown, restored = self.output.rfind(SHOWN), self.output.rfind(RESTORED)
        return restored > shown and termios.tcgetattr(self.master)[:4] == self.modes[:4]


class NearbyDevices(unittest.TestCase):
    def test_q_quits(self) -> None:
        with Screen() as screen:
            screen.started().press("q")
            self.assertEqual(screen.wait(), 0)
            self.assertTrue(screen.is_restored())

    def test_signals_restore_the_terminal(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number), Screen() as screen:
                screen.started()
                self.assertFalse(screen.is_restored())
                os.kill(screen.pid, number)
                status = screen.wait()
                self.assertTrue(os.WIFSIGNALED(status))
                self.assertEqual(os.WTERMSIG(status), number)
                self.assertTrue(screen.is_restored())

    def test_control_c_ends_as_a_signal_does(self) -> None:
        with Screen() as screen:
            screen.started().press("\x03")
            self.assertEqual(os.WTERMSIG(screen.wait()), signal.SIGINT)
            self.assertTrue(screen.is_restored())

    def test_control_z_suspends_and_the_terminal_is_taken_again(self) -> None:
        with Screen() as screen:
            screen.started().press("\x1a")
            status = screen.wait(os.WUNTRACED)
            self.assertTrue(os.WIFSTOPPED(status))
            self.assertTrue(screen.is_restored())
            screen.output = ""
            os.kill(screen.pid, signal.SIGCONT)
            screen.until(lambda: SHOWN in screen.output and len(screen.frame()) > 2, "the picture again")
            self.assertFalse(screen.is_restored())
            screen.press("q")
            self.assertEqual(screen.wait(), 0)
            self.assertTrue(screen.is_restored())

    def test_arrows_walk(self) -> None:
        """The keys are 4 m ahead: an arrow up comes closer, an arrow down leaves again."""
        with Screen("1") as screen:
            screen.started()

            def distance() -> float:
                found = re.search(r"keys +(\d+\.\d) m", "\n".join(screen.frame()))
                return float(found.group(1)) if found else 99.0

            screen.until(lambda: 3 < distance() < 5, "the distance at the start")
            screen.press("\x1b[A")
            screen.until(lambda: distance() < 2.5, "the distance ahead")
            screen.press("\x1b[B")
            screen.until(lambda: 4 < distance() < 20, "the distance back")

    def test_the_list_scrolls(self) -> None:
        with Screen("16", rows=10) as screen:
            lines = screen.started().next_frame()
            self.assertLessEqual(len(lines), 10)
            self.assertIn("keys ", "\n".join(lines))
            self.assertNotIn("cat 4", "\n".join(lines))
            for _ in range(4):
                screen.press("n")
            screen.until(lambda: "cat 4" in "\n".join(screen.next_frame()), "the last of the list")
            self.assertLessEqual(len(screen.frame()), 10)
            screen.press("\x1b[5~" * 4)
            screen.until(lambda: "1-" in screen.next_frame()[0], "the first of the list")

    def test_forty_columns_are_enough(self) -> None:
        with Screen("3", rows=12, columns=40) as screen:
            screen.started()
            screen.until(lambda: "m  " in "\n".join(screen.frame()), "a distance")
            screen.read(3)
            for line in screen.frame():
                self.assertLessEqual(len(line), 40, line)
            text = "\n".join(screen.frame())
            for word in ("keys", "bag", "bike", "q: quit"):
                self.assertIn(word, text)

    def test_a_pipe_is_refused(self) -> None:
        run = subprocess.run(
            [FOLDER / "nearby-devices", "2"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE
        )
        self.assertEqual(run.returncode, 64)
        self.assertEqual(run.stdout, "")
        self.assertIn("needs a terminal", run.stderr)


class FindMyItem(unittest.TestCase):
    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self) -> None:
        self.temporary.cleanup()

    def find(self, environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [FOLDER / "find-my-item", self.folder / "a", self.folder / "b"],
            capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, "NEARBY_ENVIRONMENT": environment},
        )

    def test_a_file_that_is_no_token_is_an_error(self) -> None:
        for content in (b"hello", b"", b"bplist00garbage"):
            with self.subTest(content):
                (self.folder / "b").write_bytes(content)
                run = self.find("alone")
                self.assertEqual(run.returncode, 65)
                self.assertEqual(len(run.stderr.splitlines()), 1)
                self.assertIn("b holds no token", run.stderr)

    def test_a_folder_in_place_of_a_token_is_an_error(self) -> None:
        (self.folder / "b").mkdir()
        run = self.find("alone")
        self.assertEqual(run.returncode, 66)
        self.assertIn("b cannot be read", run.stderr)

    def test_a_world_that_is_open_to_others_is_told_at_once(self) -> None:
        world = self.folder / "world"
        world.mkdir()
        world.chmod(0o755)
        run = self.find(f"simulated:{world}")
        self.assertEqual(run.returncode, 1)
        self.assertIn("mode 755", run.stdout)
        self.assertFalse((self.folder / "a").exists())

    @unittest.skipUnless(os.geteuid() == 0, "needs a folder of another user")
    def test_a_world_of_another_user_is_told_at_once(self) -> None:
        world = self.folder / "world"
        world.mkdir(mode=0o700)
        os.chown(world, 65534, 65534)
        run = self.find(f"simulated:{world}")
        self.assertEqual(run.returncode, 1)
        self.assertIn("belongs to the user 65534", run.stdout)


if __name__ == "__main__":
    unittest.main()
