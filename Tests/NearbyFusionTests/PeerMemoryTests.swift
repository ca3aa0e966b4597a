// SPDX-License-Identifier: Apache-2.0
import CAllocationCounter
import NearbyFusion
import NearbyGeometry
import Testing

/// What the engine holds of peers that it has heard, but not located.
@Suite("Memory of unresolved peers")
struct PeerMemoryTests {
  /// How much a peer takes, bytes.
  ///
  /// - Parameters:
  ///   - samples: How many samples there are of each.
  ///   - hasAngles: Whether angles are measured.
  ///   - motion: How the peers may move.
  ///   - step: How far the device goes from one sample to the next, metres.
  /// - Returns: The bytes, those of the trajectory left out.
  /// - Throws: Never, as settings go.
  private func bytesPerPeer(
    samples: Int, hasAngles: Bool, motion: PeerMotion, step: Double = 0
  ) throws -> Int {
    // Hypotheses are packed once more than 32 peers were heard. The engine has room for 64 after that.
    let (others, peers) = (33, 31)
    var engine = try FusionEngine()
    var before: Int64 = 0
    for sample in 0..<samples {
      let time = Timestamp(nanoseconds: Int64(sample) * 500_000_000)
      engine.add(
        DevicePose(
          timestamp: time,
          worldFromDevice: RigidTransform(
            rotation: .identity, translation: Vector3(step * Double(sample), 0, 0))))
      if sample == 0 {
        for _ in 0..<others {
          let other = engine.addPeer(motion)
          engine.add(RangingSample(peer: other, timestamp: time, distance: 3))
        }
        // The trajectory is everybody's.
        before = held_bytes()
        for _ in 0..<peers { _ = engine.addPeer(motion) }
      }
      for peer in engine.peerIDs.dropFirst(others) {
        engine.add(
          RangingSample(
            peer: peer, timestamp: time, distance: 2 + 0.1 * Double(peer.index - others),
            azimuthRadians: hasAngles ? 0.3 : nil, elevationRadians: hasAngles ? -0.2 : nil))
      }
    }
    let bytes = Int(held_bytes() - before) / peers
    let estimate = engine.estimate(of: engine.peerIDs[others + peers - 1])
    #expect(estimate.hypothesisCount > 1 || samples > 1 && hasAngles)
    return bytes
  }

  @Test(
    "A peer that was heard once takes a few kilobytes",
    arguments: [PeerMotion.stationary, .unknown, .moving], [false, true])
  func once(motion: PeerMotion, hasAngles: Bool) throws {
    let bytes = try bytesPerPeer(samples: 1, hasAngles: hasAngles, motion: motion)
    #expect(bytes < 4_000)
  }

  @Test("A peer at rest whose ranges were heard a few times takes a few more", arguments: 2...4)
  func aFewTimes(samples: Int) throws {
    let bytes = try bytesPerPeer(samples: samples, hasAngles: false, motion: .stationary)
    #expect(bytes < 24_000)
  }

  @Test(
    "A peer that was searched for, or may move, takes what its hypotheses need",
    arguments: [
      (PeerMotion.stationary, false, 30_000), (.stationary, true, 45_000), (.moving, false, 50_000),
      (.unknown, false, 80_000),
    ])
  func searched(motion: PeerMotion, hasAngles: Bool, limit: Int) throws {
    let bytes = try bytesPerPeer(samples: 2, hasAngles: hasAngles, motion: motion, step: 0.3)
    #expect(bytes < limit)
  }

  /// An account that is laid aside until the second sample must be what it was.
  @Test("An estimate asked for between samples changes nothing", arguments: [false, true])
  func estimates(hasAngles: Bool) throws {
    var asked = try FusionEngine()
    var unasked = try FusionEngine()
    // A handle that both engines take.
    let peer = PeerID(index: asked.addPeer().index)
    #expect(unasked.addPeer() == peer)
    for step in 0..<12 {
      let time = Timestamp(nanoseconds: Int64(step) * 200_000_000)
      let pose = DevicePose(
        timestamp: time,
        worldFromDevice: RigidTransform(
          rotation: .identity, translation: Vector3(0.1 * Double(step), 0, 0)))
      // The third sample measures nothing that can be used.
      let sample = RangingSample(
        peer: peer, timestamp: time, distance: step == 2 ? -1 : 3 + 0.01 * Double(step),
        azimuthRadians: hasAngles && step != 2 ? 0.3 : nil)
      asked.add(pose)
      unasked.add(pose)
      let report = asked.add(sample)
      #expect(report == unasked.add(sample))
      let first = asked.estimate(of: peer)
      #expect(first == asked.estimate(of: peer) && first.hypothesisCount > 0)
      #expect(asked.hypotheses(of: peer)?.hypotheses.count == first.hypothesisCount)
    }
    #expect(asked.estimate(of: peer) == unasked.estimate(of: peer))
  }

  @Test(
    "A peer in a crowd, whose hypotheses are packed between samples, is estimated like one alone",
    arguments: [PeerMotion.stationary, .unknown, .moving], [false, true])
  func crowd(motion: PeerMotion, hasAngles: Bool) throws {
    var alone = try FusionEngine()
    var crowded = try FusionEngine()
    let peer = PeerID(index: alone.addPeer(motion).index)
    #expect(crowded.addPeer(motion) == peer)
    for _ in 0..<40 { _ = crowded.addPeer() }
    for step in 0..<16 {
      let time = Timestamp(nanoseconds: Int64(step) * 200_000_000)
      let place = Vector3(step < 5 ? 0 : 0.1 * Double(step), 0, step < 10 ? 0 : 0.1 * Double(step))
      let pose = DevicePose(
        timestamp: time,
        worldFromDevice: RigidTransform(rotation: .identity, translation: place))
      let sample = RangingSample(
        peer: peer, timestamp: time, distance: 3 + 0.01 * Double(step * step % 7),
        azimuthRadians: hasAngles ? 0.3 : nil)
      alone.add(pose)
      crowded.add(pose)
      #expect(alone.add(sample) == crowded.add(sample))
      #expect(alone.estimate(of: peer) == crowded.estimate(of: peer))
      let later = time.advanced(bySeconds: 0.1)
      #expect(alone.estimate(of: peer, at: later) == crowded.estimate(of: peer, at: later))
    }
  }
}
