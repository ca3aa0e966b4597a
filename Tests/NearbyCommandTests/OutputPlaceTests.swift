// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Outputs that are not regular files are written in place and not replaced.
@Suite("Output onto pipes, links and standard output")
struct OutputPlaceTests {
  private let folder: TemporaryFolder
  private let walk: String
  private let expected: String

  init() throws {
    folder = try TemporaryFolder()
    walk = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("export", "jsonl", walk, "--output", folder.path("expected"))
    expected = try folder.text(of: "expected")
  }

  @Test func aNamedPipeGetsTheTextAndStays() throws {
    let pipe = folder.path("pipe")
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
    let reader = Process()
    reader.executableURL = URL(fileURLWithPath: "/bin/sh")
    reader.arguments = ["-c", "timeout 20 cat '\(pipe)' > '\(folder.path("read"))'"]
    try reader.run()
    let result = try CommandLineTool.run("export", "jsonl", walk, "--output", pipe)
    reader.waitUntilExit()
    #expect(result.exitCode == 0)
    #expect(try folder.text(of: "read") == expected)
    var status = stat()
    #expect(unsafe lstat(pipe, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
  }

  @Test func standardOutputByNameIsAppendedTo() throws {
    try Data("before\n".utf8).write(to: folder.url.appending(path: "log"))
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = [
      "-c",
      """
      { '\(CommandLineTool.executable.path)' export jsonl '\(walk)' --output /dev/stdout; echo after; } \
        >> '\(folder.path("log"))'
      """,
    ]
    try shell.run()
    shell.waitUntilExit()
    let text = try folder.text(of: "log")
    #expect(text.hasPrefix("before\n" + expected))
    #expect(text.hasSuffix("after\n"))
  }

  @Test func ofALinkTheTargetIsReplaced() throws {
    let link = folder.path("link")
    try Data("old".utf8).write(to: folder.url.appending(path: "target"))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target")
    #expect(try CommandLineTool.run("export", "jsonl", walk, "--output", link).exitCode == 0)
    #expect(try folder.text(of: "target") == expected)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "target")
  }
}
