// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import Testing

/// The handle of one engine is refused by another, and by none of its copies.
@Suite("Peer handles")
struct PeerIDTests {
  private static let time = Timestamp(nanoseconds: 1_000_000_000)

  private static func walked(_ engine: inout FusionEngine, _ peer: PeerID) -> SampleReport {
    engine.add(DevicePose(timestamp: time, worldFromDevice: .identity))
    return engine.add(RangingSample(peer: peer, timestamp: time, distance: 3, azimuthRadians: 0.1))
  }

  @Test("a sample of a stranger is rejected and changes nothing", arguments: [0, 1, 7])
  func stranger(added: Int) throws {
    var engine = try FusionEngine()
    let own = engine.addPeer()
    var other = try FusionEngine()
    var foreign = other.addPeer(.moving)
    for _ in 0..<added { foreign = other.addPeer(.moving) }
    let report = Self.walked(&engine, foreign)
    #expect(report.use == .rejected)
    #expect(report.range.outcome == .rejected(.unknownPeer))
    #expect(report.azimuth.outcome == .rejected(.unknownPeer))
    #expect(report.elevation.outcome == .absent)
    #expect(engine.estimate(of: own).positionInWorld == nil)
    for estimate in [engine.estimate(of: foreign), engine.estimate(of: foreign, at: Self.time)] {
      #expect(estimate.distance.value == nil)
      #expect(estimate.distance.unavailability == .unknownPeer)
      #expect(estimate.horizontalAngleRadians.unavailability == .unknownPeer)
      #expect(estimate.convergence == .unknown)
    }
    #expect(engine.modes(of: foreign, at: Self.time).isEmpty)
    let isChanged = engine.setMotion(.moving, of: foreign)
    #expect(!isChanged)
    #expect(engine.motion(of: own) == .stationary && engine.motion(of: foreign) == nil)
    #expect(engine.name(of: foreign) == nil)
    let ownReport = Self.walked(&engine, own)
    #expect(ownReport.use == .all)
  }

  @Test("an engine tells what it was told of its peers, and a copy knows them")
  func names() throws {
    var engine = try FusionEngine()
    let keys = try engine.addPeer(.unknown, named: "keys")
    let nameless = engine.addPeer()
    #expect(engine.name(of: keys) == "keys" && engine.name(of: nameless) == nil)
    #expect(engine.motion(of: keys) == .unknown)
    let isChanged = engine.setMotion(.moving, of: keys)
    #expect(isChanged && engine.motion(of: keys) == .moving)
    #expect(engine.peerIDs == [keys, nameless])
    var copy = engine
    #expect(copy.name(of: keys) == "keys")
    let report = Self.walked(&copy, keys)
    #expect(report.use == .all)
    #expect(engine.newestPose == nil)
    #expect(copy.newestPose == DevicePose(timestamp: Self.time, worldFromDevice: .identity))
    do {
      _ = try engine.addPeer(.moving, named: "keys")
      Issue.record("a name is given twice")
    } catch {
      #expect(error.setting == "peers[2].name" && error.problem.contains("keys"))
    }
  }
}
