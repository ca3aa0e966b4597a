// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyFusion

/// Peers that one run keeps for the next.
@Suite("Peer map")
struct PeerMapTests {
  /// Six beacons in a hall, at different heights.
  private static let beacons = [
    Vector3(0, 2.6, 0), Vector3(9, 0.4, 0), Vector3(9, 2.4, 7), Vector3(0, 0.6, 7),
    Vector3(4, 2.9, 3), Vector3(6, 0.2, 9),
  ]

  /// A walk among them, with drift, noise and constant errors as configured.
  private struct Walk {
    var engine: FusionEngine
    var peers: [PeerID] = []
    /// Seconds until the device was found in the map.
    var secondsToFind: Double?
    /// Takes the odometry's world at the end to the hall.
    var hallFromWorld = RigidTransform.identity
    /// The device in the hall at the end.
    var device = RigidTransform.identity

    static func configuration() -> FusionConfiguration {
      var configuration = FusionConfiguration()
      configuration.ranging.rangeScaleSigma = 0.001
      configuration.odometry.positionDrift = 0.02
      return configuration
    }

    init(
      seed: UInt64, map: PeerMap? = nil, heard: [Int] = Array(PeerMapTests.beacons.indices),
      seconds: Double = 60
    ) throws {
      let configuration = Self.configuration()
      engine = try FusionEngine(configuration, map: map)
      for index in PeerMapTests.beacons.indices {
        peers.append(try engine.addPeer(named: "beacon-\(index)"))
      }
      var generator = SeededGenerator(seed: seed)
      let up = Vector3(0, 1, 0)
      var yaw = generator.uniform(in: -.pi...Double.pi)
      let phase = generator.uniform(in: -.pi...Double.pi)
      // A radio's constant error is its own, and the same in every run.
      var radios = SeededGenerator(seed: 77)
      let biases = PeerMapTests.beacons.map { _ in
        radios.normal(sigma: configuration.ranging.rangeBiasSigma)
      }
      var place = Vector3.zero
      var before = Self.path(0, phase)
      for step in 0..<Int(20 * seconds) {
        let time = 0.05 * Double(step)
        let truth = Self.path(time, phase)
        let way = Rotation(angleRadians: -yaw, about: up).act(truth - before)
        let walked = way.length.squareRoot()
        place +=
          way + generator.normalVector(sigma: configuration.odometry.positionDrift * walked)
        yaw += generator.normal(sigma: configuration.odometry.yawDriftRadians * walked)
        before = truth
        let attitude = Rotation(angleRadians: 0.3 * sin(time), about: up)
        let worldFromHall = Rotation(angleRadians: -yaw, about: up)
        let timestamp = Timestamp(nanoseconds: 5_000_000_000).advanced(bySeconds: time)
        engine.add(
          DevicePose(
            timestamp: timestamp,
            worldFromDevice: RigidTransform(
              rotation: worldFromHall * attitude, translation: place)))
        device = RigidTransform(rotation: attitude, translation: truth)
        hallFromWorld = RigidTransform(
          rotation: worldFromHall.inverse, translation: truth - worldFromHall.inverse.act(place))
        let antenna = device.act(configuration.ranging.antennaInDevice)
        for index in heard where step % 6 == index {
          let range = (PeerMapTests.beacons[index] - antenna).length + biases[index]
          engine.add(
            RangingSample(
              peer: peers[index], timestamp: timestamp,
              distance: range + generator.normal(sigma: configuration.ranging.rangeSigma)))
        }
        if secondsToFind == nil, engine.isInMap { secondsToFind = time }
      }
    }

    /// A loop through the hall, that begins where the phase says, up and down.
    private static func path(_ time: Double, _ phase: Double) -> Vector3 {
      Vector3(
        4.5 + 3 * sin(0.3 * time + phase), 1.4 + 0.3 * sin(0.5 * time),
        3.5 + 2.5 * cos(0.4 * time + phase))
    }
  }

  @Test("surveyed anchors: the device is found, and its path is in their frame", arguments: 1...6)
  func surveyed(seed: Int) throws {
    var map = PeerMap(
      peers: Self.beacons.enumerated().map {
        PeerMap.Peer(name: "beacon-\($0)", positionInWorld: $1)
      }, covariance: Self.diagonal(count: Self.beacons.count, place: 0.01))
    // The engine has no such peer.
    map.append(
      PeerMap(
        peers: [PeerMap.Peer(name: "next door", positionInWorld: Vector3(20, 1, 3))],
        covariance: Self.diagonal(count: 1, place: 0.01)))
    let walk = try Walk(seed: UInt64(seed), map: map, heard: [0, 1, 2, 3])
    // The map is examined first.
    #expect(try #require(walk.secondsToFind) < 50)
    let alignment = try #require(walk.engine.mapAlignment)
    let newest = try #require(walk.engine.newestDevicePoint)
    let found = alignment.mapFromWorld * newest.worldFromDevice
    let away = found.translation - walk.device.translation
    #expect(away.length < 0.35, "\(away)")
    let inverse = try #require(alignment.placeCovariance.positiveDefiniteInverse)
    #expect(inverse.quadraticForm(away) < 21.1, "one run in ten thousand is farther off")
    for index in 0..<4 {
      let estimate = walk.engine.estimate(of: walk.peers[index])
      #expect(estimate.convergence == .converged)
      let truth = walk.hallFromWorld.inverse.act(Self.beacons[index])
      #expect((try #require(estimate.positionInWorld) - truth).length < 0.5)
    }
    let kept = try #require(walk.engine.peerMap)
    #expect(Set(kept.peers.map(\.name)) == Set(map.peers.map(\.name)), "none is lost")
  }

  @Test("a map of one run locates the next", arguments: 1...4)
  func secondRun(seed: Int) throws {
    let first = try Walk(seed: UInt64(seed))
    let map = try #require(first.engine.peerMap)
    // A peer that is about as probable above the walk as below is not in the map.
    #expect(map.peers.count >= Self.beacons.count - 1)
    try map.validate()
    let second = try Walk(seed: UInt64(100 + seed), map: map, seconds: 30)
    #expect(try #require(second.secondsToFind) < 15)
    let merged = try #require(second.engine.peerMap)
    #expect(merged.peers.count >= map.peers.count)
    // Both runs together know the places, relative to each other, better than the first alone.
    let known = Set(map.peers.map(\.name))
    func spread(_ map: PeerMap) -> Double {
      map.peers.indices.filter { known.contains(map.peers[$0].name) }
        .reduce(0) { $0 + map.positionCovariance(of: $1).trace }
    }
    #expect(spread(merged) < spread(map))
    for (index, peer) in second.peers.enumerated() where known.contains("beacon-\(index)") {
      let estimate = second.engine.estimate(of: peer)
      let truth = second.hallFromWorld.inverse.act(Self.beacons[index])
      let away = try #require(estimate.positionInWorld) - truth
      let inverse = try #require(estimate.covarianceInWorld.positiveDefiniteInverse)
      #expect(estimate.convergence == .converged && inverse.quadraticForm(away) < 21.1)
    }
  }

  @Test("a map of another place is not believed", arguments: 1...4)
  func wrongMap(seed: Int) throws {
    let map = PeerMap(
      peers: Self.beacons.enumerated().map {
        PeerMap.Peer(name: "beacon-\($0)", positionInWorld: 3 * Vector3($1.z, $1.y, -2 * $1.x))
      }, covariance: Self.diagonal(count: Self.beacons.count, place: 0.01))
    let walk = try Walk(seed: UInt64(seed), map: map)
    #expect(!walk.engine.isInMap && walk.engine.mapAlignment == nil)
    #expect(walk.engine.peerMap == map, "it stays as it was")
    for (index, peer) in walk.peers.enumerated() {
      let truth = walk.hallFromWorld.inverse.act(Self.beacons[index])
      #expect((try #require(walk.engine.estimate(of: peer).positionInWorld) - truth).length < 1)
    }
  }

  @Test("axes can be turned and turned back, and peers chosen")
  func turned() {
    var generator = SeededGenerator(seed: 4)
    let factor = (0..<225).map { _ in generator.normal() }
    var covariance = [Double](repeating: 0, count: 225)
    for row in 0..<15 {
      for column in 0..<15 {
        covariance[row * 15 + column] = (0..<15).reduce(0) {
          $0 + factor[row * 15 + $1] * factor[column * 15 + $1]
        }
      }
    }
    let map = PeerMap(
      peers: (0..<3).map {
        PeerMap.Peer(name: "\($0)", positionInWorld: generator.normalVector(sigma: 3))
      }, covariance: covariance)
    let turn = Rotation(angleRadians: 0.7, about: Vector3(0.6, 0, 0.8))
    let turned = map.turned(by: turn)
    #expect(
      abs(
        turned.positionCovariance(of: 1).xx
          - map.positionCovariance(of: 1).rotated(by: turn).xx) < 1e-12)
    let back = turned.turned(by: turn.inverse)
    for index in map.covariance.indices {
      #expect(abs(back.covariance[index] - map.covariance[index]) < 1e-9)
    }
    let chosen = map.selecting([2, 0])
    #expect(chosen.peers.map(\.name) == ["2", "0"])
    #expect(chosen.covariance[5] == map.covariance[10 * 15], "place of 2 with place of 0")
  }

  @Test("what makes no sense is refused")
  func faults() throws {
    let peer = PeerMap.Peer(name: "a", positionInWorld: .zero)
    let good = Self.diagonal(count: 1, place: 1)
    for map in [
      PeerMap(peers: [peer], covariance: []),
      PeerMap(peers: [peer, peer], covariance: Self.diagonal(count: 2, place: 1)),
      PeerMap(
        peers: [PeerMap.Peer(name: "a", positionInWorld: Vector3(.nan, 0, 0))], covariance: good),
      PeerMap(peers: [peer], covariance: good.map { -$0 }),
    ] {
      #expect(throws: FusionConfigurationError.self) { _ = try FusionEngine(map: map) }
    }
  }

  private static func diagonal(count: Int, place: Double) -> [Double] {
    let size = PeerMap.numbersPerPeer * count
    let sigmas = [place, place, place, 0.1, 0.001]
    return (0..<(size * size)).map { element in
      let (row, column) = (element / size, element % size)
      return row == column ? sigmas[row % 5] * sigmas[row % 5] : 0
    }
  }
}
