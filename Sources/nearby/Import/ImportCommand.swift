// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `nearby import`: makes a recording from data in another format.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Make a recording of data in another format.",
    discussion: """
      A recording is a folder of plain text: recording.json, trajectory.txt, ranging.csv and, where \
      the truth is known, truth/. It appears whole or not at all.

      Poses and ranging often come as two files. Without ranging a recording holds the motion \
      alone, over which 'nearby simulate --trajectory' puts radios.

      EXAMPLES
        nearby import tum poses.txt --ranging ranging.csv --output walk
        nearby import csv uwb.csv --map distance=dist_cm --unit distance=cm \\
          --trajectory poses.txt --output walk
        nearby import euroc mav0/state_groundtruth_estimate0/data.csv -o flight
      """,
    subcommands: [
      Tum.self, Euroc.self, Kitti.self, Stray.self, Csv.self, Tdoa.self, Uci.self, Mcap.self,
      Bag.self,
      Pyfg.self,
      Jsonl.self, Plaza.self, Layouts.self,
    ])
}
