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
  /// By how much the radio's clock differs from that of the poses; `nil` when that is not significant.
  public var clock: ClockAlignment?
  /// Whether the samples were fused at the corrected times.
  public var isUsed: Bool
  /// The constant errors of ranges that are beyond what the settings expect.
  public var rangeBiases: [RangeBias]

  /// The constant error of the ranges to a peer.
  public struct RangeBias: Hashable, Sendable, Codable {
    /// The peer's name.
    public var peer: String
    /// By how much its ranges are too long by themselves, whatever the settings expect, metres.
    public var metres: Double
    /// One standard deviation of that, metres.
    public var sigma: Double

    /// Makes one.
    public init(peer: String, metres: Double, sigma: Double) {
      self.peer = peer
      self.metres = metres
      self.sigma = sigma
    }
  }

  /// Makes a summary.
  public init(clock: ClockAlignment?, isUsed: Bool, rangeBiases: [RangeBias] = []) {
    self.clock = clock
    self.isUsed = isUsed
    self.rangeBiases = rangeBiases
  }
}
