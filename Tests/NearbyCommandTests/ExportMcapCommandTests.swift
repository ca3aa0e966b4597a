// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Testing

@Suite("nearby export mcap")
struct ExportMcapCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    _ = try CommandLineTool.run(
      "run", try WalkRecording().write(to: folder), "-o", folder.path("out"), "-q")
  }

  @Test func aResultBecomesAFileOfMessages() throws {
    let run = try CommandLineTool.run(
      "export", "mcap", folder.path("out"), "-o", folder.path("walk.mcap"))
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(run.output.contains(" messages -> \(folder.path("walk.mcap"))"))
    // The walk begins at -0.1 s.
    #expect(run.output.contains("2 s later"))
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("walk.mcap"))))
    #expect(bytes.starts(with: [0x89] + Array("MCAP0\r\n".utf8)))
    #expect(bytes.suffix(8) == bytes.prefix(8))
    let again = try CommandLineTool.run(
      "export", "mcap", folder.path("out"), "-o", folder.path("again.mcap"), "-q")
    #expect(again.exitCode == 0 && again.output.isEmpty)
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: folder.path("again.mcap"))) == Data(bytes))
  }

  @Test func aMissingRecordingIsNamedWithTheOption() throws {
    try FileManager.default.removeItem(atPath: folder.path("walk"))
    let run = try CommandLineTool.run(
      "export", "mcap", folder.path("out"), "-o", folder.path("walk.mcap"))
    #expect(run.exitCode == 65)
    expectOneLine(run.errors, containing: "--recording")
    #expect(!folder.has("walk.mcap"))
  }

  @Test func aFolderThatIsNoResultIsNamed() throws {
    let run = try CommandLineTool.run(
      "export", "mcap", folder.path("walk"), "-o", folder.path("walk.mcap"))
    #expect(run.exitCode == 65)
    expectOneLine(run.errors, containing: folder.path("walk/summary.json"))
  }
}
