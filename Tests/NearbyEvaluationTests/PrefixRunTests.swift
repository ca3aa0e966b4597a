// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbySmoothing
import NearbyTestSupport
import Testing

@testable import NearbyEvaluation

@Suite("PrefixRun", .enabled(if: BuildMode.isOptimized, "needs an optimised build"))
struct PrefixRunTests {
  private func scenario(_ name: String, _ change: (inout Scenario) -> Void = { _ in }) throws
    -> Scenario
  {
    var scenario = try #require(Scenario.preset(named: name))
    change(&scenario)
    return scenario
  }

  private func prefixRun(_ scenario: Scenario) -> PrefixRun {
    PrefixRun(scenario, scenario.matchingConfiguration)
  }

  @Test("prefixes end with the last sample of each step, and late samples belong to a later one")
  func prefixes() throws {
    for name in ["find", "garbage", "sparse"] {
      let scenario = try scenario(name)
      let run = scenario.simulated(seed: 3)
      let prefixes = Prefix.steps(of: run, until: scenario.duration, 96)
      #expect(prefixes.map(\.step) == Set(prefixes.map(\.step)).sorted())
      #expect(prefixes.map(\.eventCount) == Set(prefixes.map(\.eventCount)).sorted())
      for prefix in prefixes {
        let end = scenario.duration * Double(prefix.step) / 96
        let arrived = run.events[..<prefix.eventCount].compactMap { event in
          if case .sample(let index) = event { index } else { nil }
        }
        #expect(arrived.max() == prefix.newest && prefix.arrival.seconds <= end + 1e-9)
        let next = run.events[prefix.eventCount...].firstNonNil { event in
          if case .sample(let index) = event { run.samples[index].seconds } else { nil }
        }
        if let next { #expect(next > end - 1e-9) }
      }
    }
  }

  @Test("the smoother gets the prefix and nothing else, and the truth is that of its end")
  func prefixOnly() throws {
    let scenario = try scenario("level-office") { $0.duration = 30 }
    let run = scenario.simulated(seed: 1, peerCount: 8)
    let prefix = Prefix.steps(of: run, until: 30, 3)[1]
    var replay = try PrefixReplay(run, scenario.matchingConfiguration, scenario.peerMotion)
    var smoother = try Smoother(scenario.matchingConfiguration)
    let peers = run.peers.map { _ in smoother.addPeer() }
    for event in run.events[..<prefix.eventCount] {
      switch event {
      case .pose(let index): smoother.add(run.poses[index])
      case .tracking(let index): smoother.add(run.tracking[index])
      case .sample(let index):
        smoother.add(run.rangingSample(index, of: peers[run.samples[index].peer]))
      }
    }
    replay.advance(to: prefix)
    let positions = replay.positions()
    let sample = run.samples[prefix.newest]
    let truth = try #require(positions[sample.peer]).truth
    #expect((truth - sample.peerInOdometry).length < 1e-9)
    for (track, position) in zip(smoother.solve().tracks, positions) {
      let (final, position) = (try #require(track.final), try #require(position))
      #expect((final.positionInWorld - position.truth).length == position.error)
      #expect(position.isClaimable == track.converges(scenario.matchingConfiguration))
    }
  }

  @Test("a peer that walks is not claimable, however well it is known")
  func walking() throws {
    let scenario = try scenario("peer-moving") { $0.duration = 20 }
    var configuration = scenario.matchingConfiguration
    configuration.convergence.sigmaFloor = 2
    let outcome = try PrefixRun(scenario, configuration).outcome(seed: 0)
    #expect(outcome.comparisons.count == 12)
    // At rest it would be claimable.
    #expect(outcome.comparisons.contains { $0.smootherSigma < 2 })
    #expect(outcome.comparisons.contains { $0.isClaimed })
    #expect(!outcome.comparisons.contains { $0.isClaimable })
    #expect(outcome.firstClaims.count == 1 && outcome.firstClaims[0].claimable == nil)
  }

  @Test("moments during an event are left out")
  func event() throws {
    let scenario = try scenario("tracking-lost")
    let seconds = try prefixRun(scenario).outcome(seed: 0).comparisons.map(\.seconds)
    // Moments are 5 s apart; the event lasts from 25 to 28 s, and 2 s are allowed after it.
    #expect(seconds.contains(20) && seconds.contains(35) && !seconds.contains(30))
  }

  @Test("the first claimable moment is found to a share of the distance between moments")
  func refinement() throws {
    var run = prefixRun(try scenario("find"))
    for seed in 0..<4 as Range<UInt64> {
      run.refinement = 8
      let fine = try run.outcome(seed: seed)
      let first = try #require(fine.firstClaims[0].claimable)
      run.refinement = 1
      let coarse = try run.outcome(seed: seed)
      let moment = try #require(coarse.firstClaims[0].claimable)
      #expect(coarse.comparisons.map(\.isClaimable) == fine.comparisons.map(\.isClaimable))
      #expect(first.seconds <= moment.seconds && first.metres <= moment.metres)
      #expect(first.seconds > moment.seconds - run.scenario.duration / 12)
      // What bisection found is claimable, and an eighth of the distance earlier it was not.
      let simulated = run.scenario.simulated(seed: seed)
      let steps = Prefix.steps(of: simulated, until: run.scenario.duration, 96)
      let index = try #require(steps.firstIndex { $0.arrival.seconds == first.seconds })
      for (step, isExpected) in [(index, true), (index - 1, false)] where step >= 0 {
        var replay = try PrefixReplay(
          simulated, run.configuration, run.scenario.peerMotion)
        replay.advance(to: steps[step])
        #expect((replay.positions()[0]?.isClaimable ?? false) == isExpected)
      }
    }
  }

  @Test("the engine's first claim is the one that the proof counts, and all peers are compared")
  func peers() async throws {
    let scenario = try scenario("find") { $0.peer.count = 2 }
    let outcome = try await prefixRun(scenario).outcome(seeds: 0..<3)
    #expect(outcome.firstClaims.map(\.seed) == [0, 0, 1, 1, 2, 2])
    #expect(outcome.firstClaims.map(\.peer) == [0, 1, 0, 1, 0, 1])
    #expect(outcome.comparisons.count == 3 * 2 * 12)
    let alone = try await prefixRun(scenario).outcome(seeds: 0..<3, jobs: 1)
    #expect(alone.comparisons.map(\.smootherError) == outcome.comparisons.map(\.smootherError))
    let records = try await ConsistencyRun(scenario).report(seeds: 0..<3).records
    for (record, claim) in zip(records, outcome.firstClaims) {
      let (proven, claimed) = (try #require(record.firstConvergence), try #require(claim.claimed))
      // The proof counts from the first sample.
      #expect(abs(proven.seconds - claimed.seconds) < 0.2)
    }
    #expect(outcome.comparisons.last?.isClaimable == true)
    #expect(outcome.comparisons.last?.isClaimed == true)
  }
}

extension Sequence {
  /// The first value that is not `nil`.
  fileprivate func firstNonNil<Value>(_ value: (Element) -> Value?) -> Value? {
    for element in self { if let value = value(element) { return value } }
    return nil
  }
}
