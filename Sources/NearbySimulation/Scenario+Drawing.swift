// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyGeometry

extension Scenario {
  /// Draws a run with one peer.
  ///
  /// The scenario must pass ``validate()``. It costs 0.7 ms for 20 s of poses at 60 Hz and samples
  /// at 10 Hz, a hundredth of the time that an engine needs to process them.
  ///
  /// - Parameters:
  ///   - seed: The seed of the motion and of the odometry's drift.
  ///   - peer: Which peer. Runs of one seed differ between peers only in the peer's position and in its
  ///     radio's measurements.
  /// - Returns: The run.
  public func simulated(seed: UInt64, peer: UInt64 = 0) -> SimulatedRun {
    simulated(seed: seed, peers: peer..<peer + 1)
  }

  /// Draws a run in which one device measures several peers.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - peerCount: How many peers; each of them is the one that ``simulated(seed:peer:)`` draws.
  /// - Returns: The run.
  public func simulated(seed: UInt64, peerCount: Int) -> SimulatedRun {
    simulated(seed: seed, peers: 0..<UInt64(max(1, peerCount)))
  }

  /// Draws peers and their radios' measurements along a recorded motion.
  ///
  /// The scenario's motion and odometry are not used. Timestamps are those of the recording.
  ///
  /// - Parameters:
  ///   - seed: The seed of the peers and of the radios' errors.
  ///   - peerCount: How many peers.
  ///   - trajectory: The motion, from which peers keep the usual clearance.
  /// - Returns: The run, as long as the recording.
  public func simulated(
    seed: UInt64, peerCount: Int, over trajectory: RecordedTrajectory
  ) -> SimulatedRun {
    var scenario = self
    scenario.duration = trajectory.duration
    scenario.idle = Idle()
    var run = scenario.drawn(
      over: RecordedTrack(trajectory, until: trajectory.duration), device: .recorded(trajectory),
      seed: seed, peers: 0..<UInt64(max(1, peerCount)))
    for index in run.samples.indices {
      run.samples[index].timestamp = trajectory.timestamp(
        at: run.samples[index].seconds + radio.clockAhead(at: run.samples[index].seconds))
    }
    return run
  }

  private func simulated(seed: UInt64, peers: Range<UInt64>) -> SimulatedRun {
    let motion = ScenarioMotion(self.motion, walk: walk, seed: seed)
    return drawn(
      over: OdometryTrack(self, motion: motion, seed: seed), device: .drawn(motion), seed: seed,
      peers: peers)
  }

  private func drawn(
    over track: some DeviceTrack, device: DeviceMotion, seed: UInt64, peers: Range<UInt64>
  ) -> SimulatedRun {
    var samples: [SimulatedRun.Sample] = []
    var arrivals: [(seconds: Double, sample: Int)] = []
    var truths: [SimulatedRun.Peer] = []
    let area = Self.area(of: track)
    for (index, peer) in peers.enumerated() {
      let path = peerPath(track, device: device, seed: seed, peer: peer)
      let errors = RangeErrorDraw(
        radio.rangeErrors, of: path.position(at: 0), in: area,
        from: device.pose(at: 0).translation, seed: seed, peer: peer)
      var draw = RadioDraw(radio, seed: seed, peer: peer, rangeErrors: errors)
      var heights = BarometerDraw(barometers, seed: seed, peer: peer)
      truths.append(
        SimulatedRun.Peer(path: path, rangeScale: draw.rangeScale, rangeBias: draw.rangeBias))
      for time in draw.times(until: duration, idle: idle) {
        let moment = track.moment(at: time)
        let antenna = moment.truth.act(radio.antennaInDevice)
        let position = path.position(at: time)
        let offset = moment.truth.rotation.inverse.act(position - antenna)
        let height = heights.measurement(
          of: position.y - moment.truth.translation.y, at: time)
        let sample = draw.sample(
          index, at: time, offset: offset, height: height, moment: moment, path: path)
        let delays = draw.delays()
        // Drawn all the same, so that later samples do not change.
        guard let sample, let delay = delays.first, !self.peer.silence.contains(time) else {
          continue
        }
        arrivals.append((time + delay, samples.count))
        if let second = delays.second { arrivals.append((time + second, samples.count)) }
        samples.append(sample)
      }
    }
    if peers.count > 1 { Self.sort(&samples, renumbering: &arrivals) }
    return SimulatedRun(
      poses: track.poses, tracking: track.tracking.map(\.sample), samples: samples,
      events: Self.merged(track, arrivals), peers: truths, antennaInDevice: radio.antennaInDevice,
      device: device)
  }

  /// Two opposite corners of the area in which the device moves, metres.
  private static func area(of track: some DeviceTrack) -> (Vector3, Vector3) {
    let places = track.positions.map(\.position)
    guard let first = places.first else { return (.zero, .zero) }
    return places.reduce(into: (first, first)) { corners, place in
      corners.0 = Vector3(
        min(corners.0.x, place.x), min(corners.0.y, place.y), min(corners.0.z, place.z))
      corners.1 = Vector3(
        max(corners.1.x, place.x), max(corners.1.y, place.y), max(corners.1.z, place.z))
    }
  }

  /// Sorts the samples of several peers by time.
  private static func sort(
    _ samples: inout [SimulatedRun.Sample],
    renumbering arrivals: inout [(seconds: Double, sample: Int)]
  ) {
    let order = samples.indices.sorted {
      (samples[$0].seconds, $0) < (samples[$1].seconds, $1)
    }
    var ranks = [Int](repeating: 0, count: samples.count)
    for (rank, index) in order.enumerated() { ranks[index] = rank }
    samples = order.map { samples[$0] }
    for index in arrivals.indices { arrivals[index].sample = ranks[arrivals[index].sample] }
  }

  /// All events in the order of arrival; of those at the same time tracking comes first, then poses.
  private static func merged(
    _ track: some DeviceTrack, _ arrivals: [(seconds: Double, sample: Int)]
  ) -> [SimulatedRun.Event] {
    let arrivals = arrivals.sorted { ($0.seconds, $0.sample) < ($1.seconds, $1.sample) }
    let tracking = track.tracking
    let poseArrivals = track.arrivals
    var events: [SimulatedRun.Event] = []
    events.reserveCapacity(poseArrivals.count + arrivals.count + tracking.count)
    var (nextTracking, nextSample) = (0, 0)
    func addTracking(until time: Double) {
      while nextTracking < tracking.count, tracking[nextTracking].seconds <= time {
        events.append(.tracking(nextTracking))
        nextTracking += 1
      }
    }
    func addSamples(before time: Double) {
      while nextSample < arrivals.count, arrivals[nextSample].seconds < time {
        addTracking(until: arrivals[nextSample].seconds)
        events.append(.sample(arrivals[nextSample].sample))
        nextSample += 1
      }
    }
    for (index, time) in poseArrivals.enumerated() {
      addSamples(before: time)
      addTracking(until: time)
      events.append(.pose(index))
    }
    addSamples(before: .infinity)
    addTracking(until: .infinity)
    return events
  }

  // MARK: Placing a peer

  /// The device never comes closer to a peer than this, metres.
  static let clearance = 0.7
  /// The number of positions that are tried.
  ///
  /// If all are too close, the farthest is taken.
  private static let positionsTried = 1000

  /// Draws a position around the start, with clearance from the device's path.
  private func peerPath(
    _ track: some DeviceTrack, device: DeviceMotion, seed: UInt64, peer: UInt64
  ) -> PeerPath {
    let fromLast = self.peer.count - 1 - Int(peer)
    if 0..<self.peer.alongCount ~= fromLast {
      var generator = SeededGenerator(seed: seed, stream: 4_000_000 + peer)
      let bearing = Rotation(
        angleRadians: generator.uniform(in: -.pi...Double.pi), about: Vector3(0, 1, 0))
      return PeerPath(
        along: device, offset: bearing.act(Vector3(0, 0, -PeerPath.alongDistance)))
    }
    let creepers = self.peer.alongCount..<self.peer.alongCount + self.peer.creepingCount
    let isCreeping = creepers ~= fromLast
    var moving = self.peer
    if creepers.upperBound..<creepers.upperBound + self.peer.carriedCount ~= fromLast {
      moving.motion = .carried
    }
    let isAlone = self.peer.formation == .alone
    let leader = isAlone ? peer : 0
    var generator = SeededGenerator(seed: seed, stream: 1000 + 2 * leader)
    var walking = SeededGenerator(seed: seed, stream: 1_000_000 + leader)
    let positions = track.positions
    let first = device.pose(at: 0)
    var best: (clearance: Double, path: PeerPath)?
    for _ in 0..<Self.positionsTried {
      let position = peerPosition(around: first, device, &generator)
      let path =
        isCreeping
        ? creeping(from: position, &walking)
        : PeerPath(moving, from: position, until: duration, &walking)
      let count = self.peer.count
      let members = isAlone ? [path] : (0..<count).map { path.member($0, of: count) }
      let nearest = Self.clearance(
        of: members, from: positions, above: min(Self.clearance, best?.clearance ?? .infinity))
      let own = isAlone ? path : path.member(Int(peer), of: count)
      if nearest > Self.clearance { return own }
      if nearest > best?.clearance ?? -1 { best = (nearest, own) }
    }
    return best?.path ?? PeerPath(restingAt: first.translation)
  }

  private func creeping(from position: Vector3, _ draws: inout SeededGenerator) -> PeerPath {
    let turn = Rotation(
      angleRadians: draws.uniform(in: -.pi...Double.pi), about: Vector3(0, 1, 0))
    let speed = draws.uniform(in: peer.creepingSpeed)
    return PeerPath(creepingFrom: position, velocity: turn.act(Vector3(0, 0, -speed)))
  }

  /// How near the device comes to any of the paths, metres; where that is not above a limit, any value
  /// up to the limit.
  private static func clearance(
    of paths: [PeerPath], from positions: [(seconds: Double, position: Vector3)],
    above limit: Double
  ) -> Double {
    var nearest = Double.infinity
    for (seconds, position) in positions {
      for path in paths {
        nearest = min(nearest, (position - path.position(at: seconds)).length)
        if nearest <= limit { return nearest }
      }
    }
    return nearest
  }

  private func peerPosition(
    around device: RigidTransform, _ motion: DeviceMotion, _ generator: inout SeededGenerator
  ) -> Vector3 {
    let distance = generator.uniform(in: peer.distance)
    var bearing = generator.uniform(in: -.pi...Double.pi)
    let height = generator.uniform(in: peer.heightDifference)
    var side = generator.uniform() < 0.5 ? -1.0 : 1.0
    switch peer.side {
    case .either: break
    case .above: side = 1
    case .below: side = -1
    }
    let ahead = device.rotation.act(Vector3(0, 0, -1))
    let heading = atan2(-ahead.x, -ahead.z)
    switch peer.direction {
    case .anywhere: break
    case .ahead: bearing = heading + bearing / 6
    case .behind: bearing = heading + .pi + bearing / 6
    }
    if peer.isInRoom, case .drawn(let motion) = motion,
      let place = motion.placeInRoom(
        along: generator.uniform(in: -1...1), across: generator.uniform(in: -1...1))
    {
      return place + Vector3(0, side * height, 0)
    }
    let turn = Rotation(angleRadians: bearing, about: Vector3(0, 1, 0))
    return device.translation + turn.act(Vector3(0, 0, -distance))
      + Vector3(0, side * height, 0)
  }
}
