// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// A quantity that is published only when it is known well enough.
@frozen
public struct Estimated<Value: Sendable & Hashable>: Hashable, Sendable {
  /// The value; `nil` when it is not known well enough.
  public var value: Value?
  /// One standard deviation, in the value's unit (radians for directions); infinite when unknown.
  public var sigma: Double
  /// Why there is no value; `nil` when there is one.
  public var unavailability: Unavailability?

  /// Makes a quantity.
  @inlinable
  public init(value: Value?, sigma: Double, unavailability: Unavailability?) {
    self.value = value
    self.sigma = sigma
    self.unavailability = unavailability
  }

  /// A quantity of which nothing is known.
  @inlinable
  @inline(__always)
  public static var noData: Estimated {
    Estimated(value: nil, sigma: .infinity, unavailability: .noData)
  }
}

/// Why a quantity has no value.
public enum Unavailability: String, Hashable, Sendable, Codable {
  /// No sample has come for the peer, or no pose for the device.
  case noData
  /// The posterior is too wide.
  case tooUncertain
  /// The algorithm has not converged.
  case notConverged
  /// The peer's handle is one of another engine.
  case unknownPeer
}

/// Whether the peer is above or below, from the posterior of `height of peer - height of device`.
///
/// Apple publishes no thresholds; those of ``OutputConfiguration`` are ours.
public enum VerticalDirectionEstimate: String, Hashable, Sendable, Codable, CaseIterable {
  /// Not known.
  case unknown
  /// On the device's level.
  case same
  /// Above it.
  case above
  /// Below it.
  case below
  /// Not on its level, but on which side is not known: the mirror that ranges alone leave.
  case aboveOrBelow
}

/// What the engine says of one peer at one moment, as seen from the device at that moment.
public struct PeerEstimate: Hashable, Sendable, Codable {
  /// The peer.
  public var peer: PeerID
  /// The moment for which it holds.
  public var timestamp: Timestamp
  /// Whether the algorithm has converged, or what stands in the way.
  public var convergence: Convergence
  /// How far each sweep has got.
  public var progress: ConvergenceProgress
  /// Metres from the device to the peer.
  public var distance: Estimated<Double>
  /// The unit vector from the device to the peer, in device axes.
  public var direction: Estimated<Vector3>
  /// The peer's bearing about gravity relative to the device's heading, positive to the right.
  public var horizontalAngleRadians: Estimated<Double>
  /// Whether the peer is above or below.
  public var verticalDirection: VerticalDirectionEstimate
  /// The peer's height minus the device's, metres: what lies behind ``verticalDirection``.
  public var heightDifference: Estimated<Double>
  /// The peer's place in the odometry's world as it is now.
  ///
  /// The rotation is the identity: no radio measures the peer's attitude.
  public var worldTransform: Estimated<RigidTransform>
  /// The posterior mean of the peer's position in the odometry's world, metres.
  ///
  /// `nil` before the first sample; afterwards published whatever the convergence, so read it with
  /// ``covarianceInWorld``.
  public var positionInWorld: Vector3?
  /// The posterior covariance of the position, the spread between hypotheses included, m².
  public var covarianceInWorld: SymmetricMatrix3
  /// How many hypotheses are alive.
  public var hypothesisCount: Int
  /// Whether the hypotheses are still fitted anew to all that has been seen.
  ///
  /// Once they are not, one is left, and a sample costs one filter update and no allocation.
  public var isSearching: Bool

  /// Makes an estimate, of which nothing is known that is not given.
  @inline(__always)
  public init(
    peer: PeerID, timestamp: Timestamp, convergence: Convergence = .unknown,
    progress: ConvergenceProgress = .none, distance: Estimated<Double> = .noData,
    direction: Estimated<Vector3> = .noData, horizontalAngleRadians: Estimated<Double> = .noData,
    verticalDirection: VerticalDirectionEstimate = .unknown,
    heightDifference: Estimated<Double> = .noData,
    worldTransform: Estimated<RigidTransform> = .noData, positionInWorld: Vector3? = nil,
    covarianceInWorld: SymmetricMatrix3 = .zero, hypothesisCount: Int = 0,
    isSearching: Bool = false
  ) {
    self.peer = peer
    self.timestamp = timestamp
    self.convergence = convergence
    self.progress = progress
    self.distance = distance
    self.direction = direction
    self.horizontalAngleRadians = horizontalAngleRadians
    self.verticalDirection = verticalDirection
    self.heightDifference = heightDifference
    self.worldTransform = worldTransform
    self.positionInWorld = positionInWorld
    self.covarianceInWorld = covarianceInWorld
    self.hypothesisCount = hypothesisCount
    self.isSearching = isSearching
  }
}
