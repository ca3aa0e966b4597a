// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// An estimator that takes poses and samples in the order in which they come: the engine, or an
/// estimator with an engine inside that keeps more of what it sees.
///
/// What drives one, such as the replay of a recording, drives all of them, and none needs a second pass
/// over the data.
public protocol SequentialEstimator: Sendable {
  /// Adds a peer; samples of it may follow.
  ///
  /// - Parameter motion: How the peer may move.
  /// - Returns: The peer's handle in this estimator.
  mutating func addPeer(_ motion: PeerMotion) -> PeerID

  /// Adds a peer with a name; samples of it may follow.
  ///
  /// - Parameters:
  ///   - motion: How the peer may move.
  ///   - name: What it is called in a ``PeerMap``.
  /// - Returns: The peer's handle in this estimator.
  /// - Throws: When another peer has that name.
  mutating func addPeer(
    _ motion: PeerMotion, named name: String?
  ) throws(FusionConfigurationError) -> PeerID

  /// Extends the device's trajectory.
  ///
  /// - Parameter pose: The pose; its time must be after that of the pose before.
  /// - Returns: What became of it.
  @discardableResult mutating func add(_ pose: DevicePose) -> PoseOutcome

  /// Takes note of the odometry's quality and the light, from the next pose on.
  ///
  /// - Parameter tracking: What the odometry reports.
  mutating func add(_ tracking: TrackingSample)

  /// Adds a ranging sample.
  ///
  /// - Parameter sample: The sample, up to a second late.
  /// - Returns: What became of each of its components.
  @discardableResult mutating func add(_ sample: RangingSample) -> SampleReport

  /// What the engine knows of a peer at a moment, from what has come so far.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - time: The moment, as for ``FusionEngine/estimate(of:at:)``.
  /// - Returns: The estimate, as seen from the device at that moment.
  func estimate(of peer: PeerID, at time: Timestamp) -> PeerEstimate

  /// The places where a peer may be at a moment, the most probable first.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - time: The moment, as for ``FusionEngine/estimate(of:at:)``.
  /// - Returns: The modes of its posterior.
  func modes(of peer: PeerID, at time: Timestamp) -> [PositionMode]

  /// Where the odometry's world lies in the map, as of the newest pose; `nil` before the first joint fit.
  var mapAlignment: MapAlignment? { get }

  /// What the ranges say of the map that was given; `nil` without one.
  var mapVerdict: SurveyVerdict? { get }

  /// Where peers at rest are in the map; `nil` when there is nothing to be kept.
  var peerMap: PeerMap? { get }
}

extension FusionEngine: SequentialEstimator {}
