# SPDX-License-Identifier: Apache-2.0
"""Opens reports of simulated recordings in a headless Chromium and looks at what is drawn.

Run by `make report-test`. With NEARBY_SCREENSHOTS=DIR it also writes the documentation's pictures.
"""
import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from random import Random

from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[3]
NEARBY = ROOT / os.environ.get("NEARBY", ".build/release/nearby")
STRANGE = "</script><b>\"keys\" & 'é☃"

PANELS = [
    "distance", "distance-error", "angle", "angle-error", "position", "timeline", "nis", "nees",
    "hypotheses", "outcomes",
]

# How many pixels of a canvas differ from the most frequent one.
DRAWN = """canvas => {
  const { width, height } = canvas;
  const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, width, height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  return pixels.length - Math.max(...counts.values());
}"""


def walk(folder, seconds, peers):
    """A recording of a circular walk: poses of 20 Hz and ranges of 10 Hz to peers at rest."""
    (folder / "recording.json").write_text(json.dumps({
        "format": "nearby-recording", "version": 1, "name": "long",
        "world": {"up": "z"}, "device": {"axes": "ros"}}))
    random = Random(1)
    places = [(12 * math.cos(k), 9 * math.sin(2.3 * k), 0.4 * k) for k in range(peers)]
    def place(time):
        return 6 * math.cos(0.15 * time), 5 * math.sin(0.21 * time), 1.4 + 0.3 * math.sin(0.5 * time)
    with open(folder / "trajectory.txt", "w") as file:
        for step in range(20 * seconds + 1):
            x, y, z = place(step / 20)
            file.write(f"{step / 20:.2f} {x:.4f} {y:.4f} {z:.4f} 0 0 0 1\n")
    with open(folder / "ranging.csv", "w") as file:
        file.write("timestamp,peer,distance,azimuth,elevation\n")
        for step in range(1, 10 * seconds + 2):
            for k, beacon in enumerate(places):
                distance = math.dist(beacon, place(step / 10)) + random.gauss(0, 0.1)
                file.write(f"{step / 10 - 0.001 * k:.3f},beacon-{k},{max(distance, 0.05):.3f},,\n")


def nearby(*arguments):
    subprocess.run([NEARBY, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


class Reports:
    """Recordings, results and pages in a folder of their own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def result(self, scenario, seed=1):
        recording, result = self.folder / f"recording-{scenario}", self.folder / scenario
        if not result.exists():
            nearby("simulate", scenario, "--seed", seed, "--output", recording)
            nearby("run", recording, "--output", result, "--smooth", "--quiet")
        return result

    def page(self, name, *results, **options):
        path = self.folder / f"{name}.html"
        more = [text for key, value in options.items() for text in (f"--{key}", value)]
        nearby("report", *results, "--output", path, "--quiet", *more)
        return path


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.reports = Reports(cls.folder.name)
        cls.playwright = sync_playwright().start()
        # Without its sandbox it also runs as root, as in a container.
        cls.browser = cls.playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()
        cls.folder.cleanup()

    def open(self, path, width=1280, height=900, theme="light", before=None):
        """Opens a page, waits until all is drawn, and fails if it ever complains or loads something."""
        page = self.browser.new_page(
            viewport={"width": width, "height": height}, color_scheme=theme)
        if before:
            page.add_init_script(before)
        complaints, requests = [], []
        # A software rasteriser remarks that a picture is copied out of it; a graphics card does not.
        page.on("console", lambda message: complaints.append(message.text)
                if "GL Driver Message" not in message.text else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", timeout=60_000)

        def close():
            page.close()
            self.assertEqual(complaints, [])
            self.assertEqual([url for url in requests if not url.startswith(("file:", "data:", "blob:"))], [])

        self.addCleanup(close)
        return page

    @staticmethod
    def data(page):
        return json.loads(page.locator("#data").text_content())

    @staticmethod
    def move(page, time):
        page.locator("#slider").evaluate(
            "(slider, time) => { slider.value = time; slider.dispatchEvent(new Event('input')); }",
            time)
        page.wait_for_timeout(150)

    @staticmethod
    def draw_all(page):
        page.evaluate("nearbyReport.drawAllCurves()")
        page.wait_for_timeout(300)

    # MARK: What is drawn

    def test_the_answer_is_the_first_thing(self):
        for width, height in [(1440, 900), (390, 844)]:
            page = self.open(
                self.reports.page("find", self.reports.result("find")), width=width, height=height)
            self.assertRegex(page.locator("#headline").text_content(), "1 of 1 peer found")
            self.assertRegex(page.locator("#peers").text_content(), r"found after \d.* m away, within ±")
            box = page.locator("#map").bounding_box()
            self.assertLess(box["y"] + box["height"], height, "the map is above the fold")
            self.assertGreater(box["height"], 0.35 * height)

    def test_what_to_do_is_said_for_a_peer_that_is_not_found(self):
        page = self.open(self.reports.page("level", self.reports.result("ranges-level")))
        self.assertIn("0 of 1 peer found", page.locator("#headline").text_content())
        self.assertRegex(page.locator("#peers").text_content(), "it may be at 2 heights")
        self.assertRegex(page.locator("#peers").text_content(), "sweep up and down")
        self.assertRegex(page.locator("#remarks").text_content(), "exactly one height")

    def test_every_panel_holds_drawn_points(self):
        for scenario in ["find", "ranges-level", "peer-carried"]:
            page = self.open(self.reports.page(scenario, self.reports.result(scenario)))
            self.draw_all(page)
            self.assertGreater(page.locator("#map").evaluate(DRAWN), 500, scenario)
            for panel in PANELS:
                self.assertGreater(page.locator(f"#{panel} canvas").evaluate(DRAWN), 500, (scenario, panel))

    def test_the_ellipse_and_the_modes_are_those_of_the_moment(self):
        page = self.open(self.reports.page("find", self.reports.result("find")))
        converged = page.evaluate("""() => {
          nearbyReport.setTime(nearbyReport.state.time);
          const track = nearbyReport.report.runs[0].tracks[0];
          const peer = nearbyReport.map.scene.peers[0];
          const last = track.moments.time.length - 1;
          return [peer.modes.length, peer.isConverged, peer.place[0] - track.moments.x[last],
                  peer.covariance[0] - track.moments.xx[last]];
        }""")
        self.assertEqual(converged, [0, True, 0, 0])
        self.move(page, 1)
        modes = page.evaluate("nearbyReport.map.scene.peers[0].modes.map(mode => mode.weight)")
        self.assertGreater(len(modes), 1, "before it is found a peer may be in several places")
        self.assertAlmostEqual(sum(modes), 1, 2)

    def test_three_dimensions_are_drawn_with_and_without_graphics(self):
        path = self.reports.page("find", self.reports.result("find"))
        page = self.open(path)
        page.locator("[data-view='3d']").click()
        page.wait_for_timeout(500)
        flat = page.locator("#map").evaluate(DRAWN)
        self.assertGreater(flat, 500)
        without = self.open(path, before="HTMLCanvasElement.prototype.getContext = (get => function (kind, ...more) {"
                            " return kind === 'webgl2' ? null : get.call(this, kind, ...more); })"
                            "(HTMLCanvasElement.prototype.getContext);")
        without.locator("[data-view='3d']").click()
        without.wait_for_timeout(500)
        self.assertFalse(without.evaluate("nearbyReport.map.usesGraphics"))
        self.assertGreater(without.locator("#map").evaluate(DRAWN), 500)

    # MARK: What can be done

    def test_the_slider_moves_the_moment_everywhere(self):
        page = self.open(self.reports.page("find", self.reports.result("find")))
        duration = self.data(page)["recordings"][0]["duration"]
        seen = set()
        for time in [0.25 * duration, 0.75 * duration]:
            self.move(page, time)
            seen.add(json.dumps(page.evaluate("nearbyReport.map.scene.device")))
            self.assertIn(f"at {time:.1f} s", page.locator("#moment").text_content())
        self.assertEqual(len(seen), 2)

    def test_all_can_be_done_with_the_keyboard(self):
        page = self.open(self.reports.page("office", self.reports.result("slope-office-8")))
        page.keyboard.press("Tab")
        self.assertEqual(page.evaluate("document.activeElement.className"), "skip")
        reached = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.id || document.activeElement.textContent.slice(0, 20)"))
        for name in ["map", "play", "slider", "3-D", "fit", "theme"]:
            self.assertIn(name, reached)
        page.locator("#map").focus()
        before = page.evaluate("nearbyReport.map.window")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("+")
        after = page.evaluate("nearbyReport.map.window")
        self.assertGreater(after["scale"], before["scale"])
        self.assertNotEqual(after["middle"], before["middle"])
        page.keyboard.press("0")
        self.assertEqual(page.evaluate("nearbyReport.map.window"), before)
        page.locator("#slider").focus()
        now = float(page.locator("#slider").input_value())
        page.keyboard.press("ArrowLeft")
        self.assertLess(float(page.locator("#slider").input_value()), now)
        peer = page.locator("#peers button").nth(2)
        peer.focus()
        page.keyboard.press("Enter")
        self.assertIn(page.locator("#moment").text_content().split()[0], peer.text_content())

    def test_play_goes_on(self):
        page = self.open(self.reports.page("find", self.reports.result("find")))
        self.move(page, 0)
        page.locator("#play").click()
        page.wait_for_timeout(1500)
        self.assertGreater(float(page.locator("#slider").input_value()), 0.3)
        page.locator("#play").click()
        self.assertEqual(page.locator("#play").get_attribute("aria-label"), "Play")

    def test_zoom_is_shared_over_time(self):
        page = self.open(self.reports.page("find", self.reports.result("find")))
        self.draw_all(page)
        canvas = page.locator("#distance canvas")
        canvas.scroll_into_view_if_needed()
        page.wait_for_timeout(300)
        box = canvas.bounding_box()
        page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 60)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 60, steps=4)
        page.mouse.up()
        low, high = page.evaluate("nearbyReport.state.window")
        self.assertLess(high - low, 6)
        self.assertGreater(low, 5)
        canvas.dblclick()
        self.assertEqual(page.evaluate("nearbyReport.state.window[0]"), 0)

    def test_runs_and_themes_are_switched(self):
        page = self.open(
            self.reports.page("two", self.reports.result("find"), self.reports.result("ranges-level")))
        self.assertEqual(page.locator("#runs button").count(), 4)
        page.locator("#runs button").nth(3).click()
        self.assertEqual(page.evaluate("nearbyReport.state.run.name"), "ranges-level smoothed")
        page.locator("#theme").click()
        self.assertEqual(page.locator("html").get_attribute("data-theme"), "dark")

    def test_on_a_phone_nothing_overflows(self):
        page = self.open(
            self.reports.page("find", self.reports.result("find")), width=390, height=844, theme="dark")
        self.assertEqual(page.evaluate("document.documentElement.scrollWidth"), 390)
        self.draw_all(page)
        self.assertGreater(page.locator("#nees canvas").evaluate(DRAWN), 0)

    def test_axe_finds_nothing_serious(self):
        for theme in ["light", "dark"]:
            page = self.open(self.reports.page("level", self.reports.result("ranges-level")), theme=theme)
            found = Axe().run(page).response["violations"]
            serious = [(one["id"], [node["html"] for node in one["nodes"]]) for one in found
                       if one["impact"] in ("serious", "critical")]
            self.assertEqual(serious, [])

    # MARK: Batches

    def test_a_batch_and_a_comparison(self):
        data = self.reports.folder / "data"
        nearby("simulate", "find", "--count", 4, "--output", data)
        for name, calibration in [("old", "off"), ("new", "use")]:
            nearby("batch", data, "--output", self.reports.folder / name, "--calibration", calibration, "--quiet")
        pages = self.reports.folder / "pages"
        nearby("report", self.reports.folder / "old", self.reports.folder / "new", "--output", pages)
        for theme, width in [("light", 1440), ("dark", 390)]:
            page = self.open(pages / "index.html", theme=theme, width=width)
            self.assertRegex(page.locator("#headline").text_content(), "old: . of 4 peers found, .*new: . of 4")
            for panel in ["errors", "times", "claims", "nees", "paired"]:
                self.assertGreater(page.locator(f"#{panel} canvas").evaluate(DRAWN), 300, panel)
            self.assertRegex(page.locator("#pairs-note").text_content(), "of 4 pairs")
            found = Axe().run(page).response["violations"]
            self.assertEqual([one["id"] for one in found if one["impact"] in ("serious", "critical")], [])
        page = self.open(pages / "index.html")
        page.locator("#worst a").first.click()
        page.wait_for_selector("html[data-ready]")
        self.assertRegex(page.locator("#headline").text_content(), "peer found")

    # MARK: Large results

    def test_a_hundred_thousand_estimates_are_small_and_quick(self):
        recording, result = self.reports.folder / "long", self.reports.folder / "long-result"
        recording.mkdir()
        walk(recording, seconds=1250, peers=8)
        nearby("run", recording, "--output", result, "--quiet", "--calibration", "off")
        with open(result / "estimates.csv") as rows:
            self.assertGreater(sum(1 for _ in rows), 100_000)
        path = self.reports.page("long", result)
        self.assertLess(path.stat().st_size, 1.5e6)
        page = self.open(path)
        times = page.evaluate("""() => ({
          paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
          ready: nearbyReport.readyAt,
        })""")
        frames = page.evaluate("""() => new Promise(resolve => {
          nearbyReport.setTime(0);
          document.getElementById('play').click();
          let [count, start] = [0, null];
          const step = now => {
            start ??= now; count += 1;
            if (now - start < 2000) requestAnimationFrame(step); else resolve(count / ((now - start) / 1000));
          };
          requestAnimationFrame(step);
        })""")
        print(f"\n100 000 estimates: {path.stat().st_size} bytes, first paint {times['paint']:.0f} ms, "
              f"ready {times['ready']:.0f} ms, {frames:.0f} frames/s")
        self.assertLess(times["paint"], 2000)
        self.assertLess(times["ready"], 6000)
        self.assertGreater(frames, 10, "an idle machine draws several times as many")

    # MARK: Odd recordings

    def test_strange_names_are_only_names(self):
        recording = self.reports.folder / "strange"
        nearby("simulate", "find", "--seed", 2, "--output", recording)
        manifest = json.loads((recording / "recording.json").read_text())
        quoted = '"' + STRANGE.replace('"', '""') + '"'
        manifest["name"] = STRANGE
        for peer in manifest.get("peers", []):
            peer["id"] = STRANGE
        (recording / "recording.json").write_text(json.dumps(manifest))
        for name in ["ranging.csv", "truth/peers.csv"]:
            lines = (recording / name).read_text().splitlines()
            column = lines[0].split(",").index("peer")
            rows = [line.split(",") for line in lines[1:]]
            for row in rows:
                row[column] = quoted
            (recording / name).write_text("\n".join([lines[0], *map(",".join, rows)]) + "\n")
        result = self.reports.folder / "strange-result"
        nearby("run", recording, "--output", result, "--quiet")
        page = self.open(self.reports.page("strange", result))
        self.assertEqual(page.locator("h1").text_content(), STRANGE)
        self.assertIn(STRANGE, page.locator("#facts").text_content())
        self.assertIn(STRANGE, page.locator("#peers").text_content())
        self.assertEqual(page.locator("b b, td b, h1 b").count(), 0)

    def test_without_truth_there_are_no_errors_to_show(self):
        recording, result = self.reports.folder / "blind", self.reports.folder / "blind-result"
        nearby("simulate", "find", "--seed", 3, "--output", recording)
        shutil.rmtree(recording / "truth")
        nearby("run", recording, "--output", result, "--quiet")
        page = self.open(self.reports.page("blind", result))
        self.draw_all(page)
        for panel in ["distance-error", "angle-error", "nees"]:
            self.assertEqual(page.locator(f"#{panel}").count(), 0)
        for panel in set(PANELS) - {"distance-error", "angle-error", "nees"}:
            self.assertGreater(page.locator(f"#{panel} canvas").evaluate(DRAWN), 0, panel)

    # MARK: The documentation's pictures

    @unittest.skipUnless("NEARBY_SCREENSHOTS" in os.environ, "no pictures were asked for")
    def test_write_screenshots(self):
        folder = pathlib.Path(os.environ["NEARBY_SCREENSHOTS"])
        plaza = self.reports.folder / "plaza2"
        nearby("run", ROOT / "Datasets/plaza2", "--output", plaza, "--smooth", "--quiet")
        for scenario, time in [("plaza2", 1e9), ("find", 3), ("ranges-level", 30), ("peer-carried", 24),
                               ("slope-office-8", 240)]:
            result = plaza if scenario == "plaza2" else self.reports.result(scenario)
            page = self.open(self.reports.page(scenario, result), width=1440)
            if scenario == "slope-office-8":
                page.locator("[data-view='3d']").click()
            self.move(page, time)
            page.wait_for_timeout(500)
            picture = folder / f"report-{scenario}.png"
            page.screenshot(path=picture)
            # So few colours are enough, and a third of the bytes.
            with Image.open(picture) as image:
                image.convert("RGB").quantize(255, Image.Quantize.MAXCOVERAGE).save(picture, optimize=True)


if __name__ == "__main__":
    unittest.main()
