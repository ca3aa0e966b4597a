// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Testing

/// A faulty line ends no stream, and many of them fill no disk.
@Suite("Faulty lines of a stream")
struct FaultyLineTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Poses and ranges of a few seconds, at ten a second.
  private static func walk(_ steps: Range<Int>) -> [String] {
    steps.flatMap { step -> [String] in
      let time = Double(step) / 10
      return [
        pose(at: time, x: 0.1 * Double(step)),
        #"{"type":"range","timestamp":\#(time),"peer":"keys","distance":3}"#,
      ]
    }
  }

  private static func pose(at time: Double, x: Double) -> String {
    #"{"type":"pose","timestamp":\#(time),"tx":\#(x),"ty":0,"tz":0,"qx":0,"qy":0,"qz":0,"qw":1}"#
  }

  private func run(_ lines: [String]) throws -> CommandLineTool.Result {
    let path = folder.path("lines")
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
    return try CommandLineTool.run(["run", "-"], inputPath: path)
  }

  @Test("a line that is too long is told and left out", arguments: [262_145, 300_000, 3_000_000])
  func tooLong(bytes: Int) throws {
    let long = #"{"type":"\#(String(repeating: "x", count: bytes))"}"#
    let result = try run(Self.walk(0..<10) + [long] + Self.walk(10..<20))
    #expect(result.exitCode == 65)
    #expect(result.output.split(separator: "\n").count == 20)
    #expect(result.errors.contains(":21: "), "\(result.errors.prefix(500))")
    #expect(result.errors.contains("1 line was faulty"))
  }

  @Test("after ten faulty lines the others are counted")
  func counted() throws {
    let faulty = [String](repeating: #"{"type":"range","#, count: 20_000)
    let result = try run(Self.walk(0..<10) + faulty + Self.walk(10..<20))
    #expect(result.exitCode == 65)
    #expect(result.output.split(separator: "\n").count == 20)
    #expect(result.errors.utf8.count < 4000)
    #expect(result.errors.contains("20000 lines were faulty"), "\(result.errors.suffix(500))")
  }

  @Test("a pose with a stamp far ahead does not make all poses late that follow")
  func stampedAhead() throws {
    let ahead = Self.pose(at: 1e6, x: 1)
    let result = try run(Self.walk(0..<10) + [ahead] + Self.walk(10..<40))
    #expect(result.errors.contains("is taken back"), "\(result.errors)")
    #expect(result.errors.contains("2 lines were faulty"), "\(result.errors)")
    let last = try #require(result.output.split(separator: "\n").last)
    #expect(!last.contains("limitedTracking"), "\(last)")
  }

  @Test(
    "a radio that is late throughout is told, with what helps",
    arguments: [(5.0, true), (0.5, false)])
  func lateThroughout(delay: Double, isTold: Bool) throws {
    // Sixty poses a second, as a phone has: those of some seconds are kept.
    let lines = (0..<600).flatMap { step -> [String] in
      let time = Double(step) / 60
      let pose = Self.pose(at: time, x: 0.1 * time)
      guard step.isMultiple(of: 6) else { return [pose] }
      return [
        pose, #"{"type":"range","timestamp":\#(time - delay),"peer":"keys","distance":3}"#,
      ]
    }
    let result = try run(lines)
    #expect(result.exitCode == 0)
    #expect(result.errors.contains("raise ranging.maximumLateness") == isTold, "\(result.errors)")
  }
}
