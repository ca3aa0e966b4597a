// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
internal import NearbyGeometry
package import NearbySimulation

/// Seeded runs of one scenario in which an engine is compared with the smoother on prefixes of the run.
///
/// The smoother on a prefix estimates everything from all samples that have arrived by a moment and from
/// none that come later. It may use the past as often as it likes. It therefore says what an engine could
/// say at that moment with more computing time.
package struct PrefixRun: Sendable {
  /// An engine's estimate of one peer beside the smoother's, at one moment.
  package struct Comparison: Sendable {
    /// The seed.
    package var seed: UInt64
    /// The index of the peer.
    package var peer: Int
    /// The moment, seconds after the start of the run; the newest sample is the last one before it.
    package var seconds: Double
    /// Whether the smoother meets the engine's convergence rule, and the peer is at rest.
    package var isClaimable: Bool
    /// Whether the engine has converged.
    package var isClaimed: Bool
    /// The length of the engine's error, metres.
    package var error: Double
    /// The square root of the trace of the engine's covariance, metres.
    package var claimedSigma: Double
    /// The length of the smoother's error, metres.
    package var smootherError: Double
    /// The square root of the trace of the smoother's covariance, metres.
    package var smootherSigma: Double

    /// Whether the engine has converged to a wrong place: an error beyond both 0.5 m and 3.4 sigma.
    package var isFalseClaim: Bool {
      isClaimed && Moment.isFalse(error: error, claimedSigma: claimedSigma)
    }
    /// Whether the smoother would have claimed a wrong place, by the same measure.
    package var isFalselyClaimable: Bool {
      isClaimable && Moment.isFalse(error: smootherError, claimedSigma: smootherSigma)
    }
  }

  /// A time, and the device's path until then.
  package struct Arrival: Sendable {
    /// Seconds after the start of the run.
    package var seconds: Double
    /// Metres travelled.
    package var metres: Double
  }

  /// When one peer of a run could be claimed first, and when it was.
  package struct FirstClaim: Sendable {
    /// The seed.
    package var seed: UInt64
    /// The index of the peer.
    package var peer: Int
    /// The first claimable moment, late by at most the resolution of the search for it; `nil` if no moment is
    /// claimable.
    package var claimable: Arrival?
    /// The first sample of the peer after which the engine had converged; `nil` if it never did.
    package var claimed: Arrival?
  }

  /// What one or more runs say.
  package struct Outcome: Sendable {
    /// The comparisons, by seed, time and peer.
    package var comparisons: [Comparison] = []
    /// The first claims, by seed and peer.
    package var firstClaims: [FirstClaim] = []
  }

  /// The scenario.
  package var scenario: Scenario
  /// The engines' configuration, which is also that of the smoother.
  package var configuration: FusionConfiguration
  /// The number of moments of comparison, which are evenly spaced.
  ///
  /// At each of them the smoother solves its whole prefix. Twelve of them cost 6.5 times as much as to
  /// smooth the run once.
  package var momentCount = 12
  /// The first claimable moment is sought by bisection to this share of the distance between two moments.
  package var refinement = 8

  /// Makes runs of a scenario.
  ///
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - configuration: The configuration of the engine and of the smoother.
  package init(_ scenario: Scenario, _ configuration: FusionConfiguration) {
    self.scenario = scenario
    self.configuration = configuration
  }

  /// Runs one seed.
  ///
  /// - Parameter seed: The seed.
  /// - Returns: A comparison for each moment and each peer that had been heard by then, and a first claim
  ///   for each peer. Moments during an event of the run (``RunEvent``), and up to 2 s after it, are left
  ///   out.
  /// - Throws: When the configuration is invalid.
  package func outcome(seed: UInt64) throws -> Outcome {
    let run = scenario.simulated(seed: seed, peerCount: scenario.peer.count)
    let events = run.peers.indices.map { RunEvent(of: scenario, in: run, peer: $0) }
    let steps = Prefix.steps(of: run, until: scenario.duration, momentCount * refinement)
    let intervals = steps.chunked(by: interval(of:))
    let engine = try EngineTrace(
      run, configuration, scenario.peerMotion, at: intervals.compactMap(\.last))
    var first = [Arrival?](repeating: nil, count: run.peers.count)
    var outcome = Outcome()
    var replay = try PrefixReplay(run, configuration, scenario.peerMotion)
    for (interval, estimates) in zip(intervals, engine.estimates) {
      guard let moment = interval.last else { continue }
      let before = replay
      replay.advance(to: moment)
      let positions = replay.positions()
      let claimable = positions.indices.filter { positions[$0]?.isClaimable == true }
      search(
        claimable.filter { first[$0] == nil }, after: before, steps: interval.dropLast(),
        claimableAt: moment, &first)
      let now = moment.arrival.seconds
      for peer in run.peers.indices where events[peer]?.isUnderWay(at: now) != true {
        guard let position = positions[peer], let mean = estimates[peer].positionInWorld else {
          continue
        }
        outcome.comparisons.append(
          Comparison(
            seed: seed, peer: peer, seconds: seconds(of: moment),
            isClaimable: position.isClaimable,
            isClaimed: estimates[peer].convergence == .converged,
            error: (mean - position.truth).length,
            claimedSigma: estimates[peer].covarianceInWorld.trace.squareRoot(),
            smootherError: position.error, smootherSigma: position.sigma))
      }
    }
    outcome.firstClaims = run.peers.indices.map {
      FirstClaim(seed: seed, peer: $0, claimable: first[$0], claimed: engine.firstClaims[$0])
    }
    return outcome
  }

  /// Runs many seeds.
  ///
  /// - Parameters:
  ///   - seeds: The seeds.
  ///   - jobs: The largest number of concurrent runs; it is limited to the number of cores.
  ///   - finished: Called after each run.
  /// - Returns: The outcome of all runs, which does not depend on the number of concurrent runs.
  /// - Throws: When the configuration is invalid.
  package func outcome(
    seeds: Range<UInt64>, jobs: Int = .max, finished: () -> Void = {}
  ) async throws -> Outcome {
    let outcomes = try await SeededRuns(seeds: seeds, jobs: jobs)
      .results(finished: finished) { try outcome(seed: $0) }
    return Outcome(
      comparisons: outcomes.flatMap(\.comparisons), firstClaims: outcomes.flatMap(\.firstClaims))
  }

  /// The number of the interval between two moments that a prefix ends in, from zero.
  private func interval(of prefix: Prefix) -> Int { (prefix.step - 1) / refinement }

  /// The moment at the end of that interval, seconds after the start of the run.
  private func seconds(of prefix: Prefix) -> Double {
    scenario.duration * Double(interval(of: prefix) + 1) / Double(momentCount)
  }

  /// Finds the first claimable step of peers by bisection.
  ///
  /// - Parameters:
  ///   - peers: The peers, which are not claimable before the steps and are at their end.
  ///   - start: The run up to a moment before the steps.
  ///   - steps: The steps in between.
  ///   - end: The step after them.
  ///   - first: Receives the results.
  private func search(
    _ peers: [Int], after start: PrefixReplay, steps: ArraySlice<Prefix>, claimableAt end: Prefix,
    _ first: inout [Arrival?]
  ) {
    guard !peers.isEmpty else { return }
    guard !steps.isEmpty else {
      for peer in peers { first[peer] = end.arrival }
      return
    }
    let index = (steps.startIndex + steps.endIndex) / 2
    var middle = start
    middle.advance(to: steps[index])
    let positions = middle.positions()
    search(
      peers.filter { positions[$0]?.isClaimable == true }, after: start, steps: steps[..<index],
      claimableAt: steps[index], &first)
    search(
      peers.filter { positions[$0]?.isClaimable != true }, after: middle,
      steps: steps[(index + 1)...], claimableAt: end, &first)
  }
}

extension RunEvent {
  /// Whether the event happens at a time, or has ended too recently to be noticed.
  fileprivate func isUnderWay(at seconds: Double) -> Bool {
    seconds >= span.lowerBound && seconds <= span.upperBound + RecoveryRecord.allowedSeconds
  }
}

extension Array {
  /// Splits into runs of equal keys.
  fileprivate func chunked(by key: (Element) -> Int) -> [[Element]] {
    var chunks: [[Element]] = []
    for element in self {
      if let last = chunks.last?.last, key(last) == key(element) {
        chunks[chunks.count - 1].append(element)
      } else {
        chunks.append([element])
      }
    }
    return chunks
  }
}
