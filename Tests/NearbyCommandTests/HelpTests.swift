// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import Testing

@Suite("Help and version")
struct HelpTests {
  private static let goldens = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appending(path: "Goldens")

  /// With `NEARBY_UPDATE_GOLDEN=1` in the environment the texts are updated.
  @Test(arguments: [
    ("nearby", ["--help"]), ("nearby-run", ["run", "--help"]), ("nearby-info", ["info", "--help"]),
    ("nearby-settings", ["settings", "--help"]), ("nearby-tune", ["tune", "--help"]),
    ("nearby-import", ["import", "--help"]),
    ("nearby-simulate", ["simulate", "--help"]),
    ("nearby-evaluate", ["evaluate", "--help"]), ("nearby-prove", ["prove", "--help"]),
    ("nearby-batch", ["batch", "--help"]), ("nearby-datasets", ["datasets", "--help"]),
    ("nearby-datasets-get", ["datasets", "get", "--help"]),
    ("nearby-report", ["report", "--help"]), ("nearby-plot", ["plot", "--help"]),
    ("nearby-live", ["live", "--help"]),
    ("nearby-import-plaza", ["import", "plaza", "--help"]),
    ("nearby-import-tum", ["import", "tum", "--help"]),
    ("nearby-import-euroc", ["import", "euroc", "--help"]),
    ("nearby-import-kitti", ["import", "kitti", "--help"]),
    ("nearby-import-stray", ["import", "stray", "--help"]),
    ("nearby-import-csv", ["import", "csv", "--help"]),
    ("nearby-import-tdoa", ["import", "tdoa", "--help"]),
    ("nearby-import-uci", ["import", "uci", "--help"]),
    ("nearby-import-mcap", ["import", "mcap", "--help"]),
    ("nearby-import-bag", ["import", "bag", "--help"]),
    ("nearby-import-pyfg", ["import", "pyfg", "--help"]),
    ("nearby-import-jsonl", ["import", "jsonl", "--help"]),
    ("nearby-export", ["export", "--help"]),
    ("nearby-export-tum", ["export", "tum", "--help"]),
    ("nearby-export-pyfg", ["export", "pyfg", "--help"]),
    ("nearby-export-jsonl", ["export", "jsonl", "--help"]),
    ("nearby-export-mcap", ["export", "mcap", "--help"]),
  ])
  func helpIsAsWritten(name: String, arguments: [String]) throws {
    let result = try CommandLineTool.run(arguments)
    #expect(result.exitCode == 0)
    #expect(result.errors.isEmpty)
    let golden = Self.goldens.appending(path: "\(name).txt")
    if ProcessInfo.processInfo.environment["NEARBY_UPDATE_GOLDEN"] != nil {
      try Data(result.output.utf8).write(to: golden)
    }
    #expect(try result.output == String(contentsOf: golden, encoding: .utf8))
  }

  @Test func versionIsThatOfThePackage() throws {
    let result = try CommandLineTool.run("--version")
    #expect(result.exitCode == 0)
    #expect(result.output == "nearby \(NearbyVersion.current)\n")
  }

  @Test func withoutArgumentsTheHelpIsShown() throws {
    let result = try CommandLineTool.run()
    #expect(result.exitCode == 0)
    #expect(result.output.contains("SUBCOMMANDS"))
  }
}
