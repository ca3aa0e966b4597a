// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry

/// Whether settings found on the beginning of a recording serve an engine on its end.
///
/// The evidence is that of a model. Where the model is wrong, as for an odometry that slips now and then
/// instead of drifting steadily, the most probable settings may be ones with which an engine goes astray.
/// An engine that does predicts the measurements badly, and that shows without the truth: the score of
/// settings is the logarithm of the density of each value of the end, predicted by what came before.
struct HeldOutTest {
  /// Settings that belong together, by the quantities that they come from.
  struct Group {
    var quantities: [TuningResult.Quantity]
    var settings: [WritableKeyPath<FusionConfiguration, Double>]
  }

  /// The groups, in the order in which they are tested.
  static var groups: [Group] {
    [
      Group(quantities: [.yawDrift], settings: [\.odometry.yawDriftRadians]),
      Group(quantities: [.positionDrift], settings: [\.odometry.positionDrift]),
      Group(
        quantities: [.rangeOutliers, .angleOutliers],
        settings: [\.faults.rangeOnset, \.faults.angleOnset]),
      Group(
        quantities: [.rangeSigma, .rangeWhiteShare],
        settings: [\.ranging.rangeSigma, \.ranging.rangeWhiteShare]),
      Group(
        quantities: [.azimuthSigma, .azimuthWhiteShare, .elevationSigma, .elevationWhiteShare],
        settings: [
          \.ranging.azimuthSigmaRadians, \.ranging.azimuthWhiteShare,
          \.ranging.elevationSigmaRadians, \.ranging.elevationWhiteShare,
        ]),
      Group(
        quantities: [.rangeBias, .rangeScale],
        settings: [\.ranging.rangeBiasSigma, \.ranging.rangeScaleSigma]),
    ]
  }

  /// The share of the samples that settings are found on.
  static let beginning = 2.0 / 3

  private let data: TuningData
  private let faults: FaultModel
  private let excess: Double
  private let end: Timestamp

  init(_ data: TuningData) {
    self.data = data
    faults = FaultModel(data.stated)
    excess = faults.rangeExcess(sigma: data.stated.ranging.rangeSigma)
    let times = data.samples.map(\.timestamp).sorted()
    end = times[min(Int(Self.beginning * Double(times.count)), times.count - 1)]
  }

  /// The groups that make the end less probable than it is without them, by more than chance does.
  ///
  /// - Parameter found: The settings that were found on the beginning.
  /// - Returns: Their numbers among ``groups``.
  func harmfulGroups(in found: FusionConfiguration) -> [Int] {
    var harmful: [Int] = []
    var kept = found
    var best = score(of: kept)
    for (index, group) in Self.groups.enumerated() {
      var without = kept
      without.restore(group, from: data.stated)
      guard without != kept else { continue }
      let other = score(of: without)
      guard other > best + TuningResult.contradiction else { continue }
      (kept, best) = (without, other)
      harmful.append(index)
    }
    return harmful
  }

  /// The logarithm of the density of the values of the end.
  private func score(of configuration: FusionConfiguration) -> Double {
    var sum = 0.0
    let replayed = data.replay(configuration) { report in
      guard report.timestamp >= end else { return }
      for kind in MeasurementKind.allCases {
        let (component, outliers) = (report[kind], faults.outlierShare(of: kind))
        if case .absent = component.outcome { continue }
        var density =
          outliers
          * faults.outlierDensity(of: kind, innovation: component.innovation, excess: excess)
        if component.innovationVariance > 0 {
          let square =
            component.innovation * component.innovation / component.innovationVariance
          density +=
            (1 - outliers) * exp(-0.5 * square)
            / (2 * .pi * component.innovationVariance).squareRoot()
        }
        sum += log(density)
      }
    }
    return replayed == nil ? -.infinity : sum
  }
}

extension FusionConfiguration {
  /// Sets a group of settings to what they are in others.
  mutating func restore(_ group: HeldOutTest.Group, from stated: FusionConfiguration) {
    for path in group.settings { self[keyPath: path] = stated[keyPath: path] }
    if group.quantities.contains(where: { $0.isWhiteShare }) {
      ranging.whiteSharesAreKnown = stated.ranging.whiteSharesAreKnown
    }
  }
}

extension TuningResult.Quantity {
  fileprivate var isWhiteShare: Bool {
    switch self {
    case .rangeWhiteShare, .azimuthWhiteShare, .elevationWhiteShare: true
    default: false
    }
  }
}
