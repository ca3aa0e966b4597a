// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import NearbyBatch

@Suite("Child process", .timeLimit(.minutes(1)))
struct ChildProcessTests {
  private func shell(_ script: String) throws -> ChildProcess {
    try ChildProcess(["/bin/sh", "-c", script], output: .none, errors: .none)
  }

  @Test("its end is told, again and again")
  func ends() throws {
    let failing = try shell("exit 3")
    for _ in 0..<2 { #expect(failing.wait() == .exit(status: 3)) }
    #expect(failing.wait().words == "with status 3")
    let killed = try shell("kill -9 $$").wait()
    #expect(killed == .signal(9))
    #expect(killed.words == "by signal 9 (Killed)")
  }

  @Test("a program that is missing is an error with the system's reason")
  func missing() throws {
    let error = #expect(throws: ChildProcess.Failure.self) {
      try ChildProcess(["/no/such/program"])
    }
    #expect(error?.reason == "No such file or directory")
  }

  @Test("it has the folder, environment, input and outputs that it is given")
  func surroundings() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "child \(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (output, errors) = (folder.appending(path: "output"), folder.appending(path: "errors"))
    let script = #"pwd; echo "$WORD"; cat; echo bad >&2"#
    let child = try ChildProcess(
      ["/bin/sh", "-c", script], in: folder.path, environment: ["WORD": "a b"],
      output: .file(output.path), errors: .file(errors.path))
    #expect(child.wait() == .exit(status: 0))
    #expect(try String(contentsOf: output, encoding: .utf8) == "\(folder.path)\na b\n")
    #expect(try String(contentsOf: errors, encoding: .utf8) == "bad\n")
  }

  @Test("it is in no process group that Ctrl-C reaches")
  func group() throws {
    // The number of the shell is that of its group: the fifth field, after a name without blanks.
    let own = #"set -- $(cat /proc/$$/stat); test "$5" = "$1""#
    #expect(try shell(own).wait() == .exit(status: 0))
  }

  @Test("pipes of one child are not open in another one, which would keep their readers waiting")
  func pipes() throws {
    for _ in 0..<20 {
      let pipe = try PipeEnds()
      let other = try shell("sleep 5")
      let reader = try ChildProcess(
        ["/bin/cat"], input: .descriptor(pipe.reading), output: .none, errors: .none)
      close(pipe.reading)
      close(pipe.writing)
      let start = ContinuousClock.now
      #expect(reader.wait() == .exit(status: 0))
      #expect(start.duration(to: .now) < .seconds(4))
      _ = other
    }
  }
}
