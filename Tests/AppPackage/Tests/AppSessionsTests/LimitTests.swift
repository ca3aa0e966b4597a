// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyGeometry
import NearbyInteraction
import Testing

extension Apps {
  @MainActor @Suite("Limits and permission") struct LimitTests {
    /// Sessions of one phone with as many friends.
    private struct Party {
      let world = SimulatedWorld()
      let sessions: [NISession]
      let friends: [NISession]
      let log = Log()

      init(_ count: Int) throws {
        let (phone, world) = (world.makeDevice(), world)
        friends = (0..<count).map { _ in NISession(on: world.makeDevice()) }
        sessions = friends.map { _ in NISession(on: phone) }
        for (session, friend) in zip(sessions, friends) {
          session.delegate = log
          friend.run(
            NINearbyPeerConfiguration(peerToken: try #require(session.discoveryToken)))
          session.run(
            NINearbyPeerConfiguration(peerToken: try #require(friend.discoveryToken)))
        }
      }
    }

    @Test("sixteen sessions run on a phone, and the next one ends")
    func seventeen() async throws {
      let party = try Party(17)
      await party.world.pass(seconds: 1)
      #expect(party.log.calls.count { $0 == "start" } == 16)
      #expect(party.log.codes == [.activeSessionsLimitExceeded])
      #expect(party.sessions.map { $0.discoveryToken == nil }.firstIndex(of: true) == 16)
    }

    @Test("a session that ends makes room for another")
    func room() async throws {
      let pair = Pair { $0.limits.activeSessions = 1 }
      try pair.run()
      await pair.pass(0.5)
      pair.session.invalidate()
      let next = NISession(on: pair.phone)
      next.delegate = pair.log
      next.run(try pair.configuration())
      await pair.pass(0.5)
      #expect(pair.log.codes.isEmpty && pair.log.calls.last == "start")
    }

    @Test("each session of a phone measures its own friend")
    func ownFriends() async throws {
      let party = try Party(5)
      await party.world.pass(seconds: 1)
      let tokens = Set(party.log.objects.map(\.discoveryToken))
      #expect(tokens == Set(party.friends.compactMap(\.discoveryToken)))
      #expect(party.log.objects.count == 50)
    }

    @Test("one session at a time measures extended distances, far beyond the usual reach")
    func extended() async throws {
      let pair = Pair(at: Vector3(0, 1.4, -40))
      let configuration = try pair.configuration()
      configuration.isExtendedDistanceMeasurementEnabled = true
      pair.session.run(configuration)
      let back = NINearbyPeerConfiguration(
        peerToken: try #require(pair.session.discoveryToken))
      back.isExtendedDistanceMeasurementEnabled = true
      pair.friend.run(back)
      await pair.pass(1)
      #expect(abs(try #require(pair.log.last?.distance) - 40) < 2)
      let (second, log) = (NISession(on: pair.phone), Log())
      second.delegate = log
      second.run(configuration)
      await pair.pass(0.1)
      #expect(log.codes == [.activeExtendedDistanceSessionsLimitExceeded])
    }

    @Test("a session that runs for too long ends to save the battery")
    func usage() async throws {
      let pair = Pair { $0.limits.usage = 20 }
      try pair.run()
      await pair.pass(21)
      #expect(pair.log.codes == [.resourceUsageTimeout])
    }

    // MARK: Permission

    @Test("a session waits for the user's answer, and starts when it is yes")
    func allow() async throws {
      let pair = Pair { $0.permissionPrompt = .init(answer: nil) }
      pair.world.play(try WorldScript("5 permission allow"))
      try pair.run()
      await pair.pass(4.8)
      #expect(pair.log.calls.isEmpty)
      await pair.pass(1)
      #expect(pair.log.summary == ["start", "update"])
    }

    @Test("a session ends when the user's answer is no")
    func deny() async throws {
      let pair = Pair { $0.permissionPrompt = .init(answer: false) }
      try pair.run()
      await pair.pass(2)
      #expect(pair.log.codes == [.userDidNotAllow] && pair.log.calls == ["invalidate"])
    }

    @Test("the user is asked once")
    func once() async throws {
      let pair = Pair { $0.permissionPrompt = .init(answer: true) }
      try pair.run()
      #expect(pair.phone.authorization == .undetermined)
      await pair.pass(1)
      let (second, log) = (NISession(on: pair.world.makeDevice()), Log())
      second.delegate = log
      second.run(try pair.configuration())
      await pair.pass(0.1)
      #expect(pair.phone.authorization == .allowed && log.calls == ["start"])
    }

    @Test("one user's refusal is the friend's end for the other")
    func otherRefuses() async throws {
      let pair = Pair()
      pair.other.authorization = .denied
      pair.session.run(try pair.configuration())
      pair.runFriend()
      await pair.pass(1)
      #expect(pair.friendLog.codes == [.userDidNotAllow])
      #expect(pair.log.summary == ["start", "remove"] && pair.log.reasons == [.peerEnded])
    }

    @Test("a permission that is taken back ends a running session")
    func takenBack() async throws {
      let pair = Pair()
      try pair.run()
      await pair.pass(1)
      pair.phone.authorization = .denied
      await pair.pass(1)
      #expect(pair.log.codes == [.userDidNotAllow])
    }
  }
}
