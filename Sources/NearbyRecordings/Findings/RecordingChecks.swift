// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The checks of a recording: what `nearby info` and every import say at their end.
///
/// Each group is a pure function of a ``RecordingSurvey``, in a file of its own.
enum RecordingChecks {
  /// The groups, in the order in which their findings are listed.
  static let groups: [@Sendable (RecordingSurvey) -> [RecordingFinding]] = [
    ClockChecks.findings, DistanceChecks.findings, NoiseChecks.findings, AngleChecks.findings,
    MotionChecks.findings, FrameChecks.findings, PoseChecks.findings, PeerChecks.findings,
  ]

  /// All findings about a recording; errors come first, then warnings, then notes.
  static func findings(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let all = groups.flatMap { $0(survey) }
    return [RecordingFinding.Severity.error, .warning, .note].flatMap { severity in
      all.filter { $0.severity == severity }
    }
  }
}

/// Numbers as findings write them.
enum FindingText {
  /// A number with three significant digits at most, and no more than are needed.
  static func number(_ value: Double) -> String {
    guard value.isFinite, value != 0 else { return value == 0 ? "0" : "\(value)" }
    if abs(value) >= 1e5 { return value.significant(digits: 3) }
    let decimals = min(max(2 - Int(log10(abs(value)).rounded(.down)), 0), 6)
    var text = value.fixed(decimals: decimals)
    while text.contains("."), text.hasSuffix("0") || text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// A moment or an offset in seconds, to the millisecond.
  static func seconds(_ value: Double) -> String {
    var text = value.fixed(decimals: 3)
    while text.contains("."), text.hasSuffix("0") || text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// A share in percent; a share above zero is never written as zero.
  static func percent(_ count: Int, of whole: Int) -> String {
    guard whole > 0 else { return "0 %" }
    let percent = 100 * Double(count) / Double(whole)
    return percent < 1 && count > 0 ? "less than 1 %" : "\(Int(percent.rounded())) %"
  }
}
