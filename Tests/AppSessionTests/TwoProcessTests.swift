// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Two programs that share only token files, like two phones.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct TwoProcessTests {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "n-\(UUID().uuidString.prefix(8))")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// The environments in which two programs meet: the default, or a named folder.
  enum Meeting: CaseIterable {
    case anywhere
    case inAFolder
  }

  private func variables(_ meeting: Meeting) -> [String: String] {
    switch meeting {
    case .anywhere: [:]
    case .inAFolder: ["NEARBY_ENVIRONMENT": "simulated:\(folder.appending(path: "w").path)"]
    }
  }

  private func program(_ name: String) -> URL {
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: name)
  }

  private func start(
    _ name: String, _ other: String, _ variables: [String: String]
  ) throws -> Process {
    let output = folder.appending(path: "\(name).log")
    try Data().write(to: output)
    let process = Process()
    process.executableURL = program("find-my-item")
    process.arguments = [name, other].map { folder.appending(path: "\($0).token").path }
    process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  private func lines(_ name: String) -> [String] {
    let text = try? String(contentsOf: folder.appending(path: "\(name).log"), encoding: .utf8)
    return (text ?? "").split(separator: "\n").map(String.init)
  }

  private func wait(_ seconds: Double, until holds: () -> Bool) async throws {
    let end = Date().addingTimeInterval(seconds)
    while !holds(), Date() < end { try await Task.sleep(for: .milliseconds(50)) }
  }

  private func metres(_ line: String?) -> Double? {
    line?.split(separator: " ").first.flatMap { Double($0) }
  }

  @Test(arguments: Meeting.allCases)
  func twoProgramsFindEachOtherAndNoticeAnEnd(meeting: Meeting) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    // Two that stand still are found at the same time with antenna arrays only.
    let variables = variables(meeting).merging(["NEARBY_PHONE": "array"]) { $1 }
    let (a, b) = (try start("a", "b", variables), try start("b", "a", variables))
    // Not by a signal that can be deferred, as the thread sanitizer does while a program waits.
    defer {
      for process in [a, b] where process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
    func foundDistance(_ name: String) -> Double? {
      lines(name).last.flatMap { $0.hasSuffix(", found") ? metres($0) : nil }
    }
    // Both are read while both find. On a busy machine one of them may be seconds behind for a
    // moment, and the devices move.
    func agree() -> Bool {
      guard let here = foundDistance("a"), let there = foundDistance("b") else { return false }
      return abs(here - there) < 0.5
    }
    var haveAgreed = false
    try await wait(120) {
      haveAgreed = agree()
      return haveAgreed
    }
    #expect(haveAgreed, "a: \(lines("a").suffix(3)), b: \(lines("b").suffix(3))")
    // A killed program does not notify its peer, which sees silence.
    kill(b.processIdentifier, SIGKILL)
    try await wait(100) { lines("a").last == "the item is gone" }
    #expect(lines("a").last == "the item is gone")
  }

  /// The devices walk in turn; the one that walks finds the one that stands.
  @Test func twoPhonesWithoutAntennaArraysFindEachOtherInTurn() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let variables = variables(.inAFolder)
    let (a, b) = (try start("a", "b", variables), try start("b", "a", variables))
    defer {
      for process in [a, b] where process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
    func hasFound(_ name: String) -> Bool { lines(name).contains { $0.hasSuffix(", found") } }
    try await wait(300) { hasFound("a") && hasFound("b") }
    #expect(
      hasFound("a") && hasFound("b"), "a: \(lines("a").suffix(3)), b: \(lines("b").suffix(3))")
  }

  /// Files of an earlier run with invalid tokens do no harm, nor does restarting a program.
  @Test func aProgramThatIsStartedAgainIsFoundAgain() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let variables = variables(.inAFolder)
    func hasHeard(_ name: String) -> Bool { lines(name).contains { metres($0) != nil } }
    var earlier: [Data] = []
    for _ in 0..<2 {
      let (a, b) = (try start("a", "b", variables), try start("b", "a", variables))
      try await wait(100) { hasHeard("a") && hasHeard("b") }
      #expect(hasHeard("a") && hasHeard("b"))
      let token = try Data(contentsOf: folder.appending(path: "b.token"))
      #expect(!earlier.contains(token))
      earlier.append(token)
      for process in [a, b] {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
      }
    }
  }

  @Test func aPhoneWithoutARadioIsReported() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = try start("a", "a", ["NEARBY_ENVIRONMENT": "none"])
    process.waitUntilExit()
    #expect(process.terminationStatus == 1)
    #expect(lines("a").last?.contains("cannot measure") == true)
  }

  /// A wrong command line is reported on standard error; requested help is printed on standard
  /// output.
  @Test(
    arguments: ["find-my-item", "nearby-devices"],
    [["--help"], ["-h"], ["--nonsense"], ["1", "2", "3"]])
  func howToUseAProgram(_ name: String, _ arguments: [String]) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = Process()
    let (output, errors) = (Pipe(), Pipe())
    process.executableURL = program(name)
    process.arguments = name == "nearby-devices" && arguments.count == 3 ? ["99"] : arguments
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    process.waitUntilExit()
    let texts = [output, errors].map {
      String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
    let asks = arguments.count == 1 && arguments[0] != "--nonsense"
    #expect(process.terminationStatus == (asks ? 0 : 64))
    #expect(texts[asks ? 0 : 1].hasPrefix("usage: \(name)"))
    #expect(texts[asks ? 1 : 0].isEmpty)
  }

  /// Runs a program to its end.
  private func run(
    _ name: String, _ arguments: [String], output: Any = FileHandle.nullDevice
  ) throws -> (process: Process, errors: String) {
    let (process, errors) = (Process(), Pipe())
    process.executableURL = program(name)
    process.arguments = arguments
    process.environment = ["NEARBY_ENVIRONMENT": "alone"]
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = String(
      decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process, text)
  }

  /// The file lies in no folder, below a file, or is a folder.
  @Test(arguments: ["missing/a.token", "file/a.token", "folder"])
  func aTokenThatCannotBeWrittenIsOneLine(_ name: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data().write(to: folder.appending(path: "file"))
    let full = folder.appending(path: "folder")
    try FileManager.default.createDirectory(
      at: full.appending(path: "something"), withIntermediateDirectories: true)
    let path = folder.appending(path: name).path
    let (process, errors) = try run("find-my-item", [path, "b.token"])
    #expect(process.terminationReason == .exit && process.terminationStatus == 74)
    #expect(errors.hasPrefix("find-my-item: \(path) cannot be written ("))
    #expect(errors.hasSuffix("; name a file in a folder where you may write\n"))
    #expect(errors.split(separator: "\n").count == 1)
  }

  @Test(
    arguments: [
      ("find-my-item", ["--help"]), ("find-my-item", ["TOKEN", "TOKEN"]),
      ("nearby-devices", ["--help"]), ("nearby-devices", ["1", "--keys", "w"]),
    ])
  func outputThatIsLostIsAnError(_ name: String, _ arguments: [String]) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let token = folder.appending(path: "a.token").path
    let arguments = arguments.map { $0 == "TOKEN" ? token : $0 }
    let device = try FileHandle(forWritingTo: URL(filePath: "/dev/full"))
    let (process, errors) = try run(name, arguments, output: device)
    #expect(process.terminationReason == .exit && process.terminationStatus == 74)
    #expect(errors.hasPrefix("\(name): standard output cannot be written ("))
    #expect(errors.split(separator: "\n").count == 1)
    // The end of a reader is not reported.
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let (ended, silence) = try run(name, arguments, output: pipe)
    #expect(ended.terminationReason == .uncaughtSignal && ended.terminationStatus == SIGPIPE)
    #expect(silence.isEmpty)
  }

  @Test func keysSteerAPhoneAmongDevices() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    func view() throws -> [Substring] {
      let output = folder.appending(path: "view")
      try Data().write(to: output)
      let process = Process()
      process.executableURL = program("nearby-devices")
      process.arguments = ["3", "--keys", "wwwwxxddaaxxjjxxxxxxxxxxxxwwddwwxxkkxxxx"]
      process.standardOutput = try FileHandle(forWritingTo: output)
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      return try String(contentsOf: output, encoding: .utf8).split(separator: "\n")
    }
    let lines = try view()
    #expect(lines.count == 40 * 4)
    // The keys are ahead, on this level, and found; the item two floors down is below.
    let keys = lines.filter { $0.contains("keys") }
    #expect(keys.contains { $0.hasPrefix("↑") })
    #expect(keys.last?.hasSuffix("this level  found") == true)
    #expect(lines.last { $0.contains("bike") }?.contains("below") == true)
    #expect(lines.contains { $0.contains("Sweep the device up and down.") })
    #expect(try view() == lines)
  }
}
