// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A radio whose clock is off, from `nearby info` to the summary of a run.
@Suite("The radio's clock")
struct ClockCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    // 0.4 s ahead.
    let made = try CommandLineTool.run(
      "simulate", "level-hand", "--seed", "2", "--set", "radio.clockOffset=0.4", "-o",
      folder.path("late"), "-q")
    #expect(made.exitCode == 0, "\(made.errors)")
  }

  /// The calibration in the summary of a run, and what the run prints.
  private func run(
    _ options: [String] = []
  ) throws -> (calibration: [String: Any]?, output: String) {
    let result = try CommandLineTool.run(
      ["run", folder.path("late"), "-o", folder.path("out")] + options)
    #expect(result.exitCode == 0, "\(result.errors)")
    let summary = try Data(contentsOf: folder.url.appending(path: "out/summary.json"))
    let object = try JSONSerialization.jsonObject(with: summary) as? [String: Any]
    return (object?["calibration"] as? [String: Any], result.output)
  }

  /// What was found of a quantity.
  private func finding(_ quantity: String, of calibration: [String: Any]?) -> [String: Any]? {
    let findings = calibration?["findings"] as? [[String: Any]] ?? []
    return findings.first { $0["quantity"] as? String == quantity }
  }

  @Test("a run says how far it is off and corrects it, unless it is told otherwise")
  func runs() throws {
    let used = try run()
    let clock = try #require(finding("clockOffset", of: used.calibration))
    let (offset, sigma) = (
      try #require(clock["value"] as? Double), try #require(clock["sigma"] as? Double)
    )
    #expect(abs(offset - 0.4) < min(0.08, 3 * sigma))
    #expect(clock["isUsed"] as? Bool == true)
    #expect(used.output.contains("s ahead of that of the poses"), "\(used.output)")
    let corrected = try folderText("out/estimates.csv")
    let reported = try run(["--calibration", "report"])
    #expect(finding("clockOffset", of: reported.calibration)?["isUsed"] as? Bool == false)
    #expect(reported.output.contains("--calibration use goes by that"))
    let uncorrected = try folderText("out/estimates.csv")
    #expect(corrected != uncorrected)
    // The estimates keep the times of the file.
    func times(_ text: String) -> [Substring] {
      text.split(separator: "\n").map { $0.prefix { $0 != "," } }
    }
    #expect(times(corrected) == times(uncorrected))
    let off = try run(["--calibration", "off"])
    #expect(off.calibration == nil && !off.output.contains("clock"))
    #expect(try folderText("out/estimates.csv") == uncorrected)
  }

  @Test("info names it, and an import finds it")
  func imports() throws {
    let info = try CommandLineTool.run("info", folder.path("late"))
    #expect(info.output.contains("ahead of that of the poses"), "\(info.output)")
    let result = try CommandLineTool.run(
      "import", "tum", folder.path("late/trajectory.txt"), "--ranging",
      folder.path("late/ranging.csv"), "--ranging-offset", "auto", "-o", folder.path("mended"))
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(result.output.contains("its times are shifted"), "\(result.output)")
    let mended = try CommandLineTool.run("info", folder.path("mended"))
    #expect(!mended.output.contains("the radio's clock is"), "\(mended.output)")
  }

  @Test("a run names ranges that are too long throughout", arguments: [0.8, 0])
  func biases(metres: Double) throws {
    let made = try CommandLineTool.run(
      "simulate", "indoor", "--seed", "3", "--peers", "3", "--set",
      "radio.rangeBias=\(metres)", "--set", "radio.rangeBiasSigma=0", "--set", "duration=120", "-o",
      folder.path("late"), "--overwrite", "-q")
    #expect(made.exitCode == 0, "\(made.errors)")
    let found = try run()
    let biases = found.calibration?["rangeBiases"] as? [[String: Any]] ?? []
    #expect(biases.isEmpty == (metres == 0), "\(found.output)")
    for bias in biases {
      let value = try #require(bias["metres"] as? Double)
      #expect(abs(value - metres) < 0.25, "\(bias)")
    }
    #expect(found.output.contains("too long throughout") == (metres > 0))
  }

  private func folderText(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: folder.url.appending(path: name)), as: UTF8.self)
  }
}
