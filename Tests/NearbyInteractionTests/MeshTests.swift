// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyInteraction

/// Four devices with three sessions each: the outputs of both ends of a pair agree.
struct MeshTests {
  /// All sessions of all devices, by who measures and who is measured.
  private struct Mesh {
    let world: SimulatedWorld
    let devices: [SimulatedDevice]
    var sessions: [[Int: (session: NISession, recorder: SessionRecorder)]]

    init(usesCamera: Bool, seed: UInt64) throws {
      var settings = SimulatedWorldSettings()
      settings.seed = seed
      let world = SimulatedWorld(settings)
      self.world = world
      devices = (0..<4).map { _ in world.makeDevice() }
      sessions = Array(repeating: [:], count: 4)
      for here in 0..<4 {
        for there in 0..<4 where there != here {
          let session = NISession(on: devices[here])
          let recorder = SessionRecorder()
          recorder.attach(to: session)
          sessions[here][there] = (session, recorder)
        }
      }
      for here in 0..<4 {
        for there in 0..<4 where there != here {
          let token = try #require(sessions[there][here]?.session.discoveryToken)
          let configuration = NINearbyPeerConfiguration(peerToken: token)
          configuration.isCameraAssistanceEnabled = usesCamera
          sessions[here][there]?.session.run(configuration)
        }
      }
    }

    func recorder(_ here: Int, of there: Int) throws -> SessionRecorder {
      let recorder = try #require(sessions[here][there]).recorder
      recorder.drain()
      return recorder
    }

    /// A direction that a device reports now, in the true world.
    func inWorld(_ direction: simd_float3, from device: Int) -> Vector3 {
      devices[device].truePose.rotation.act(
        Vector3(Double(direction.x), Double(direction.y), Double(direction.z)))
    }

    /// How far two directions are from opposite, in their combined sigmas.
    func pull(
      _ mine: NINearbyObject, of here: Int, _ theirs: NINearbyObject, of there: Int
    ) throws -> Double? {
      guard let d = mine.direction, let e = theirs.direction else { return nil }
      let cosine = -inWorld(d, from: here).dot(inWorld(e, from: there))
      let (s, t) = (
        try #require(mine.directionSigmaRadians), try #require(theirs.directionSigmaRadians)
      )
      return acos(min(1, max(-1, cosine))) / (s * s + t * t).squareRoot()
    }
  }

  private static let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]

  @Test(arguments: [UInt64(1), 2, 3])
  func withoutCameraAssistanceRangesAreTheSame(_ seed: UInt64) throws {
    let mesh = try Mesh(usesCamera: false, seed: seed)
    var pulls: [Double] = []
    for step in 1...50 {
      mesh.world.advance(bySeconds: 0.1)
      for (here, there) in Self.pairs {
        let (a, b) = (try mesh.recorder(here, of: there), try mesh.recorder(there, of: here))
        #expect(a.objects.count == step)
        let (mine, theirs) = (try #require(a.objects.last), try #require(b.objects.last))
        // One exchange, one range.
        #expect(mine.distance != nil && mine.distance == theirs.distance)
        #expect(mine.timestamp == theirs.timestamp)
        if let pull = try mesh.pull(mine, of: here, theirs, of: there) { pulls.append(pull) }
      }
    }
    // Sweeping moves some devices out of the cone from time to time.
    #expect(pulls.count > 270)
    #expect(pulls.allSatisfy { $0 < 4 }, "\(pulls.max() ?? 0)")
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func withCameraAssistanceBothAgreeWithinTheirSigmas(_ seed: UInt64) throws {
    let mesh = try Mesh(usesCamera: true, seed: seed)
    var (pulls, rangePulls): ([Double], [Double]) = ([], [])
    for _ in 1...25 {
      mesh.world.advance(bySeconds: 1)
      for (here, there) in Self.pairs {
        let (a, b) = (try mesh.recorder(here, of: there), try mesh.recorder(there, of: here))
        let (mine, theirs) = (try #require(a.objects.last), try #require(b.objects.last))
        #expect(mine.timestamp == theirs.timestamp)
        if let d = mine.distance, let e = theirs.distance {
          let (s, t) = (try #require(mine.distanceSigma), try #require(theirs.distanceSigma))
          rangePulls.append(abs(Double(d - e)) / (s * s + t * t).squareRoot())
        }
        if let pull = try mesh.pull(mine, of: here, theirs, of: there) { pulls.append(pull) }
      }
    }
    #expect(rangePulls.count == 150 && pulls.count > 100)
    #expect(rangePulls.allSatisfy { $0 < 4 }, "\(rangePulls.max() ?? 0)")
    #expect(pulls.allSatisfy { $0 < 4 }, "\(pulls.max() ?? 0)")
    for (here, there) in Self.pairs {
      let statuses = try mesh.recorder(here, of: there).convergences.map(\.status)
      #expect(statuses.contains(.converged), "\(here) of \(there)")
    }
  }
}
