// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport

/// A call of an engine.
enum EngineCall {
  case pose(DevicePose)
  case tracking(TrackingSample)
  /// The peer is that of the sample.
  case sample(RangingSample)
  case estimate(peer: Int, at: Timestamp?)
  /// One more peer.
  case addPeer(PeerMotion)
  /// Keeps a copy of the engine.
  case keep
  /// Continues with the stored copy.
  case goBack
  /// Starts a new engine with the same peers.
  case reset
}

/// A small recording, drawn, with the calls of a hostile host in between.
struct DrawnCalls {
  var calls: [EngineCall] = []
  /// The motions of the initial peers.
  var motions: [PeerMotion] = []
  /// The settings that match the recording's sensors.
  var matching: FusionConfiguration

  /// Draws a recording.
  ///
  /// - Parameters:
  ///   - longest: The largest duration, seconds.
  ///   - hostility: The probability that a call is replaced by a hostile one.
  ///   - generator: The source of randomness.
  /// - Throws: When the default settings are invalid.
  init(longest: Double, hostility: Double, _ generator: inout SeededGenerator) throws {
    let scenario = Self.scenario(longest: longest, &generator)
    matching = scenario.matchingConfiguration
    let count = generator.number(1..<4)
    motions = (0..<count).map { _ in generator.one(of: PeerMotion.allCases) }
    // Handles are valid for every engine with the same number of peers.
    var source = try FusionEngine()
    let peers = motions.map { source.addPeer($0) }
    var run = scenario.simulated(seed: generator.next(), peerCount: count)
    if generator.happens(0.2) {
      run.stretchTime(by: generator.one(of: [1e-9, 1e-6, 1e-3, 0.1, 30, 1e5]))
    }
    // The probability that a component of a sample is missing.
    let lost = generator.happens(0.4) ? generator.uniform() : 0
    // The event after which the odometry is silent, if it becomes silent.
    let silence = generator.happens(0.15) ? generator.number(0..<run.events.count) : .max
    var sent: [EngineCall] = []
    for (index, event) in run.events.enumerated() {
      let call: EngineCall
      switch event {
      case .pose(let pose):
        if index > silence { continue }
        call = .pose(run.poses[pose])
      case .tracking(let word): call = .tracking(run.tracking[word])
      case .sample(let sample):
        var part = run.rangingSample(sample, of: peers[run.samples[sample].peer])
        if generator.happens(lost) { part.distance = nil }
        if generator.happens(lost) { part.azimuthRadians = nil }
        if generator.happens(lost) { part.elevationRadians = nil }
        call = .sample(part)
      }
      if generator.happens(hostility) {
        for call in Self.hostile(call, sent, peers, &generator) { calls.append(call) }
      } else {
        if generator.happens(0.1), case .sample(let sample) = call {
          calls.append(.estimate(peer: sample.peer.index, at: nil))
        }
        calls.append(call)
      }
      sent.append(calls.last ?? call)
    }
  }

  /// A scenario of the proving ground, shortened and with other faults.
  private static func scenario(
    longest: Double, _ generator: inout SeededGenerator
  ) -> Scenario {
    var scenario = generator.one(of: Scenario.presets)
    scenario.duration = generator.uniform(in: 1...longest)
    scenario.odometry.rate = generator.one(of: [1, 10, 30])
    scenario.radio.rate = generator.one(of: [2, 10, 20])
    if generator.happens(0.3) {
      scenario.radio.measuresRange = generator.happens(0.5)
      scenario.radio.measuresAzimuth = generator.happens(0.5)
      scenario.radio.measuresElevation = generator.happens(0.5)
    }
    if generator.happens(0.1) {
      scenario.peer.distance = generator.one(of: [0...0.01, 100...1000, 5000...10000])
    }
    if generator.happens(0.2) { scenario.odometry.jump.seconds = scenario.duration / 2 }
    if generator.happens(0.2) {
      scenario.odometry.loss.seconds = scenario.duration / 3
      scenario.odometry.loss.duration = scenario.duration / 4
      scenario.odometry.loss.displacement = generator.normalVector(sigma: 10)
      scenario.odometry.loss.isAnnounced = generator.happens(0.5)
    }
    return scenario
  }

  /// A hostile call that replaces a call.
  private static func hostile(
    _ call: EngineCall, _ sent: [EngineCall], _ peers: [PeerID],
    _ generator: inout SeededGenerator
  ) -> [EngineCall] {
    switch generator.number(0..<10) {
    case 0: return []
    case 1: return [call, call]
    case 2:
      guard let last = sent.last else { return [call] }
      return [call, last]
    case 3: return sent.isEmpty ? [call] : [generator.one(of: sent), call]
    case 4: return [call, generator.one(of: [.keep, .goBack, .goBack, .keep, .reset])]
    case 5: return [call, .addPeer(generator.one(of: PeerMotion.allCases))]
    case 6:
      let time = generator.hostileTime(near: call.timestamp ?? Timestamp(nanoseconds: 0))
      return [call, .estimate(peer: generator.one(of: peers).index, at: time)]
    default: break
    }
    switch call {
    case .pose(let pose):
      return generator.happens(0.2)
        ? [.tracking(generator.tracking(at: pose.timestamp))]
        : [.pose(generator.hostilePose(pose))]
    case .sample(let sample): return [.sample(generator.hostileSample(sample))]
    default: return [call]
    }
  }
}

extension SimulatedRun {
  /// Scales the times of all events after the start by a factor.
  fileprivate mutating func stretchTime(by factor: Double) {
    let start = Self.timestamp(at: 0)
    func stretched(_ time: Timestamp) -> Timestamp {
      start.advanced(bySeconds: factor * time.seconds(since: start))
    }
    for index in poses.indices { poses[index].timestamp = stretched(poses[index].timestamp) }
    for index in tracking.indices {
      tracking[index].timestamp = stretched(tracking[index].timestamp)
    }
    for index in samples.indices { samples[index].timestamp = stretched(samples[index].timestamp) }
  }
}

extension EngineCall {
  /// Its timestamp, if it has one.
  var timestamp: Timestamp? {
    switch self {
    case .pose(let pose): pose.timestamp
    case .tracking(let tracking): tracking.timestamp
    case .sample(let sample): sample.timestamp
    case .estimate(_, let time): time
    case .addPeer, .keep, .goBack, .reset: nil
    }
  }

  /// Its kind, for counting.
  var kind: String {
    switch self {
    case .pose: "poses"
    case .tracking: "words on tracking"
    case .sample: "samples"
    case .estimate: "estimates"
    case .addPeer: "peers added"
    case .keep: "copies"
    case .goBack: "returns to a copy"
    case .reset: "resets"
    }
  }
}
