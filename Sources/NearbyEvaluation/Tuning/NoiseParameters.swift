// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry

/// What the likelihood is maximised over: logarithms, since all are positive.
struct NoiseParameters: Sendable {
  /// The names of the parameters, in their order.
  enum Name: Int, CaseIterable {
    case rangeWhite, rangeWander, rangeOutliers, positionDrift, yawDrift
    case azimuthWhite, azimuthWander, elevationWhite, elevationWander, angleOutliers
  }

  /// The values' logarithms; of shares of outliers, those of the odds.
  var logs: [Double]

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

  /// The white noise and the wandering error of a kind.
  func variances(of kind: MeasurementKind) -> (white: Double, wander: Double) {
    let names: (Name, Name) =
      switch kind {
      case .range, .heightDifference: (.rangeWhite, .rangeWander)
      case .azimuth: (.azimuthWhite, .azimuthWander)
      case .elevation: (.elevationWhite, .elevationWander)
      }
    return (exp(2 * self[names.0]), exp(2 * self[names.1]))
  }

  /// Makes the parameters of some settings.
  init(_ configuration: FusionConfiguration) {
    let ranging = configuration.ranging
    let faults = FaultModel(configuration)
    func odds(_ kind: MeasurementKind) -> Double {
      let share = faults.outlierShare(of: kind)
      return log(share / (1 - share))
    }
    func white(_ kind: MeasurementKind) -> Double {
      log(ranging.whiteShare(of: kind) * ranging.sigma(of: kind))
    }
    func wander(_ kind: MeasurementKind) -> Double {
      let share = ranging.whiteShare(of: kind)
      return log(max(1 - share * share, 0.01).squareRoot() * ranging.sigma(of: kind))
    }
    logs = [
      white(.range), wander(.range), odds(.range),
      log(max(configuration.odometry.positionDrift, Self.leastDrift)),
      log(max(configuration.odometry.yawDriftRadians, Self.leastDrift)),
      white(.azimuth), wander(.azimuth), white(.elevation), wander(.elevation), odds(.azimuth),
    ]
  }

  /// What counts as no drift, in metres and radians per square root of a metre.
  static let leastDrift = 3e-4

  /// The spread of the prior of a logarithm: weak, so that what is not observable stays as stated.
  static func priorSigma(of name: Name) -> Double {
    switch name {
    case .rangeWhite, .positionDrift, .yawDrift: 2
    case .azimuthWhite, .elevationWhite: 1.5
    case .rangeWander, .azimuthWander, .elevationWander: 1.2
    case .rangeOutliers, .angleOutliers: 1.5
    }
  }

  /// The values that the search keeps to.
  static func interval(of name: Name) -> ClosedRange<Double> {
    switch name {
    case .rangeWhite, .rangeWander: log(1e-3)...log(30)
    case .positionDrift, .yawDrift: log(1e-5)...log(3)
    case .azimuthWhite, .elevationWhite, .azimuthWander, .elevationWander: log(1e-4)...log(1.5)
    case .rangeOutliers, .angleOutliers: -7...1.5
    }
  }
}
