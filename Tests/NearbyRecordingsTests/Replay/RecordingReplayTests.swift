// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbyTestSupport
import Testing

@Suite("Replaying a recording")
struct RecordingReplayTests {
  /// A walk with exact ranges and angles to a peer that appears after two seconds, and the truth in
  /// a world moved by (100, 0, 0).
  private func walk(truePeers: String, from start: Int = 20) throws -> TemporaryRecording {
    var trajectory = ""
    var truth = ""
    var ranging = TemporaryRecording.header
    for step in 0...100 {
      let time = 0.1 * Double(step)
      let (x, y, z) = (sin(time), 0.3 * sin(2 * time), cos(time))
      trajectory += "\(time) \(x) \(y) \(z) 0 0 0 1\n"
      truth += "\(time) \(x + 100) \(y) \(z) 0 0 0 1\n"
      guard step >= start else { continue }
      let d = Vector3(2 - x, 1 - y, -3 - z)
      let angles = ArrivalAngles(ofDirection: d)
      ranging +=
        "\(time),a,\(d.length),\(angles.azimuthRadians),\(angles.elevationRadians)\n\(time),b,,,\n"
    }
    return try TemporaryRecording(
      trajectory: trajectory, ranging: ranging,
      others: ["truth/trajectory.txt": truth, "truth/peers.csv": truePeers])
  }

  private static let header = "timestamp,peer,x,y,z\n"

  @Test func convergenceIsTimedFromThePeersFirstSample() throws {
    let recording = try walk(truePeers: Self.header + "0,a,102,1,-3\n")
    let replay = try RecordingReplay(RecordingReader(folder: recording.path))
    var firstConverged: Timestamp?
    let outcome = try replay.run { row, _, estimate in
      if estimate.convergence == .converged { firstConverged = firstConverged ?? row.timestamp }
    }
    let peer = try #require(outcome.summary.peers.first)
    let converged = try #require(firstConverged)
    #expect(abs(try #require(peer.secondsToFirstConvergence) - converged.seconds + 2) < 1e-9)
    #expect(peer.samples == 81 && peer.lossesOfConvergence == 0)
    #expect(outcome.summary.duration == 10)
    #expect(outcome.peersInRecording == ["a", "b"])
  }

  @Test func errorsNeedNoCommonWorld() throws {
    let recording = try walk(truePeers: Self.header + "0,a,102,1,-3\n")
    let outcome = try RecordingReplay(RecordingReader(folder: recording.path)).run { _, _, _ in }
    #expect(try #require(outcome.summary.errors?.finalError) < 0.2)
    #expect(outcome.summary.peers[1].errors == nil, "nothing is known of b")
    #expect(outcome.summary.peers[1].status != .converged)
    #expect(outcome.summary.peers[1].samplesRejected == 81)
  }

  @Test func aMovingPeersTruthIsInterpolatedAndNotBeyondIt() throws {
    // The true position is known from 4 s to 6 s only, and equals the ranged position at 5 s.
    let recording = try walk(
      truePeers: Self.header + "4,a,101,1,-3\n5.5,a,102.5,1,-3\n6,a,103,1,-3\n")
    var inside = 0
    let outcome = try RecordingReplay(RecordingReader(folder: recording.path)).run { row, _, _ in
      if row.peer == "a", (4.0...6.0).contains(row.timestamp.seconds) { inside += 1 }
    }
    let errors = try #require(outcome.summary.peers[0].errors)
    #expect(errors.samples == inside && inside == 21)
    #expect(abs(try #require(errors.finalError) - 1) < 0.2, "at 6 s it is a metre off")
  }

  @Test func aGapInTheTruthIsNotBridged() throws {
    let recording = try walk(truePeers: Self.header + "2,a,102,1,-3\n6,a,102,1,-3\n")
    let outcome = try RecordingReplay(RecordingReader(folder: recording.path)).run { _, _, _ in }
    #expect(outcome.summary.peers[0].errors?.samples == 2)
  }

  @Test func peersThatAreNotSelectedLeaveNoTrace() throws {
    let recording = try walk(truePeers: Self.header + "0,a,102,1,-3\n")
    let replay = try RecordingReplay(RecordingReader(folder: recording.path), selection: ["b"])
    var names: Set<String> = []
    let outcome = try replay.run { row, _, _ in names.insert(row.peer) }
    #expect(names == ["b"])
    #expect(outcome.summary.peers.map(\.id) == ["b"])
    #expect(outcome.summary.samples == 81)
  }

  @Test func aSettingThatMakesNoSenseIsRefused() throws {
    let recording = try walk(truePeers: Self.header + "0,a,102,1,-3\n")
    var configuration = FusionConfiguration()
    configuration.ranging.rangeSigma = -1
    #expect(throws: FusionConfigurationError.self) {
      _ = try RecordingReplay(
        RecordingReader(folder: recording.path), configuration: configuration)
    }
  }

  @Test func anEstimatorOfTheCallersTakesThePlaceOfTheEngine() throws {
    let recording = try walk(truePeers: Self.header + "0,a,102,1,-3\n")
    let replay = try RecordingReplay(RecordingReader(folder: recording.path), selection: ["a"])
    var estimator = try CountingEstimator()
    var rows = 0
    let outcome = try replay.run(through: &estimator) { _, _, _ in rows += 1 }
    #expect(estimator.poses == 101 && estimator.samples == 81 && rows == 81)
    #expect(estimator.engine.peerIDs.count == 1, "b is not selected")
    #expect(outcome.summary.peers.map(\.id) == ["a"])
    var alone = outcome.summary
    alone.timing = nil
    var usual = try replay.run { _, _, _ in }.summary
    usual.timing = nil
    #expect(alone == usual)
  }
}

/// An engine that counts what it is given.
private struct CountingEstimator: SequentialEstimator {
  var engine: FusionEngine
  var poses = 0
  var samples = 0

  init() throws { engine = try FusionEngine() }

  mutating func addPeer(_ motion: PeerMotion) -> PeerID { engine.addPeer(motion) }

  mutating func addPeer(
    _ motion: PeerMotion, named name: String?
  ) throws(FusionConfigurationError) -> PeerID {
    try engine.addPeer(motion, named: name)
  }
  mutating func add(_ pose: DevicePose) -> PoseOutcome {
    poses += 1
    return engine.add(pose)
  }
  mutating func add(_ tracking: TrackingSample) { engine.add(tracking) }
  mutating func add(_ sample: RangingSample) -> SampleReport {
    samples += 1
    return engine.add(sample)
  }
  func estimate(of peer: PeerID, at time: Timestamp) -> PeerEstimate {
    engine.estimate(of: peer, at: time)
  }
  func modes(of peer: PeerID, at time: Timestamp) -> [PositionMode] {
    engine.modes(of: peer, at: time)
  }
  var mapAlignment: MapAlignment? { engine.mapAlignment }
  var mapVerdict: SurveyVerdict? { engine.mapVerdict }
  var peerMap: PeerMap? { engine.peerMap }
}
