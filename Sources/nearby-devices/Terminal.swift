// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The terminal, full screen, key by key.
final class Terminal {
  private var before = termios()

  init() {
    tcgetattr(STDIN_FILENO, &before)
    var raw = before
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
    tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    _ = fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK)
    write("\u{1B}[?1049h\u{1B}[?25l")
  }

  /// The next key that was pressed, if any.
  func key() -> Character? {
    var byte: UInt8 = 0
    return read(STDIN_FILENO, &byte, 1) == 1 ? Character(UnicodeScalar(byte)) : nil
  }

  /// Shows lines in place of those before.
  func show(_ lines: [String]) {
    write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K\r\n" }.joined() + "\u{1B}[J")
  }

  /// Restores the terminal.
  func restore() {
    write("\u{1B}[?25h\u{1B}[?1049l")
    restoreInput()
  }

  private func restoreInput() {
    tcsetattr(STDIN_FILENO, TCSANOW, &before)
    _ = fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) & ~O_NONBLOCK)
  }

  private func write(_ text: String) {
    guard let error = Output.write(text) else { return }
    restoreInput()
    Output.fail(error)
  }
}
