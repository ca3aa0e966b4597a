// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A line with the progress of a run, shown only on a terminal.
///
/// It appears after half a second, so that short runs stay silent, and disappears at the end.
final class ProgressLine {
  private let isEnabled: Bool
  private let start = ContinuousClock.now
  private var nextUpdate = Duration.milliseconds(500)
  private var isVisible = false

  /// Makes a line.
  ///
  /// - Parameter isQuiet: Whether the line is never shown.
  init(isQuiet: Bool) {
    isEnabled = !isQuiet && isatty(STDERR_FILENO) == 1
  }

  /// Shows the progress of the run, at most ten times a second.
  func update(fraction: Double, samples: Int) {
    update { Self.text(fraction: fraction, samples: samples, seconds: $0) }
  }

  /// Shows the progress and the current activity, at most ten times a second.
  func update(fraction: Double, what: String) {
    update { Self.text(fraction: fraction, what: what, seconds: $0) }
  }

  private func update(_ text: (_ seconds: Double) -> String) {
    guard isEnabled else { return }
    let elapsed = start.duration(to: .now)
    guard elapsed >= nextUpdate else { return }
    nextUpdate = elapsed + .milliseconds(100)
    isVisible = true
    Diagnostics.write("\r\u{1B}[K" + text(elapsed.inSeconds))
  }

  /// Removes the line.
  func finish() {
    if isVisible { Diagnostics.write("\r\u{1B}[K") }
    isVisible = false
  }

  /// The text of the line.
  static func text(fraction: Double, samples: Int, seconds: Double) -> String {
    let rate = Int((Double(samples) / max(seconds, 1e-3)).rounded())
    return text(fraction: fraction, what: "\(rate) samples/s", seconds: seconds)
  }

  /// The text of the line.
  static func text(fraction: Double, what: String, seconds: Double) -> String {
    let percent = Int((min(1, max(0, fraction)) * 100).rounded(.down))
    var text = "\(percent) %  \(what)"
    if fraction > 0.01 {
      text += "  \(Int((seconds * (1 - fraction) / fraction).rounded(.up))) s left"
    }
    return text
  }
}

extension Duration {
  /// The duration in seconds.
  var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }
}
