// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyFusion

/// When a challenger is given up and when it wins: all combinations of what the rules ask.
@Suite("Challenge")
struct ChallengeTests {
  private static let bits = 0..<256

  private func tracks(_ bits: Int) -> (Challenge.Challenger, Challenge.Incumbent) {
    func bit(_ index: Int) -> Bool { bits & 1 << index != 0 }
    return (
      Challenge.Challenger(
        isConsistent: bit(0), isContradicted: bit(1), isPlaced: bit(2),
        includesIncumbent: bit(3), seconds: bit(4) ? 1 : 0.99),
      Challenge.Incumbent(isConsistent: bit(5), isContradicted: bit(6), isLost: bit(7))
    )
  }

  @Test("a challenger that wins is placed, consistent and on probation for a second")
  func winners() {
    var wins = 0
    for bits in Self.bits {
      let (challenger, incumbent) = tracks(bits)
      guard Challenge.wins(challenger, incumbent) else { continue }
      wins += 1
      #expect(challenger.isPlaced && challenger.isConsistent && challenger.seconds >= 1)
      // Someone must doubt the incumbent.
      #expect(incumbent.isContradicted || incumbent.isLost)
    }
    // Placed, consistent, on probation; three bits are free, and three of four states of the incumbent are
    // contradicted or lost.
    #expect(wins == 2 * 2 * 2 * 3)
  }

  @Test(
    "a challenger ends when it and the data agree with the incumbent, or when it is contradicted",
    arguments: [
      // Challenger contradicted, incumbent consistent, incumbent lost: whether it ends.
      (false, false, false, false), (false, true, false, true), (true, false, false, true),
      (true, true, false, true),
      // A lost incumbent is a guess, however well it agrees.
      (false, true, true, false), (true, true, true, true),
    ])
  func ends(isContradicted: Bool, isConsistent: Bool, isLost: Bool, ends: Bool) {
    var challenger = Challenge.Challenger(
      isConsistent: true, isContradicted: isContradicted, isPlaced: true, includesIncumbent: true,
      seconds: 5)
    let incumbent = Challenge.Incumbent(
      isConsistent: isConsistent, isContradicted: false, isLost: isLost)
    #expect(Challenge.ends(challenger, incumbent) == ends)
    // A place elsewhere goes on until it is contradicted.
    challenger.includesIncumbent = false
    #expect(Challenge.ends(challenger, incumbent) == isContradicted)
  }

  /// What a challenger and an incumbent have explained, and whether the challenger wins.
  struct Contest: Sendable {
    var mayHaveMoved: Bool
    var before: Double
    var since: Double
    var hasAngles = false
    var seconds = 2.0
    var nats = 0.0
    var isLost = false
    var wins: Bool
  }

  @Test(
    "a place that has explained a walk is given up for more than a burst",
    arguments: [
      // Of a place just found nothing speaks against another one.
      Contest(mayHaveMoved: true, before: 2, since: 2, wins: true),
      // Carried away: after 8 m of walk with ranges alone, after 3 s with angles.
      Contest(mayHaveMoved: true, before: 100, since: 7.9, wins: false),
      Contest(mayHaveMoved: true, before: 100, since: 8, wins: true),
      Contest(
        mayHaveMoved: true, before: 100, since: 2, hasAngles: true, seconds: 2.9, wins: false),
      Contest(mayHaveMoved: true, before: 100, since: 2, hasAngles: true, seconds: 3, wins: true),
      // Nothing moves that fast: all that was measured decides, or a walk longer than reflections last.
      Contest(mayHaveMoved: false, before: 100, since: 19.9, wins: false),
      Contest(mayHaveMoved: false, before: 100, since: 20, wins: true),
      Contest(
        mayHaveMoved: false, before: 10, since: 19, hasAngles: true, seconds: 60, wins: false),
      Contest(mayHaveMoved: false, before: 100, since: 2, nats: 6.9, wins: false),
      Contest(mayHaveMoved: false, before: 100, since: 2, nats: 7.1, wins: true),
      // A place that is lost is a guess.
      Contest(mayHaveMoved: false, before: 100, since: 1, isLost: true, wins: true),
    ])
  func outweighs(contest: Contest) {
    var challenger = Challenge.Challenger(
      isConsistent: true, isContradicted: false, isPlaced: true, includesIncumbent: false,
      seconds: contest.seconds)
    challenger.explainedWalk = contest.since
    challenger.hasAngles = contest.hasAngles
    challenger.logEvidenceRatio = contest.nats
    var incumbent = Challenge.Incumbent(
      isConsistent: false, isContradicted: true, isLost: contest.isLost)
    incumbent.mayHaveMoved = contest.mayHaveMoved
    incumbent.explainedWalk = contest.before
    #expect(Challenge.wins(challenger, incumbent) == contest.wins)
    // In another world of the odometry's it has explained nothing.
    incumbent.forgetWalk()
    #expect(Challenge.wins(challenger, incumbent))
  }
}
