// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// What an engine is made of, and what comes in.
struct SavedEngineScript: Sendable, CustomTestStringConvertible {
  enum Input: Sendable {
    case pose(DevicePose)
    case tracking(TrackingSample)
    case sample(RangingSample)
    case motion(PeerMotion, peer: Int)
  }

  var name: String
  var configuration = FusionConfiguration()
  var map: PeerMap?
  var peers: [(motion: PeerMotion, name: String?)] = []
  var inputs: [Input] = []

  var testDescription: String { name }

  func engine() throws -> FusionEngine {
    var engine = try FusionEngine(configuration, map: map)
    for peer in peers { _ = try engine.addPeer(peer.motion, named: peer.name) }
    return engine
  }

  /// A simulated run.
  init(preset: String, seed: UInt64 = 1, seconds: Double = 60) throws {
    name = preset
    guard var scenario = Scenario.preset(named: preset) else { throw UnknownPreset(name: preset) }
    scenario.duration = min(scenario.duration, seconds)
    configuration = scenario.matchingConfiguration
    let run = scenario.simulated(seed: seed, peerCount: scenario.peer.count)
    peers = run.peers.map { _ in (scenario.peer.declaredMotion, nil) }
    inputs = run.events.map { event in
      switch event {
      case .pose(let index): .pose(run.poses[index])
      case .tracking(let index): .tracking(run.tracking[index])
      case .sample(let index):
        .sample(run.rangingSample(index, of: PeerID(index: run.samples[index].peer)))
      }
    }
  }

  struct UnknownPreset: Error { var name: String }

  private init(name: String) { self.name = name }

  /// A walk among peers, ten ranges a second.
  private init(name: String, among places: [Vector3], seconds: Double) {
    self.init(name: name)
    var generator = SeededGenerator(seed: 9)
    peers = places.indices.map { (.stationary, "beacon-\($0)") }
    for step in 0..<Int(20 * seconds) {
      let time = 0.05 * Double(step)
      let timestamp = Timestamp(nanoseconds: 7_000_000_000).advanced(bySeconds: time)
      let place = Vector3(
        4.5 + 3 * sine(0.3 * time), 1.4 + 0.3 * sine(0.5 * time),
        3.5 + 2.5 * sine(0.4 * time + 1))
      let pose = RigidTransform(
        rotation: Rotation(angleRadians: 0.3 * sine(time), about: Vector3(0, 1, 0)),
        translation: place)
      inputs.append(.pose(DevicePose(timestamp: timestamp, worldFromDevice: pose)))
      let peer = step / 2 % places.count
      let noise = generator.normal(sigma: 0.1)
      guard step % 2 == 0 else { continue }
      inputs.append(
        .sample(
          RangingSample(
            peer: PeerID(index: peer), timestamp: timestamp,
            distance: (places[peer] - place).length + noise)))
    }
  }

  private static let beacons = [
    Vector3(0, 2.6, 0), Vector3(9, 0.4, 0), Vector3(9, 2.4, 7), Vector3(0, 0.6, 7),
    Vector3(4, 2.9, 3), Vector3(6, 0.2, 9),
  ]

  /// Among beacons of a map, two of which have each other's name.
  static func mapped(exchanged: Bool) -> SavedEngineScript {
    var script = SavedEngineScript(
      name: exchanged ? "map-exchanged" : "map", among: beacons, seconds: 60)
    var map = PeerMap(
      peers: beacons.enumerated().map { .init(name: "beacon-\($0)", positionInWorld: $1) },
      covariance: [Double](repeating: 0, count: 900))
    let variances = [1e-4, 1e-4, 1e-4, 0.02, 1e-6]
    for row in 0..<30 { map.covariance[31 * row] = variances[row % 5] }
    if exchanged {
      let first = map.peers[0].positionInWorld
      map.peers[0].positionInWorld = map.peers[1].positionInWorld
      map.peers[1].positionInWorld = first
    }
    script.map = map
    script.configuration.ranging.rangeScaleSigma = 0.001
    return script
  }

  /// So many peers that their hypotheses are packed, and some that are heard once.
  static func crowd(located: Int = 48, heardOnce: Int = 12) -> SavedEngineScript {
    let places = (0..<located).map { index -> Vector3 in
      let (row, column) = (Double(index / 8), Double(index % 8))
      return Vector3(1.3 * column, 0.5 + 0.2 * Double(index % 9), 1.5 * row)
    }
    var script = SavedEngineScript(name: "crowd", among: places, seconds: 40)
    for index in located..<located + heardOnce {
      script.peers.append((motion: PeerMotion.stationary, name: nil))
      let last: Int = script.inputs.count - 1 - 3 * index
      guard case .pose(let pose) = script.inputs[last] else { continue }
      let sample = RangingSample(
        peer: PeerID(index: index), timestamp: pose.timestamp, distance: 3, azimuthRadians: 0.2)
      script.inputs.insert(Input.sample(sample), at: last + 1)
    }
    return script
  }

  /// Poses stop, one comes with a stamp far ahead, and others refute it.
  static func leap() throws -> SavedEngineScript {
    var script = try SavedEngineScript(preset: "ranges-wander", seconds: 30)
    script.name = "leap"
    script.inputs = script.inputs.enumerated().map { index, input in
      guard case .pose(var pose) = input, index % 300 == 299 else { return input }
      pose.timestamp = pose.timestamp.advanced(bySeconds: 30)
      return .pose(pose)
    }
    return script
  }

  /// A peer is declared to move, to rest, and neither.
  static func declared() throws -> SavedEngineScript {
    var script = try SavedEngineScript(preset: "find", seconds: 40)
    script.name = "declared"
    for (share, motion) in [PeerMotion.unknown, .moving, .stationary, .unknown].enumerated() {
      script.inputs.insert(
        .motion(motion, peer: 0), at: script.inputs.count * (share + 1) / 6)
    }
    return script
  }

  /// What comes of an input.
  struct Output: Equatable {
    var pose: PoseOutcome?
    var report: SampleReport?
    var estimate: PeerEstimate?
  }

  /// Takes an input in.
  static func feed(_ input: Input, to engine: inout FusionEngine) -> Output {
    var output = Output()
    switch input {
    case .pose(let pose): output.pose = engine.add(pose)
    case .tracking(let tracking): engine.add(tracking)
    case .motion(let motion, let peer): engine.setMotion(motion, of: PeerID(index: peer))
    case .sample(let sample):
      output.report = engine.add(sample)
      output.estimate = engine.estimate(of: sample.peer)
    }
    return output
  }

  /// Everything that can be asked of an engine, every number of it to the last digit.
  static func outputs(of engine: FusionEngine, at time: Timestamp) -> String {
    let peers = engine.peerIDs.map { peer in
      "\(engine.estimate(of: peer)) \(engine.estimate(of: peer, at: time)) "
        + "\(engine.modes(of: peer, at: time))"
    }
    return """
      \(peers.joined(separator: "\n"))
      \(String(describing: engine.mapAlignment)) \(String(describing: engine.mapVerdict))
      \(String(describing: engine.peerMap)) \(engine.isInMap)
      """
  }
}

private func sine(_ angle: Double) -> Double {
  // Without Glibc: the rotation by the angle has it.
  Rotation(angleRadians: angle, about: Vector3(0, 1, 0)).xAxis.z * -1
}
