// SPDX-License-Identifier: Apache-2.0
import NearbyLive
import Testing

@Suite("Which connection gives way")
struct ConnectionRosterTests {
  @Test func theOldestStrangerGivesWay() {
    var roster = ConnectionRoster<String>(capacity: 3)
    for name in ["a", "b", "c"] { #expect(roster.enter(name).evicted == nil) }
    #expect(roster.enter("d").evicted == "a")
    #expect(roster.enter("e").evicted == "b")
    #expect(roster.count == 3)
  }

  @Test func theOwnerStaysAndGetsInWhateverTheCrowd() {
    var roster = ConnectionRoster<Int>(capacity: 8)
    let owner = roster.enter(-1).number
    roster.trust(owner)
    for name in 0..<1200 { #expect(roster.enter(name).evicted != -1) }
    let second = roster.enter(-2)
    #expect(second.evicted != -2)
    roster.trust(second.number)
    for name in 0..<1200 { #expect((roster.enter(name).evicted ?? 0) >= 0) }
    #expect(roster.count == 8)
  }

  @Test func whereAllAreTrustedTheNewOneGivesWay() {
    var roster = ConnectionRoster<Int>(capacity: 2)
    let numbers = (0..<2).map { roster.enter($0).number }
    numbers.forEach { roster.trust($0) }
    #expect(roster.enter(2).evicted == 2)
    roster.leave(numbers[0])
    #expect(roster.enter(3).evicted == nil)
  }

  @Test func whatHasEndedIsForgotten() {
    var roster = ConnectionRoster<Int>(capacity: 4)
    let numbers = (0..<4).map { roster.enter($0).number }
    roster.trust(numbers[1])
    // Twice, as for a connection that was closed for another and then ends.
    for number in numbers + numbers { roster.leave(number) }
    #expect(roster.count == 0)
    roster.trust(numbers[2])
    #expect(roster.count == 0)
  }
}
