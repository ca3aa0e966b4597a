// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyFusion
internal import NearbyGeometry
internal import NearbySmoothing

/// What a ``Tuner`` found.
public struct TuningResult: Sendable {
  /// One quantity.
  public struct Estimate: Hashable, Sendable {
    /// The quantity, and the setting that takes it, if there is one.
    public var quantity: Quantity
    /// The estimate; radians for angles.
    public var value: Double
    /// One standard deviation.
    public var sigma: Double
    /// What was stated.
    public var stated: Double
    /// Whether the recording tells it.
    public var isObservable: Bool
    /// Whether the search has ended at the end of what it allows.
    public var isAtBound = false
  }

  /// The quantities, in their order.
  public enum Quantity: String, Hashable, Sendable, CaseIterable {
    /// The accuracy of a range, white noise and wandering error together, metres.
    case rangeSigma
    /// How much of it is white noise.
    case rangeWhiteShare
    /// The share of outliers among ranges.
    case rangeOutliers
    /// The spread of the constant error of ranges over peers, metres.
    case rangeBias
    /// The scale error of all ranges.
    case rangeScale
    /// The accuracy of an azimuth, radians.
    case azimuthSigma
    /// How much of it is white noise.
    case azimuthWhiteShare
    /// The accuracy of an elevation, radians.
    case elevationSigma
    /// How much of it is white noise.
    case elevationWhiteShare
    /// The share of outliers among angles.
    case angleOutliers
    /// The odometry's drift of position, metres per root metre.
    case positionDrift
    /// The odometry's drift of yaw, radians per root metre.
    case yawDrift
    /// The odometry's steady turn, radians per second.
    case turnRate
    /// The scale error of the odometry's distances.
    case odometryScale
    /// By how much the radio's clock is ahead of the poses', seconds.
    case clockOffset
    /// The antenna's place along the device's axes, metres.
    case antennaX, antennaY, antennaZ
  }

  /// What was found, in order; only what the measurements depend on.
  public var estimates: [Estimate]
  /// Whether device and peers are in one plane.
  public var isPlanar: Bool
  /// The logarithm of the evidence as stated, and as found.
  public var logEvidence: (stated: Double, found: Double)
  /// The settings as stated, with all that is observable set, but for what is ``confirmed`` or ``withheld``.
  public var configuration: FusionConfiguration
  /// The observable quantities whose settings were left as stated because that agrees with what was found: constants
  /// within three sigma of it (of the antenna's three, together), and a drift that is less, as odometries slip now and
  /// then and the next slip is not in the evidence.
  public internal(set) var confirmed: [Quantity] = []
  /// The quantities whose settings were left as stated although what was found differs.
  ///
  /// With what was found for them an engine predicts the end of the recording worse. With all that is set it
  /// predicts the end no worse than with the stated settings.
  public internal(set) var withheld: [Quantity] = []
}

extension TuningResult {
  /// What the curvature of the evidence says about the parameters.
  struct Certainty {
    /// The variances of the parameters' logarithms.
    var variances: [NoiseParameters.Name: Double] = [:]
    /// Of each kind's white share one standard deviation.
    var shareSigmas = PerKind<Double>(repeating: .infinity)
    /// Of parameters that the evidence contradicts as stated, the logarithm next to what is stated that
    /// it does not.
    var limits: [NoiseParameters.Name: Double] = [:]

    /// One standard deviation of a logarithm.
    func sigma(_ name: NoiseParameters.Name) -> Double {
      let variance = variances[name] ?? .infinity
      return variance >= 0 ? variance.squareRoot() : .infinity
    }
  }

  // MARK: What counts as observable

  /// The largest standard deviations: of logarithms of noise and drift, of shares of white noise, of
  /// logarithms of the odds of outliers; of the scale, the clock's offset and the antenna's place.
  private static let mostNoise = 0.4
  private static let mostShare = 0.15
  private static let mostOdds = 0.7
  private static let mostScale = 0.02
  private static let mostOffset = 0.1
  private static let mostAntenna = 0.1
  private static let mostTurnRate = 0.05.degreesAsRadians
  private static let mostOdometryScale = 0.005
  /// Constants that are fewer standard deviations from what is stated are left as stated.
  private static let significantSigmas = 4.0
  /// A loss of evidence from which what is stated is wrong, even if the value is uncertain.
  static let contradiction = 3.0

  init(
    noise: NoiseParameters, certainty: Certainty, findings: NoiseEvidence.Findings,
    logEvidence: (stated: Double, found: Double), isPlanar: Bool, data: TuningData
  ) {
    estimates = []
    self.isPlanar = isPlanar
    self.logEvidence = logEvidence
    configuration = data.stated
    configuration.odometry.isPlanar = isPlanar
    var sharesAreKnown = true
    for kind in MeasurementKind.allCases where data.count(of: kind) >= 20 {
      sharesAreKnown = addNoise(kind, noise, certainty) && sharesAreKnown
      if kind == .range { addRangeErrors(noise, certainty, findings, data) }
    }
    if sharesAreKnown { configuration.ranging.whiteSharesAreKnown = true }
    if data.count(of: .azimuth) + data.count(of: .elevation) >= 20 {
      configuration.faults.angleOnset = addOutliers(
        .angleOutliers, .azimuth, .angleOutliers, noise, certainty, configuration.faults.angleOnset)
    }
    addDrift(noise, certainty)
    addConstants(findings)
  }

  /// Leaves settings as they are stated.
  mutating func withhold(_ group: HeldOutTest.Group, stated: FusionConfiguration) {
    configuration.restore(group, from: stated)
    if group.isPlane { isPlanar = stated.odometry.isPlanar }
    let present = Set(estimates.map(\.quantity)).subtracting(confirmed)
    withheld += group.quantities.filter(present.contains)
  }

  /// Adds accuracy and white share of a kind; whether the share is known.
  private mutating func addNoise(
    _ kind: MeasurementKind, _ noise: NoiseParameters, _ certainty: Certainty
  ) -> Bool {
    let quantities: (Quantity, Quantity)
    let sigmaPath: WritableKeyPath<RangingConfiguration, Double>
    let sharePath: WritableKeyPath<RangingConfiguration, Double>
    switch kind {
    case .range, .heightDifference:
      quantities = (.rangeSigma, .rangeWhiteShare)
      (sigmaPath, sharePath) = (\.rangeSigma, \.rangeWhiteShare)
    case .azimuth:
      quantities = (.azimuthSigma, .azimuthWhiteShare)
      (sigmaPath, sharePath) = (\.azimuthSigmaRadians, \.azimuthWhiteShare)
    case .elevation:
      quantities = (.elevationSigma, .elevationWhiteShare)
      (sigmaPath, sharePath) = (\.elevationSigmaRadians, \.elevationWhiteShare)
    }
    let name = NoiseParameters.Name.sigma(of: kind)
    let sigma = noise.value(name)
    let logSigma = certainty.sigma(name)
    let (share, shareSigma) = (noise.whiteShares[kind], certainty.shareSigmas[kind])
    let isKnown = logSigma < Self.mostNoise
    estimates.append(
      Estimate(
        quantity: quantities.0, value: sigma, sigma: sigma * logSigma,
        stated: configuration.ranging[keyPath: sigmaPath], isObservable: isKnown,
        isAtBound: noise.isAtEnd(name)))
    let isShareKnown = isKnown && shareSigma < Self.mostShare
    estimates.append(
      Estimate(
        quantity: quantities.1, value: share, sigma: shareSigma,
        stated: configuration.ranging[keyPath: sharePath], isObservable: isShareKnown))
    if isKnown { configuration.ranging[keyPath: sigmaPath] = sigma }
    if isShareKnown { configuration.ranging[keyPath: sharePath] = min(max(share, 0.01), 1) }
    return isShareKnown
  }

  /// Adds a share of outliers.
  ///
  /// - Returns: The probability of a fault's onset to which it amounts.
  private mutating func addOutliers(
    _ name: NoiseParameters.Name, _ kind: MeasurementKind, _ quantity: Quantity,
    _ noise: NoiseParameters, _ certainty: Certainty, _ onset: Double
  ) -> Double {
    let faults = FaultModel(configuration)
    let stated = faults.outlierShare(of: kind)
    let share = noise.value(name)
    let logSigma = certainty.sigma(name)
    let isKnown = logSigma < Self.mostOdds
    estimates.append(
      Estimate(
        quantity: quantity, value: share, sigma: share * (1 - share) * logSigma, stated: stated,
        isObservable: isKnown, isAtBound: noise.isAtEnd(name)))
    guard let odds = isKnown ? noise[name] : certainty.limits[name] else { return onset }
    // The onset is proportional to the odds.
    return min(max(onset * exp(odds) / (stated / (1 - stated)), 1e-4), 0.5)
  }

  private mutating func addRangeErrors(
    _ noise: NoiseParameters, _ certainty: Certainty, _ findings: NoiseEvidence.Findings,
    _ data: TuningData
  ) {
    configuration.faults.rangeOnset = addOutliers(
      .rangeOutliers, .range, .rangeOutliers, noise, certainty, configuration.faults.rangeOnset)

    let ranging = data.stated.ranging
    let known = findings.biases.filter { $0.sigma < 0.1 }
    let squares = known.reduce(0) { $0 + $1.value * $1.value }
    // As if two more peers had what is stated.
    let prior = 2 * ranging.rangeBiasSigma * ranging.rangeBiasSigma
    let count = Double(known.count)
    let spread = ((prior + squares) / (2 + count)).squareRoot()
    estimates.append(
      Estimate(
        quantity: .rangeBias, value: spread, sigma: spread / (2 * (2 + count)).squareRoot(),
        stated: ranging.rangeBiasSigma, isObservable: known.count >= 2))
    if known.count >= 2 { configuration.ranging.rangeBiasSigma = spread }

    let (scale, sigma) = (findings.constants.rangeScale, findings.scaleSigma)
    let isKnown = sigma < Self.mostScale
    estimates.append(
      Estimate(
        quantity: .rangeScale, value: scale, sigma: sigma, stated: 0, isObservable: isKnown))
    // The engine's scale error has a prior around zero, which must be wide enough.
    if isKnown, abs(scale) > ranging.rangeScaleSigma {
      configuration.ranging.rangeScaleSigma = min(1, abs(scale))
    }
  }

  private mutating func addDrift(_ noise: NoiseParameters, _ certainty: Certainty) {
    let drifts: [(Quantity, NoiseParameters.Name, WritableKeyPath<OdometryConfiguration, Double>)] =
      [
        (.positionDrift, .positionDrift, \.positionDrift),
        (.yawDrift, .yawDrift, \.yawDriftRadians),
      ]
    for (quantity, name, path) in drifts {
      let value = noise.value(name)
      let logSigma = certainty.sigma(name)
      let isKnown = logSigma < Self.mostNoise
      estimates.append(
        Estimate(
          quantity: quantity, value: value, sigma: value * logSigma,
          stated: configuration.odometry[keyPath: path], isObservable: isKnown,
          isAtBound: noise.isAtEnd(name)))
      let stated = configuration.odometry[keyPath: path]
      if let log = isKnown ? noise[name] : certainty.limits[name] {
        configuration.odometry[keyPath: path] = max(stated, exp(log))
        if isKnown, exp(log) <= stated { confirmed.append(quantity) }
      }
    }
  }

  /// Adds the constants; those that differ significantly from what is stated are set.
  private mutating func addConstants(_ findings: NoiseEvidence.Findings) {
    if let odometry = findings.odometry {
      addOdometryError(
        .turnRate, odometry.turnRate, below: Self.mostTurnRate, \.turnRateSigmaRadians)
      addOdometryError(.odometryScale, odometry.scale, below: Self.mostOdometryScale, \.scaleSigma)
    }
    let constants = findings.constants
    let stated = configuration.ranging
    let clock = Estimate(
      quantity: .clockOffset, value: constants.clockOffset, sigma: findings.clockSigma,
      stated: stated.clockOffset, isObservable: findings.clockSigma < Self.mostOffset)
    estimates.append(clock)
    if clock.sigmasFromStated > Self.significantSigmas {
      configuration.ranging.clockOffset = clock.value
    } else if clock.isObservable {
      confirmed.append(.clockOffset)
    }
    let axes: [(Quantity, WritableKeyPath<Vector3, Double>)] = [
      (.antennaX, \.x), (.antennaY, \.y), (.antennaZ, \.z),
    ]
    var square = 0.0
    for (quantity, path) in axes {
      let sigma = findings.antennaSigmas[keyPath: path]
      let estimate = Estimate(
        quantity: quantity, value: constants.antenna[keyPath: path], sigma: sigma,
        stated: stated.antennaInDevice[keyPath: path], isObservable: sigma < Self.mostAntenna)
      square += estimate.sigmasFromStated * estimate.sigmasFromStated
      estimates.append(estimate)
    }
    guard square > Self.significantSquare else {
      confirmed += estimates.suffix(axes.count).filter(\.isObservable).map(\.quantity)
      return
    }
    for ((_, path), estimate) in zip(axes, estimates.suffix(axes.count)) where estimate.isObservable
    {
      configuration.ranging.antennaInDevice[keyPath: path] = estimate.value
    }
  }

  /// What the sum of three squared standard deviations is beyond with a probability of 0.3 %.
  private static let significantSquare = 14.0

  /// Adds an error of the odometry; where there is one the engine estimates it too.
  private mutating func addOdometryError(
    _ quantity: Quantity, _ found: NoiseEvidence.Constant, below limit: Double,
    _ setting: WritableKeyPath<OdometryConfiguration, Double>
  ) {
    let estimate = Estimate(
      quantity: quantity, value: found.value, sigma: found.sigma, stated: 0,
      isObservable: found.sigma < limit)
    estimates.append(estimate)
    if estimate.sigmasFromStated > Self.significantSigmas {
      configuration.odometry[keyPath: setting] = max(
        configuration.odometry[keyPath: setting], abs(found.value))
    } else if estimate.isObservable {
      confirmed.append(quantity)
    }
  }
}

extension TuningResult.Estimate {
  /// By how many of its standard deviations it differs from what is stated; zero where it is not observable.
  fileprivate var sigmasFromStated: Double {
    isObservable && sigma > 0 ? abs(value - stated) / sigma : 0
  }
}
