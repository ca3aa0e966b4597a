// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import nearby

@Suite("nearby report")
struct ReportCommandTests {
  /// A replacement of the library, which these tests do not need.
  private static let library = "/* plotly.js */\n"
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try put(Self.library, "plotly.min.js")
  }

  private func put(_ text: String, _ name: String) throws {
    let url = folder.url.appending(path: name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  /// A simulated recording and a result of it.
  private func simulate(_ scenario: String) throws -> String {
    _ = try CommandLineTool.run(
      "simulate", scenario, "--seed", "1", "--output", folder.path("recording"))
    _ = try CommandLineTool.run("run", folder.path("recording"), "-o", folder.path("out"), "-q")
    return folder.path("out")
  }

  private func report(
    _ results: String..., output: String = "report.html", environment: [String: String] = [:]
  ) throws -> CommandLineTool.Result {
    try CommandLineTool.run(
      ["report"] + results + ["-o", folder.path(output), "--plotly", folder.path("plotly.min.js")],
      environment: environment)
  }

  /// The columns of the first peer of the first run in a page.
  private func moments(_ page: String) throws -> [String: [Double?]] {
    let start = try #require(page.range(of: #"id="data">"#))
    let end = try #require(page.range(of: "</script>", range: start.upperBound..<page.endIndex))
    let json = Data(page[start.upperBound..<end.lowerBound].utf8)
    let root = try #require(JSONSerialization.jsonObject(with: json) as? [String: Any])
    let run = try #require((root["runs"] as? [[String: Any]])?.first)
    let track = try #require((run["tracks"] as? [[String: Any]])?.first)
    let columns = try #require(track["moments"] as? [String: [Any]])
    return columns.mapValues { column in column.map { $0 as? Double } }
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
      _ column: String, _ decimals: Double, _ value: ([String: String]) -> Double?
    ) throws {
      for (row, shown) in try zip(rows, #require(columns[column], "\(column)")) {
        let written = value(row)
        #expect((written == nil) == (shown == nil), "\(column)")
        guard let written, let shown else { continue }
        #expect(abs(shown - written) <= 0.51 * pow(10, -decimals), "\(column)")
      }
    }
    // This world has y up: ahead is -z.
    try expectSame("x", 4) { $0.number("mean_x") }
    try expectSame("y", 4) { $0.number("mean_z").map { -$0 } }
    try expectSame("z", 4) { $0.number("mean_y") }
    try expectSame("distance", 4) { $0.number("distance") }
    try expectSame("distanceSigma", 4) { $0.number("distance_sigma") }
    try expectSame("angle", 3) { $0.number("horizontal_angle").map { $0 * 180 / .pi } }
    try expectSame("hypotheses", 0) { $0.number("hypotheses") }
    try expectSame("sigma", 4) { row in
      guard let xx = row.number("cov_xx"), let yy = row.number("cov_yy"),
        let zz = row.number("cov_zz")
      else { return nil }
      return (xx + yy + zz).squareRoot()
    }
    // The ellipse from above by trace and determinant of the block of x and z.
    try expectSame("aboveMajor", 4) { row in
      guard let a = row.number("cov_xx"), let b = row.number("cov_xz"),
        let d = row.number("cov_zz")
      else { return nil }
      let half = (a + d) / 2
      return (half + (half * half - (a * d - b * b)).squareRoot()).squareRoot()
    }
  }

  /// Five runs of 1800 samples share 6000 rows; the extremes are kept.
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
    #expect(try (800...1200).contains(#require(columns["time"]).count))
    #expect(try abs(#require(shown.max()) - #require(written.max())) < 1e-4)
    #expect(try abs(#require(shown.min()) - #require(written.min())) < 1e-4)
  }

  @Test func equalResultsGiveEqualPages() throws {
    let result = folder.path("out")
    _ = try CommandLineTool.run(
      "run", try WalkRecording().write(to: folder), "-o", result, "-q", "--smooth")
    _ = try report(result, output: "a.html")
    _ = try report(result, output: "b.html")
    let page = try folder.text(of: "a.html")
    #expect(try page == folder.text(of: "b.html"))
    #expect(page.contains(Self.library))
  }

  // MARK: - The library

  @Test func theLibraryIsTakenFromTheEnvironmentOrTheCache() throws {
    let recording = try WalkRecording().write(to: folder)
    let result = folder.path("out")
    _ = try CommandLineTool.run("run", recording, "-o", result, "-q")
    try put("/* plotly.js cached */", "cache/nearby/plotly-7.1.0.min.js")
    let cache = ["XDG_CACHE_HOME": folder.path("cache"), "NEARBY_PLOTLY": "", "PATH": ""]
    let arguments = ["report", result, "-o", folder.path("page.html")]
    #expect(try CommandLineTool.run(arguments, environment: cache).exitCode == 0)
    #expect(try folder.text(of: "page.html").contains("plotly.js cached"))
    let variable = cache.merging(["NEARBY_PLOTLY": folder.path("plotly.min.js")]) { $1 }
    #expect(try CommandLineTool.run(arguments, environment: variable).exitCode == 0)
    #expect(try !folder.text(of: "page.html").contains("plotly.js cached"))
  }

  /// A python3 without a network, and none at all.
  @Test(arguments: ["#!/bin/sh\necho 'ERROR: no network' >&2\nexit 1\n", nil])
  func whereItCannotBeFetchedTheRemedyIsNamed(python: String?) throws {
    let recording = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", recording, "-o", folder.path("out"), "-q")
    try FileManager.default.createDirectory(
      atPath: folder.path("bin"), withIntermediateDirectories: true)
    if let python {
      try put(python, "bin/python3")
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: folder.path("bin/python3"))
    }
    let run = try CommandLineTool.run(
      ["report", folder.path("out"), "-o", folder.path("page.html"), "--quiet"],
      environment: [
        "XDG_CACHE_HOME": folder.path("cache"), "NEARBY_PLOTLY": "", "PATH": folder.path("bin"),
      ])
    #expect(run.exitCode == 65)
    expectOneLine(run.errors, containing: "the plotting library is missing")
    expectOneLine(run.errors, containing: "pip download --no-deps plotly==7.1.0")
    if python != nil { expectOneLine(run.errors, containing: "ERROR: no network") }
    #expect(!folder.has("page.html"))
    #expect(try folder.contents(of: "cache/nearby").isEmpty)
  }

  @Test func anotherFileIsNotTakenForTheLibrary() throws {
    let recording = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", recording, "-o", folder.path("out"), "-q")
    try put("<html>", "plotly.min.js")
    let run = try report(folder.path("out"))
    #expect(run.exitCode == 65)
    expectOneLine(run.errors, containing: "plotly.min.js: --plotly names a file that is not plotly")
    #expect(!folder.has("report.html"))
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

  @Test(arguments: [["report"], ["report", "out"], ["report", "out", "-o", ""]])
  func wrongUsage(arguments: [String]) throws {
    let run = try CommandLineTool.run(arguments)
    #expect(run.exitCode == 64)
    expectOneLine(run.errors, containing: "see 'nearby report --help'")
  }

  @Test("The plotting library that was installed beside the program needs no network")
  func installedLibrary() throws {
    let folder = try TemporaryFolder()
    let recording = try WalkRecording().write(to: folder)
    let out = folder.path("out")
    #expect(try CommandLineTool.run("run", recording, "-o", out, "-q").exitCode == 0)
    for name in ["prefix/bin", "prefix/share/nearby"] {
      try FileManager.default.createDirectory(
        atPath: folder.path(name), withIntermediateDirectories: true)
    }
    let program = folder.url.appending(path: "prefix/bin/nearby")
    try FileManager.default.copyItem(at: CommandLineTool.executable, to: program)
    try Data("/* plotly.js, as installed */".utf8).write(
      to: folder.url.appending(path: "prefix/share/nearby/plotly-\(PlotlyLibrary.version).min.js"))
    let process = Process()
    process.executableURL = program
    process.arguments = ["report", out, "-o", folder.path("r.html"), "-q"]
    process.environment = ["PATH": "/nowhere", "HOME": folder.path("home")]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(try folder.text(of: "r.html").contains("plotly.js, as installed"))
  }
}
