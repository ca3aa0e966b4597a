// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Runs the program on malicious files and on files that are not meant as input.
@Suite("Hostile input", .timeLimit(.minutes(2)))
struct HostileInputTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("Names with control characters reach no terminal")
  func controlCharacters() throws {
    var walk = WalkRecording()
    walk.manifest = walk.manifest
      .replacing(
        "\"name\": \"walk\"", with: "\"name\": \"w\\u001b[2Jalk\", \"odd\\u001b[1m\\n\": 1"
      )
      .replacing("\"id\": \"keys\"", with: "\"id\": \"k\\u001b[2Jeys\"")
    walk.ranging = walk.ranging.replacing(",keys,", with: ",k\u{1B}[2Jeys,")
    walk.truePeers = walk.truePeers?.replacing(",keys,", with: ",k\u{1B}[2Jeys,")
    let path = try walk.write(to: folder)
    let output = folder.path("out")
    for arguments in [
      ["info", path], ["run", path, "--output", output], ["evaluate", output],
      ["batch", path, "--output", folder.path("batch"), "--jobs", "1"],
      ["run", path, "--output", folder.path("none"), "--peer", "nobody\u{1B}[0m"],
    ] {
      let result = try CommandLineTool.run(arguments)
      #expect(!(result.output + result.errors).unicodeScalars.contains("\u{1B}"), "\(arguments)")
      #expect(result.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("nearby: ") })
    }
  }

  @Test("A recording whose ranging is a pipe ends the program at once, with the file's path")
  func pipe() throws {
    let path = try WalkRecording().write(to: folder)
    try FileManager.default.removeItem(atPath: "\(path)/ranging.csv")
    try #require(unsafe mkfifo("\(path)/ranging.csv", 0o600) == 0)
    for arguments in [["info", path], ["run", path, "--output", folder.path("out")]] {
      let result = try CommandLineTool.run(arguments)
      #expect(result.exitCode == 65)
      #expect(
        result.errors == "nearby: error: \(path)/ranging.csv: is a named pipe; "
          + "put a regular file in its place\n")
    }
  }

  @Test("A line of 200 kB in a file makes no message of that length")
  func longLine() throws {
    var walk = WalkRecording()
    walk.manifest = walk.manifest.replacing(
      "\"up\": \"z\"", with: "\"up\": \"\(String(repeating: "z", count: 200_000))\"")
    let result = try CommandLineTool.run("info", try walk.write(to: folder))
    #expect(result.exitCode == 65)
    #expect(result.errors.utf8.count < 1500)
  }

  @Test("A damaged result is an error with its file when a batch goes on")
  func damagedSummary() throws {
    let path = try WalkRecording().write(to: folder)
    let output = folder.path("batch")
    #expect(try CommandLineTool.run("batch", path, "--output", output).exitCode == 0)
    let result = "\(output)/results/walk"
    try Data("[]\n".utf8).write(to: URL(fileURLWithPath: "\(result)/summary.json"))
    // The receipt must match, because otherwise the result would be made again.
    let receipt = try String(contentsOfFile: "\(result)/receipt.json", encoding: .utf8)
    let digest = try #require(
      receipt.split(separator: "\n").first { $0.contains("summary.json") })
    let sum = "37517e5f3dc66819f61f5a7bb8ace1921282415f10551d2defa5c3eb0985b570"
    try Data(
      receipt.replacing(digest, with: "    \"summary.json\" : \"\(sum)\",").utf8
    ).write(to: URL(fileURLWithPath: "\(result)/receipt.json"))
    let again = try CommandLineTool.run("batch", path, "--output", output, "--resume")
    #expect(again.exitCode == 65)
    #expect(again.errors.contains("walk/summary.json: it cannot be read"), "\(again.errors)")
    #expect(!again.errors.contains("DecodingError"))
  }
}
