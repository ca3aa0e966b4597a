// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// One of the places where a peer may be.
///
/// The posterior of a peer whose samples fit several places has a mode at each of them; its mean is then in
/// none. A ring of places around the device has many modes, a mirrored place has two.
public struct PositionMode: Hashable, Sendable, Codable {
  /// The probability that the peer is there, 0 to 1.
  public var probability: Double
  /// The mean of the peer's position, in the odometry's world, metres.
  public var positionInWorld: Vector3
  /// Its covariance, m².
  public var covarianceInWorld: SymmetricMatrix3

  /// Makes a mode.
  public init(probability: Double, positionInWorld: Vector3, covarianceInWorld: SymmetricMatrix3) {
    self.probability = probability
    self.positionInWorld = positionInWorld
    self.covarianceInWorld = covarianceInWorld
  }

  /// The bearing of the place relative to the device's heading, as ``PeerEstimate/horizontalAngleRadians`` has it.
  ///
  /// - Parameter worldFromDevice: The device's pose in the odometry's world.
  /// - Returns: Radians about gravity, positive to the right, (-π, π].
  public func horizontalAngleRadians(from worldFromDevice: RigidTransform) -> Double {
    Heading(worldFromDevice.rotation).bearing(of: positionInWorld - worldFromDevice.translation)
  }
}

extension PositionMode {
  /// Groups hypotheses into modes, the most probable first.
  ///
  /// Two equal Gaussians have one peak as long as their means are within two standard deviations of each other,
  /// so a hypothesis joins the first mode whose heaviest hypothesis is that near: `Δᵀ (P₁ + P₂)⁻¹ Δ < 2`.
  /// Moments are matched, `P = Σ wᵢ (Pᵢ + Δᵢ Δᵢᵀ)`. Hypotheses that together have less than 0.1 % are left out.
  ///
  /// Cost: the product of the numbers of hypotheses and of modes.
  ///
  /// - Parameter hypotheses: The hypotheses, in any order.
  /// - Returns: The modes; their probabilities add up to one.
  static func grouping(_ hypotheses: [PositionMode]) -> [PositionMode] {
    var groups: [[PositionMode]] = []
    var left = hypotheses.reduce(0) { $0 + $1.probability }
    let least = negligible * left
    for hypothesis in hypotheses.sorted(by: { $0.probability > $1.probability }) {
      guard left > least else { break }
      left -= hypothesis.probability
      if let near = groups.firstIndex(where: { $0[0].isSamePeak(as: hypothesis) }) {
        groups[near].append(hypothesis)
      } else {
        groups.append([hypothesis])
      }
    }
    let modes = groups.map(PositionMode.init(matching:)).sorted { $0.probability > $1.probability }
    let total = modes.reduce(0) { $0 + $1.probability }
    return modes.map {
      PositionMode(
        probability: $0.probability / total, positionInWorld: $0.positionInWorld,
        covarianceInWorld: $0.covarianceInWorld)
    }
  }

  private static let negligible = 1e-3
  /// The squared Mahalanobis distance of two equal Gaussians at which their sum has two peaks.
  private static let squaredPeakDistance = 2.0
  /// Keeps the covariances of a plane invertible, m².
  private static let floor = SymmetricMatrix3(xx: 1e-6, xy: 0, xz: 0, yy: 1e-6, yz: 0, zz: 1e-6)

  private func isSamePeak(as other: PositionMode) -> Bool {
    let away = other.positionInWorld - positionInWorld
    guard
      let information = (covarianceInWorld + other.covarianceInWorld + Self.floor)
        .positiveDefiniteInverse
    else { return away.dot(away) == 0 }
    return information.quadraticForm(away) < Self.squaredPeakDistance
  }

  /// The Gaussian with the moments of some.
  private init(matching parts: [PositionMode]) {
    let total = parts.reduce(0) { $0 + $1.probability }
    let mean = parts.reduce(Vector3.zero) { $0 + ($1.probability / total) * $1.positionInWorld }
    let covariance = parts.reduce(SymmetricMatrix3.zero) { sum, part in
      let share = part.probability / total
      return sum + share * part.covarianceInWorld
        + SymmetricMatrix3(outer: part.positionInWorld - mean, scale: share)
    }
    self.init(probability: total, positionInWorld: mean, covarianceInWorld: covariance)
  }
}
