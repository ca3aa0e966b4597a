# SPDX-License-Identifier: Apache-2.0
"""Holds `nearby export mcap` against the readers of PyPI's mcap and rerun-sdk.

    make interop-test
"""

import collections
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from mcap.reader import NonSeekingReader, make_reader
from rerun.chunk import McapReader

ROOT = Path(__file__).resolve().parents[2]
NEARBY = os.environ.get("NEARBY", ROOT / ".build/release/nearby")
RERUN = Path(sys.executable).parent / "rerun"


def nearby(*arguments):
    return subprocess.run([NEARBY, *map(str, arguments)], check=True, capture_output=True, text=True)


class ExportedResults(unittest.TestCase):
    """A real recording, and a simulated office with ranges only."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        folder = Path(cls.temporary.name)
        nearby("simulate", "level-office", "--output", folder / "office")
        cls.results = {}
        for name, recording in [("plaza2", ROOT / "Datasets/plaza2"), ("office", folder / "office")]:
            nearby("run", recording, "--output", folder / f"out-{name}", "--smooth", "--quiet")
            nearby("export", "mcap", folder / f"out-{name}", "--output", folder / f"{name}.mcap")
            cls.results[name] = (folder / f"out-{name}", folder / f"{name}.mcap")

    def rows(self, name):
        with open(self.results[name][0] / "estimates.csv", newline="") as file:
            return list(csv.DictReader(file))

    def modes(self, name, peer):
        path = self.results[name][0] / "modes.csv"
        if not path.exists():
            return 0
        with open(path, newline="") as file:
            return sum(row["peer"] == peer for row in csv.DictReader(file))

    def test_mcap_counts_a_message_for_each_estimate(self):
        for name, (_, path) in self.results.items():
            with self.subTest(name), open(path, "rb") as file:
                reader = make_reader(file, validate_crcs=True)
                statistics = reader.get_summary().statistics
                counts = collections.Counter()
                times = collections.defaultdict(list)
                modes = collections.Counter()
                for schema, channel, message in reader.iter_messages():
                    self.assertEqual((schema.encoding, channel.message_encoding), ("jsonschema", "json"))
                    fields = json.loads(schema.data)["properties"]
                    self.assertLessEqual(set(json.loads(message.data)), set(fields))
                    counts[channel.topic] += 1
                    times[channel.topic].append(message.log_time)
                    if channel.topic.endswith("/modes"):
                        modes[channel.topic] += sum(len(e["spheres"]) for e in json.loads(message.data)["entities"])
                self.assertEqual(statistics.message_count, sum(counts.values()))
                self.assertGreater(statistics.chunk_count, 1)
                rows = self.rows(name)
                for peer in {row["peer"] for row in rows}:
                    own = [row for row in rows if row["peer"] == peer]
                    self.assertEqual(counts[f"/peers/{peer}/numbers"], len(own))
                    self.assertEqual(counts[f"/peers/{peer}/scene"], sum(row["mean_x"] != "" for row in own))
                    self.assertEqual(counts[f"/peers/{peer}/pose"], sum(row["world_x"] != "" for row in own))
                    stamps = [round(float(row["timestamp"]) * 1e9) for row in own]
                    self.assertEqual(sorted(times[f"/peers/{peer}/numbers"]), stamps)
                    self.assertEqual(modes[f"/peers/{peer}/modes"], self.modes(name, peer))
                self.assertGreater(counts["/events"], 0)
                self.assertTrue({"/path/raw", "/path/smoothed", "/path/true"} <= set(counts))

    def test_the_index_leads_to_the_same_messages_as_the_records_in_their_order(self):
        for name, (_, path) in self.results.items():
            with self.subTest(name), open(path, "rb") as file:
                indexed = make_reader(file, validate_crcs=True)
                topic = next(c.topic for c in indexed.get_summary().channels.values() if "numbers" in c.topic)
                one = [message.data for _, _, message in indexed.iter_messages(topics=[topic])]
                file.seek(0)
                plain = NonSeekingReader(file, validate_crcs=True)
                self.assertEqual(one, [message.data for _, _, message in plain.iter_messages(topics=[topic])])

    def test_the_layout_for_foxglove_names_what_there_is(self):
        text = (ROOT / "Sources/NearbyImports/NearbyImports.docc/Resources/foxglove-layout.json").read_text()
        layout = json.loads(text)
        with open(self.results["plaza2"][1], "rb") as file:
            summary = make_reader(file).get_summary()
        fields = {
            channel.topic: set(json.loads(summary.schemas[channel.schema_id].data)["properties"])
            for channel in summary.channels.values()
        }
        panels, leaves = layout["configById"], []

        def visit(node):
            if isinstance(node, str):
                leaves.append(node)
            else:
                visit(node["first"])
                visit(node["second"])

        visit(layout["layout"])
        self.assertEqual(sorted(leaves), sorted(panels))
        named = [topic for panel in panels.values() for topic in panel.get("topics", {})]
        named += [panel["topicToRender"] for panel in panels.values() if "topicToRender" in panel]
        self.assertGreater(len(named), 10)
        self.assertLessEqual(set(named), set(fields))
        paths = [path["value"] for panel in panels.values() for path in panel.get("paths", [])]
        self.assertEqual(len(paths), 12)
        for path in paths:
            topic, field = path.rsplit(".", 1)
            self.assertIn(field, fields[topic])

    def test_rerun_finds_no_fault_and_loads_every_message(self):
        """Rerun's loader keeps JSON as bytes; `nearby.show` is what draws results there."""
        for name, (_, path) in self.results.items():
            with self.subTest(name), open(path, "rb") as file:
                check = subprocess.run([RERUN, "mcap", "check", path], capture_output=True, text=True)
                self.assertEqual(check.returncode, 0, check.stderr)
                summary = make_reader(file).get_summary()
                expected = {
                    summary.channels[number].topic: count
                    for number, count in summary.statistics.channel_message_counts.items()
                }
                loaded = collections.Counter()
                for chunk in McapReader(path).stream().to_chunks():
                    if not chunk.is_static:
                        loaded[chunk.entity_path] += chunk.num_rows
                self.assertEqual(loaded, expected)


if __name__ == "__main__":
    unittest.main()
