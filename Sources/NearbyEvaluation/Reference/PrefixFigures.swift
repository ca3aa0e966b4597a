// SPDX-License-Identifier: Apache-2.0
internal import NearbyRecordings

/// How much an engine claims of what the smoother could claim on the same prefixes of the runs of one
/// scenario, and how large their errors are.
package struct PrefixFigures: Sendable, Encodable {
  /// Root mean square errors over the same moments.
  package struct Errors: Sendable, Encodable {
    /// Of the engine, metres.
    package var engine: Double
    /// Of the smoother on the prefix, metres.
    package var smoother: Double
    /// The engine's over the smoother's; `nil` if the smoother's is zero.
    package var ratio: Double?

    /// The errors of comparisons; `nil` without comparisons, or when one of them is not finite.
    init?(_ comparisons: [PrefixRun.Comparison]) {
      func root(_ error: (PrefixRun.Comparison) -> Double) -> Double? {
        let sum = comparisons.reduce(0) { $0 + error($1) * error($1) }
        return (sum / Double(comparisons.count)).squareRoot().finite
      }
      guard let engine = root(\.error), let smoother = root(\.smootherError) else { return nil }
      self.engine = engine
      self.smoother = smoother
      ratio = smoother > 0 ? engine / smoother : nil
    }
  }

  /// The figures over some of the comparisons.
  package struct Row: Sendable, Encodable {
    /// How many comparisons: a moment of a peer each.
    package var count: Int
    /// How many of them are claimable: the smoother on the prefix meets the engine's convergence rule, and
    /// the peer is at rest.
    package var claimable: Int
    /// The share of the moments that are claimable; `nil` without moments.
    package var claimableShare: Double?
    /// How many of the claimable are wrong: the smoother's error is beyond both 0.5 m and 3.4 sigma.
    package var falselyClaimable: Int
    /// How many of the claimable the engine claims: it has converged.
    package var claimed: Int
    /// The share of the claimable moments that the engine claims; `nil` without claimable moments.
    package var claimedShare: Double?
    /// How many of those are wrong: the engine's error is beyond both 0.5 m and 3.4 sigma.
    package var falselyClaimed: Int
    /// How many of the others the engine claims.
    package var claimedBeyond: Int
    /// How many of those are wrong.
    package var falselyClaimedBeyond: Int
    /// Errors at all moments.
    package var errors: Errors?
    /// Errors at the claimable moments.
    package var claimableErrors: Errors?

    init(_ comparisons: [PrefixRun.Comparison]) {
      let claimable = comparisons.filter(\.isClaimable)
      let beyond = comparisons.filter { !$0.isClaimable }
      count = comparisons.count
      self.claimable = claimable.count
      falselyClaimable = claimable.count(where: \.isFalselyClaimable)
      claimed = claimable.count(where: \.isClaimed)
      claimableShare = Self.share(claimable.count, of: comparisons.count)
      claimedShare = Self.share(claimed, of: claimable.count)
      falselyClaimed = claimable.count(where: \.isFalseClaim)
      claimedBeyond = beyond.count(where: \.isClaimed)
      falselyClaimedBeyond = beyond.count(where: \.isFalseClaim)
      errors = Errors(comparisons)
      claimableErrors = Errors(claimable)
    }

    private static func share(_ count: Int, of total: Int) -> Double? {
      total > 0 ? Double(count) / Double(total) : nil
    }
  }

  /// How late the engine's first claim of a peer is behind the first claimable moment, over the peers that
  /// are claimable at some time; negative where it comes first.
  package struct Delay: Sendable, Encodable {
    /// How many peers are claimable at some time.
    package var peers: Int
    /// How many of them the engine never claims; their delay is infinite.
    package var neverClaimed: Int
    /// In seconds.
    package var seconds: ScenarioFigures.Spread?
    /// In metres of the device's path.
    package var metres: ScenarioFigures.Spread?

    init(_ claims: [PrefixRun.FirstClaim]) {
      let pairs = claims.compactMap { claim in claim.claimable.map { ($0, claim.claimed) } }
      peers = pairs.count
      neverClaimed = pairs.count { $0.1 == nil }
      seconds = ScenarioFigures.Spread(pairs.map { ($1?.seconds ?? .infinity) - $0.seconds })
      metres = ScenarioFigures.Spread(pairs.map { ($1?.metres ?? .infinity) - $0.metres })
    }
  }

  /// The figures at one time.
  package struct TimeRow: Sendable, Encodable {
    /// Seconds after the start.
    package var seconds: Double
    /// The figures.
    package var figures: Row
  }

  /// The scenario's name.
  package var scenario: String
  /// Over all moments.
  package var all: Row
  /// The delay of the first claims.
  package var delay: Delay
  /// At each time.
  package var times: [TimeRow]

  /// Computes the figures.
  ///
  /// - Parameters:
  ///   - scenario: The scenario's name.
  ///   - outcome: The outcome of all runs.
  package init(scenario: String, _ outcome: PrefixRun.Outcome) {
    self.scenario = scenario
    all = Row(outcome.comparisons)
    delay = Delay(outcome.firstClaims)
    times = Dictionary(grouping: outcome.comparisons, by: \.seconds)
      .map { TimeRow(seconds: $0, figures: Row($1)) }.sorted { $0.seconds < $1.seconds }
  }
}
