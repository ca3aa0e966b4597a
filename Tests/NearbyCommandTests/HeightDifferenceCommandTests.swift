// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import Testing

@Suite("Height differences on the command line")
struct HeightDifferenceCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ arguments: String...) throws -> String {
    let result = try CommandLineTool.run(arguments)
    #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
    return result.output
  }

  private func simulate(_ name: String) throws {
    _ = try run("simulate", "ranges-level-heights", "--seed", "4", "-o", folder.path(name), "-q")
  }

  @Test("A simulated recording has a height difference every second, and its sigma")
  func simulated() throws {
    try simulate("walk")
    let rows = try folder.text(of: "walk/ranging.csv").split(separator: "\n")
    #expect(
      rows[0] == """
        timestamp,peer,distance,azimuth,elevation,height_difference,height_difference_sigma
        """)
    let fields = rows.dropFirst().map {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    let heights = fields.filter { !$0[5].isEmpty }
    #expect((38...41).contains(heights.count))
    #expect(heights.allSatisfy { $0[6] == "0.1" })
    #expect(fields.allSatisfy { $0[5].isEmpty == $0[6].isEmpty })
    let info = try run("info", folder.path("walk"))
    #expect(info.contains("elevations  heights  min m") && info.contains("10.0 %"))
  }

  @Test("A scenario in a file turns barometers on, and its faults are named")
  func scenarioFile() throws {
    let text = #"{ "duration": 5, "barometers": { "arePresent": true, "interval": 0.5 } }"#
    try Data(text.utf8).write(to: folder.url.appending(path: "mine.json"))
    _ = try run("simulate", folder.path("mine.json"), "-o", folder.path("out"), "-q")
    let rows = try folder.text(of: "out/ranging.csv").split(separator: "\n").dropFirst()
    #expect((9...11).contains(rows.count { !$0.hasSuffix(",,") }))
    let refused = try CommandLineTool.run(
      "simulate", folder.path("mine.json"), "-o", folder.path("no"), "--set",
      "barometers.offsetSeconds=0")
    #expect(refused.exitCode == 64)
    #expect(refused.errors.contains("barometers.offsetSeconds"))
    let unknown = try CommandLineTool.run("simulate", "find", "--show", "--set", "barometers.x=1")
    #expect(unknown.exitCode == 64)
    #expect(unknown.errors.contains("arePresent"))
  }

  @Test("They go out as JSON lines and come in the same, and a run uses them")
  func lines() throws {
    try simulate("walk")
    _ = try run("export", "jsonl", folder.path("walk"), "-o", folder.path("walk.jsonl"))
    _ = try run("import", "jsonl", folder.path("walk.jsonl"), "-o", folder.path("again"), "-q")
    #expect(try folder.text(of: "again/ranging.csv") == folder.text(of: "walk/ranging.csv"))
    _ = try run("run", folder.path("again"), "-o", folder.path("result"), "-q")
    let summary = try JSONDecoder().decode(
      RunSummary.self, from: Data(folder.text(of: "result/summary.json").utf8))
    #expect(summary.peers.first?.status == .converged)
    #expect(try #require(summary.errors?.finalError) < 0.7)
  }

  @Test("A table's column becomes heights, whatever its unit and sign")
  func table() throws {
    try simulate("walk")
    try Data("t,mac,drop\n1000.5,a,150\n1001.5,a,\n".utf8)
      .write(to: folder.url.appending(path: "table.csv"))
    _ = try run(
      "import", "csv", folder.path("table.csv"), "--trajectory",
      folder.path("walk/trajectory.txt"), "-o", folder.path("out"), "-q", "--map", "timestamp=t",
      "--map", "peer=mac", "--map", "height_difference=drop", "--unit", "height_difference=-cm")
    #expect(
      try folder.text(of: "out/ranging.csv") == """
        timestamp,peer,distance,azimuth,elevation,height_difference
        1000.500000,a,,,,-1.5
        1001.500000,a,,,,

        """)
  }
}
