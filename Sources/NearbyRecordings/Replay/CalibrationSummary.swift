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

/// What a run has found out about the radio and the odometry: in `summary.json`, when there is something.
public struct CalibrationSummary: Hashable, Sendable, Codable {
  /// What the recording tells: all constants, and the noise that contradicts what is stated.
  public var findings: [Finding]
  /// The constant errors of ranges that are beyond what the settings expect.
  public var rangeBiases: [RangeBias]

  /// What is measured of peers and fits no place at rest, nor any error that is known.
  public var misfits: [Misfit]?

  /// Ranges to a peer that contradict every model.
  public struct Misfit: Hashable, Sendable, Codable {
    /// The peer's name.
    public var peer: String
    /// By how much its ranges are off, root mean square, metres.
    public var metres: Double
    /// Along how much of the walk, metres.
    public var along: Double

    /// Makes one.
    public init(peer: String, metres: Double, along: Double) {
      self.peer = peer
      self.metres = metres
      self.along = along
    }
  }

  /// One quantity.
  public struct Finding: Hashable, Sendable, Codable {
    /// What it is, such as `clockOffset`: the quantities of `nearby tune`.
    public var quantity: String
    /// Its value, in metres, seconds, radians or as a ratio.
    public var value: Double
    /// One standard deviation of it.
    public var sigma: Double
    /// What was stated.
    public var stated: Double
    /// Whether it contradicts what was stated.
    public var isSignificant: Bool
    /// Whether the run went by it.
    public var isUsed: Bool

    /// Makes one.
    public init(
      quantity: String, value: Double, sigma: Double, stated: Double, isSignificant: Bool,
      isUsed: Bool
    ) {
      self.quantity = quantity
      self.value = value
      self.sigma = sigma
      self.stated = stated
      self.isSignificant = isSignificant
      self.isUsed = isUsed
    }
  }

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
  public init(findings: [Finding] = [], rangeBiases: [RangeBias] = []) {
    self.findings = findings
    self.rangeBiases = rangeBiases
  }
}
