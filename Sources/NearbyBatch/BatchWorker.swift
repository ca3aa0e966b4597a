// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import NearbyRecordings
internal import Synchronization

/// A process that works on the recordings of a batch, one after the other.
///
/// What ends it, a fault in the program or a lack of memory, costs the one recording it was at. It gets a
/// ``BatchItem`` as a line of JSON and answers with a line; its results lie in the batch's output. When the
/// batch's own process is gone it ends, too.
final class BatchWorker: Sendable {
  /// What a worker answers.
  struct Answer: Codable {
    /// Whether the result was there before.
    var isKept = false
    /// What went wrong.
    var error: String?
  }

  /// Why there is no answer.
  struct Death: Error {
    var description: String
  }

  private let process: Process
  private let requests: FileHandle
  private let answers: Mutex<MessagePipe>

  /// Starts a process.
  ///
  /// - Parameter command: The program and its arguments.
  /// - Throws: When it cannot be started.
  init(command: [String]) throws(RecordingError) {
    let (input, output) = (Pipe(), Pipe())
    let process = Process()
    process.executableURL = URL(filePath: command[0])
    process.arguments = Array(command.dropFirst())
    process.standardInput = input
    process.standardOutput = output
    do {
      try UnfinishedWork.startProcess {
        try process.run()
        return process.processIdentifier
      }
    } catch {
      throw RecordingError(
        .unreadableFile, "no process can be started (\(error.localizedDescription))",
        file: command[0], remedy: "check the limits on processes and memory")
    }
    self.process = process
    requests = input.fileHandleForWriting
    answers = Mutex(MessagePipe(output.fileHandleForReading))
  }

  /// Ends the process, which has nothing to do.
  deinit {
    try? requests.close()
    process.waitUntilExit()
    UnfinishedWork.remove(process: process.processIdentifier)
  }

  /// Has a recording worked on.
  ///
  /// - Parameter item: The recording.
  /// - Returns: The answer.
  /// - Throws: When the process ended instead.
  func work(on item: BatchItem) throws(Death) -> Answer {
    do {
      try requests.write(contentsOf: MessagePipe.message(item))
      if let answer = try answers.withLock({ try $0.next(Answer.self) }) { return answer }
    } catch {
      // The process is gone, as below.
    }
    process.waitUntilExit()
    throw Death(description: Self.words(process.terminationReason, process.terminationStatus))
  }

  private static func words(_ reason: Process.TerminationReason, _ status: Int32) -> String {
    let end =
      reason == .uncaughtSignal
      ? "by signal \(status) (\(unsafe String(cString: strsignal(status))))"
      : "with status \(status)"
    return "the process that worked on it ended \(end); the others went on"
  }
}

/// Values that come through a pipe, each a line of JSON.
private struct MessagePipe: Sendable {
  private let handle: FileHandle
  private var bytes: [UInt8] = []

  init(_ handle: FileHandle) { self.handle = handle }

  /// The next value; `nil` when the other end is closed.
  mutating func next<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    while true {
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        defer { bytes.removeSubrange(...end) }
        return try JSONDecoder().decode(type, from: Data(bytes[..<end]))
      }
      // It gives what there is and waits only for the first byte.
      let data = handle.availableData
      if data.isEmpty { return nil }
      bytes += data
    }
  }

  /// A value as a line.
  static func message(_ value: some Encodable) throws -> Data {
    try JSONEncoder().encode(value) + [UInt8(ascii: "\n")]
  }
}

/// Workers that have nothing to do, each for whoever needs one.
final class BatchWorkers: Sendable {
  private let command: [String]
  private let idle = Mutex<[BatchWorker]>([])

  init(command: [String]) { self.command = command }

  /// Has a recording worked on; a worker that dies is replaced by the next one who needs one.
  func work(on item: BatchItem) throws -> BatchWorker.Answer {
    let worker = try idle.withLock { $0.popLast() } ?? BatchWorker(command: command)
    let answer = try worker.work(on: item)
    idle.withLock { $0.append(worker) }
    return answer
  }
}

extension Batch {
  /// Works on recordings as another process asks for them on standard input, and answers on standard
  /// output, until the other process is gone.
  package func serve() throws {
    Thread.detachNewThread {
      // The end of the other process closes the pipe; then nobody waits for what is being made.
      var pipe = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
      while unsafe poll(&pipe, 1, -1) <= 0 {}
      UnfinishedWork.removeAll { _exit(0) }
    }
    var requests = MessagePipe(FileHandle.standardInput)
    while let item = try requests.next(BatchItem.self) {
      var answer = BatchWorker.Answer()
      do {
        answer.isKept = try makeResult(of: item)
      } catch {
        answer.error = "\((error as? RecordingError)?.located(in: item.folder) ?? error)"
      }
      try FileHandle.standardOutput.write(contentsOf: MessagePipe.message(answer))
    }
  }
}
