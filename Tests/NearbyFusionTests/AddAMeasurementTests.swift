// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import NearbyFusion

/// The page about a new kind of measurement against the sources: it lists each file that names the
/// height differences, which were the newest kind when it was written.
@Suite("The page about a new measurement")
struct AddAMeasurementTests {
  private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")

  /// The page: the part about a kind of one peer, and that about a kind of two.
  private static func page(ofTwoPeers isOfTwo: Bool = false) throws -> String {
    let text = try String(
      contentsOf: sources.appending(path: "NearbyFusion/NearbyFusion.docc/AddAMeasurement.md"),
      encoding: .utf8)
    let start = try #require(text.range(of: "## A kind of two peers"))
    let end = try #require(text.range(of: "## Tests that must know it"))
    let section = text[start.lowerBound..<end.lowerBound]
    return isOfTwo ? String(section) : text.replacingOccurrences(of: section, with: "")
  }

  /// Names a height, but not what is measured of it: outputs, scenarios, documentation and the
  /// arguments of a row; and tuning and calibration, which do not know the kind.
  private static let others = [
    "NearbyFusion/Posterior/", "NearbyEvaluation/Runs/Moment.swift", "NearbyEvaluation/Tuning/",
    "NearbyEvaluation/Calibration/",
    "NearbyC/Records.swift", "NearbySimulation/Scenario", "nearby/Simulate/",
    "NearbyImports/Info/RecordingInfo+Text.swift", "NearbyRecordings/Format/Rows/RangingRow.swift",
    "NearbyPython/src/nearby/_engine.py", "NearbyPython/src/nearby/_recording.py",
    "NearbyPython/src/nearby/_simulation.py",
  ]

  /// The files of the page that hold a kind, as paths below the sources.
  private static func listed(in page: String) -> Set<String> {
    Set(page.matches(of: /`([\w\/+.]+\/[\w+]+\.(?:swift|hpp|cpp|h|py|pyi))`/).map { "\($0.1)" })
  }

  @Test("it names each file that names a kind, and no other")
  func files() throws {
    let root = Self.sources.path(percentEncoded: false)
    let kinds = ["swift", "hpp", "cpp", "h", "py", "pyi"]
    var naming: Set<String> = []
    for case let file as URL in try #require(
      FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil))
    where kinds.contains(file.pathExtension) {
      let text = try String(contentsOf: file, encoding: .utf8)
      let lowercased = text.lowercased()
      guard lowercased.contains("heightdifference") || lowercased.contains("height_difference")
      else { continue }
      let path = String(file.path(percentEncoded: false).dropFirst(root.count))
        .trimmingCharacters(in: ["/"])
      if !Self.others.contains(where: path.hasPrefix) { naming.insert(path) }
    }
    // The step of an error is named for its state, the update has the other kinds, and a scenario has
    // barometers.
    let byOtherNames: Set = [
      "CNearbyKernels/filter/Prediction.hpp", "CNearbyKernels/filter/Update.hpp",
      "NearbySimulation/Scenario.swift",
    ]
    let listed = Self.listed(in: try Self.page())
    #expect(naming.subtracting(listed).isEmpty, "not on the page")
    #expect(listed.subtracting(naming).subtracting(byOtherNames).isEmpty, "on the page only")
    #expect(byOtherNames.isSubset(of: listed))
  }

  @Test("nine files hold a kind of two peers, and the page names them")
  func twoPeers() throws {
    let page = try Self.page(ofTwoPeers: true)
    #expect(page.matches(of: /(?m)^\d+\. .*?`[\w\/+.]+`/).count == 9)
    let root = Self.sources.path(percentEncoded: false)
    let names = [
      "NEARBY_CHAIN_CLOCK_SIZE", "clock_count", "clockCount", "nearby_chain_difference",
      "DifferenceWindow",
    ]
    var naming: Set<String> = ["NearbyRecordings/Format/Rows/DifferenceReader.swift"]
    for folder in ["CNearbyKernels", "NearbyFusion"] {
      for case let file as URL in try #require(
        FileManager.default.enumerator(
          at: Self.sources.appending(path: folder), includingPropertiesForKeys: nil))
      where ["swift", "hpp", "cpp", "h"].contains(file.pathExtension) {
        let text = try String(contentsOf: file, encoding: .utf8)
        guard names.contains(where: text.contains) else { continue }
        naming.insert(
          String(file.path(percentEncoded: false).dropFirst(root.count))
            .trimmingCharacters(in: ["/"]))
      }
    }
    #expect(naming == Self.listed(in: page))
  }

  @Test("twenty files at most hold a kind")
  func count() throws {
    let steps = try Self.page().matches(of: /(?m)^\d+\. .*?`[\w\/+.]+`/)
    #expect(steps.count == 20)
  }
}
