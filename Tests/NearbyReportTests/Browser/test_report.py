# SPDX-License-Identifier: Apache-2.0
"""Opens reports of simulated recordings in a headless Chromium and looks at what is drawn.

Run by `make report-test`. With NEARBY_SCREENSHOTS=DIR it also writes the documentation's pictures.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[3]
NEARBY = ROOT / ".build/release/nearby"
STRANGE = "</script><b>\"keys\" & 'é☃"

TIME_PANELS = [
    "distance", "distance-error", "angle", "angle-error", "position", "timeline", "nis", "nees",
    "hypotheses", "outcomes",
]

# The non-empty paths of a plot's curves, markers and bars.
DRAWN = """plot => [...plot.querySelectorAll(
    '.scatterlayer .js-line, .scatterlayer .js-fill, .scatterlayer .point, .barlayer .point path')]
  .filter(path => (path.getAttribute('d') ?? '').length > 5).length"""


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

    def open(self, path, width=1280, height=900, theme="light"):
        """Opens a page, waits until all is drawn, and fails if it ever complains or loads something."""
        page = self.browser.new_page(
            viewport={"width": width, "height": height}, color_scheme=theme)
        complaints, requests = [], []
        page.on("console", lambda message: complaints.append(message.text))
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

    # MARK: What is drawn

    def test_every_panel_holds_drawn_points(self):
        for scenario in ["find", "ranges-level", "peer-carried"]:
            page = self.open(self.reports.page(scenario, self.reports.result(scenario)))
            for panel in ["above", "side"]:
                self.assertGreater(page.locator(f"#{panel}").evaluate(DRAWN), 0, (scenario, panel))
                for mark in ["sigma", "estimate", "device", "truth"]:
                    self.assertGreater(page.locator(f"#{panel} .overlay .{mark}").count(), 0)
            for panel in TIME_PANELS:
                plot = page.locator(f"#{panel} .plot")
                self.assertGreater(plot.evaluate(DRAWN), 0, (scenario, panel))
                titles = plot.evaluate(
                    "plot => [...plot.querySelectorAll('.xtitle, .ytitle, .yaxislayer-above text')]"
                    ".map(text => text.textContent)")
                self.assertIn("time (s)", titles, panel)

    def test_the_ellipse_is_that_of_the_moment(self):
        page = self.open(self.reports.page("find", self.reports.result("find")))
        moments = self.data(page)["runs"][0]["tracks"][0]["moments"]
        row = len(moments["time"]) // 2
        self.move(page, moments["time"][row] + 1e-4)
        perMetre = page.locator("#above").evaluate(
            "plot => plot.inner[0] / (plot.ranges.x[1] - plot.ranges.x[0])")
        ellipses = page.locator("#above .sigma").evaluate_all(
            "all => all.map(one => ['rx', 'ry'].map(name => Number(one.getAttribute(name))))")
        for ellipse, sigmas in zip(ellipses, [3.4, 1]):
            self.assertAlmostEqual(ellipse[0], sigmas * moments["aboveMajor"][row] * perMetre, 3)
            self.assertAlmostEqual(ellipse[1], sigmas * moments["aboveMinor"][row] * perMetre, 3)
        place = page.locator("#above .estimate").first.evaluate(
            """dot => { const plot = document.getElementById('above'); const {x, y} = plot.ranges;
              return [x[0] + dot.getAttribute('cx') / plot.inner[0] * (x[1] - x[0]),
                      y[1] - dot.getAttribute('cy') / plot.inner[1] * (y[1] - y[0])]; }""")
        self.assertAlmostEqual(place[0], moments["x"][row], 3)
        self.assertAlmostEqual(place[1], moments["y"][row], 3)
        self.assertIn(f"{moments['sigma'][row]:.2f} m", page.locator("#moment").text_content())

    # MARK: What can be done

    def test_the_slider_moves_the_moment_everywhere(self):
        page = self.open(self.reports.page("find", self.reports.result("find")))
        duration = self.data(page)["recordings"][0]["duration"]
        seen = set()
        for time in [0.25 * duration, 0.75 * duration]:
            self.move(page, time)
            seen.add(page.locator("#above .device").get_attribute("transform"))
            plot = page.locator("#nis .plot")
            left = plot.evaluate(
                "plot => plot.cursor.getBoundingClientRect().left - plot.getBoundingClientRect().left")
            self.assertAlmostEqual(
                left, plot.evaluate("plot => plot.left") + time / duration * plot.evaluate("plot => plot.inner"),
                delta=2)
            self.assertIn(f"at {time:.1f} s", page.locator("#moment").text_content())
        self.assertEqual(len(seen), 2)

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
        page.evaluate(
            "Plotly.relayout(document.querySelector('#distance .plot'), "
            "{'xaxis.range[0]': 5, 'xaxis.range[1]': 8})")
        page.wait_for_timeout(600)
        for panel in TIME_PANELS:
            self.assertEqual(
                page.locator(f"#{panel} .plot").evaluate("plot => plot.layout.xaxis.range"), [5, 8])

    def test_a_zoomed_map_carries_its_overlay(self):
        page = self.open(self.reports.page("find", self.reports.result("find")))
        before = page.locator("#above .estimate").first.get_attribute("cx")
        page.evaluate(
            "Plotly.relayout('above', {'xaxis.range[0]': 0, 'xaxis.range[1]': 6, "
            "'yaxis.range[0]': 4, 'yaxis.range[1]': 9})")
        page.wait_for_timeout(300)
        self.assertNotEqual(page.locator("#above .estimate").first.get_attribute("cx"), before)
        same = page.locator("#above").evaluate(
            "plot => Math.abs(plot.inner[0] / (plot.ranges.x[1] - plot.ranges.x[0]) "
            "- plot.inner[1] / (plot.ranges.y[1] - plot.ranges.y[0]))")
        self.assertLess(same, 0.5, "a metre is as long both ways")

    def test_runs_and_themes_are_switched(self):
        page = self.open(
            self.reports.page("two", self.reports.result("find"), self.reports.result("ranges-level")))
        self.assertEqual(page.locator("#runs button").count(), 4)
        self.assertEqual(page.locator("#facts tbody tr").count(), 4)
        traces = "plot => plot.data.length"
        before = page.locator("#distance .plot").evaluate(traces)
        page.locator("#runs button").nth(3).click()
        page.wait_for_timeout(1500)
        self.assertLess(page.locator("#distance .plot").evaluate(traces), before)
        page.locator("#theme").click()
        self.assertEqual(page.locator("html").get_attribute("data-theme"), "dark")
        page.wait_for_timeout(1500)

    def test_on_a_phone_nothing_overflows(self):
        page = self.open(
            self.reports.page("find", self.reports.result("find")), width=390, height=844, theme="dark")
        self.assertEqual(page.evaluate("document.documentElement.scrollWidth"), 390)
        self.assertGreater(page.locator("#nees .plot").evaluate(DRAWN), 0)

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
        self.assertEqual(page.locator("b").count(), 0)

    def test_without_truth_there_are_no_errors_to_show(self):
        recording, result = self.reports.folder / "blind", self.reports.folder / "blind-result"
        nearby("simulate", "find", "--seed", 3, "--output", recording)
        shutil.rmtree(recording / "truth")
        nearby("run", recording, "--output", result, "--quiet")
        page = self.open(self.reports.page("blind", result))
        for panel in ["distance-error", "angle-error", "nees"]:
            self.assertFalse(page.locator(f"#{panel}").is_visible())
        for panel in set(TIME_PANELS) - {"distance-error", "angle-error", "nees"}:
            self.assertGreater(page.locator(f"#{panel} .plot").evaluate(DRAWN), 0, panel)

    # MARK: The documentation's pictures

    @unittest.skipUnless("NEARBY_SCREENSHOTS" in os.environ, "no pictures were asked for")
    def test_write_screenshots(self):
        folder = pathlib.Path(os.environ["NEARBY_SCREENSHOTS"])
        for scenario, time in [("find", 12), ("ranges-level", 30), ("peer-carried", 24)]:
            path = self.reports.page(scenario, self.reports.result(scenario))
            # As high as the page, so that the bar at the bottom hides nothing.
            page = self.open(path, height=3150)
            self.move(page, time)
            page.wait_for_timeout(300)
            picture = folder / f"report-{scenario}.png"
            page.screenshot(path=picture)
            # So few colours are enough, and a third of the bytes.
            with Image.open(picture) as image:
                image.convert("RGB").quantize(255, Image.Quantize.MAXCOVERAGE).save(picture, optimize=True)


if __name__ == "__main__":
    unittest.main()
