// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc
internal import NearbyRecordings

/// A process that runs recordings of a batch, one after the other.
///
/// If a fault of the program or a lack of memory ends the process, only its current recording
/// fails. The process receives a ``BatchItem`` as a line of JSON, writes the results to the batch's
/// output, and answers with a line. It ends when the batch's process has ended.
final class BatchWorker: Sendable {
  /// The answer of a worker.
  struct Answer: Codable {
    /// Whether an existing result was kept.
    var isKept = false
    /// The error, if there was one.
    var error: String?
    /// Whether the error is that the result could not be written.
    var isOutputLost = false
  }

  /// The reason why there is no answer.
  struct WorkerFailure: Error {
    var description: String
  }

  private let process: ChildProcess
  private let requests: CInt
  private let answers: Locked<MessagePipe>

  /// Starts a process.
  ///
  /// - Parameter command: The program and its arguments.
  /// - Throws: When it cannot be started.
  init(command: [String]) throws(RecordingError) {
    do throws(ChildProcess.Failure) {
      let (input, output) = (try PipeEnds(), try PipeEnds())
      defer {
        close(input.reading)
        close(output.writing)
      }
      do throws(ChildProcess.Failure) {
        process = try ChildProcess(
          command, input: .descriptor(input.reading), output: .descriptor(output.writing))
      } catch {
        close(input.writing)
        close(output.reading)
        throw error
      }
      requests = input.writing
      answers = Locked(MessagePipe(output.reading))
    } catch {
      throw RecordingError(
        .unreadableFile, "no process can be started (\(error.reason))",
        file: command[0], remedy: "check the limits on processes and memory")
    }
  }

  /// Ends the process, which is idle.
  deinit {
    close(requests)
    process.wait()
    answers.withLock { _ = close($0.descriptor) }
  }

  /// Runs a recording in the process.
  ///
  /// - Parameter item: The recording.
  /// - Returns: The answer.
  /// - Throws: When the process ended without an answer.
  func work(on item: BatchItem) throws(WorkerFailure) -> Answer {
    do {
      if FileDescriptor.write(try MessagePipe.message(item), to: requests) == nil,
        let answer = try answers.withLock({ try $0.next(Answer.self) })
      {
        return answer
      }
    } catch {
      // The process has ended, which is handled below.
    }
    throw WorkerFailure(
      description:
        "the process that worked on it ended \(process.wait().words); the others went on")
  }
}

/// Reads values from a pipe, each a line of JSON.
private struct MessagePipe: Sendable {
  let descriptor: CInt
  private var bytes: [UInt8] = []

  init(_ descriptor: CInt) { self.descriptor = descriptor }

  /// The next value; `nil` when the other end is closed.
  mutating func next<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    var piece = [UInt8](repeating: 0, count: 1 << 12)
    while true {
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        defer { bytes.removeSubrange(...end) }
        return try JSONDecoder().decode(type, from: Data(bytes[..<end]))
      }
      guard let count = FileDescriptor.read(descriptor, into: &piece), count > 0 else { return nil }
      bytes += piece[..<count]
    }
  }

  /// A value as a line of JSON.
  static func message(_ value: some Encodable) throws -> [UInt8] {
    Array(try JSONEncoder().encode(value)) + [UInt8(ascii: "\n")]
  }
}

/// A pool of idle workers.
final class BatchWorkers: Sendable {
  private let command: [String]
  private let idle = Locked<[BatchWorker]>([])

  init(command: [String]) { self.command = command }

  /// Runs a recording in a worker.
  ///
  /// A worker that has died is replaced when the next one is needed.
  func work(on item: BatchItem) throws -> BatchWorker.Answer {
    let worker = try idle.withLock { $0.popLast() } ?? BatchWorker(command: command)
    let answer = try worker.work(on: item)
    idle.withLock { $0.append(worker) }
    return answer
  }
}

extension Batch {
  /// Runs the recordings that another process requests on standard input, and answers on standard
  /// output, until the other process has ended.
  package func serve() throws {
    BackgroundThread.start {
      // The end of the other process closes the pipe. The current result is not needed then.
      var pipe = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
      while unsafe poll(&pipe, 1, -1) <= 0 {}
      UnfinishedWork.removeAll { _exit(0) }
    }
    var requests = MessagePipe(STDIN_FILENO)
    while let item = try requests.next(BatchItem.self) {
      var answer = BatchWorker.Answer()
      do {
        answer.isKept = try makeResult(of: item)
      } catch {
        answer.error = "\((error as? RecordingError)?.located(in: item.folder) ?? error)"
        answer.isOutputLost = (error as? RecordingError)?.code == .unwritableFile
      }
      let reason = FileDescriptor.write(try MessagePipe.message(answer), to: STDOUT_FILENO)
      // The reader has closed its end of the pipe: the answer is discarded.
      if reason != nil { return }
    }
  }
}
