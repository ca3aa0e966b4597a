// SPDX-License-Identifier: Apache-2.0
import AppSessions
import NearbyEnvironment
import NearbyInteraction
import Testing

/// Two phones with the app, in a world that waits for nobody.
@MainActor @Suite(.serialized) struct FinderTests {
  private let world = SimulatedWorld()
  private let finder: Finder
  private let friend: Finder

  init() throws {
    NearbyEnvironments.current = world
    (finder, friend) = (Finder(), Finder())
    finder.find(try #require(friend.token))
    friend.find(try #require(finder.token))
  }

  @Test("the app shows the distance, and what becomes of it")
  func afternoon() async throws {
    world.play(
      try WorldScript(
        """
        25  background
        30  foreground
        40  peer leave
        55  peer return
        60  peer end
        """))
    #expect(finder.text == "Waiting for your friend")
    await world.pass(seconds: 24)
    #expect(finder.text == "3 m, straight ahead")
    await world.pass(seconds: 2)
    #expect(finder.text == "Paused")
    await world.pass(seconds: 10)
    #expect(finder.text.hasPrefix("3 m"))
    await world.pass(seconds: 7)
    #expect(finder.text == "Out of reach")
    await world.pass(seconds: 16)
    #expect(finder.text.hasPrefix("3 m"))
    await world.pass(seconds: 3)
    #expect(finder.text == "Your friend has left")
  }

  @Test("a user who does not allow it is sent to Settings")
  func denied() async throws {
    world.play(try WorldScript("1 permission deny"))
    await world.pass(seconds: 2)
    #expect(finder.text == "Allow Nearby Interaction in Settings")
  }
}
