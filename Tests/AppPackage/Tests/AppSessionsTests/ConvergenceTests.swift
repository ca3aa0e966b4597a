// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyGeometry
import NearbyInteraction
import Testing

extension Apps {
  @MainActor @Suite("Convergence and places") struct ConvergenceTests {
    private func swept(_ seconds: Double, at place: Vector3 = Vector3(0.4, 1.1, -3)) async throws
      -> Pair
    {
      let pair = Pair(at: place, isSwept: true)
      pair.session.options.peerMotion = .stationary
      try pair.run(usesCamera: true)
      await pair.pass(seconds)
      return pair
    }

    @Test("a swept phone converges")
    func converges() async throws {
      let pair = try await swept(20)
      #expect(pair.log.statuses.last?.status == .converged)
      #expect(pair.log.statuses.allSatisfy { !$0.isOfSession })
    }

    @Test("convergence is told only with camera assistance")
    func onlyWithCamera() async throws {
      let pair = Pair(isSwept: true)
      try pair.run()
      await pair.pass(20)
      #expect(pair.log.objects.count == 200 && pair.log.statuses.isEmpty)
    }

    @Test("a phone at rest is asked to move first")
    func movement() async throws {
      let pair = Pair(capabilities: .phoneWithoutAntennaArray)
      pair.session.options.peerMotion = .stationary
      try pair.run(usesCamera: true)
      await pair.pass(8)
      guard case .notConverged(let reasons) = pair.log.statuses.first?.status else {
        Issue.record("no reasons were told")
        return
      }
      #expect(reasons.contains(.insufficientMovement))
      #expect(pair.log.statuses.allSatisfy { $0.status != .converged })
    }

    @Test("texts change at a pace that a person can follow")
    func pace() async throws {
      let pair = Pair(
        at: Vector3(1.5, 0.9, -4), capabilities: .phoneWithoutAntennaArray)
      pair.world.play(try WorldScript("2 sweep side 5\n7 walk 2.5 0\n10 walk 2.5 2\n13 sweep up 6"))
      try pair.run(usesCamera: true)
      await pair.pass(30)
      let asked = pair.log.statuses.filter { $0.status != .converged && !$0.isOfSession }
      #expect((1...12).contains(asked.count))
      for (a, b) in zip(asked, asked.dropFirst()) { #expect(b.update - a.update >= 19) }
    }

    @Test("each reason has a text of its own for the user")
    func texts() {
      let reasons: [NIAlgorithmConvergenceStatus.Reason] = [
        .insufficientMovement, .insufficientHorizontalSweep, .insufficientVerticalSweep,
        .insufficientLighting, .insufficientSignalStrength,
      ]
      let texts = Set(reasons.compactMap(\.localizedDescription))
      #expect(texts.count == reasons.count && texts.allSatisfy { !$0.isEmpty })
    }

    @Test("darkness concerns the session, which has no object, and light ends it")
    func darkness() async throws {
      let pair = try await swept(20)
      pair.world.play(try WorldScript("1 dark\n4 light"))
      await pair.pass(8)
      let ofSession = pair.log.statuses.filter(\.isOfSession).map(\.status)
      #expect(ofSession == [.notConverged([.insufficientLighting]), .unknown])
      #expect(pair.log.statuses.last { !$0.isOfSession }?.status == .converged)
    }

    @Test("there is no place until the phone has converged")
    func noPlaceBefore() async throws {
      let pair = try await swept(20)
      let converged = try #require(pair.log.statuses.first { $0.status == .converged })
      #expect(converged.update > 5)
      #expect(pair.log.places.prefix(converged.update - 1).allSatisfy { $0 == nil })
      #expect(pair.log.places.last.flatMap { $0 } != nil)
    }

    @Test("a place has no rotation")
    func rotation() async throws {
      let place = try #require(try await swept(20).log.places.last.flatMap { $0 })
      #expect(place.columns.0 == simd_float4(1, 0, 0, 0))
      #expect(place.columns.1 == simd_float4(0, 1, 0, 0))
      #expect(place.columns.2 == simd_float4(0, 0, 1, 0) && place.columns.3.w == 1)
    }

    @Test("a place is close to the true one")
    func place() async throws {
      let pair = try await swept(30)
      let place = try #require(pair.log.places.last.flatMap { $0 })
      #expect(simd_distance(simd_make_float3(place.columns.3), pair.truePlace) < 0.7)
    }

    @Test("a place can be asked for between updates")
    func polling() async throws {
      let pair = try await swept(20)
      let object = try #require(pair.log.last)
      pair.world.advance(bySeconds: 0.03)
      #expect(pair.session.worldTransform(for: object) != nil)
    }

    @Test("there is no place after the session ended")
    func ended() async throws {
      let pair = try await swept(20)
      let object = try #require(pair.log.last)
      pair.session.invalidate()
      #expect(pair.session.worldTransform(for: object) == nil)
    }

    @Test("after a short pause the place is back in a moment, without a new search")
    func pause() async throws {
      let pair = try await swept(20)
      pair.session.pause()
      await pair.pass(3)
      try pair.rerun()
      await pair.pass(2)
      #expect(pair.log.places.last.flatMap { $0 } != nil)
    }

    @Test("an app may say that the friend moves, by the friend's token only")
    func motion() throws {
      let pair = Pair()
      try pair.run()
      let own = try #require(pair.session.discoveryToken)
      let friend = try #require(pair.friend.discoveryToken)
      let before = pair.session.options
      pair.session.updateMotionState(.moving, forObjectWithToken: own)
      #expect(pair.session.options == before)
      pair.session.updateMotionState(.moving, forObjectWithToken: friend)
      #expect(pair.session.options.peerMotion == .moving)
    }
  }
}
