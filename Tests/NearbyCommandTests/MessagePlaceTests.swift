// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A message names a file that the user gave, not one that is only being written.
@Suite("Places in messages")
struct MessagePlaceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: folder.url.appending(path: name))
    return folder.path(name)
  }

  /// Expects one line that begins with the place, and no recording.
  private func expectPlace(_ place: String, _ arguments: String...) throws {
    let result = try CommandLineTool.run(arguments + ["-q", "-o", folder.path("out")])
    #expect(result.exitCode == 65)
    #expect(result.errors.hasPrefix("nearby: error: \(place): "), "\(result.errors)")
    #expect(!result.errors.contains("trajectory.txt") && !result.errors.contains("ranging.csv"))
    #expect(!folder.has("out"))
  }

  /// It can be read, and is at the limit once it is rounded to nanoseconds.
  private static let latest = "4599999999.9999999999"

  @Test func aRowThatTheFormatCannotHoldIsNamedWhereItComesFrom() throws {
    let start = "1 0 0 0 0 0 0 1\n2 0 0 0 0 0 0 1\n"
    let poses = try write(start + "\(Self.latest) 0 0 0 0 0 0 1\n", to: "p")
    try expectPlace("\(poses):3", "import", "tum", poses)
    let good = try write(start, to: "good")
    try expectPlace("\(poses):3", "import", "tum", good, "--truth", poses)
    let ranges = try write("time,peer,distance\n1,a,2\n\(Self.latest),a,2\n", to: "r.csv")
    try expectPlace(
      "\(ranges):3", "import", "csv", ranges, "--map", "timestamp=time", "--trajectory", good)
    let line = #"{"type":"pose","timestamp":1,"tx":0,"ty":0,"tz":0,"qx":0,"qy":0,"qz":0,"qw":1}"#
    let lines = try write(
      line + "\n" + line.replacing(":1,\"tx", with: ":\(Self.latest),\"tx") + "\n", to: "log.jsonl")
    try expectPlace("\(lines):2", "import", "jsonl", lines)
  }

  @Test func aScenarioThatMakesNoRecordingIsNamed() throws {
    let scenario = try write(#"{ "radio": { "reach": [0, 0.001] } }"#, to: "s.json")
    try expectPlace(scenario, "simulate", scenario)
  }
}
