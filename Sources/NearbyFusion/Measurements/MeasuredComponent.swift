// SPDX-License-Identifier: Apache-2.0
import Foundation
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

  /// One that may be used.
  init(value: Double, sigma: Double) {
    self.value = value
    self.sigma = sigma
  }

  /// Beyond this azimuth, radians, two antennas begin to confuse front and back.
  private static let steepAzimuth = 1.0
  private static let widestAzimuth = 6.0

  /// How much wider than stated the error of an azimuth is that is far from straight ahead or behind.
  ///
  /// Antennas side by side measure the azimuth's sine; its error grows as 1/cos. The stated sigma is
  /// taken to hold as far as the cone of ordinary radios reaches.
  private static func widening(ofAzimuth value: Double) -> Double {
    guard abs(value) > steepAzimuth else { return 1 }
    let flattest = cos(steepAzimuth)
    let cosine = abs(cos(value))
    return cosine < flattest ? min(flattest / max(cosine, 1e-6), widestAzimuth) : 1
  }

  /// Takes a component out of a sample; `nil` when it was not measured.
  ///
  /// A range must be positive and within the radio's reach, an angle in its interval, a sigma a
  /// positive number.
  @inline(__always)
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
    if let stated {
      sigma = stated
    } else if component == .azimuth {
      sigma *= Self.widening(ofAzimuth: value)
    }
    // The intervals end: what is in them is finite.
    if !interval.contains(value) {
      rejection = value.isFinite ? .outOfBounds : .notFinite
    } else if !(sigma > 1e-6 && sigma < 1e6) {
      rejection = .invalidSigma
    }
  }
}

extension RangingConfiguration {
  /// Whether an engine takes a value of a component for what it is, whatever else it knows.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - component: Which component.
  ///   - sigma: Its standard deviation, if the radio states one.
  /// - Returns: Whether it can have been measured.
  package func accepts(_ value: Double, as component: Component, sigma: Double?) -> Bool {
    var sample = RangingSample(peer: PeerID(index: 0), timestamp: Timestamp(nanoseconds: 0))
    switch component {
    case .range: (sample.distance, sample.distanceSigma) = (value, sigma)
    case .azimuth: (sample.azimuthRadians, sample.azimuthSigmaRadians) = (value, sigma)
    case .elevation: (sample.elevationRadians, sample.elevationSigmaRadians) = (value, sigma)
    }
    return MeasuredComponent(component, of: sample, self)?.rejection == nil
  }
}
