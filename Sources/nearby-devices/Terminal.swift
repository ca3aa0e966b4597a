// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The terminal, full screen, key by key.
///
/// The signals that stop or end a program are blocked and waited for (``wait(_:)``), so that the
/// terminal is restored outside of a signal's handler.
final class Terminal {
  /// A key of the keyboard.
  enum Key: Equatable {
    case character(Character)
    case up, down, left, right, pageUp, pageDown
  }

  /// What the system asks of the program.
  enum Request: Equatable {
    /// To end, as by this signal.
    case end(Int32)
    /// To stop until it is continued.
    case stop
    /// To show everything again, since it was continued.
    case redraw
  }

  private static let watched = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT]

  private var before = termios()
  private var unread: [UInt8] = []

  /// Takes the terminal; `nil` unless both standard input and output are one.
  ///
  /// It must be made before there are other threads, which take over the blocked signals.
  init?() {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { return nil }
    var signals = Self.watchedSignals
    sigprocmask(SIG_BLOCK, &signals, nil)
    tcgetattr(STDIN_FILENO, &before)
    take()
  }

  private static var watchedSignals: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in watched { sigaddset(&signals, signal) }
    return signals
  }

  /// Switches to the second screen and to single keys.
  func take() {
    var raw = before
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    // A read returns at once, with nothing if no key was pressed.
    withUnsafeMutableBytes(of: &raw.c_cc) { bytes in
      bytes[Int(VMIN)] = 0
      bytes[Int(VTIME)] = 0
    }
    tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    write("\u{1B}[?1049h\u{1B}[?25l")
  }

  /// Restores the terminal.
  func restore() {
    write("\u{1B}[?25h\u{1B}[?1049l")
    tcsetattr(STDIN_FILENO, TCSANOW, &before)
  }

  /// Rows and columns.
  var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0
    else { return (24, 80) }
    return (Int(size.ws_row), Int(size.ws_col))
  }

  /// The next key that was pressed, if any.
  func key() -> Key? {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(STDIN_FILENO, &buffer, buffer.count)
    if count > 0 { unread += buffer[..<count] }
    guard let first = unread.first else { return nil }
    let sequences: [(String, Key)] = [
      ("[A", .up), ("[B", .down), ("[C", .right), ("[D", .left), ("OA", .up), ("OB", .down),
      ("OC", .right), ("OD", .left), ("[5~", .pageUp), ("[6~", .pageDown),
    ]
    if first == 0x1B {
      for (sequence, key) in sequences where unread.dropFirst().starts(with: sequence.utf8) {
        unread.removeFirst(1 + sequence.utf8.count)
        return key
      }
    }
    unread.removeFirst()
    return .character(Character(UnicodeScalar(first)))
  }

  /// Waits for a moment, or until the system asks for something.
  func wait(_ seconds: TimeInterval) -> Request? {
    var signals = Self.watchedSignals
    let nanoseconds = max(0, min(seconds, 1)) * 1e9
    var time = timespec(tv_sec: 0, tv_nsec: min(999_999_999, Int(nanoseconds)))
    switch sigtimedwait(&signals, nil, &time) {
    case SIGTSTP: return .stop
    case SIGCONT: return .redraw
    case let signal where signal > 0: return .end(signal)
    default: return nil
    }
  }

  /// Gives the terminal back, stops the program, and takes the terminal again once it is continued.
  func stop() {
    restore()
    // Unlike SIGTSTP it is not ignored where no shell waits for the program.
    kill(getpid(), SIGSTOP)
    take()
  }

  /// Gives the terminal back and ends the program as the signal would have.
  func end(by number: Int32) -> Never {
    restore()
    signal(number, SIG_DFL)
    var signals = Self.watchedSignals
    sigprocmask(SIG_UNBLOCK, &signals, nil)
    raise(number)
    exit(128 + number)
  }

  /// Shows lines in place of those before.
  func show(_ lines: [String]) {
    write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
  }

  private func write(_ text: String) {
    guard let error = Output.write(text) else { return }
    tcsetattr(STDIN_FILENO, TCSANOW, &before)
    Output.fail(error)
  }
}
