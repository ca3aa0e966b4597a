// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry

/// What the evidence is maximised over, as logarithms, since all are positive; and the shares of white
/// noise, which the evidence does not tell (`ResidualSeries`).
struct NoiseParameters: Sendable {
  /// The names of the parameters, in their order.
  enum Name: Int, CaseIterable {
    case rangeSigma, rangeOutliers, positionDrift, yawDrift
    case azimuthSigma, elevationSigma, angleOutliers

    /// The accuracy of a kind, all errors together.
    static func sigma(of kind: MeasurementKind) -> Name {
      switch kind {
      case .range, .heightDifference: .rangeSigma
      case .azimuth: .azimuthSigma
      case .elevation: .elevationSigma
      }
    }
  }

  /// The values' logarithms; of shares of outliers, those of the odds.
  private var logs: [Double]
  /// The share of white noise in the standard deviation of each kind.
  var whiteShares: PerKind<Double>

  subscript(name: Name) -> Double {
    get { logs[name.rawValue] }
    set { logs[name.rawValue] = newValue }
  }

  /// A value, not its logarithm.
  func value(_ name: Name) -> Double {
    switch name {
    case .rangeOutliers, .angleOutliers: 1 / (1 + exp(-self[name]))
    default: exp(self[name])
    }
  }

  /// Makes the parameters of some settings.
  init(_ configuration: FusionConfiguration) {
    let ranging = configuration.ranging
    let faults = FaultModel(configuration)
    func odds(_ kind: MeasurementKind) -> Double {
      let share = faults.outlierShare(of: kind)
      return log(share / (1 - share))
    }
    logs = [
      log(ranging.rangeSigma), odds(.range),
      log(max(configuration.odometry.positionDrift, Self.leastDrift)),
      log(max(configuration.odometry.yawDriftRadians, Self.leastDrift)),
      log(ranging.azimuthSigmaRadians), log(ranging.elevationSigmaRadians), odds(.azimuth),
    ]
    whiteShares = PerKind { ranging.whiteShare(of: $0) }
  }

  /// The settings with these parameters in place of their own.
  func configuration(_ stated: FusionConfiguration) -> FusionConfiguration {
    var configuration = stated
    configuration.ranging.rangeSigma = value(.rangeSigma)
    configuration.ranging.rangeWhiteShare = whiteShares[.range]
    configuration.ranging.azimuthSigmaRadians = value(.azimuthSigma)
    configuration.ranging.azimuthWhiteShare = whiteShares[.azimuth]
    configuration.ranging.elevationSigmaRadians = value(.elevationSigma)
    configuration.ranging.elevationWhiteShare = whiteShares[.elevation]
    configuration.odometry.positionDrift = value(.positionDrift)
    configuration.odometry.yawDriftRadians = value(.yawDrift)
    let faults = FaultModel(stated)
    configuration.faults.rangeOnset = onset(
      stated.faults.rangeOnset, value(.rangeOutliers), faults.outlierShare(of: .range))
    configuration.faults.angleOnset = onset(
      stated.faults.angleOnset, value(.angleOutliers), faults.outlierShare(of: .azimuth))
    return configuration
  }

  /// The probability of a fault's onset for a share of outliers, of which the odds are proportional to it.
  private func onset(_ stated: Double, _ share: Double, _ statedShare: Double) -> Double {
    stated * share / (1 - share) / (statedShare / (1 - statedShare))
  }

  /// What counts as no drift, in metres and radians per square root of a metre.
  static let leastDrift = 3e-4

  /// The spread of the prior of a logarithm: weak, so that what is not observable stays as stated.
  static func priorSigma(of name: Name) -> Double {
    switch name {
    case .rangeSigma, .positionDrift, .yawDrift: 2
    case .azimuthSigma, .elevationSigma, .rangeOutliers, .angleOutliers: 1.5
    }
  }

  /// The values that the search keeps to.
  static func interval(of name: Name) -> ClosedRange<Double> {
    switch name {
    case .rangeSigma: log(1e-3)...log(30)
    case .positionDrift, .yawDrift: log(1e-5)...log(3)
    case .azimuthSigma, .elevationSigma: log(1e-4)...log(1.5)
    case .rangeOutliers, .angleOutliers: -7...1.5
    }
  }

  /// Whether a value is at the end of its interval, where the evidence has no maximum.
  func isAtEnd(_ name: Name) -> Bool {
    let interval = Self.interval(of: name)
    return self[name] - interval.lowerBound < Self.endWidth
      || interval.upperBound - self[name] < Self.endWidth
  }

  private static let endWidth = 0.1
}
