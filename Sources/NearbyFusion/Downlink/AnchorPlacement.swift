// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// The prior of an anchor's place.
public enum AnchorPlacement: Hashable, Sendable {
  /// It is there, exactly: the caller vouches for it.
  case known(Vector3)
  /// It is about there, with one sigma along each axis, metres.
  case uncertain(Vector3, sigma: Double)
  /// It is located together with the device.
  case unknown

  /// The place; `nil` for an anchor that is to be located.
  public var place: Vector3? {
    switch self {
    case .known(let place), .uncertain(let place, _): place
    case .unknown: nil
    }
  }
}

/// How the clocks of anchors err, as lengths: a nanosecond is 0.3 m.
///
/// The error of each anchor's clock against the first anchor's has a constant offset and, when clocks
/// wander, a rate that walks at random.
public struct AnchorClocks: Hashable, Sendable, Codable {
  /// The offset at first, one sigma, metres.
  public var offsetSigma: Double
  /// The rate at first, one sigma, metres per second: 300 m/s are a millionth.
  public var rateSigma: Double
  /// The random walk of the rate: one sigma after a second, metres per second.
  public var rateWalk: Double

  /// Makes a model.
  public init(offsetSigma: Double, rateSigma: Double, rateWalk: Double) {
    self.offsetSigma = offsetSigma
    self.rateSigma = rateSigma
    self.rateWalk = rateWalk
  }

  /// Clocks that the anchors' system keeps together, with the constant errors of the radios.
  ///
  /// The offset is ``RangingConfiguration/rangeBiasSigma``'s default, that of a pair of radios.
  public static let synchronized = AnchorClocks(offsetSigma: 0.15, rateSigma: 0, rateWalk: 0)
  /// Free clocks: within a microsecond and three millionths at first, with rates that wander by a ten
  /// thousand millionth in a second, which is what temperature-compensated oscillators are sold with.
  public static let free = AnchorClocks(offsetSigma: 300, rateSigma: 900, rateWalk: 0.03)

  /// Whether clocks are unknown at each knot.
  var areWandering: Bool { rateSigma > 0 || rateWalk > 0 }

  func validate() throws(FusionConfigurationError) {
    let limits = [
      ("offsetSigma", offsetSigma, 1e6), ("rateSigma", rateSigma, 1e6), ("rateWalk", rateWalk, 1e4),
    ]
    for (name, value, most) in limits where !(0...most).contains(value) {
      throw FusionConfigurationError(
        setting: "clocks.\(name)", problem: "is \(value), must be 0 to \(most)")
    }
  }
}
