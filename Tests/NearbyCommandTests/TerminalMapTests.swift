// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import Testing

@testable import nearby

@Suite("The map in a terminal")
struct TerminalMapTests {
  private static let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appending(path: "Goldens/terminal-map.txt")

  /// A circle of ten metres, once around to the left from (5, 0).
  private let circle = (0...100).map { step -> (x: Double, y: Double) in
    let angle = 2 * Double.pi * Double(step) / 100
    return (5 * cos(angle), 5 * sin(angle))
  }

  private func peer(
    _ name: String, _ x: Double, _ y: Double, distance: Double? = nil, sigma: Double? = nil
  ) -> TerminalMap.Peer {
    TerminalMap.Peer(name: name, x: x, y: y, distance: distance, distanceSigma: sigma)
  }

  /// With `NEARBY_UPDATE_GOLDEN=1` in the environment the text is updated.
  @Test func itIsAsDrawn() throws {
    let map = TerminalMap(
      path: circle,
      peers: [
        peer("beacon-5", 0, 0, distance: 5, sigma: 0.12), peer("keys", -9, 4, distance: 14.6),
        peer("the bag that lies at the end of the hall", 2, -4, distance: 5, sigma: 1.04),
        // At the same place as the first: beside it.
        peer("twin", 0, 0),
      ])
    let text = map.lines.joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["NEARBY_UPDATE_GOLDEN"] != nil {
      try Data(text.utf8).write(to: Self.golden)
    }
    #expect(try text == String(contentsOf: Self.golden, encoding: .utf8))
  }

  @Test("It never leaves its frame", arguments: [(80, 20), (60, 20), (44, 10)])
  func size(columns: Int, rows: Int) {
    for (width, height) in [(1.0, 1.0), (500, 1), (1, 500), (0, 0), (3, 2e5)] {
      let path = (0..<200).map { step -> (x: Double, y: Double) in
        let t = 0.1 * Double(step)
        return (1e4 + width * sin(3 * t), width * 2 + height * cos(2 * t))
      }
      let peers = (0..<50).map { number in
        peer(
          "peer with a name of many letters \(number)", 1e4 - width * Double(number % 7),
          height * Double(number % 5), distance: 12345.6, sigma: 100)
      }
      let map = TerminalMap(path: path, peers: peers, columns: columns, rows: rows)
      let lines = map.lines
      #expect(!lines.isEmpty)
      #expect(lines.count <= rows)
      #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
      #expect(lines.contains { $0.contains(" more") })
    }
  }

  @Test func aMetreIsAsLongBothWays() throws {
    let square = [(0.0, 0.0), (8, 0), (8, 8), (0, 8), (0, 0)].map { (x: $0.0, y: $0.1) }
    let lines = TerminalMap(path: square, peers: []).lines
    let isDot = { (character: Character) in
      character.unicodeScalars.allSatisfy { (0x2801...0x28FF).contains($0.value) }
    }
    let drawn = lines.filter { $0.contains(where: isDot) }
    let top = try #require(drawn.first)
    // A character is twice as high as wide.
    #expect(abs(top.count(where: isDot) - 2 * drawn.count) <= 2)
  }

  @Test func withoutAPathOrRoomThereIsNone() {
    #expect(TerminalMap(path: [], peers: [peer("keys", 1, 1)]).lines.isEmpty)
    #expect(TerminalMap(path: circle, peers: [peer("keys", 1, 1)], columns: 12).lines.isEmpty)
  }

  @Test func numbersThatAreNotFiniteAreLeftOut() {
    let map = TerminalMap(
      path: circle + [(.nan, 0), (.infinity, 1)], peers: [peer("lost", .nan, .nan)])
    #expect(map.lines.count > 3)
  }

  @Test("There is none without a terminal", arguments: [[], ["--no-map"]])
  func withoutATerminal(arguments: [String]) throws {
    let folder = try TemporaryFolder()
    let run = try CommandLineTool.run(
      ["run", try WalkRecording().write(to: folder), "-o", folder.path("out")] + arguments,
      environment: ["LANG": "C.UTF-8", "TERM": "xterm"])
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(run.output.contains("keys") && !run.output.contains("├"))
    #expect(!run.errors.contains("├"))
  }
}
