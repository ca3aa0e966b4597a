// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// The smoother's result for one peer: `smoothed` in `summary.json`.
///
/// Positions and covariances are in the recording's own world axes, lengths in metres.
public struct SmoothedSummary: Hashable, Sendable, Codable {
  /// A mode of the posterior: one of the possible positions of the peer.
  public struct Mode: Hashable, Sendable, Codable {
    /// Its position.
    public var position: Vector3
    /// The covariance around it, m².
    public var covariance: SymmetricMatrix3
    /// Its probability.
    public var probability: Double

    /// Makes a mode.
    public init(position: Vector3, covariance: SymmetricMatrix3, probability: Double) {
      self.position = position
      self.covariance = covariance
      self.probability = probability
    }
  }

  /// The motion of the peer, as far as the smoother could determine it.
  public var motion: PeerMotion
  /// The position at the end of the recording; `nil` when none of its samples could be used.
  @OrNull public var position: Vector3?
  /// Its covariance, the spread between modes included, m².
  @OrNull public var covariance: SymmetricMatrix3?
  /// The constant error of its ranges, metres.
  public var rangeBias: Double
  /// One standard deviation of it.
  public var rangeBiasSigma: Double
  /// The scale error of its ranges, a ratio.
  public var rangeScale: Double
  /// One standard deviation of it.
  public var rangeScaleSigma: Double
  /// The modes of its position at the end, the most probable first.
  public var modes: [Mode]
  /// The errors; `nil` when the recording does not hold the truth about this peer.
  @OrNull public var errors: ErrorStatistics?

  /// Makes a summary.
  public init(
    motion: PeerMotion, position: Vector3?, covariance: SymmetricMatrix3?, rangeBias: Double,
    rangeBiasSigma: Double, rangeScale: Double, rangeScaleSigma: Double, modes: [Mode],
    errors: ErrorStatistics?
  ) {
    self.motion = motion
    self.position = position
    self.covariance = covariance
    self.rangeBias = rangeBias
    self.rangeBiasSigma = rangeBiasSigma
    self.rangeScale = rangeScale
    self.rangeScaleSigma = rangeScaleSigma
    self.modes = modes
    self.errors = errors
  }

  /// The total standard deviation of the position: the root of the covariance's trace, metres.
  public var positionSigma: Double? { covariance.map { max(0, $0.trace).squareRoot() } }
}
