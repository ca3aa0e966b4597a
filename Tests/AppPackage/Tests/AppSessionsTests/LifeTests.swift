// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyGeometry
import NearbyInteraction
import Testing

extension Apps {
  @MainActor @Suite("A session's life") struct LifeTests {
    private let pair = Pair()

    // MARK: Running

    @Test("a session starts, and then has updates")
    func order() async throws {
      try pair.run()
      await pair.pass(1)
      #expect(pair.log.summary == ["start", "update"] && pair.log.objects.count == 10)
    }

    @Test("nothing comes until both run")
    func bothRun() async throws {
      pair.session.run(try pair.configuration())
      await pair.pass(3)
      #expect(pair.log.calls == ["start"])
      pair.runFriend()
      await pair.pass(1)
      #expect(pair.log.summary == ["start", "update"])
    }

    @Test("both ends have the same distance at the same time")
    func symmetric() async throws {
      try pair.run()
      await pair.pass(2)
      #expect(pair.log.objects.count == 20)
      #expect(pair.log.objects.map(\.distance) == pair.friendLog.objects.map(\.distance))
    }

    @Test("updates name the friend's token")
    func tokens() async throws {
      try pair.run()
      await pair.pass(1)
      let token = try #require(pair.friend.discoveryToken)
      #expect(!pair.log.objects.isEmpty)
      #expect(pair.log.objects.allSatisfy { $0.discoveryToken == token })
    }

    @Test("the delegate is not called from within run")
    func notFromWithin() throws {
      try pair.run()
      #expect(pair.log.calls.isEmpty)
    }

    @Test("a run with another friend's token measures that friend")
    func anotherPeer() async throws {
      try pair.run()
      await pair.pass(1)
      let third = NISession(on: pair.world.makeDevice())
      let token = try #require(third.discoveryToken)
      third.run(NINearbyPeerConfiguration(peerToken: try #require(pair.session.discoveryToken)))
      pair.session.run(NINearbyPeerConfiguration(peerToken: token))
      await pair.pass(1)
      #expect(pair.log.last?.discoveryToken == token)
    }

    // MARK: Pauses

    @Test("a pause stops the updates of both")
    func pause() async throws {
      try pair.run()
      await pair.pass(1)
      pair.session.pause()
      await pair.pass(2)
      #expect(pair.log.objects.count == 10 && pair.friendLog.objects.count <= 11)
      #expect(pair.log.summary == ["start", "update"])
    }

    @Test("a paused session resumes with the same token, without an exchange")
    func resume() async throws {
      let token = pair.session.discoveryToken
      try pair.run()
      await pair.pass(1)
      pair.session.pause()
      await pair.pass(1)
      try pair.rerun()
      await pair.pass(1)
      #expect(pair.session.discoveryToken == token)
      #expect(pair.log.summary == ["start", "update", "start", "update"])
      #expect(pair.friendLog.removals.isEmpty)
    }

    @Test("a long pause is a timeout for the friend")
    func longPause() async throws {
      try pair.run()
      await pair.pass(1)
      pair.session.pause()
      await pair.pass(11)
      #expect(pair.friendLog.reasons == [.timeout] && pair.log.removals.isEmpty)
    }

    // MARK: Suspensions

    @Test("in the background a session is suspended, without updates")
    func background() async throws {
      try pair.run()
      await pair.pass(1)
      pair.phone.undergo(.enteredBackground)
      await pair.pass(2)
      #expect(pair.log.summary == ["start", "update", "suspend"])
      #expect(pair.log.objects.count == 10)
    }

    @Test("in the foreground a session does not resume by itself")
    func foreground() async throws {
      try pair.run()
      await pair.pass(1)
      pair.phone.undergo(.enteredBackground)
      pair.phone.undergo(.enteredForeground)
      await pair.pass(2)
      #expect(pair.log.summary == ["start", "update", "suspend", "suspension ended"])
      try pair.rerun()
      await pair.pass(1)
      #expect(pair.log.summary.suffix(2) == ["start", "update"])
    }

    @Test("a phone call suspends a session, and its end lets the app run it")
    func call() async throws {
      pair.log.onCall = { session, call in
        guard call == "suspension ended", let configuration = session.configuration else { return }
        session.run(configuration)
      }
      pair.world.play(try WorldScript("1 call\n3 hangup"))
      try pair.run()
      await pair.pass(5)
      #expect(
        pair.log.summary == [
          "start", "update", "suspend", "suspension ended", "start", "update",
        ])
    }

    @Test("a session that is run in the background is suspended at once")
    func runInBackground() async throws {
      pair.phone.undergo(.enteredBackground)
      try pair.run()
      await pair.pass(1)
      #expect(pair.log.calls == ["suspend"])
    }

    @Test("a suspension that lasts too long ends the session")
    func longSuspension() async throws {
      try pair.run()
      pair.phone.undergo(.enteredBackground)
      await pair.pass(301)
      #expect(pair.log.codes == [.sessionFailed] && pair.session.discoveryToken == nil)
    }

    @Test("a suspended phone times out at its friend")
    func suspendedPeer() async throws {
      try pair.run()
      await pair.pass(1)
      pair.phone.undergo(.enteredBackground)
      await pair.pass(11)
      #expect(pair.friendLog.reasons == [.timeout])
    }

    // MARK: The friend's end

    @Test("a friend who ends is told as one who ended, with the token")
    func peerEnded() async throws {
      let token = try #require(pair.friend.discoveryToken)
      try pair.run()
      await pair.pass(1)
      pair.friend.invalidate()
      await pair.pass(1)
      #expect(pair.log.reasons == [.peerEnded] && pair.log.removals.first?.token == token)
    }

    @Test("a paused session hears of its friend's end")
    func peerEndedInPause() async throws {
      try pair.run()
      await pair.pass(1)
      pair.session.pause()
      pair.friend.invalidate()
      await pair.pass(1)
      #expect(pair.log.reasons == [.peerEnded])
    }

    @Test("an app in the background hears of its friend's end when it is back")
    func peerEndedInBackground() async throws {
      try pair.run()
      await pair.pass(1)
      pair.phone.undergo(.enteredBackground)
      pair.friend.invalidate()
      await pair.pass(20)
      #expect(pair.log.removals.isEmpty)
      pair.phone.undergo(.enteredForeground)
      await pair.pass(1)
      #expect(pair.log.reasons == [.peerEnded])
    }

    @Test("a run after the friend's end tells of it again")
    func rerunAfterEnd() async throws {
      try pair.run()
      await pair.pass(1)
      pair.friend.invalidate()
      await pair.pass(1)
      try pair.rerun()
      await pair.pass(1)
      #expect(pair.log.reasons == [.peerEnded, .peerEnded] && pair.log.codes.isEmpty)
    }

    @Test("a farewell that is lost is a timeout")
    func lostFarewell() async throws {
      let pair = Pair { $0.lostFarewellShare = 1 }
      try pair.run()
      await pair.pass(1)
      pair.friend.invalidate()
      await pair.pass(11)
      #expect(pair.log.reasons == [.timeout])
    }

    @Test("a friend whose app was killed times out")
    func dropped() async throws {
      let phone = NISession(on: pair.phone)
      phone.delegate = pair.log
      var killed: NISession? = NISession(on: pair.other)
      phone.run(NINearbyPeerConfiguration(peerToken: try #require(killed?.discoveryToken)))
      killed?.run(NINearbyPeerConfiguration(peerToken: try #require(phone.discoveryToken)))
      await pair.pass(1)
      #expect(pair.log.objects.count == 10)
      killed = nil
      await pair.pass(11)
      #expect(pair.log.reasons == [.timeout])
    }

    @Test(
      "a friend who walks away times out, and a run with the same configuration finds them again")
    func retry() async throws {
      pair.log.onCall = { session, call in
        guard call == "remove", let configuration = session.configuration else { return }
        session.run(configuration)
      }
      pair.world.play(try WorldScript("2 peer leave\n14 peer return"))
      try pair.run()
      pair.friendLog.onCall = pair.log.onCall
      await pair.pass(16)
      #expect(pair.log.reasons == [.timeout] && pair.log.last?.distance != nil)
      #expect(pair.log.summary == ["start", "update", "remove", "start", "update"])
    }

    @Test("a friend who never runs times out after a minute")
    func neverHeard() async throws {
      pair.session.run(try pair.configuration())
      await pair.pass(59)
      #expect(pair.log.removals.isEmpty)
      await pair.pass(2)
      #expect(pair.log.reasons == [.timeout])
    }

    // MARK: The own end

    @Test("an app does not hear of its own invalidation, and of nothing after it")
    func ownEnd() async throws {
      try pair.run()
      await pair.pass(1)
      pair.session.invalidate()
      await pair.pass(2)
      #expect(pair.log.summary == ["start", "update"] && pair.log.objects.count == 10)
    }

    @Test("a session that was invalidated cannot be run")
    func runInvalidated() async throws {
      pair.session.invalidate()
      pair.session.run(try pair.configuration())
      await pair.pass(1)
      #expect(pair.log.codes == [.sessionFailed] && !pair.log.calls.contains("start"))
    }

    @Test("after a failure a new session with new tokens works")
    func anew() async throws {
      let token = try #require(pair.session.discoveryToken)
      pair.session.run(NINearbyPeerConfiguration(peerToken: token))
      await pair.pass(0.1)
      #expect(pair.log.codes == [.invalidConfiguration])
      let again = NISession(on: pair.phone)
      again.delegate = pair.log
      again.run(try pair.configuration())
      pair.friend.run(NINearbyPeerConfiguration(peerToken: try #require(again.discoveryToken)))
      await pair.pass(1)
      #expect(pair.log.summary == ["invalidate", "start", "update"])
    }

    @Test("a session with itself is no valid configuration")
    func itself() async throws {
      let token = try #require(pair.session.discoveryToken)
      pair.session.run(NINearbyPeerConfiguration(peerToken: token))
      await pair.pass(0.1)
      #expect(pair.log.codes == [.invalidConfiguration] && pair.log.calls == ["invalidate"])
    }

    @Test("the token of a session that has ended is no valid configuration")
    func deadToken() async throws {
      let configuration = try pair.configuration()
      pair.friend.invalidate()
      await pair.pass(1)
      pair.session.run(configuration)
      await pair.pass(0.1)
      #expect(pair.log.codes == [.invalidConfiguration])
    }
  }
}
