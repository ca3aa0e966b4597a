// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// An output that the system does not take has a status of its own: the data is not at fault.
@Suite("Output that is lost: status 74")
struct OutputLostTests {
  private let folder: TemporaryFolder
  private let walk: String

  init() throws {
    folder = try TemporaryFolder()
    walk = try WalkRecording().write(to: folder)
    _ = try CommandLineTool.run("run", walk, "-q", "-o", folder.path("result"))
  }

  @Test("on a full disk, where one file is written")
  func fullDevice() throws {
    let result = folder.path("result")
    for arguments in [
      ["export", "jsonl", walk], ["export", "tum", walk], ["export", "pyfg", walk],
      ["tune", walk], ["report", result],
    ] {
      let run = try CommandLineTool.run(arguments + ["--output", "/dev/full"])
      #expect(run.exitCode == 74, "\(arguments): \(run.errors)")
      #expect(run.errors.contains("/dev/full: it cannot be written (No space left on device)"))
    }
  }

  /// Runs the program with a limit on the size of files, beyond which writing fails as on a full disk.
  private func runLimited(_ arguments: String...) throws -> CommandLineTool.Result {
    let (output, errors) = (try folder.empty("said"), try folder.empty("errors"))
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = [
      "-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"", CommandLineTool.executable.path,
    ]
    shell.arguments? += arguments
    shell.standardOutput = try FileHandle(forWritingTo: output)
    shell.standardError = try FileHandle(forWritingTo: errors)
    try shell.run()
    shell.waitUntilExit()
    return CommandLineTool.Result(
      exitCode: shell.terminationStatus, output: try folder.text(of: "said"),
      errors: try folder.text(of: "errors"))
  }

  @Test("on a full disk, where a folder is written; nothing of it is left")
  func fullDisk() throws {
    let run = try runLimited("run", walk, "-q", "-o", folder.path("out"))
    #expect(run.exitCode == 74)
    expectOneLine(run.errors, containing: folder.path("out/"))
    let simulate = try runLimited("simulate", "find", "-q", "-o", folder.path("out"))
    #expect(simulate.exitCode == 74)
    expectOneLine(simulate.errors, containing: folder.path("out/trajectory.txt"))
    let imported = try runLimited(
      "import", "tum", "\(walk)/trajectory.txt", "-q", "-o", folder.path("out"))
    #expect(imported.exitCode == 74)
    expectOneLine(imported.errors, containing: folder.path("out/trajectory.txt"))
    #expect(!folder.has("out"))
    let batch = try runLimited("batch", walk, "-q", "-o", folder.path("batch"))
    #expect(batch.exitCode == 74)
    expectOneLine(batch.errors, containing: folder.path("batch/results/walk/"))
  }

  @Test("where something is in the way of the folder")
  func inTheWay() throws {
    try Data().write(to: folder.url.appending(path: "file"))
    for arguments in [
      ["run", walk], ["batch", walk], ["simulate", "find"],
      ["import", "tum", "\(walk)/trajectory.txt"],
    ] {
      let run = try CommandLineTool.run(arguments + ["-q", "-o", folder.path("file/out")])
      #expect(run.exitCode == 74, "\(arguments): \(run.errors)")
      expectOneLine(run.errors, containing: folder.path("file/out"))
    }
  }
}
