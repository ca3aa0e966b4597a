// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("nearby plot")
struct PlotCommandTests {
  private let folder: TemporaryFolder
  private let result: String

  init() throws {
    folder = try TemporaryFolder()
    result = folder.path("out")
    _ = try CommandLineTool.run(
      "run", try WalkRecording().write(to: folder), "-o", result, "-q")
  }

  @Test(arguments: ["map", "distance", "angle", "nis", "timeline"])
  func everyKindIsDrawn(kind: String) throws {
    let run = try CommandLineTool.run(
      "plot", result, "-o", folder.path("a.svg"), "--kind", kind, "--peer", "bag, blue")
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(run.output.isEmpty)
    let svg = try folder.text(of: "a.svg")
    #expect(svg.hasPrefix("<svg "))
    #expect(svg.contains("walk, out: bag, blue"))
    _ = try CommandLineTool.run(
      "plot", result, "-o", folder.path("b.svg"), "--kind", kind, "--peer", "bag, blue")
    #expect(try svg == folder.text(of: "b.svg"))
  }

  @Test func withoutAKindItIsTheMapOfAllPeers() throws {
    _ = try CommandLineTool.run("plot", result, "-o", folder.path("a.svg"))
    #expect(try folder.text(of: "a.svg").contains("from above"))
    #expect(try folder.text(of: "a.svg").contains("walk, out: keys, bag, blue"))
  }

  @Test func otherKindsAreOfTheFirstPeerOrOfThoseThatAreNamed() throws {
    func title(_ arguments: [String]) throws -> String {
      let run = try CommandLineTool.run(
        ["plot", result, "-o", folder.path("a.svg"), "--kind", "distance"] + arguments)
      #expect(run.exitCode == 0, "\(run.errors)")
      let svg = try folder.text(of: "a.svg")
      let start = try #require(svg.range(of: "<title>")).upperBound
      return String(svg[start...].prefix { $0 != "<" })
    }
    #expect(try title([]) == "walk, out: keys")
    #expect(
      try title(["--peer", "bag, blue", "--peer", "keys", "--peer", "keys"])
        == "walk, out: bag, blue, keys")
  }

  @Test func thePathIsThatOfTheDevice() throws {
    let run = try CommandLineTool.run("plot", result, "-o", folder.path("a.svg"), "--kind", "path")
    #expect(run.exitCode == 0, "\(run.errors)")
    let svg = try folder.text(of: "a.svg")
    #expect(svg.contains("walk, out: path"))
    #expect(svg.contains(">raw<"))
  }

  /// A replacement of librsvg's program.
  @Test(arguments: ["png", "pdf"])
  func othersAreMadeByAnotherProgram(format: String) throws {
    let program = folder.path("rsvg-convert")
    try Data(
      "#!/bin/sh\ntest \"$3\" = --output && test \"$2\" = \"$LOOK\" && /bin/cp \"$5\" \"$4\"\n".utf8
    )
    .write(to: URL(fileURLWithPath: program))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    let run = try CommandLineTool.run(
      ["plot", result, "-o", folder.path("a.\(format)")],
      environment: ["PATH": folder.url.path, "LOOK": format == "pdf" ? "pdf" : "2"])
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(try folder.text(of: "a.\(format)").hasPrefix("<svg "))
  }

  @Test func withoutThatProgramThePackageIsNamed() throws {
    let run = try CommandLineTool.run(
      ["plot", result, "-o", folder.path("a.png")], environment: ["PATH": folder.url.path])
    #expect(run.exitCode == 65)
    expectOneLine(run.errors, containing: "librsvg2-bin")
    #expect(!folder.has("a.png"))
  }

  @Test func allPicturesAreWrittenByOneCommand() throws {
    let folder = try TemporaryFolder()
    let out = folder.path("out")
    _ = try CommandLineTool.run("run", try WalkRecording().write(to: folder), "-o", out, "-q")
    let run = try CommandLineTool.run("plot", out, "--all", "svg", "-o", folder.path("figures"))
    #expect(run.exitCode == 0, "\(run.errors)")
    let kinds = ["angle", "distance", "nis", "timeline"]
    #expect(
      try folder.contents(of: "figures").sorted()
        == (["map.svg", "path.svg"]
        + ["bag__blue", "keys"].flatMap { peer in kinds.map { "\(peer)-\($0).svg" } }).sorted())
  }

  @Test func anUnknownPeerIsNamedWithThoseThatAre() throws {
    let run = try CommandLineTool.run(
      "plot", result, "-o", folder.path("a.svg"), "--peer", "cat")
    #expect(run.exitCode == 64)
    expectOneLine(run.errors, containing: "it has keys, bag, blue")
  }

  @Test func whatWasNotSmoothedCannotBeDrawn() throws {
    let run = try CommandLineTool.run("plot", result, "-o", folder.path("a.svg"), "--smoothed")
    #expect(run.exitCode == 65)
    expectOneLine(run.errors, containing: "nothing was smoothed")
  }

  @Test(arguments: [
    ["-o", "a.jpeg"], ["-o", "a"], ["-o", "a.svg", "--kind", "pie"],
    ["-o", "a.svg", "--kind", "nis", "--smoothed"], [],
    ["-o", "a.svg", "--kind", "path", "--smoothed"],
    ["-o", "a.svg", "--kind", "path", "--peer", "keys"],
  ])
  func wrongUsage(arguments: [String]) throws {
    let run = try CommandLineTool.run(["plot", result] + arguments)
    #expect(run.exitCode == 64)
    expectOneLine(run.errors, containing: "see 'nearby plot --help'")
  }

  @Test func aMissingResultIsNamed() throws {
    let run = try CommandLineTool.run(
      "plot", folder.path("nothing"), "-o", folder.path("a.svg"))
    #expect(run.exitCode == 65)
    expectOneLine(run.errors, containing: folder.path("nothing/summary.json"))
  }
}
