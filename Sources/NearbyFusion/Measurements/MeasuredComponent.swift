// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The three components of a sample, in the order of every report and kernel.
package enum Component: Int, CaseIterable, Sendable {
  case range, azimuth, elevation
}

/// A component as measured and as judged before it meets the filter.
package struct MeasuredComponent: Hashable, Sendable {
  package var value: Double
  package var sigma: Double
  package var rejection: ComponentReport.Rejection?

  /// Takes a component out of a sample; `nil` when it was not measured.
  ///
  /// A range must be positive and within the radio's reach, an angle in its interval, a sigma a
  /// positive number.
  package init?(
    _ component: Component, of sample: RangingSample, _ configuration: RangingConfiguration
  ) {
    let measured: Double?
    let stated: Double?
    let interval: ClosedRange<Double>
    switch component {
    case .range:
      measured = sample.distance
      stated = sample.distanceSigma
      interval = Double.leastNormalMagnitude...configuration.maximumRange
      sigma = configuration.rangeSigma
    case .azimuth:
      measured = sample.azimuthRadians
      stated = sample.azimuthSigmaRadians
      // The ends with a hair's breadth: π rounded to six decimals is beyond π.
      interval = (-Double.pi - 1e-5)...(Double.pi + 1e-5)
      sigma = configuration.azimuthSigmaRadians
    case .elevation:
      measured = sample.elevationRadians
      stated = sample.elevationSigmaRadians
      interval = (-Double.pi / 2 - 1e-5)...(Double.pi / 2 + 1e-5)
      sigma = configuration.elevationSigmaRadians
    }
    guard let measured else { return nil }
    value = measured
    if let stated { sigma = stated }
    if !value.isFinite {
      rejection = .notFinite
    } else if !interval.contains(value) {
      rejection = .outOfBounds
    } else if !(sigma > 1e-6 && sigma < 1e6) {
      rejection = .invalidSigma
    }
  }
}
