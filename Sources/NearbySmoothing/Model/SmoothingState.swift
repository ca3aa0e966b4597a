// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// All unknowns at one point: where the device was in a world that does not drift, and where the peers.
struct SmoothingState: Sendable {
  /// The device at each knot: its place, and the yaw by which the odometry's world is turned.
  var devices: [KnotCorrection]
  /// What does not change about each peer.
  var peers: [PeerParameters]
  /// For each knot each moving peer in turn.
  var motions: [Kinematics]
  /// The constants of the device that are unknown, in the order of the chain's border.
  var constants: [Double] = []
  /// For each knot the error that all ranges share and then that by place of each peer, metres; none where they are not
  /// unknown.
  var rangeErrors: [Double] = []
}

/// The device in the fixed world at one knot.
struct KnotCorrection: Hashable, Sendable {
  /// The device's place in the fixed world, metres.
  var place: Vector3
  /// By how much vectors of the odometry's world are turned about gravity to those of the fixed one.
  var yawRadians: Double
}

/// What does not change about a peer.
struct PeerParameters: Hashable, Sendable {
  /// Its place in the fixed world, metres; of a moving peer not used.
  var position: Vector3
  /// The constant error of its ranges, metres.
  var rangeBias = 0.0
  /// The scale error of its ranges.
  var rangeScale = 0.0
}

/// A moving peer at one knot.
struct Kinematics: Hashable, Sendable {
  /// Metres in the fixed world.
  var position: Vector3
  /// Metres per second there.
  var velocity = Vector3.zero
}

// MARK: As the chain has it

extension SmoothingState {
  /// The same as one list, in the order of ``ChainLayout``.
  func unknowns(_ layout: ChainLayout) -> [Double] {
    var unknowns: [Double] = []
    unknowns.reserveCapacity(layout.peer(peers.count, knots: devices.count))
    func append(_ v: Vector3) { unknowns += [v.x, v.y, v.z] }
    for (knot, device) in devices.enumerated() {
      append(device.place)
      unknowns.append(device.yawRadians)
      for mover in 0..<layout.moverCount {
        let motion = motions[knot * layout.moverCount + mover]
        append(motion.position)
        append(motion.velocity)
      }
      for error in 0..<layout.errorCount {
        unknowns.append(
          rangeErrors.isEmpty ? 0 : rangeErrors[knot * layout.errorCount + error])
      }
    }
    unknowns += (0..<layout.constantCount).map { $0 < constants.count ? constants[$0] : 0 }
    for peer in peers {
      append(peer.position)
      unknowns += [peer.rangeBias, peer.rangeScale]
    }
    return unknowns
  }

  /// The state of such a list.
  init(_ unknowns: [Double], _ layout: ChainLayout, knots: Int, peers count: Int) {
    func vector(_ first: Int) -> Vector3 {
      Vector3(unknowns[first], unknowns[first + 1], unknowns[first + 2])
    }
    devices = (0..<knots).map { knot in
      let first = layout.blockSize * knot
      return KnotCorrection(place: vector(first), yawRadians: unknowns[first + 3])
    }
    motions = (0..<knots).flatMap { knot in
      (0..<layout.moverCount).map { mover in
        let first = layout.blockSize * knot + layout.motion(mover)
        return Kinematics(position: vector(first), velocity: vector(first + 3))
      }
    }
    rangeErrors = (0..<knots).flatMap { knot in
      unknowns[(layout.blockSize * knot + layout.commonError)...].prefix(layout.errorCount)
    }
    constants = Array(unknowns[(layout.blockSize * knots)...].prefix(layout.constantCount))
    peers = (0..<count).map { peer in
      let first = layout.peer(peer, knots: knots)
      return PeerParameters(
        position: vector(first), rangeBias: unknowns[first + 3], rangeScale: unknowns[first + 4])
    }
  }

  /// The same in another fixed world: in that which agrees with the odometry's at the first knot.
  ///
  /// - Parameter place: The device there, as the odometry has it.
  /// - Returns: The state in that world.
  func agreeing(withOdometryAt place: Vector3) -> SmoothingState {
    guard let first = devices.first else { return self }
    let turn = YawTurn(-first.yawRadians)
    func moved(_ point: Vector3) -> Vector3 { place + turn.act(point - first.place) }
    var state = self
    for index in devices.indices {
      state.devices[index].place = moved(devices[index].place)
      state.devices[index].yawRadians -= first.yawRadians
    }
    for index in peers.indices { state.peers[index].position = moved(peers[index].position) }
    for index in motions.indices {
      state.motions[index].position = moved(motions[index].position)
      state.motions[index].velocity = turn.act(motions[index].velocity)
    }
    return state
  }
}
