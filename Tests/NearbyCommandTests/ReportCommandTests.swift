// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyTestSupport
import Testing

@testable import nearby

@Suite("nearby report")
struct ReportCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// A simulated recording and a result of it.
  private func simulate(_ scenario: String) throws -> String {
    _ = try CommandLineTool.run(
      "simulate", scenario, "--seed", "1", "--output", folder.path("recording"))
    _ = try CommandLineTool.run("run", folder.path("recording"), "-o", folder.path("out"), "-q")
    return folder.path("out")
  }

  private func report(
    _ results: String..., output: String = "report.html"
  ) throws -> CommandLineTool.Result {
    try CommandLineTool.run(
      ["report"] + results + ["-o", folder.path(output)])
  }

  /// The columns of the first peer of the first run in a page.
  private func moments(_ page: String) throws -> [String: [Double?]] {
    let data = try #require(ReportPageData(page: page))
    return data.columns(data.track()?["moments"])
  }

  /// Every number of a simulated run, against the file that the run has written.
  @Test func thePageHoldsTheEstimates() throws {
    let result = try simulate("find")
    let run = try report(result)
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(run.output == "\(folder.path("report.html")): out\n")
    let columns = try moments(folder.text(of: "report.html"))
    let rows = EstimateTable(try folder.text(of: "out/estimates.csv")).rows
    // Two hundred rows are few enough to be shown whole.
    let count = try #require(columns["time"]).count
    #expect(count == rows.count)
    func expectSame(
      _ column: String, within tolerance: Double, _ value: ([String: String]) -> Double?
    ) throws {
      for (row, shown) in try zip(rows, #require(columns[column], "\(column)")) {
        let written = value(row)
        #expect((written == nil) == (shown == nil), "\(column)")
        guard let written, let shown else { continue }
        // Numbers of 16 bits have three digits.
        #expect(abs(shown - written) <= tolerance * max(1, abs(written)), "\(column)")
      }
    }
    // This world has y up: ahead is -z.
    try expectSame("x", within: 1e-3) { $0.number("mean_x") }
    try expectSame("y", within: 1e-3) { $0.number("mean_z").map { -$0 } }
    try expectSame("z", within: 1e-3) { $0.number("mean_y") }
    try expectSame("distance", within: 1e-3) { $0.number("distance") }
    try expectSame("distanceSigma", within: 2e-3) { $0.number("distance_sigma") }
    try expectSame("angle", within: 0.01) { $0.number("horizontal_angle").map { $0 * 180 / .pi } }
    try expectSame("hypotheses", within: 0) { $0.number("hypotheses") }
    try expectSame("sigma", within: 2e-3) { row in
      guard let xx = row.number("cov_xx"), let yy = row.number("cov_yy"),
        let zz = row.number("cov_zz")
      else { return nil }
      return (xx + yy + zz).squareRoot()
    }
    // The map's y is this world's -z.
    try expectSame("xy", within: 2e-3) { $0.number("cov_xz").map { -$0 } }
    try expectSame("zz", within: 2e-3) { $0.number("cov_yy") }
  }

  /// Five runs of 1800 samples share 10 000 rows; the extremes are kept.
  @Test func thinningKeepsExtremes() throws {
    let result = try simulate("drift")
    let run = try report(result, result, result, result, result)
    #expect(run.exitCode == 0, "\(run.errors)")
    let page = try folder.text(of: "report.html")
    #expect(page.utf8.count < 2_000_000)
    let columns = try moments(page)
    let rows = EstimateTable(try folder.text(of: "out/estimates.csv")).rows
    let shown = try #require(columns["distance"]).compactMap(\.self)
    let written = rows.compactMap { $0.number("distance") }
    #expect(rows.count > 1500)
    #expect(try (1200...1800).contains(#require(columns["time"]).count))
    #expect(try abs(#require(shown.max()) - #require(written.max())) < 2e-3)
    #expect(try abs(#require(shown.min()) - #require(written.min())) < 2e-3)
  }

  @Test func equalResultsGiveEqualPages() throws {
    let result = folder.path("out")
    _ = try CommandLineTool.run(
      "run", try WalkRecording().write(to: folder), "-o", result, "-q", "--smooth")
    _ = try report(result, output: "a.html")
    _ = try report(result, output: "b.html")
    let page = try folder.text(of: "a.html")
    #expect(try page == folder.text(of: "b.html"))
  }

  @Test func withoutAnOutputThePageIsInTheResult() throws {
    let out = folder.path("out")
    let walk = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", walk, "-o", out, "-q")
    let run = try CommandLineTool.run("report", out + "/")
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(run.output == "\(out)/report.html: out\n")
    #expect(folder.has("out/report.html"))
    // A new result is not that of the page.
    _ = try CommandLineTool.run("run", walk, "-o", out, "-q")
    #expect(!folder.has("out/report.html"))
  }

  // MARK: - Batches

  @Test func aBatchIsAFolderOfPages() throws {
    _ = try CommandLineTool.run("simulate", "find", "--count", "3", "-o", folder.path("data"), "-q")
    for name in ["old", "new"] {
      _ = try CommandLineTool.run(
        ["batch", folder.path("data"), "-o", folder.path(name), "-q"]
          + (name == "old" ? ["--calibration", "off"] : []))
    }
    let one = try CommandLineTool.run("report", folder.path("old"), "-o", folder.path("one"))
    #expect(one.exitCode == 0, "\(one.errors)")
    #expect(one.output.hasSuffix("one/index.html: 3 rows, 3 reports on the worst\n"))
    #expect(
      try folder.contents(of: "one").sorted()
        == ["index.html", "worst-1.html", "worst-2.html", "worst-3.html"])
    #expect(try ReportPageData(page: folder.text(of: "one/worst-1.html"))?.track() != nil)

    let two = try CommandLineTool.run(
      "report", folder.path("old"), folder.path("new/"), "-o", folder.path("two"), "-q")
    #expect(two.exitCode == 0, "\(two.errors)")
    let page = try folder.text(of: "two/index.html")
    #expect(page.contains(#""name":"old""#) && page.contains(#""name":"new""#))
    #expect(page.contains(#""data/find-0001":"worst-"#))

    let three = try CommandLineTool.run(
      "report", folder.path("old"), folder.path("new"), folder.path("old"), "-o", folder.path("x"))
    #expect(three.exitCode == 64)
    expectOneLine(three.errors, containing: "two are compared")
    #expect(!folder.has("x"))
  }

  // MARK: - Faults

  @Test func aMissingResultIsNamed() throws {
    let run = try report(folder.path("nothing"))
    #expect(run.exitCode == 65)
    expectOneLine(run.errors, containing: folder.path("nothing/summary.json"))
  }

  @Test(arguments: ["estimates.csv", "configuration.json", "summary.json"])
  func aMissingFileIsNamed(name: String) throws {
    let recording = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", recording, "-o", folder.path("out"), "-q")
    try FileManager.default.removeItem(atPath: folder.path("out/\(name)"))
    let run = try report(folder.path("out"))
    #expect(run.exitCode == 65)
    expectOneLine(run.errors, containing: folder.path("out/\(name)"))
    #expect(!folder.has("report.html"))
  }

  @Test func anOutputThatCannotBeWrittenIsNamed() throws {
    let recording = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", recording, "-o", folder.path("out"), "-q")
    let run = try report(folder.path("out"), output: "no/such/folder/page.html")
    #expect(run.exitCode == 74)
    expectOneLine(run.errors, containing: "no/such/folder/page.html: it cannot be written")
  }

  @Test(arguments: [["report"], ["report", "a", "b"], ["report", "out", "-o", ""]])
  func wrongUsage(arguments: [String]) throws {
    let run = try CommandLineTool.run(arguments)
    #expect(run.exitCode == 64)
    expectOneLine(run.errors, containing: "see 'nearby report --help'")
  }
}
