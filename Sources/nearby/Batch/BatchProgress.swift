// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyBatch

/// The progress of a batch: a changing line on a terminal, occasional lines in a log.
final class BatchProgress {
  private let line: ProgressLine
  private let writesLog: Bool
  private let recordings: Int
  private let bytes: Int
  private let start = ContinuousClock.now
  private var nextEntry = Duration.seconds(10)

  init(_ items: [BatchItem], isQuiet: Bool) {
    line = ProgressLine(isQuiet: isQuiet)
    writesLog = !isQuiet && isatty(STDERR_FILENO) != 1
    recordings = items.count
    bytes = max(1, items.reduce(0) { $0 + $1.bytes })
  }

  /// Updates the progress after a recording.
  func update(_ progress: Batch.Progress) {
    let elapsed = start.duration(to: .now)
    let fraction = Double(progress.bytes) / Double(bytes)
    let what = Self.what(progress, of: recordings, seconds: elapsed.inSeconds)
    line.update(fraction: fraction, what: what)
    guard writesLog, elapsed >= nextEntry else { return }
    nextEntry = elapsed + .seconds(10)
    let text = ProgressLine.text(fraction: fraction, what: what, seconds: elapsed.inSeconds)
    Diagnostics.note(text)
  }

  func finish() { line.finish() }

  /// Counts and the rate.
  ///
  /// Kept results took no time and do not count for the rate.
  static func what(_ progress: Batch.Progress, of recordings: Int, seconds: Double) -> String {
    let rate = Double(progress.recordings - progress.kept) / max(seconds, 1e-3)
    var text = "\(progress.recordings) of \(recordings) recordings"
    if progress.kept > 0 { text += ", \(progress.kept) kept" }
    if progress.failed > 0 { text += ", \(progress.failed) failed" }
    return text + "  \(rate.text(decimals: rate < 10 ? 1 : 0))/s"
  }
}
