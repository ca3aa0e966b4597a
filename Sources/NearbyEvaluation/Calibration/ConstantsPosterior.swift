// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry
internal import NearbyRecordings

/// The constants of an ``ErrorModel`` with their sigmas, and which of them contradict what is stated.
struct ConstantsPosterior {
  typealias Quantity = TuningResult.Quantity

  /// One quantity.
  struct Estimate {
    var quantity: Quantity
    var value: Double
    var sigma: Double
    var stated: Double
    /// The logarithm of the odds against what is stated.
    var logOdds: Double
    /// Whether the difference matters.
    var matters = true
    /// Sets the settings; `nil` where the engine finds it by itself.
    var set: ((inout FusionConfiguration) -> Void)?

    var isSignificant: Bool { matters && logOdds > log(RecordingCalibration.leastOdds) }
  }

  private(set) var estimates: [Estimate] = []
  /// Errors of ranges that no setting describes.
  private var lastingErrors: [CalibrationSummary.Finding] = []

  init(_ explanation: Explanation) {
    let model = explanation.model
    let stated = model.stated
    for kind in model.kinds {
      let (quantity, path) = Self.accuracy(of: kind)
      // An accuracy is that of all errors together. It contradicts no smaller white noise, and the engine's own model
      // adds the errors of ranges that last to a larger one.
      let noise = model.sizes.noise[kind]
      let lasting = kind == .range ? model.sizes.lastingRangeError : 0
      let all = (noise * noise + lasting * lasting).squareRoot()
      let sigma = max(noise, min(all, stated.ranging[keyPath: path]))
      add(
        quantity, sigma, stated.ranging[keyPath: path], degrees: model.degrees.noise[kind],
        // Errors of angles are alike over directions, which residuals along one walk do not show.
        isOnlyRaised: kind.isAngle
      ) { $0.ranging[keyPath: path] = sigma }
    }
    let sizes = model.sizes
    let least = Self.leastLastingShare * sizes.noise.range
    addLasting("rangePlaceError", sizes.ranges.place, above: least)
    addLasting("rangeDirectionError", sizes.ranges.direction, above: least)
    addLasting("rangeCommonDrift", sizes.ranges.common, above: Self.leastCommonDrift)
    addBiases(model)
    addDrift(model)
    addConstants(explanation)
  }

  /// Lasting errors below this share of the white noise are not worth a word, nor is a common drift of less, m/√min.
  private static let leastLastingShare = 0.5
  private static let leastCommonDrift = 0.1

  private mutating func addLasting(_ quantity: String, _ value: Double, above least: Double) {
    guard value > least else { return }
    lastingErrors.append(
      CalibrationSummary.Finding(
        quantity: quantity, value: value, sigma: 0, stated: 0, isSignificant: true, isUsed: false))
  }

  /// Adds the spread of the constant errors of ranges over peers, of those that are known.
  private mutating func addBiases(_ model: ErrorModel) {
    let known = model.rangeBiases.filter { $0.sigma < Self.mostBiasSigma }
    guard model.kinds.contains(.range), known.count > 1 else { return }
    let stated = model.stated.ranging.rangeBiasSigma
    let squares = known.reduce(0) { $0 + $1.mean * $1.mean }
    let count = Double(known.count)
    let spread = ((Self.statedBiases * stated * stated + squares) / (Self.statedBiases + count))
      .squareRoot()
    add(.rangeBias, spread, stated, degrees: count, isOnlyRaised: true) {
      $0.ranging.rangeBiasSigma = spread
    }
  }

  /// Only biases that are known better are looked at, metres.
  private static let mostBiasSigma = 0.1
  /// The weight of the stated spread, as a number of peers.
  private static let statedBiases = 2.0

  /// Whether a model's drift contradicts what is stated.
  static func claimsDrift(_ model: ErrorModel) -> Bool {
    var posterior = ConstantsPosterior()
    posterior.addDrift(model)
    return posterior.estimates.contains(where: \.isSignificant)
  }

  private init() {}

  private mutating func addDrift(_ model: ErrorModel) {
    let drifts: [(Quantity, WritableKeyPath<OdometryConfiguration, Double>, Double, Double)] = [
      (.positionDrift, \.positionDrift, model.sizes.drift, model.degrees.drift),
      (.yawDrift, \.yawDriftRadians, model.sizes.yawDrift, model.degrees.yawDrift),
    ]
    for (quantity, path, found, degrees) in drifts {
      let stated = model.stated.odometry[keyPath: path]
      guard stated > 0 else { continue }
      let drift = min(found, Self.decade * stated)
      add(quantity, drift, stated, degrees: degrees, isOnlyRaised: true) {
        $0.odometry[keyPath: path] = drift
      }
    }
  }

  /// Drift is raised to ten times what is stated at most.
  ///
  /// Noise beyond that is not trusted: ranges that are mostly faults look like it.
  static let decade = 10.0

  private static func accuracy(
    of kind: MeasurementKind
  ) -> (Quantity, WritableKeyPath<RangingConfiguration, Double>) {
    switch kind {
    case .range, .heightDifference: (.rangeSigma, \.rangeSigma)
    case .azimuth: (.azimuthSigma, \.azimuthSigmaRadians)
    case .elevation: (.elevationSigma, \.elevationSigmaRadians)
    }
  }

  /// Adds the size of an error.
  ///
  /// With n degrees of freedom and r the ratio of the variances found and stated, the likelihood ratio is
  /// `n/2 (r - 1 - log r)`.
  private mutating func add(
    _ quantity: Quantity, _ value: Double, _ stated: Double, degrees: Double, isOnlyRaised: Bool,
    set: @escaping (inout FusionConfiguration) -> Void
  ) {
    let ratio = value * value / (stated * stated)
    let factor = value / stated
    let matters =
      factor > RecordingCalibration.leastFactor
      || !isOnlyRaised && factor < 1 / RecordingCalibration.leastFactor
    estimates.append(
      Estimate(
        quantity: quantity, value: value, sigma: value / (2 * max(degrees, 0.5)).squareRoot(),
        stated: stated, logOdds: 0.5 * degrees * (ratio - 1 - log(ratio)), matters: matters,
        set: set
      ))
  }

  /// Adds the constants.
  ///
  /// Clock, turn and scale are taken only where ranges have no lasting errors: a clock that steps looks like one that is late.
  private mutating func addConstants(_ explanation: Explanation) {
    let model = explanation.model
    let ranging = model.stated.ranging
    if model.kinds.contains(.range) {
      // The engine has the scale of an odometry with a camera among its unknowns.
      let scale = model.scale
      let size = abs(scale.mean)
      estimates.append(
        Estimate(
          quantity: .rangeScale, value: scale.mean, sigma: scale.sigma, stated: 0,
          logOdds: scale.logOdds(against: 0),
          matters: lastingErrors.isEmpty
            && (explanation.isVisual || size > ranging.rangeScaleSigma),
          set: explanation.isVisual
            ? nil : { $0.ranging.rangeScaleSigma = max($0.ranging.rangeScaleSigma, size) }))
    }
    if let turn = model.turnRate {
      estimates.append(
        Estimate(
          quantity: .turnRate, value: turn.mean, sigma: turn.sigma, stated: 0,
          logOdds: turn.logOdds(against: 0), matters: lastingErrors.isEmpty
        ) {
          $0.odometry.turnRateSigmaRadians = max($0.odometry.turnRateSigmaRadians, abs(turn.mean))
        })
    }
    let clock = model.clockOffset
    estimates.append(
      Estimate(
        quantity: .clockOffset, value: clock.mean, sigma: clock.sigma, stated: ranging.clockOffset,
        logOdds: clock.logOdds(against: ranging.clockOffset), matters: lastingErrors.isEmpty
      ) { $0.ranging.clockOffset = clock.mean })
    let antenna = model.antenna
    let axes: [(Quantity, WritableKeyPath<Vector3, Double>)] = [
      (.antennaX, \.x), (.antennaY, \.y), (.antennaZ, \.z),
    ]
    for (index, (quantity, path)) in axes.enumerated() {
      let value = antenna.mean[keyPath: path]
      estimates.append(
        Estimate(
          quantity: quantity, value: value, sigma: antenna.sigmas[index],
          stated: ranging.antennaInDevice[keyPath: path], logOdds: antenna.logOdds
        ) { $0.ranging.antennaInDevice[keyPath: path] = value })
    }
  }

  /// Whether anything that is stated is contradicted.
  var isAnySignificant: Bool { estimates.contains(where: \.isSignificant) }

  /// Replaces what is contradicted.
  func apply(to configuration: inout FusionConfiguration) {
    for estimate in estimates where estimate.isSignificant { estimate.set?(&configuration) }
  }

  /// What is told: all constants, and the sizes of errors that are contradicted.
  ///
  /// - Parameters:
  ///   - areTrusted: Whether the model may be believed; without that nothing counts as significant.
  ///   - areUsed: Whether the run goes by them.
  /// - Returns: The findings.
  func findings(areTrusted: Bool, areUsed: Bool) -> [CalibrationSummary.Finding] {
    estimates.compactMap { estimate in
      let isSignificant = estimate.isSignificant && areTrusted
      guard isSignificant || estimate.quantity.isConstant else { return nil }
      return CalibrationSummary.Finding(
        quantity: estimate.quantity.rawValue, value: estimate.value, sigma: estimate.sigma,
        stated: estimate.stated, isSignificant: isSignificant,
        isUsed: isSignificant && areUsed && estimate.set != nil)
    } + lastingErrors
  }
}

extension TuningResult.Quantity {
  /// Whether it is a constant of the radio or the odometry, and no noise.
  var isConstant: Bool {
    switch self {
    case .rangeScale, .turnRate, .odometryScale, .clockOffset, .antennaX, .antennaY, .antennaZ: true
    default: false
    }
  }
}
