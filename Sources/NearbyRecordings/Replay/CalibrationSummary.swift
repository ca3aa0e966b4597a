// SPDX-License-Identifier: Apache-2.0

/// What a run does with errors of a recording that the recording itself tells, as the radio's clock.
public enum CalibrationMode: String, Hashable, Sendable, Codable, CaseIterable {
  /// They are not looked for.
  case off
  /// They are reported.
  case report
  /// They are reported and corrected.
  case use
}

/// What a run has found out about the radio: in `summary.json`, when there is something.
public struct CalibrationSummary: Hashable, Sendable, Codable {
  /// By how much the radio's clock differs from that of the poses.
  public var clock: ClockAlignment
  /// Whether the samples were fused at the corrected times.
  public var isUsed: Bool

  /// Makes a summary.
  public init(clock: ClockAlignment, isUsed: Bool) {
    self.clock = clock
    self.isUsed = isUsed
  }
}
