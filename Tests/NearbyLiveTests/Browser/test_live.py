# SPDX-License-Identifier: Apache-2.0
"""Starts `nearby live` and looks at its page in a headless Chromium.

Run by `make live-test`. NEARBY_SCREENSHOTS=DIR also writes pictures, NEARBY_ANIMATION=FILE the documentation's
animation.
"""
import contextlib
import http.server
import io
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import sync_playwright

from program import NEARBY, Live, Stream

HOSTILE = "</script><img src=x onerror=alert(1)>\"keys\" & 'é☃"

# The walk through the flat that finds the keys: places of the map, and how long the phone is raised or lowered.
WALK = [
    ("go", 0, -2.2), ("go", 0, 0.7), ("go", 0, 2.4), ("up", 1.2), ("down", 2.0), ("up", 0.8),
    ("go", 2.2, 2.6), ("go", 2.2, 4.2), ("down", 1.2), ("go", 3.3, 4.5),
]


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """A page of another origin."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><p>elsewhere")

    def log_message(self, *arguments):
        pass


def wait(page, condition, seconds=20):
    """Waits for a condition in the page; Playwright's own way evaluates strings there, which the policy forbids."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        if time.monotonic() > end:
            raise AssertionError(f"never came true: {condition}")
        page.wait_for_timeout(50)


class LiveTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.playwright = sync_playwright().start()
        # Without its sandbox it also runs as root, as in a container.
        cls.browser = cls.playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *arguments, piped=False):
        live = Live(self.folder, *arguments, piped=piped)
        self.addCleanup(lambda: live.process.poll() is None and live.stop())
        return live

    def open(self, live, width=1440, height=900, theme="light", touch=False):
        """Opens the page, waits until the device is shown, and fails if it ever complains or loads something else."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, has_touch=touch)
        page = context.new_page()
        complaints, requests = [], []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(live.url)
        wait(page, "document.querySelectorAll('#peers li').length > 0 && window.framesDrawn > 0")

        def close():
            context.close()
            self.assertEqual(complaints, [])
            self.assertEqual(
                [url for url in requests if not url.startswith((live.url, "data:"))], [])

        self.addCleanup(close)
        return page

    @staticmethod
    def newest(live):
        """The newest state, as another page gets it."""
        with contextlib.closing(Stream(live)) as stream:
            while True:
                name, value = stream.next()
                if name == "history" and value:
                    return value[-1]
                if name == "state":
                    return value

    @staticmethod
    def setup_of(live):
        with contextlib.closing(Stream(live)) as stream:
            return stream.next()[1]

    def walk(self, live, legs, watch=lambda: None):
        """Walks as a page would, at the scene's pace."""
        def say(**input):
            self.assertEqual(live.ask("POST", live.path + "input", json.dumps(input))[0], 204)

        for what, *numbers in legs:
            if what == "go":
                say(do="go", x=numbers[0], y=numbers[1])
                for _ in range(60):
                    x, y = self.newest(live)["d"][:2]
                    if math.hypot(x - numbers[0], y - numbers[1]) < 0.25:
                        break
                    watch()
                    time.sleep(0.1)
            else:
                until = time.monotonic() + numbers[0]
                while time.monotonic() < until:
                    say(do="walk", x=0, y=0, up=1 if what == "up" else -1)
                    watch()
                    time.sleep(0.1)
                say(do="walk", x=0, y=0)

    @staticmethod
    def lines(seconds, names, distance=3.0):
        """A walk along a line, with the ranges to peers beside it."""
        for step in range(int(60 * seconds)):
            at = 100 + step / 60
            x = 0.02 * step
            yield {"type": "pose", "timestamp": at, "tx": x, "ty": 1.4, "tz": 0.3 * math.sin(x),
                   "qx": 0, "qy": 0, "qz": 0, "qw": 1}
            if step % 6 == 0:
                for index, name in enumerate(names):
                    yield {"type": "range", "timestamp": at, "peer": name,
                           "distance": math.dist((x, 1.4, 0.3 * math.sin(x)), (2 + index, 1, -distance))}

    # MARK: The scene

    def test_keys_of_the_keyboard_walk_the_phone(self):
        live = self.start("--scenario", "keys")
        page = self.open(live)
        self.assertEqual(page.title(), "Find my keys")
        before = self.newest(live)["d"]
        page.keyboard.down("ArrowRight")
        page.wait_for_timeout(1200)
        page.keyboard.up("ArrowRight")
        page.wait_for_timeout(700)
        after = self.newest(live)["d"]
        self.assertGreater(after[0] - before[0], 0.7)
        self.assertLess(abs(after[1] - before[1]), 0.2)
        page.wait_for_timeout(500)
        self.assertLess(abs(self.newest(live)["d"][0] - after[0]), 0.1, "a released key stops")
        page.keyboard.down("e")
        page.wait_for_timeout(900)
        page.keyboard.up("e")
        self.assertGreater(self.newest(live)["d"][2] - before[2], 0.2)

    def test_the_mouse_walks_builds_and_moves(self):
        live = self.start("--scenario", "keys")
        page = self.open(live)
        box = page.locator("#map").bounding_box()
        before = self.newest(live)["d"]
        page.mouse.move(box["x"] + 0.55 * box["width"], box["y"] + 0.75 * box["height"])
        page.mouse.down()
        page.wait_for_timeout(1000)
        page.mouse.up()
        self.assertGreater(math.dist(self.newest(live)["d"][:2], before[:2]), 0.4)
        count = len(self.setup_of(live)["walls"])
        page.keyboard.press("3")
        page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"])
        page.mouse.down()
        page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.52 * box["height"], steps=4)
        page.mouse.up()
        page.wait_for_timeout(300)
        self.assertEqual(len(self.setup_of(live)["walls"]), count + 1)
        page.keyboard.press("4")
        page.locator("#map").focus()
        page.keyboard.press("Enter")
        page.wait_for_timeout(300)
        self.assertEqual(len(self.setup_of(live)["people"]), 1)
        place = self.newest(live)["p"][0]["k"]
        page.keyboard.press("2")
        page.locator("#peers button").first.click()
        page.locator("#map").focus()
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(900)
        self.assertLess(self.newest(live)["p"][0]["k"][0], place[0])

    def test_the_scene_explains_itself_until_the_keys_are_found(self):
        live = self.start("--scenario", "keys")
        page = self.open(live)
        states = page.locator("#steps li")
        self.assertEqual(states.first.get_attribute("data-state"), "now")
        said = set()
        self.walk(live, WALK, lambda: said.add(page.locator("#say").text_content().split(".")[0]))
        page.wait_for_timeout(1500)
        self.assertIn("found", page.locator("#peers li span").first.text_content())
        self.assertEqual([item.get_attribute("data-state") for item in states.all()], ["done"] * 4)
        self.assertGreater(len(said), 3)
        page.locator("#save").click()
        wait(page, "document.getElementById('note').textContent.startsWith('Saved')")
        folder = self.folder / page.locator("#note").text_content().removeprefix("Saved: ")
        subprocess.run(
            [NEARBY, "run", folder, "--output", self.folder / "out", "--quiet", "--calibration", "off"], check=True)
        summary = json.loads((self.folder / "out/summary.json").read_text())
        self.assertEqual(summary["peers"][0]["id" if "id" in summary["peers"][0] else "peer"], "keys")

    def test_pause_and_replay(self):
        live = self.start("--scenario", "keys")
        page = self.open(live)
        page.wait_for_timeout(3000)
        page.locator("#pause").click()
        shown = page.locator("#when").text_content()
        self.assertTrue(shown.startswith("−"), shown)
        page.wait_for_timeout(1000)
        self.assertGreater(float(page.locator("#when").text_content().strip("−s ")), 0.6)
        page.locator("#replay").click()
        self.assertEqual(page.locator("#replay").text_content(), "Stop")
        page.locator("#pause").click()
        self.assertEqual(page.locator("#when").text_content(), "live")
        page.locator("#map").focus()
        page.keyboard.press("Space")
        self.assertEqual(page.locator("#pause").text_content(), "Live")

    # MARK: Lines

    def test_lines_are_shown_and_an_end_is_said(self):
        live = self.start("--save", "saved", piped=True)
        live.send(self.lines(6, ["keys", "bag"]))
        page = self.open(live)
        self.assertEqual(page.locator("#peers li").count(), 2)
        self.assertFalse(page.locator("#tools").is_visible())
        live.process.stdin.write(b"no json\n")
        live.process.stdin.close()
        wait(page, "document.getElementById('link').textContent === 'the input has ended'")
        page.locator("#save").click()
        wait(page, "document.getElementById('note').textContent !== ''")
        self.assertEqual(page.locator("#note").text_content(), "Saved: saved/1")
        self.assertTrue((self.folder / "saved/1/ranging.csv").exists())

    def test_hostile_names_are_only_names(self):
        live = self.start(piped=True)
        live.send(self.lines(3, [HOSTILE]))
        page = self.open(live)
        self.assertEqual(page.locator("#peers b").first.text_content(), HOSTILE)
        page.wait_for_timeout(600)
        self.assertIn(HOSTILE, page.locator("#say").text_content())
        self.assertEqual(page.locator("img").count(), 0)

    def test_faulty_lines_end_with_their_status(self):
        live = self.start("--exit-at-end", piped=True)
        live.send(self.lines(1, ["keys"]))
        live.process.stdin.write(b"{\n")
        live.process.stdin.close()
        live.process.wait(timeout=10)
        self.assertIn("-:", live.process.stderr.read().decode())
        self.assertEqual(live.stop(), 65)

    def test_a_page_that_comes_back_catches_up(self):
        live = self.start(piped=True)
        live.send(self.lines(8, ["keys"]))
        first = self.open(live)
        stream = Stream(live)
        self.assertEqual(stream.next()[0], "setup")
        name, history = stream.next()
        self.assertEqual(name, "history")
        self.assertGreater(len(history), 70)
        self.assertGreater(history[-1]["t"] - history[0]["t"], 7)
        stream.close()
        first.reload()
        wait(first, "window.framesDrawn > 0")
        first.wait_for_timeout(500)
        self.assertNotEqual(first.locator("#say").text_content(), "Waiting for the first samples.")

    # MARK: Who may ask

    def test_requests_from_elsewhere_are_refused(self):
        live = self.start("--scenario", "keys")
        self.assertEqual(live.ask()[0], 200)
        for path in ["/", "/live.js", "/events", f"/{'0' * 32}/", f"/{'0' * 32}/events"]:
            self.assertEqual(live.ask(path=path)[0], 403, path)
        self.assertEqual(live.ask(host="example.org")[0], 403)
        self.assertEqual(live.ask(host=f"example.org:{live.port}")[0], 403)
        go = json.dumps({"do": "go", "x": 0, "y": 0})
        for origin in ["http://example.org", "null", f"http://127.0.0.1:{live.port + 1}"]:
            self.assertEqual(live.ask("POST", live.path + "input", go, Origin=origin)[0], 403, origin)
            self.assertEqual(live.ask(path=live.path + "events", Origin=origin)[0], 403, origin)
        own = f"http://127.0.0.1:{live.port}"
        self.assertEqual(live.ask("POST", live.path + "input", go, Origin=own)[0], 204)
        self.assertEqual(live.ask("POST", live.path + "input", "{}", Origin=own)[0], 400)
        self.assertEqual(live.ask("POST", live.path + "input", "x" * 10_000, Origin=own)[0], 413)
        self.assertEqual(live.ask("GET", live.path + "save")[0], 405)
        self.assertEqual(live.ask(path=live.path + "nothing")[0], 404)
        listening = subprocess.run(
            ["ss", "-ltnp"], capture_output=True, text=True).stdout if shutil.which("ss") else ""
        for line in listening.splitlines():
            if f"pid={live.process.pid}," in line:
                self.assertIn("127.0.0.1:", line)

    def test_another_page_cannot_read_or_steer(self):
        live = self.start("--scenario", "keys")
        context = self.browser.new_context()
        page = context.new_page()
        page.goto("data:text/html,<p>elsewhere")
        status = page.evaluate(
            "url => fetch(url + 'input', {method: 'POST', body: '{\"do\":\"go\",\"x\":0,\"y\":0}'})"
            ".then(answer => answer.status, () => 'refused')", live.url)
        self.assertEqual(status, "refused")
        context.close()
        before = self.newest(live)["d"]
        time.sleep(1)
        self.assertLess(math.dist(self.newest(live)["d"][:2], before[:2]), 0.1)

    def test_another_page_cannot_keep_the_owner_waiting(self):
        live = self.start("--scenario", "find", "--peers", "3")
        page = self.open(live)
        # A page of another origin, which sends what a browser lets it send.
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)
            context = self.browser.new_context()
            self.addCleanup(context.close)
            attacker = context.new_page()
            attacker.goto(f"http://127.0.0.1:{server.server_port}/")
            attacker.evaluate(
                """address => {
                  window.answered = window.failed = 0;
                  const attack = async options => {
                    while (true) {
                      await fetch(address + "a".repeat(400000), { mode: "no-cors", ...options })
                        .then(() => { window.answered += 1; }, () => { window.failed += 1; });
                    }
                  };
                  for (let number = 0; number < 20; number += 1) {
                    attack({});
                    attack({ method: "POST", body: "x".repeat(3000000) });
                  }
                }""", f"http://127.0.0.1:{live.port}/")
            drawn, worst = page.evaluate("window.framesDrawn"), 0
            for _ in range(30):
                begin = time.monotonic()
                self.assertEqual(live.ask()[0], 200)
                self.newest(live)
                worst = max(worst, time.monotonic() - begin)
                time.sleep(0.1)
            answered, failed = attacker.evaluate("[window.answered, window.failed]")
            drawn = page.evaluate("window.framesDrawn") - drawn
        print(f"\n{answered + failed} requests of another page; the owner's slowest took {1000 * worst:.0f} ms, "
              f"and {drawn} states were drawn")
        self.assertGreater(answered + failed, 20)
        self.assertLess(worst, 1)
        self.assertGreater(drawn, 15)

    # MARK: Cost

    def test_ten_peers_are_drawn_fluently_and_cheaply(self):
        live = self.start("--scenario", "find", "--peers", "10", "--seed", "3")
        page = self.open(live)
        self.assertEqual(page.locator("#peers li").count(), 10)
        page.keyboard.down("ArrowUp")
        page.wait_for_timeout(3000)
        seconds = int(os.environ.get("NEARBY_MEASURED_SECONDS", "20"))
        before, drawn, start = live.processor_seconds(), page.evaluate("window.framesDrawn"), time.monotonic()
        frames = page.evaluate(
            """seconds => new Promise(done => {
              let frames = 0; const end = performance.now() + 1000 * seconds;
              const count = now => { frames += 1; if (now < end) requestAnimationFrame(count); else done(frames / seconds); };
              requestAnimationFrame(count); })""", seconds)
        elapsed = time.monotonic() - start
        share = (live.processor_seconds() - before) / elapsed
        states = (page.evaluate("window.framesDrawn") - drawn) / elapsed
        page.keyboard.up("ArrowUp")
        print(f"\n10 peers, 60 poses a second: page {frames:.1f} frames a second, {states:.1f} states drawn a second, "
              f"server {100 * share:.1f} % of a core")
        # Loosely: the machine may have other work.
        self.assertGreater(frames, 20)
        self.assertGreater(states, 15)
        self.assertLess(share, 0.15)

    def test_a_page_that_does_not_read_costs_nothing(self):
        live = self.start("--scenario", "find", "--peers", "10")
        stuck = []
        for _ in range(4):
            stream = Stream(live)
            stuck.append(stream)
        memory = lambda: int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{live.process.pid}/status").read_text())[1])
        time.sleep(4)
        begin, before = self.newest(live), memory()
        time.sleep(6)
        end = self.newest(live)
        # The world goes on at its pace, and nothing piles up.
        self.assertAlmostEqual(end["t"] - begin["t"], 6, delta=1)
        self.assertLess(memory() - before, 20_000)
        for stream in stuck:
            stream.close()

    # MARK: The end

    def test_signals_end_it(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            live = self.start("--scenario", "keys")
            stream = Stream(live)
            stream.next()
            self.assertEqual(live.stop(number), -number)
            stream.close()

    # MARK: Everybody

    def test_axe_finds_nothing_serious(self):
        live = self.start("--scenario", "keys")
        for theme in ["light", "dark"]:
            # axe is run by the driver, which the page's policy does not bind.
            page = self.open(live, theme=theme)
            page.wait_for_timeout(1500)
            found = Axe().run(page).response["violations"]
            serious = [
                (violation["id"], [node["html"] for node in violation["nodes"]])
                for violation in found if violation["impact"] in ("serious", "critical")]
            self.assertEqual(serious, [], theme)

    def test_all_controls_are_reached_by_tab_and_show_it(self):
        live = self.start("--scenario", "keys")
        page = self.open(live)
        seen = []
        for _ in range(40):
            page.keyboard.press("Tab")
            name, outline = page.evaluate(
                """() => { const at = document.activeElement; const style = getComputedStyle(at);
                  return [at.id || at.dataset.tool || at.dataset.view || at.textContent, style.outlineStyle]; }""")
            if name in seen:
                break
            if page.evaluate("document.activeElement !== document.body"):
                seen.append(name)
                self.assertNotEqual(outline, "none", name)
        for name in ["walk", "erase", "raise", "plan", "fit", "map", "pause", "replay", "time", "save", "theme"]:
            self.assertIn(name, seen)

    def test_map_and_coach_are_above_the_fold(self):
        live = self.start("--scenario", "keys")
        for width, height in [(1440, 900), (390, 844)]:
            page = self.open(live, width=width, height=height, touch=width < 500)
            for name in ["#say", "#map"]:
                box = page.locator(name).bounding_box()
                self.assertGreaterEqual(box["y"], 0)
                self.assertLessEqual(box["y"] + box["height"], height, (name, width))
            self.assertEqual(page.evaluate("document.documentElement.scrollWidth"), width)

    # MARK: Pictures

    @unittest.skipUnless("NEARBY_SCREENSHOTS" in os.environ, "no pictures were asked for")
    def test_write_screenshots(self):
        folder = pathlib.Path(os.environ["NEARBY_SCREENSHOTS"])
        folder.mkdir(parents=True, exist_ok=True)
        for name, size, theme, legs in [
            ("start", (1440, 900), "light", WALK[:1]), ("half", (1440, 900), "dark", WALK[:3]),
            ("found", (1440, 900), "light", WALK), ("phone", (390, 844), "light", WALK[:3]),
        ]:
            live = self.start("--scenario", "keys")
            page = self.open(live, *size, theme, touch=size[0] < 500)
            self.walk(live, legs)
            page.wait_for_timeout(500)
            page.screenshot(path=folder / f"{name}.png")
            if size[0] < 500:
                page.screenshot(path=folder / f"{name}-full.png", full_page=True)

    @unittest.skipUnless("NEARBY_ANIMATION" in os.environ, "no animation was asked for")
    def test_write_animation(self):
        live = self.start("--scenario", "keys")
        page = self.open(live, width=1200, height=760)
        frames = []

        def look():
            picture = Image.open(io.BytesIO(page.screenshot(type="png"))).convert("RGB")
            frames.append((time.monotonic(), picture.resize((900, 570), Image.Resampling.LANCZOS)))

        look()
        self.walk(live, WALK, look)
        for _ in range(6):
            page.wait_for_timeout(150)
            look()
        # About four pictures a second, at twice the pace.
        kept = [frames[0]]
        for moment, picture in frames[1:]:
            if moment - kept[-1][0] >= 0.4:
                kept.append((moment, picture))
        durations = [round(500 * (b[0] - a[0])) for a, b in zip(kept, kept[1:])] + [2500]
        pictures = [picture for _, picture in kept]
        path = pathlib.Path(os.environ["NEARBY_ANIMATION"])
        # One palette for all pictures, and no dithering, so that what rests costs nothing.
        sample = Image.new("RGB", (900, 3 * 570))
        for row, picture in enumerate([pictures[0], pictures[len(pictures) // 2], pictures[-1]]):
            sample.paste(picture, (0, 570 * row))
        # The commonest colours, and those that are far apart.
        colours = [
            sample.quantize(128, method, dither=Image.Dither.NONE).getpalette()[:3 * 128]
            for method in (Image.Quantize.MEDIANCUT, Image.Quantize.MAXCOVERAGE)]
        palette = Image.new("P", (1, 1))
        palette.putpalette(sum(colours, []))
        pictures = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
        pictures[0].save(
            path, save_all=True, append_images=pictures[1:], duration=durations, loop=0, optimize=True)
        self.assertLess(path.stat().st_size, 2_000_000)


if __name__ == "__main__":
    unittest.main()
