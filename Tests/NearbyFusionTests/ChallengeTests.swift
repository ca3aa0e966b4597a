// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyFusion

/// When a challenger is given up and when it wins: all combinations of what the rules ask.
@Suite("Challenge")
struct ChallengeTests {
  private static let bits = 0..<512

  private func tracks(_ bits: Int) -> (Challenge.Challenger, Challenge.Incumbent) {
    func bit(_ index: Int) -> Bool { bits & 1 << index != 0 }
    return (
      Challenge.Challenger(
        isConsistent: bit(0), isContradicted: bit(1), isSettled: bit(2), hasBeenTested: bit(3),
        seconds: bit(4) ? 1 : 0.99),
      Challenge.Incumbent(
        isConsistent: bit(5), isContradicted: bit(6), rangesContradict: bit(7), isLost: bit(8))
    )
  }

  @Test("a challenger that wins is settled, consistent and on probation for a second")
  func winners() {
    var wins = 0
    for bits in Self.bits {
      let (challenger, incumbent) = tracks(bits)
      guard Challenge.wins(challenger, incumbent) else { continue }
      wins += 1
      #expect(challenger.isSettled && challenger.isConsistent && challenger.seconds >= 1)
      // Someone must doubt the incumbent, and something must tell the two apart.
      #expect(incumbent.isContradicted || incumbent.isLost)
      #expect(challenger.hasBeenTested || incumbent.rangesContradict || incumbent.isLost)
    }
    // Settled, consistent, on probation; of the incumbent's eight states with two bits free: lost, in
    // eight of 16 combinations with a test; contradicted with ranges or a test.
    #expect(wins == 2 * 2 * (4 + 4 + 2 + 1))
  }

  @Test(
    "a challenger ends when the incumbent agrees with the data, or when it does not itself",
    arguments: [
      // Challenger contradicted, incumbent consistent, incumbent lost: whether it ends.
      (false, false, false, false), (false, true, false, true), (true, false, false, true),
      (true, true, false, true),
      // A lost incumbent is a guess, however well it agrees.
      (false, true, true, false), (true, true, true, true),
    ])
  func ends(isContradicted: Bool, isConsistent: Bool, isLost: Bool, ends: Bool) {
    let challenger = Challenge.Challenger(
      isConsistent: true, isContradicted: isContradicted, isSettled: true, hasBeenTested: true,
      seconds: 5)
    let incumbent = Challenge.Incumbent(
      isConsistent: isConsistent, isContradicted: false, rangesContradict: false, isLost: isLost)
    #expect(Challenge.ends(challenger, incumbent) == ends)
  }
}
