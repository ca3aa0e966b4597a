// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

/// What samples reveal of the past: peers that were moved, odometry that slipped.
@Suite("Events", .enabled(if: BuildMode.isOptimized))
struct SampleEventTests {
  /// The events of a run, with their seconds since its start.
  private func events(
    in name: String, seed: UInt64, noiseIsKnown: Bool = true
  ) throws -> [(found: Double, event: SampleEvent)] {
    let scenario = try #require(Scenario.preset(named: name))
    let run = scenario.simulated(seed: seed, peerCount: scenario.peer.count)
    var configuration = scenario.matchingConfiguration
    configuration.ranging.whiteSharesAreKnown = noiseIsKnown
    var engine = try FusionEngine(configuration)
    let peers = run.peers.map { _ in engine.addPeer(scenario.peerMotion) }
    var result: [(found: Double, event: SampleEvent)] = []
    run.feed(&engine, as: peers) { index, report, _ in
      if let event = report.event { result.append((run.samples[index].seconds, event)) }
    }
    return result
  }

  @Test(
    "a peer at rest that is moved is reported, with the time at which it was",
    arguments: ["beacon-moved", "beacon-moved-ranges"], 1..<7 as Range<UInt64>)
  func move(name: String, seed: UInt64) throws {
    let scenario = try #require(Scenario.preset(named: name))
    let start = try #require(scenario.simulated(seed: seed).samples.first).timestamp
    let events = try events(in: name, seed: seed)
    guard case .peerMoved(let since) = try #require(events.first).event else {
      Issue.record("\(events)")
      return
    }
    // Carried from 40 to 45 s.
    #expect((39.5...51).contains(since.seconds(since: start)))
  }

  @Test("slips are reported, and each once")
  func slip() throws {
    var found = 0
    for seed in 0..<8 as Range<UInt64> {
      let slips = try events(in: "slip-step-40", seed: seed, noiseIsKnown: false).filter {
        if case .odometrySlipped = $0.event { true } else { false }
      }
      #expect(slips.count <= 1)
      if let slip = slips.first {
        found += 1
        #expect((30...35).contains(slip.found), "seed \(seed)")
      }
    }
    #expect(found >= 6)
  }

  @Test("how far the odometry turned and moved is reported once the peers are found again")
  func slipMeasured() throws {
    var (turns, moves, count) = (0, 0, 0)
    for seed in 0..<8 as Range<UInt64> {
      let scenario = try #require(Scenario.preset(named: "slip-step-40"))
      let run = scenario.simulated(seed: seed, peerCount: scenario.peer.count)
      var detectedFrom = Vector3.zero
      for (found, event) in try events(in: "slip-step-40", seed: seed, noiseIsKnown: false) {
        if case .odometrySlipped = event {
          let sample = try #require(run.samples.last { $0.seconds <= found })
          detectedFrom = sample.odometryFromDevice.translation
        }
        guard case .slipMeasured(_, let turn, let displacement) = event else { continue }
        count += 1
        // Where the peers lie in the odometry's world, as the simulation has it.
        let before = try #require(run.samples.last { $0.seconds < 29 && $0.peer == 0 })
        let after = try #require(run.samples.last { $0.peer == 0 })
        let others = try (
          #require(run.samples.last { $0.seconds < 29 && $0.peer == 1 }),
          #require(run.samples.last { $0.peer == 1 })
        )
        let (from, to) = (
          others.0.peerInOdometry - before.peerInOdometry,
          others.1.peerInOdometry - after.peerInOdometry
        )
        let truth = atan2(from.z * to.x - from.x * to.z, from.x * to.x + from.z * to.z)
        if abs(turn - truth) < 5.0.degreesAsRadians { turns += 1 }
        let expected =
          detectedFrom
          + Rotation(angleRadians: turn, about: Vector3(0, 1, 0)).act(
            before.peerInOdometry + displacement - detectedFrom)
        if (expected - after.peerInOdometry).length < 0.8 { moves += 1 }
      }
    }
    #expect(
      count >= 6 && turns >= count - 1 && moves >= count - 1,
      "\(turns) turns and \(moves) displacements of \(count)")
  }

  @Test(
    "what stays where it is says nothing",
    arguments: ["find", "short-minute", "level-bob"], 1..<4 as Range<UInt64>)
  func rest(name: String, seed: UInt64) throws {
    #expect(try events(in: name, seed: seed).isEmpty)
  }

  /// How many moves and returns are reported in some runs.
  private func moves(in name: String, seeds: Range<UInt64>) throws -> Int {
    let scenario = try #require(Scenario.preset(named: name))
    let noiseIsKnown = scenario.matchingConfiguration.ranging.whiteSharesAreKnown
    return try seeds.reduce(0) { sum, seed in
      try sum
        + events(in: name, seed: seed, noiseIsKnown: noiseIsKnown).count {
          switch $0.event {
          case .peerMoved, .peerReturned: true
          case .odometrySlipped, .slipMeasured: false
          }
        }
    }
  }

  @Test(
    "a reflection is no move, nor is a place that was never right",
    arguments: [("zones", 0), ("reflector", 1), ("level-hall", 0)])
  func falseMoves(name: String, most: Int) throws {
    #expect(try moves(in: name, seeds: 0..<20) <= most)
  }

  @Test("of eight peers the two that are carried away are named, and no other")
  func carriedPeersAreNamed() throws {
    let scenario = try #require(Scenario.preset(named: "misfit-taken"))
    for seed in 0..<5 as Range<UInt64> {
      let run = scenario.simulated(seed: seed, peerCount: 8)
      var engine = try FusionEngine(scenario.matchingConfiguration)
      let peers = run.peers.map { _ in engine.addPeer(scenario.peerMotion) }
      var moved: Set<Int> = []
      run.feed(&engine, as: peers) { index, report, _ in
        if case .peerMoved = report.event { moved.insert(run.samples[index].peer) }
      }
      #expect(moved == [6, 7], "seed \(seed)")
    }
  }

  @Test("what a slip of the odometry does to places is no move of peers")
  func slipIsNoMove() throws {
    #expect(try moves(in: "slip-shift-3", seeds: 0..<20) == 0)
  }

  @Test(
    "moves are reported, most of them",
    arguments: [("beacon-moved", 37), ("beacon-moved-ranges", 31), ("beacon-moved-unheard", 36)])
  func recall(name: String, least: Int) throws {
    let found = try (0..<40 as Range<UInt64>).count { seed in
      try events(in: name, seed: seed).contains {
        if case .peerMoved = $0.event { true } else { false }
      }
    }
    #expect(found >= least)
  }
}
