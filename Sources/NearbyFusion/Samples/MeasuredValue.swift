// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// One measured value with its accuracy, and why it cannot be used, if so.
package struct MeasuredValue: Hashable, Sendable {
  package var value: Double
  /// The accuracy that the radio states, or that is configured: one sigma, all errors together.
  package var sigma: Double
  package var rejection: ComponentReport.Rejection?

  /// One that may be used.
  package init(value: Double, sigma: Double) {
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

  /// Takes the value of a kind out of a sample; `nil` when it was not measured.
  ///
  /// A range must be positive and within the radio's reach, an angle in its interval, a sigma a
  /// positive number.
  @inline(__always)
  package init?(
    _ kind: MeasurementKind, of sample: RangingSample, _ configuration: RangingConfiguration
  ) {
    let (measured, stated) = sample[kind]
    guard let measured else { return nil }
    value = measured
    sigma = stated ?? configuration.sigma(of: kind)
    if stated == nil, kind == .azimuth { sigma *= Self.widening(ofAzimuth: value) }
    // The intervals end: what is in them is finite.
    if !configuration.interval(of: kind).contains(value) {
      rejection = value.isFinite ? .outOfBounds : .notFinite
    } else if !(sigma > 1e-6 && sigma < 1e6) {
      rejection = .invalidSigma
    }
  }
}

extension RangingConfiguration {
  /// Whether an engine accepts a value of a kind, whatever else it knows.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - kind: Its kind.
  ///   - sigma: Its standard deviation, if the radio states one.
  /// - Returns: Whether it can have been measured.
  package func accepts(_ value: Double, as kind: MeasurementKind, sigma: Double?) -> Bool {
    var sample = RangingSample(peer: PeerID(index: 0), timestamp: Timestamp(nanoseconds: 0))
    sample[kind] = (value, sigma)
    return MeasuredValue(kind, of: sample, self)?.rejection == nil
  }
}
