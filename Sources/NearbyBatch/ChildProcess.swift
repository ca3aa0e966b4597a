// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc
internal import NearbyRecordings

/// A program that runs beside this one, and is ended when this one is told to end.
///
/// It has a process group of its own, so that Ctrl-C reaches this process alone.
package final class ChildProcess: Sendable {
  /// What its standard input, output or errors are.
  package enum Stream: Sendable {
    /// That of this process.
    case inherited
    /// Nothing.
    case none
    /// A descriptor of this process.
    case descriptor(CInt)
    /// A new file.
    case file(String)
  }

  /// How it ended.
  package enum End: Sendable, Equatable {
    /// By itself, with a status.
    case exit(status: CInt)
    /// By a signal.
    case signal(CInt)
  }

  /// The system did not start it.
  package struct Failure: Error {
    /// The system's reason.
    package let reason: String
  }

  /// Held while a process starts, and while pipes are made that it must not inherit.
  fileprivate static let starts = Locked(())
  /// Its number.
  private let identifier: pid_t
  private let end = Locked<End?>(nil)

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - command: The program's path and its arguments.
  ///   - folder: The folder in which it runs; that of this process when `nil`.
  ///   - environment: Its environment; that of this process when `nil`.
  ///   - input: Its standard input.
  ///   - output: Its standard output.
  ///   - errors: Its standard errors.
  /// - Throws: ``Failure`` when it cannot be started.
  package init(
    _ command: [String], in folder: String? = nil, environment: [String: String]? = nil,
    input: Stream = .none, output: Stream = .inherited, errors: Stream = .inherited
  ) throws(Failure) {
    var command = command
    if let folder {
      // The call that lets the system change to the folder is missing before version 2.29 of its library.
      let change = #"cd -- "$1" && shift && exec "$@""#
      command.insert(contentsOf: ["/bin/sh", "-c", change, "sh", folder], at: 0)
    }
    let environment = environment ?? ProcessInfo.processInfo.environment
    identifier = try UnfinishedWork.startProcess { () throws(Failure) in
      var actions = unsafe posix_spawn_file_actions_t()
      unsafe posix_spawn_file_actions_init(&actions)
      defer { unsafe posix_spawn_file_actions_destroy(&actions) }
      for (stream, number) in zip([input, output, errors], CInt(0)...) {
        unsafe stream.open(as: number, &actions)
      }
      return try unsafe Self.spawn(command, environment, actions)
    }
  }

  /// Waits until it has ended.
  ///
  /// - Returns: How it ended.
  @discardableResult
  package func wait() -> End {
    end.withLock { end in
      if let end { return end }
      var status: CInt = 0
      var waited: pid_t
      repeat { waited = unsafe waitpid(identifier, &status, 0) } while waited < 0 && errno == EINTR
      UnfinishedWork.remove(process: identifier)
      // Where another thread has waited for it, this process is being ended, and so was the child.
      let result = waited == identifier ? End(status) : .signal(SIGTERM)
      end = result
      return result
    }
  }

  private static func spawn(
    _ command: [String], _ environment: [String: String], _ actions: posix_spawn_file_actions_t
  ) throws(Failure) -> pid_t {
    var (identifier, actions) = unsafe (pid_t(0), actions)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    let arguments = CTexts(command)
    let variables = CTexts(environment.map { "\($0)=\($1)" })
    let status = starts.withLock { _ in
      unsafe posix_spawn(
        &identifier, command[0], &actions, &attributes, arguments.pointers, variables.pointers)
    }
    guard status == 0 else { throw Failure(reason: unsafe String(cString: strerror(status))) }
    return identifier
  }
}

extension ChildProcess.Stream {
  /// Adds what the child does at its start to have it as the descriptor of a number.
  fileprivate func open(as number: CInt, _ actions: inout posix_spawn_file_actions_t) {
    switch self {
    case .inherited: break
    case .none: unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
    case .descriptor(let own): unsafe posix_spawn_file_actions_adddup2(&actions, own, number)
    case .file(let path):
      unsafe posix_spawn_file_actions_addopen(
        &actions, number, path, O_WRONLY | O_CREAT | O_TRUNC, 0o666)
    }
  }
}

extension ChildProcess.End {
  /// In words, after "it ended".
  package var words: String {
    switch self {
    case .exit(let status): "with status \(status)"
    case .signal(let number): "by signal \(number) (\(unsafe String(cString: strsignal(number))))"
    }
  }

  /// From the status that the system gives.
  fileprivate init(_ status: CInt) {
    let number = status & 0x7F
    self = number == 0 ? .exit(status: status >> 8 & 0xFF) : .signal(number)
  }
}

/// Texts as C takes them: an array of pointers that ends with none.
@safe
private final class CTexts {
  let pointers: [UnsafeMutablePointer<CChar>?]

  init(_ texts: [String]) { unsafe pointers = texts.map { unsafe strdup($0) } + [nil] }

  deinit { unsafe pointers.forEach { unsafe free($0) } }
}

/// The two ends of a pipe, which child processes do not inherit.
struct PipeEnds {
  let reading: CInt
  let writing: CInt

  init() throws(ChildProcess.Failure) {
    var ends: (CInt, CInt) = (-1, -1)
    let isMade = ChildProcess.starts.withLock { _ in
      let status = unsafe withUnsafeMutableBytes(of: &ends) {
        unsafe pipe($0.baseAddress?.assumingMemoryBound(to: CInt.self))
      }
      for end in [ends.0, ends.1] where status == 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      return status == 0
    }
    guard isMade else {
      throw ChildProcess.Failure(reason: unsafe String(cString: strerror(errno)))
    }
    (reading, writing) = ends
  }
}
