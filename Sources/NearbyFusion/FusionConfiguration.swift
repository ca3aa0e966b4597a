// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// Everything that can be set about an engine.
///
/// The defaults serve a hand-held phone without a file. Units are metres, radians and seconds; frames are the engine's (y up, ARKit device axes).
public struct FusionConfiguration: Hashable, Sendable, Codable {
  /// The device and its radio.
  public var ranging = RangingConfiguration()
  /// The odometry.
  public var odometry = OdometryConfiguration()
  /// How peers move that may.
  public var motion = MotionConfiguration()
  /// Radio faults.
  public var faults = FaultConfiguration()
  /// The bank of hypotheses.
  public var hypotheses = HypothesisConfiguration()
  /// When the algorithm calls itself converged.
  public var convergence = ConvergenceConfiguration()
  /// When each output is published.
  public var outputs = OutputConfiguration()
  /// The engine's parts; not written to files.
  package var features = EngineFeatures.all

  /// Makes a configuration of defaults.
  public init() {}

  private enum CodingKeys: String, CodingKey {
    case ranging, odometry, motion, faults, hypotheses, convergence, outputs
  }
}

/// The radio: where its antenna is, how well it measures.
public struct RangingConfiguration: Hashable, Sendable, Codable {
  /// The antenna's phase centre in device axes, metres: wrong by 5 cm, ranges are wrong by as much.
  public var antennaInDevice = Vector3.zero
  /// The full cone in which angles are measured, radians.
  public var fieldOfViewRadians = 120.0.degreesAsRadians
  /// The accuracy of a range: one sigma, white noise and wandering error together, metres.
  public var rangeSigma = 0.10
  /// The accuracy of an azimuth: one sigma, white noise and wandering error together, radians.
  public var azimuthSigmaRadians = 3.5.degreesAsRadians
  /// The accuracy of an elevation, likewise, radians.
  public var elevationSigmaRadians = 5.0.degreesAsRadians
  /// The white noise of a height difference: one sigma, metres.
  public var heightDifferenceSigma = 0.10
  /// The offset of height differences, as of two barometers: a Gauss-Markov process of one sigma,
  /// metres.
  public var heightOffsetSigma = 0.5
  /// The correlation time of that offset, seconds.
  public var heightOffsetSeconds = 600.0
  /// How much of ``rangeSigma`` is white noise, 0 to 1; the rest wanders with the pose and with time.
  public var rangeWhiteShare = 0.9
  /// How much of ``azimuthSigmaRadians`` is white noise; the rest depends on the pose.
  public var azimuthWhiteShare = 0.9
  /// How much of ``elevationSigmaRadians`` is white noise; the rest depends on the pose.
  public var elevationWhiteShare = 0.9
  /// Whether the white shares are those of the very radio, from a calibration.
  ///
  /// If not, they are where the engine starts to learn them, and it holds back at first: what is taken
  /// for white and is not makes an estimate over-confident. It then converges later than it could.
  public var whiteSharesAreKnown = false
  /// The prior of the constant error of a pair of radios, one sigma, metres.
  public var rangeBiasSigma = 0.15
  /// The prior of the scale error of ranges, one sigma, a ratio.
  public var rangeScaleSigma = 0.03
  /// By how much the radio's clock is ahead of that of the poses, seconds: an engine takes a sample for one of
  /// its time less this.
  public var clockOffset = 0.0
  /// Ranges beyond this are no measurements, metres.
  public var maximumRange = 1000.0
  /// Samples older than the newest one by more than this are left out, seconds.
  public var maximumLateness = 1.0

  /// Makes a configuration of defaults.
  public init() {}
}

/// The odometry: how its world drifts.
public struct OdometryConfiguration: Hashable, Sendable, Codable {
  /// Drift of position: metres of one-sigma random walk per square root of a metre travelled.
  public var positionDrift = 0.01
  /// Drift of yaw: radians of one-sigma random walk per square root of a metre travelled.
  public var yawDriftRadians = 0.3.degreesAsRadians
  /// The constant error of the rate of yaw, as of a gyroscope's bias, one sigma, radians per second.
  ///
  /// The joint fit estimates the error together with the peers at rest, and takes it for 0.02 °/s at least; so does
  /// the smoother where turn or scale have a value above zero.
  public var turnRateSigmaRadians = 0.0
  /// The constant scale error of distances travelled, one sigma, a ratio.
  ///
  /// A camera guesses scale to a few per cent; wheels and lasers measure it.
  public var scaleSigma = 0.03
  /// Whether the world is two-dimensional: device and peers in one horizontal plane.
  public var isPlanar = false
  /// The longest gap between two poses in which a pose is interpolated, seconds.
  public var maximumPoseGap = 2.0
  /// How far beyond the newest pose a pose is extrapolated, seconds.
  public var maximumExtrapolation = 0.1

  /// Makes a configuration of defaults.
  public init() {}
}

/// How a peer moves that may: ``PeerMotion/moving`` and ``PeerMotion/unknown``.
///
/// Its velocity is an Ornstein-Uhlenbeck process, `v̇ = -v/τ + w`: it stays about the same for τ and
/// forgets itself then, so that a peer unheard of strays as people do and not to infinity. A peer of
/// unknown motion passes between rest and this as a Markov chain in time.
public struct MotionConfiguration: Hashable, Sendable, Codable {
  /// The speed along each horizontal axis while moving, one sigma, m/s: too small lags behind, too
  /// large takes noise for motion.
  public var horizontalSpeedSigma = 0.9
  /// The speed along gravity while moving, one sigma, m/s.
  public var verticalSpeedSigma = 0.25
  /// How long a velocity lasts, seconds.
  public var velocitySeconds = 4.0
  /// How long a peer of unknown motion stays at rest, on average, seconds.
  public var restingSeconds = 120.0
  /// How long a peer of unknown motion keeps moving, on average, seconds.
  public var movingSeconds = 5.0

  /// Makes a configuration of defaults.
  public init() {}
}

/// Radio faults: how often they begin, how long they last, what they look like.
///
/// Each kind of measurement is in one of two states, inlier or fault, and passes between them as a
/// Markov chain (Gilbert and Elliott), so that a burst counts as one surprise and not as many.
public struct FaultConfiguration: Hashable, Sendable, Codable {
  /// The probability that a range turns faulty from one sample to the next.
  public var rangeOnset = 0.03
  /// The probability that an angle turns faulty from one sample to the next.
  public var angleOnset = 0.03
  /// The probability that a height difference turns faulty from one sample to the next.
  public var heightOnset = 0.01
  /// How long a fault lasts on average, seconds.
  public var lastingSeconds = 1.0
  /// The mean excess of a range without line of sight, metres.
  public var rangeExcess = 1.5
  /// How long every component must be faulty before the estimate is doubted, seconds.
  public var doubtAfter = 1.0

  /// Makes a configuration of defaults.
  public init() {}
}

/// The bank of hypotheses: where the peer might be while that is ambiguous.
public struct HypothesisConfiguration: Hashable, Sendable, Codable {
  /// At most so many hypotheses for a peer, 8 to 96.
  public var maximumCount = 96
  /// Hypotheses below this share, and below half of an even one, are dropped: too large loses mirror
  /// images, too small costs time.
  public var pruningWeight = 1e-6
  /// Two hypotheses are merged when that loses less than this, in nats of Runnalls' bound.
  public var mergingLoss = 0.05

  /// Makes a configuration of defaults.
  public init() {}
}

/// When the algorithm calls itself converged.
public struct ConvergenceConfiguration: Hashable, Sendable, Codable {
  /// The position's total standard deviation that is always good enough, metres.
  public var sigmaFloor = 0.35
  /// The total standard deviation that is good enough, as a ratio to the distance.
  public var sigmaPerDistance = 0.07
  /// The share that one mode must hold.
  public var dominantModeWeight = 0.99
  /// Convergence is lost at this multiple of the standard deviation that gained it.
  public var lossFactor = 1.5
  /// Less parallax than this counts as hardly any movement, radians.
  public var movementParallaxRadians = 0.15
  /// A scene below this is dark, lumens.
  public var darkBelowLumens = 100.0

  /// Makes a configuration of defaults.
  public init() {}

  /// The largest total standard deviation with which a position converges, metres.
  ///
  /// - Parameter distance: The distance from the device to the peer, metres.
  /// - Returns: The limit, metres.
  @inline(__always)
  package func requiredSigma(at distance: Double) -> Double {
    max(sigmaFloor, sigmaPerDistance * distance)
  }
}

/// When each output is published.
public struct OutputConfiguration: Hashable, Sendable, Codable {
  /// The distance's largest standard deviation, as a ratio to the distance.
  public var distanceSigmaPerDistance = 0.15
  /// A distance's standard deviation that is always good enough, metres.
  public var distanceSigmaFloor = 0.5
  /// The horizontal angle's largest standard deviation, radians.
  public var horizontalAngleSigmaRadians = 15.0.degreesAsRadians
  /// The direction's largest standard deviation, radians.
  public var directionSigmaRadians = 12.0.degreesAsRadians
  /// Height differences within this are the same level, metres.
  public var sameLevelWithin = 0.6
  /// The probability that a vertical direction must hold to be published.
  public var verticalProbability = 0.8
  /// How much of that probability a published vertical direction may lose before it is withdrawn.
  public var verticalHysteresis = 0.1

  /// Makes a configuration of defaults.
  public init() {}
}

/// A setting that makes no sense, and which.
public struct FusionConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The setting's path, such as `ranging.rangeSigma`.
  public var setting: String
  /// What is wrong with it and what it may be.
  public var problem: String

  /// Both in one line.
  public var description: String { "\(setting): \(problem)" }
}

extension FusionConfiguration {
  /// A setting that is a number, and the interval in which it must be.
  package struct Limit: Sendable {
    /// The setting's path, such as `ranging.rangeSigma`.
    package let setting: String
    /// The same as a key path.
    package let path: any WritableKeyPath<FusionConfiguration, Double> & Sendable
    /// What it may be, both ends included.
    package let interval: ClosedRange<Double>

    fileprivate init(
      _ setting: String, _ path: any WritableKeyPath<FusionConfiguration, Double> & Sendable,
      _ interval: ClosedRange<Double>
    ) {
      self.setting = setting
      self.path = path
      self.interval = interval
    }
  }

  /// The intervals of all settings that are numbers, but for the antenna's place and
  /// ``HypothesisConfiguration/maximumCount``.
  package static let limits = [
    Limit("ranging.fieldOfViewRadians", \.ranging.fieldOfViewRadians, 0.01...(2 * .pi)),
    Limit("ranging.rangeSigma", \.ranging.rangeSigma, 1e-4...1e3),
    Limit("ranging.azimuthSigmaRadians", \.ranging.azimuthSigmaRadians, 1e-5...Double.pi),
    Limit("ranging.elevationSigmaRadians", \.ranging.elevationSigmaRadians, 1e-5...Double.pi),
    Limit("ranging.heightDifferenceSigma", \.ranging.heightDifferenceSigma, 1e-4...1e3),
    Limit("ranging.heightOffsetSigma", \.ranging.heightOffsetSigma, 0...1e3),
    Limit("ranging.heightOffsetSeconds", \.ranging.heightOffsetSeconds, 1...1e6),
    Limit("ranging.rangeWhiteShare", \.ranging.rangeWhiteShare, 0.01...1),
    Limit("ranging.azimuthWhiteShare", \.ranging.azimuthWhiteShare, 0.01...1),
    Limit("ranging.elevationWhiteShare", \.ranging.elevationWhiteShare, 0.01...1),
    Limit("ranging.rangeBiasSigma", \.ranging.rangeBiasSigma, 0...1e3),
    Limit("ranging.rangeScaleSigma", \.ranging.rangeScaleSigma, 0...1),
    Limit("ranging.clockOffset", \.ranging.clockOffset, -4.6e9...4.6e9),
    Limit("ranging.maximumRange", \.ranging.maximumRange, 0.1...1e6),
    Limit("ranging.maximumLateness", \.ranging.maximumLateness, 0...60),
    Limit("odometry.positionDrift", \.odometry.positionDrift, 0...10),
    Limit("odometry.yawDriftRadians", \.odometry.yawDriftRadians, 0...Double.pi),
    Limit(
      "odometry.turnRateSigmaRadians", \.odometry.turnRateSigmaRadians, 0...Double.pi),
    Limit("odometry.scaleSigma", \.odometry.scaleSigma, 0...1),
    Limit("odometry.maximumPoseGap", \.odometry.maximumPoseGap, 0.001...3600),
    Limit("odometry.maximumExtrapolation", \.odometry.maximumExtrapolation, 0...10),
    Limit("motion.horizontalSpeedSigma", \.motion.horizontalSpeedSigma, 1e-3...100),
    Limit("motion.verticalSpeedSigma", \.motion.verticalSpeedSigma, 0...100),
    Limit("motion.velocitySeconds", \.motion.velocitySeconds, 0.01...1e4),
    Limit("motion.restingSeconds", \.motion.restingSeconds, 0.1...1e6),
    Limit("motion.movingSeconds", \.motion.movingSeconds, 0.1...1e6),
    Limit("faults.rangeOnset", \.faults.rangeOnset, 1e-6...0.5),
    Limit("faults.angleOnset", \.faults.angleOnset, 1e-6...0.5),
    Limit("faults.heightOnset", \.faults.heightOnset, 1e-6...0.5),
    Limit("faults.lastingSeconds", \.faults.lastingSeconds, 0.01...1e3),
    Limit("faults.rangeExcess", \.faults.rangeExcess, 0.01...1e3),
    Limit("faults.doubtAfter", \.faults.doubtAfter, 0.05...60),
    Limit("hypotheses.pruningWeight", \.hypotheses.pruningWeight, 1e-12...1e-2),
    Limit("hypotheses.mergingLoss", \.hypotheses.mergingLoss, 0...1),
    Limit("convergence.sigmaFloor", \.convergence.sigmaFloor, 1e-3...1e3),
    Limit("convergence.sigmaPerDistance", \.convergence.sigmaPerDistance, 0...1),
    Limit("convergence.dominantModeWeight", \.convergence.dominantModeWeight, 0.5...1),
    Limit("convergence.lossFactor", \.convergence.lossFactor, 1...10),
    Limit(
      "convergence.movementParallaxRadians", \.convergence.movementParallaxRadians, 0...Double.pi),
    Limit("convergence.darkBelowLumens", \.convergence.darkBelowLumens, 0...1e6),
    Limit("outputs.distanceSigmaPerDistance", \.outputs.distanceSigmaPerDistance, 0...10),
    Limit("outputs.distanceSigmaFloor", \.outputs.distanceSigmaFloor, 0...1e3),
    Limit(
      "outputs.horizontalAngleSigmaRadians", \.outputs.horizontalAngleSigmaRadians, 0...Double.pi),
    Limit("outputs.directionSigmaRadians", \.outputs.directionSigmaRadians, 0...Double.pi),
    Limit("outputs.sameLevelWithin", \.outputs.sameLevelWithin, 0...1e3),
    Limit("outputs.verticalProbability", \.outputs.verticalProbability, 0.5...1),
    Limit("outputs.verticalHysteresis", \.outputs.verticalHysteresis, 0...0.4),
  ]

  /// How many hypotheses there may be for a peer.
  package static let hypothesisCounts = 8...96

  /// Checks every setting.
  ///
  /// - Throws: The first setting that is outside its interval.
  public func validate() throws(FusionConfigurationError) {
    try require(ranging.antennaInDevice.isFinite, "ranging.antennaInDevice", "must be finite")
    try require(
      ranging.antennaInDevice.length < 10, "ranging.antennaInDevice", "must be below 10 m")
    for limit in Self.limits {
      let value = self[keyPath: limit.path]
      try require(
        limit.interval.contains(value), limit.setting,
        "is \(value), must be \(limit.interval.lowerBound) to \(limit.interval.upperBound)")
    }
    let counts = Self.hypothesisCounts
    try require(
      counts.contains(hypotheses.maximumCount), "hypotheses.maximumCount",
      "must be \(counts.lowerBound) to \(counts.upperBound)")
  }

  private func require(
    _ condition: Bool, _ setting: String, _ problem: @autoclosure () -> String
  ) throws(FusionConfigurationError) {
    if !condition { throw FusionConfigurationError(setting: setting, problem: problem()) }
  }
}
