// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("nearby batch")
struct BatchCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    _ = try CommandLineTool.run(
      "simulate", "find", "--count", "4", "-o", folder.path("data/sim"), "-q")
    _ = try WalkRecording().write(to: folder, name: "data/real/walk")
  }

  private func batch(_ options: String..., into output: String) throws -> CommandLineTool.Result {
    try CommandLineTool.run(["batch", folder.path("data"), "-o", folder.path(output)] + options)
  }

  /// Every file below a folder with its bytes.
  private func files(_ name: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path(name)) {
      files[path] = FileManager.default.contents(atPath: folder.path("\(name)/\(path)"))
    }
    return files
  }

  @Test func everyRecordingHasAResultAndARowForEachPeer() throws {
    let result = try batch("--smooth", "--evaluate", into: "out")
    #expect(result.exitCode == 0)
    // Nothing but progress, which appears only on a slow machine.
    #expect(result.errors.split(whereSeparator: \.isNewline).allSatisfy { $0.contains(" %  ") })
    #expect(
      try folder.contents(of: "out") == ["batch.csv", "batch.json", "failures.csv", "results"])
    #expect(
      try folder.contents(of: "out/results/data/real/walk") == [
        "configuration.json", "estimates.csv", "evaluation.json", "modes.csv", "receipt.json",
        "smoothed.csv",
        "summary.json", "trajectory-corrected.txt", "trajectory-smoothed.txt",
      ])
    let table = EstimateTable(try folder.text(of: "out/batch.csv"))
    #expect(
      table.rows.map { $0["recording"] } == [
        "data/real/walk", "data/real/walk", "data/sim/find-0001", "data/sim/find-0002",
        "data/sim/find-0003", "data/sim/find-0004",
      ])
    #expect(table.rows.map { $0["peer"] }.prefix(2) == ["keys", "bag, blue"])
    for row in table.rows {
      #expect(try #require(row.number("rmse_second_half")) < 1)
      #expect(try #require(row.number("smoothed_rmse_second_half")) < 1)
      #expect(try #require(row.number("nis")) > 0)
    }
    #expect(try folder.text(of: "out/failures.csv") == "recording,error\n")
    #expect(result.output.contains("data/sim"))
  }

  @Test func aResultIsWhatASingleRunGives() throws {
    _ = try batch(into: "out")
    _ = try CommandLineTool.run(
      "run", folder.path("data/sim/find-0002"), "-o", folder.path("one"), "-q")
    for name in ["estimates.csv", "configuration.json"] {
      #expect(
        try folder.text(of: "one/\(name)")
          == folder.text(of: "out/results/data/sim/find-0002/\(name)"))
    }
  }

  @Test func filesDoNotDependOnTheNumberOfJobsOrOnShards() throws {
    _ = try batch("--jobs", "1", "--evaluate", into: "one")
    _ = try batch("--jobs", "4", "--evaluate", into: "four")
    let one = try files("one")
    #expect(try files("four") == one)
    for shard in ["1/3", "3/3", "2/3"] {
      let result = try batch("--shard", shard, "--evaluate", into: "shards")
      #expect(result.exitCode == 0)
      #expect(!folder.has("shards/batch.csv"))
    }
    let merged = try batch("--resume", "--evaluate", into: "shards")
    #expect(merged.output.contains("0 recordings") && merged.output.contains("5 kept"))
    #expect(try files("shards") == one)
  }

  @Test func aBadRecordingStopsNothingAndIsNamedWithItsPlace() throws {
    let bad = folder.path("data/sim/find-0002/ranging.csv")
    var text = try String(contentsOfFile: bad, encoding: .utf8)
    text = text.replacing("\n", with: "\n1,x,nonsense\n", maxReplacements: 1)
    try Data(text.utf8).write(to: URL(filePath: bad))
    let result = try batch(into: "out")
    #expect(result.exitCode == 65)
    #expect(result.errors.contains("error: \(bad):2"))
    #expect(try folder.contents(of: "out/results/data/sim").count == 3)
    #expect(
      try folder.text(of: "out/failures.csv").contains("data/sim/find-0002,\"\(bad):2"))
    #expect(EstimateTable(try folder.text(of: "out/batch.csv")).rows.count == 5)
    #expect(try folder.text(of: "out/batch.json").contains("\"failed\" : 1"))
  }

  @Test func whatChangedIsDoneAgainAndTheRestIsKept() throws {
    _ = try batch(into: "out")
    let before = try files("out")
    // A recording changes, a result is damaged, another lacks its receipt's file.
    let ranging = folder.path("data/sim/find-0001/ranging.csv")
    var lines = try String(contentsOfFile: ranging, encoding: .utf8)
      .split(separator: "\n")
    let last = lines.removeLast()
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: ranging))
    let results = "out/results/data/sim"
    try Data("?".utf8).write(
      to: URL(filePath: folder.path("\(results)/find-0003/summary.json")))
    try FileManager.default.removeItem(atPath: folder.path("\(results)/find-0004/estimates.csv"))
    let result = try batch("--resume", into: "out")
    #expect(result.exitCode == 0)
    #expect(result.output.contains("3 recordings") && result.output.contains("2 kept"))
    #expect(try files("out") != before)
    lines.append(last)
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: ranging))
    _ = try batch("--resume", into: "out")
    #expect(try files("out") == before)
    let settings = folder.path("noisy.json")
    try Data(#"{ "ranging": { "rangeSigma": 0.3 } }"#.utf8).write(to: URL(filePath: settings))
    let changed = try batch("--resume", "--config", settings, into: "out")
    #expect(changed.output.contains("5 recordings"))
  }

  @Test func workThatWasKilledGoesOnAndGivesTheSameFiles() throws {
    _ = try CommandLineTool.run(
      "simulate", "find", "--count", "60", "-o", folder.path("data/many"), "-q")
    _ = try batch(into: "whole")
    let whole = try files("whole")
    let process = Process()
    process.executableURL = CommandLineTool.executable
    process.arguments = ["batch", folder.path("data"), "-o", folder.path("out"), "-q"]
    try process.run()
    // Waits until some recordings are done and others are not.
    let results = folder.path("out/results/data/many")
    var done = 0
    while done < 10, process.isRunning {
      done = ((try? FileManager.default.contentsOfDirectory(atPath: results)) ?? []).count
    }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try #require(process.terminationReason == .uncaughtSignal)
    // Remains of a process that was killed while it wrote a result.
    try FileManager.default.createDirectory(
      atPath: results + "/.find-0007.0123ABCD.partial", withIntermediateDirectories: true)
    #expect(!folder.has("out/batch.csv"))
    let again = try batch(into: "out")
    #expect(again.exitCode == 65 && again.errors.contains("--resume"))
    let result = try batch("--resume", into: "out")
    #expect(result.exitCode == 0)
    #expect(result.output.contains(" kept"))
    #expect(try files("out") == whole)
  }

  @Test func aReceiptIsTrustedForTheFilesOfAResultAndNoOthers() throws {
    _ = try batch(into: "out")
    let before = try files("out")
    let result = "out/results/data/sim/find-0002"
    let receipt = folder.path("\(result)/receipt.json")
    let text = try folder.text(of: "\(result)/receipt.json")
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let results = try #require(object["results"] as? [String: String])
    func write(_ results: [String: String]) throws {
      var object = object
      object["results"] = results
      try JSONSerialization.data(withJSONObject: object).write(to: URL(filePath: receipt))
    }
    // An endless file in addition to the existing ones, and one that is far too large.
    try write(results.merging(["../../../../../../../../../../dev/zero": ""]) { $1 })
    #expect(try batch("--resume", into: "out").output.contains("4 kept"))
    #expect(try files("out") == before)
    // Only one file is named, and the others are missing.
    try write(results.filter { $0.key == "summary.json" })
    for name in ["estimates.csv", "configuration.json"] {
      try FileManager.default.removeItem(atPath: folder.path("\(result)/\(name)"))
    }
    #expect(try batch("--resume", into: "out").output.contains("4 kept"))
    #expect(try files("out") == before)
    try #require(unsafe truncate(receipt, 1 << 30) == 0)
    #expect(try batch("--resume", into: "out").output.contains("4 kept"))
    #expect(try files("out") == before)
  }

  @Test func oneBatchAtATimeWritesAnOutput() throws {
    _ = try batch(into: "out")
    let before = try files("out")
    /// Holds a lock as another batch would.
    func hold(_ name: String, _ kind: CInt) throws -> CInt {
      let descriptor = unsafe open(folder.path("out/\(name)"), O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
      try #require(flock(descriptor, kind | LOCK_NB) == 0)
      return descriptor
    }
    func isRefused(_ arguments: String...) throws -> Bool {
      let result = try CommandLineTool.run(
        ["batch", folder.path("data"), "--resume", "-q", "-o", folder.path("out")] + arguments)
      let words = "nearby: error: \(folder.path("out")): another batch is at work in this folder; "
      return result.exitCode == 65 && result.errors.hasPrefix(words)
    }
    let whole = try hold(".lock", LOCK_EX)
    #expect(try isRefused())
    #expect(try isRefused("--shard", "1/2"))
    close(whole)
    let shared = try hold(".lock", LOCK_SH)
    let part = try hold(".lock-1-of-2", LOCK_EX)
    #expect(try isRefused())
    #expect(try isRefused("--shard", "1/2"))
    #expect(try isRefused("--shard", "1/3"))
    #expect(try !isRefused("--shard", "2/2"))
    close(part)
    #expect(try !isRefused("--shard", "1/3"))
    close(shared)
    #expect(try !isRefused())
    #expect(try files("out") == before)
  }

  /// The processes that a process has started.
  private func children(of process: Int32) -> [Int32] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { Int32($0) }.filter { number in
      let text = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
      // The program's name, in parentheses, the state, then the parent.
      let fields = text?.split(separator: ")").last?.split(separator: " ") ?? []
      return fields.count > 1 && fields[1] == "\(process)"
    }
  }

  @Test(.timeLimit(.minutes(2))) func aWorkerThatDiesIsOneFailedRecording() throws {
    _ = try CommandLineTool.run(
      "simulate", "find", "--count", "30", "-o", folder.path("data/many"), "-q")
    _ = try batch(into: "whole")
    let whole = try files("whole")
    let process = Process()
    let errors = folder.path("errors")
    _ = FileManager.default.createFile(atPath: errors, contents: nil)
    process.executableURL = CommandLineTool.executable
    process.arguments = [
      "batch", folder.path("data"), "-q", "-o", folder.path("out"), "--jobs", "2",
    ]
    process.standardError = try FileHandle(forWritingTo: URL(filePath: errors))
    try process.run()
    let results = folder.path("out/results/data/many")
    while process.isRunning {
      let done = (try? FileManager.default.contentsOfDirectory(atPath: results)) ?? []
      guard done.count > 3, let worker = children(of: process.processIdentifier).first else {
        continue
      }
      // As the system does when memory runs out. A trap also ends a process.
      kill(worker, SIGKILL)
      break
    }
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 65)
    let failures = try folder.text(of: "out/failures.csv").split(separator: "\n")
    #expect(failures.count == 2)
    #expect(failures.last?.contains("ended by signal 9") == true)
    #expect(try folder.text(of: "errors").contains("ended by signal 9"))
    #expect(!(try files("out").keys.contains { $0.hasSuffix(".partial") }))
    #expect(try batch("--resume", into: "out").exitCode == 0)
    #expect(try files("out") == whole)
  }

  @Test func processesThatBeginAtOnceDoNotDisturbEachOther() throws {
    _ = try batch(into: "whole")
    let whole = try files("whole")
    let processes = try (0..<4).map { _ in
      let process = Process()
      process.executableURL = CommandLineTool.executable
      process.arguments = ["batch", folder.path("data"), "-q", "-o", folder.path("out")]
      process.standardError = FileHandle.nullDevice
      try process.run()
      return process
    }
    for process in processes { process.waitUntilExit() }
    #expect(processes.count { $0.terminationStatus == 0 } == 1)
    #expect(processes.count { $0.terminationStatus == 65 } == 3)
    #expect(try files("out") == whole)
  }

  @Test func wrongCommandLinesAreExplained() throws {
    for (arguments, words) in [
      ([folder.path("data")], "--output"),
      ([folder.path("data"), "-o", folder.path("o"), "--shard", "3/2"], "--shard"),
      ([folder.path("data"), "-o", folder.path("o"), "--shard", "0/2"], "--shard"),
      ([folder.path("data"), "-o", folder.path("o"), "--jobs", "0"], "--jobs"),
      ([folder.path("data"), "-o", folder.path("o"), "--json", "-q"], "contradict"),
    ] {
      let result = try CommandLineTool.run(["batch"] + arguments)
      #expect(result.exitCode == 64)
      #expect(result.errors.contains(words), "\(result.errors)")
    }
    let strange = try CommandLineTool.run(
      "batch", folder.path("data/sim"), "-o", folder.path("data/real"), "--resume")
    #expect(strange.exitCode == 65 && strange.errors.contains("not the output of a batch"))
    let none = try CommandLineTool.run("batch", folder.path("none"), "-o", folder.path("o"))
    #expect(none.exitCode == 65 && none.errors.contains("no such folder"))
    #expect(!folder.has("o"))
    let list = try CommandLineTool.run("batch", folder.path("data"), "--list")
    #expect(list.output.hasPrefix("data/real/walk\ndata/sim/find-0001\n"))
  }
}
