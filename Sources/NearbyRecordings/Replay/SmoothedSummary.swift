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
    public var positionInWorld: Vector3
    /// The covariance around it, m².
    public var covarianceInWorld: SymmetricMatrix3
    /// Its probability.
    public var probability: Double

    enum CodingKeys: String, CodingKey {
      case positionInWorld = "position"
      case covarianceInWorld = "covariance"
      case probability
    }

    /// Makes a mode.
    public init(positionInWorld: Vector3, covarianceInWorld: SymmetricMatrix3, probability: Double)
    {
      self.positionInWorld = positionInWorld
      self.covarianceInWorld = covarianceInWorld
      self.probability = probability
    }
  }

  /// The motion of the peer, as far as the smoother could determine it.
  public var motion: PeerMotion
  /// The position at the end of the recording; `nil` when none of its samples could be used.
  @OrNull public var positionInWorld: Vector3?
  /// Its covariance, the spread between modes included, m².
  @OrNull public var covarianceInWorld: SymmetricMatrix3?
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

  enum CodingKeys: String, CodingKey {
    case motion
    case positionInWorld = "position"
    case covarianceInWorld = "covariance"
    case rangeBias, rangeBiasSigma, rangeScale, rangeScaleSigma, modes, errors
  }

  /// Makes a summary.
  public init(
    motion: PeerMotion, positionInWorld: Vector3?, covarianceInWorld: SymmetricMatrix3?,
    rangeBias: Double,
    rangeBiasSigma: Double, rangeScale: Double, rangeScaleSigma: Double, modes: [Mode],
    errors: ErrorStatistics?
  ) {
    self.motion = motion
    self.positionInWorld = positionInWorld
    self.covarianceInWorld = covarianceInWorld
    self.rangeBias = rangeBias
    self.rangeBiasSigma = rangeBiasSigma
    self.rangeScale = rangeScale
    self.rangeScaleSigma = rangeScaleSigma
    self.modes = modes
    self.errors = errors
  }

  /// The total standard deviation of the position: the root of the covariance's trace, metres.
  public var positionSigma: Double? {
    covarianceInWorld.map { max(0, $0.trace).squareRoot() }
  }
}
