// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

/// The result of an engine with the stated settings: the peers' last places, and the correction of the path at each pose.
///
/// The minimisation of an ``ErrorModel`` begins there.
struct EnginePass: Sendable {
  /// Of each peer its place in the map; `nil` of one that the engine has nowhere.
  private(set) var places: [Vector3?]
  /// The peers that the engine finds moved.
  private(set) var moved: Set<Int> = []
  /// Where the odometry's world lies in the map, pose by pose.
  private(set) var mapFromWorld: [RigidTransform] = []

  /// Runs an engine; `nil` for settings that make no sense.
  ///
  /// - Parameters:
  ///   - data: Poses and samples.
  ///   - configuration: The engine's settings.
  init?(_ data: CalibrationData, _ configuration: FusionConfiguration) {
    guard var engine = try? FusionEngine(configuration) else { return nil }
    let peers = data.motions.map { _ in engine.addPeer() }
    let offset = configuration.ranging.clockOffset
    var (next, nextTracking) = (0, 0)
    mapFromWorld.reserveCapacity(data.poses.count)
    var newest = RigidTransform.identity
    for pose in data.poses {
      while nextTracking < data.tracking.count,
        data.tracking[nextTracking].timestamp <= pose.timestamp
      {
        engine.add(data.tracking[nextTracking])
        nextTracking += 1
      }
      engine.add(pose)
      var hasSample = false
      while next < data.samples.count,
        data.samples[next].timestamp.advanced(bySeconds: -offset) <= pose.timestamp
      {
        let report = engine.add(data.samples[next].ranging(of: peers[data.samples[next].peer]))
        if case .peerMoved = report.event { moved.insert(report.peer.index) }
        next += 1
        hasSample = true
      }
      if hasSample, let alignment = engine.mapAlignment { newest = alignment.mapFromWorld }
      mapFromWorld.append(newest)
    }
    places = peers.map { peer in
      guard let mode = engine.hypotheses(of: peer)?.hypotheses.first, mode.positionInWorld.isFinite
      else {
        return nil
      }
      return newest.act(mode.positionInWorld)
    }
  }
}
