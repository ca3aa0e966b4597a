// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
internal import NearbyGeometry
public import NearbyRecordings

/// What a recording tells of the radio and the odometry that made it, before it is run.
///
/// A quick ``Tuner`` maximises the same evidence with fewer samples and knots. It reads the first 50 000 samples or
/// 200 000 poses. A run takes an estimate where it contradicts the settings: a constant, as the offset of the radio's
/// clock, beyond four standard deviations; an accuracy that differs by 30 %; a drift or a spread of biases that is
/// larger by 30 %. All other settings stay as stated. The drift that a single peer tells must also predict the end of the
/// recording better, as its own motion looks like drift.
public struct RecordingCalibration: Sendable {
  /// The settings as stated, with what is used of the findings.
  public var configuration: FusionConfiguration
  /// The findings.
  public var summary: CalibrationSummary

  /// Calibrates.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - mode: What is done with the findings; with `off` the recording is not read.
  ///   - stated: The settings as they are stated.
  /// - Throws: The first fault of the recording.
  public init(
    _ recording: RecordingReader, _ mode: CalibrationMode, stated: FusionConfiguration
  ) throws {
    self =
      mode == .off
      ? RecordingCalibration(configuration: stated)
      : RecordingCalibration(
        try TuningData(
          recording, stated: stated, mostSamples: Self.mostReadSamples, mostPoses: Self.mostPoses),
        mode)
  }

  private static let mostReadSamples = 50_000
  private static let mostPoses = 200_000

  private init(configuration: FusionConfiguration) {
    self.configuration = configuration
    summary = CalibrationSummary()
  }

  /// Calibrates with what is taken from a recording.
  ///
  /// - Parameters:
  ///   - data: What is taken from it, with the settings as they are stated.
  ///   - mode: What is done with the findings.
  init(_ data: TuningData, _ mode: CalibrationMode) {
    let stated = data.stated
    configuration = stated
    summary = CalibrationSummary()
    guard var result = Tuner(data, effort: .calibration).tune() else { return }
    // An accuracy whose estimate is degenerate is held, and the rest is estimated again.
    let degenerate = result.degenerateAccuracies
    let isRangeHeld = degenerate.contains(.range)
    if !degenerate.isEmpty {
      let tuner = Tuner(
        data, effort: isRangeHeld ? .quickWithManyKnots : .calibration, holding: degenerate)
      guard let other = tuner.tune() else { return }
      result = other
    }
    var contradicting = result.contradicting(stated)
    let test = HeldOutTest(data, mostSamples: Self.mostTestedSamples, silences: [])
    // Of a single peer drift cannot be told from a motion of its own.
    if data.motions.count == 1 {
      let steady = contradicting.configuration.restoring(HeldOutTest.driftGroups, from: stated)
      if steady != contradicting.configuration,
        test.score(of: contradicting.configuration).next < test.score(of: steady).next
      {
        contradicting.withhold(HeldOutTest.driftGroups, stated)
      }
    }
    let noisier = contradicting.configuration.restoring(HeldOutTest.constantGroups, from: stated)
    contradicting.withhold(
      isRangeHeld
        ? HeldOutTest.constantGroups
        : test.unsupportedGroups(in: contradicting.configuration, over: noisier), stated)
    if mode == .use { configuration = contradicting.configuration }
    summary.findings = result.estimates.compactMap { estimate in
      let isSignificant = contradicting.quantities.contains(estimate.quantity)
      guard isSignificant || (estimate.isObservable && estimate.quantity.isConstant) else {
        return nil
      }
      return CalibrationSummary.Finding(
        quantity: estimate.quantity.rawValue, value: estimate.value, sigma: estimate.sigma,
        stated: estimate.stated, isSignificant: isSignificant,
        isUsed: isSignificant && mode == .use)
    }
  }
}

extension RecordingCalibration {
  /// The largest number of samples on which the findings are tested.
  private static let mostTestedSamples = 6000
}

extension HeldOutTest {
  /// The groups of clock and antenna.
  ///
  /// They are tested on the end of the recording: a wrong constant shifts estimates and does not widen them.
  fileprivate static var constantGroups: [Int] {
    groups.indices.filter {
      groups[$0].quantities.contains { $0 == .clockOffset || $0 == .antennaX }
    }
  }
}

extension HeldOutTest {
  /// The groups of the odometry's drift.
  fileprivate static var driftGroups: [Int] {
    groups.indices.filter {
      groups[$0].quantities.contains { $0 == .positionDrift || $0 == .yawDrift }
    }
  }
}

extension FusionConfiguration {
  /// The same with some groups as they are stated.
  fileprivate func restoring(
    _ groups: [Int], from stated: FusionConfiguration
  ) -> FusionConfiguration {
    var configuration = self
    for group in groups {
      configuration.restore(HeldOutTest.groups[group], from: stated)
    }
    return configuration
  }
}

/// The settings as stated but for those that what was found contradicts, and the quantities that they are.
private struct Contradiction {
  var configuration: FusionConfiguration
  var quantities: Set<TuningResult.Quantity>

  /// Leaves groups as they are stated.
  mutating func withhold(_ groups: [Int], _ stated: FusionConfiguration) {
    for group in groups.map({ HeldOutTest.groups[$0] }) {
      configuration.restore(group, from: stated)
      quantities.subtract(group.quantities)
    }
  }
}

extension TuningResult {
  /// The settings that what was found contradicts.
  fileprivate func contradicting(_ stated: FusionConfiguration) -> Contradiction {
    var kept = configuration
    kept.ranging.whiteSharesAreKnown = stated.ranging.whiteSharesAreKnown
    var quantities: Set<Quantity> = []
    for group in HeldOutTest.groups {
      // A group has a setting for each of its quantities.
      let contradicted = zip(group.quantities, group.settings).filter {
        contradicts(kept, stated, $0.1)
      }
      quantities.formUnion(contradicted.map(\.0))
      if contradicted.isEmpty { kept.restore(group, from: stated) }
    }
    return Contradiction(configuration: kept, quantities: quantities)
  }

  /// The factor by which noise or drift must differ.
  static let contradictingFactor = 1.3

  private func contradicts(
    _ found: FusionConfiguration, _ stated: FusionConfiguration,
    _ setting: WritableKeyPath<FusionConfiguration, Double>
  ) -> Bool {
    let (found, stated) = (found[keyPath: setting], stated[keyPath: setting])
    // Constants were set only where they are significant.
    if Self.constants.contains(setting) { return found != stated }
    guard !hasHeavyTails else { return false }
    if Self.accuracies.contains(setting) {
      return found > Self.contradictingFactor * stated || found < stated / Self.contradictingFactor
    }
    return Self.drifts.contains(setting) && found > Self.contradictingFactor * stated
  }

  /// Whether more than 30 % of the ranges are outliers: some of them pass for inliers then, and look like
  /// noise or drift.
  private var hasHeavyTails: Bool {
    estimates.contains { $0.quantity == .rangeOutliers && $0.value > Self.mostOutliers }
  }

  private static let mostOutliers = 0.3

  private static var constants: [PartialKeyPath<FusionConfiguration>] {
    [
      \.ranging.clockOffset, \.ranging.antennaInDevice.x, \.ranging.antennaInDevice.y,
      \.ranging.antennaInDevice.z, \.ranging.rangeScaleSigma, \.odometry.turnRateSigmaRadians,
      \.odometry.scaleSigma,
    ]
  }
  private static var accuracies: [PartialKeyPath<FusionConfiguration>] {
    [
      \.ranging.rangeSigma, \.ranging.azimuthSigmaRadians, \.ranging.elevationSigmaRadians,
    ]
  }
  /// Settings that are only raised.
  ///
  /// Odometries slip now and then. A drift that is smaller than stated holds only until the next slip, which the
  /// evidence does not know.
  private static var drifts: [PartialKeyPath<FusionConfiguration>] {
    [
      \.ranging.rangeBiasSigma, \.odometry.positionDrift, \.odometry.yawDriftRadians,
    ]
  }

  /// The kinds whose accuracy is far better than stated, as in a mode in which drift explains all noise.
  fileprivate var degenerateAccuracies: Set<MeasurementKind> {
    let accuracies: [(Quantity, MeasurementKind)] = [
      (.rangeSigma, .range), (.azimuthSigma, .azimuth), (.elevationSigma, .elevation),
    ]
    return Set(
      accuracies.compactMap { quantity, kind in
        let isDegenerate = estimates.contains {
          $0.quantity == quantity && $0.value < Self.leastAccuracy * $0.stated
        }
        return isDegenerate ? kind : nil
      })
  }

  private static let leastAccuracy = 0.15
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
