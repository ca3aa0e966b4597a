// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyGeometry
import NearbyInteraction
import Testing

extension Apps {
  @MainActor @Suite("Outputs, and when they are nil") struct OutputTests {
    /// A pair that has run for some seconds.
    private func pair(
      at place: Vector3 = Vector3(0, 1.4, -4), usesCamera: Bool = false, isSwept: Bool = false,
      capabilities: DeviceCapabilities? = nil, seconds: Double = 2
    ) async throws -> Pair {
      let pair = Pair(at: place, isSwept: isSwept, capabilities: capabilities)
      pair.session.updateMotionState(
        .stationary, forObjectWithToken: try #require(pair.friend.discoveryToken))
      pair.session.options.peerMotion = .stationary
      try pair.run(usesCamera: usesCamera)
      await pair.pass(seconds)
      return pair
    }

    // MARK: Without a camera

    @Test("ahead there are a distance and a unit vector, and the peer is at minus z")
    func ahead() async throws {
      let object = try #require(try await pair().log.last)
      let direction = try #require(object.direction)
      #expect(abs(try #require(object.distance) - 4) < 0.6)
      #expect(abs(simd_length(direction) - 1) < 1e-4 && direction.z < -0.9)
    }

    @Test("to the right is plus x, to the left minus x")
    func sides() async throws {
      let right = try await pair(at: Vector3(2, 1.4, -4)).log.last?.direction
      let left = try await pair(at: Vector3(-2, 1.4, -4)).log.last?.direction
      #expect(try #require(right).x > 0.2)
      #expect(try #require(left).x < -0.2)
    }

    @Test("up is plus y")
    func up() async throws {
      let direction = try await pair(at: Vector3(0, 3.4, -4)).log.last?.direction
      #expect(try #require(direction).y > 0.2)
    }

    @Test("a phone without an antenna array has no direction without its camera")
    func withoutArray() async throws {
      let log = try await pair(capabilities: .phoneWithoutAntennaArray).log
      #expect(log.objects.count == 20)
      #expect(log.objects.allSatisfy { $0.distance != nil && $0.direction == nil })
    }

    @Test("a watch has distances only")
    func watch() async throws {
      let log = try await pair(capabilities: .watch).log
      #expect(log.objects.count == 20)
      for object in log.objects {
        #expect(object.distance != nil && object.direction == nil && object.horizontalAngle == nil)
        #expect(object.verticalDirectionEstimate == .unknown)
      }
    }

    @Test("out of reach both are nil")
    func outOfReach() async throws {
      let log = try await pair(at: Vector3(0, 1.4, -40)).log
      #expect(log.objects.count == 20)
      #expect(log.objects.allSatisfy { $0.distance == nil && $0.direction == nil })
    }

    @Test("behind the phone there is a distance without a direction")
    func behind() async throws {
      let log = try await pair(at: Vector3(0, 1.4, 4)).log
      #expect(log.objects.count == 20)
      #expect(log.objects.allSatisfy { $0.distance != nil && $0.direction == nil })
    }

    @Test("a wall hides the direction until it is gone")
    func wall() async throws {
      let pair = Pair()
      pair.world.play(try WorldScript("2 wall\n4 unwall"))
      try pair.run()
      await pair.pass(3.5)
      #expect(pair.log.last?.distance != nil && pair.log.last?.direction == nil)
      await pair.pass(1.5)
      #expect(pair.log.last?.direction != nil)
    }

    @Test("angle and height need camera assistance")
    func needCamera() async throws {
      let log = try await pair(isSwept: true, seconds: 15).log
      #expect(log.objects.count == 150)
      #expect(log.objects.allSatisfy { $0.horizontalAngle == nil })
      #expect(log.objects.allSatisfy { $0.verticalDirectionEstimate == .unknown })
      #expect(log.places.allSatisfy { $0 == nil } && log.statuses.isEmpty)
    }

    // MARK: With a camera

    @Test("the angle is positive to the right, in radians")
    func angle() async throws {
      let right = try await pair(
        at: Vector3(3, 1.4, -3), usesCamera: true, isSwept: true, seconds: 20)
      let angle = try #require(right.log.last?.horizontalAngle)
      #expect(abs(angle - .pi / 4) < 0.4)
    }

    @Test("the angle reaches behind the user")
    func angleBehind() async throws {
      let log = try await pair(
        at: Vector3(0.5, 1.4, 3), usesCamera: true, isSwept: true, seconds: 40
      ).log
      #expect(abs(try #require(log.last?.horizontalAngle)) > 2.4)
    }

    @Test(
      "the floor of the friend is told",
      arguments: [(1.4, .same), (4.4, .above), (-1.6, .below)]
        as [(Double, NINearbyObject.VerticalDirectionEstimate)])
    func height(_ height: Double, _ expected: NINearbyObject.VerticalDirectionEstimate)
      async throws
    {
      let log = try await pair(
        at: Vector3(0, height, -4), usesCamera: true, isSwept: true, seconds: 25
      ).log
      #expect(log.last?.verticalDirectionEstimate == expected)
    }

    @Test("darkness withholds angle, height and place, and keeps the distance")
    func dark() async throws {
      let pair = try await pair(usesCamera: true, isSwept: true, seconds: 20)
      #expect(pair.log.last?.horizontalAngle != nil)
      pair.world.play(try WorldScript("0 dark"))
      await pair.pass(1)
      let object = try #require(pair.log.last)
      #expect(object.distance != nil && object.horizontalAngle == nil)
      #expect(object.verticalDirectionEstimate == .unknown)
      #expect(pair.session.worldTransform(for: object) == nil)
    }

    @Test("lost tracking withholds the angle, and it returns with the tracking")
    func tracking() async throws {
      let pair = try await pair(usesCamera: true, isSwept: true, seconds: 20)
      pair.world.play(try WorldScript("0 tracking limited\n2 tracking normal"))
      await pair.pass(1.5)
      #expect(pair.log.last?.distance != nil && pair.log.last?.horizontalAngle == nil)
      await pair.pass(3)
      #expect(pair.log.last?.horizontalAngle != nil)
    }

    @Test("a friend who is not heard for a moment is shown by the odometry, then no more")
    func coasting() async throws {
      let pair = try await pair(usesCamera: true, isSwept: true, seconds: 20)
      pair.other.motion = .resting(
        at: RigidTransform(standingAt: Vector3(0, 1.4, -80), facing: Vector3(0, 1.4, 0)))
      await pair.pass(1)
      #expect(pair.log.last?.horizontalAngle != nil)
      await pair.pass(2)
      let object = try #require(pair.log.last)
      #expect(object.distance == nil && object.direction == nil && object.horizontalAngle == nil)
    }

    @Test("a newer phone has a direction once a walk has found the friend")
    func walk() async throws {
      let pair = Pair(at: Vector3(1.5, 0.9, -4), capabilities: .phoneWithoutAntennaArray)
      pair.session.options.peerMotion = .stationary
      pair.world.play(
        try WorldScript("2 walk 2.5 0\n5 walk 2.5 2\n8 sweep side 5\n13 sweep up 7"))
      try pair.run(usesCamera: true)
      await pair.pass(25)
      #expect(pair.log.objects.first?.direction == nil && pair.log.last?.direction != nil)
    }

    @Test("the same seed gives the same numbers")
    func seed() async throws {
      func distances(_ seed: UInt64) async throws -> [Float?] {
        let pair = Pair { $0.seed = seed }
        try pair.run()
        await pair.pass(2)
        return pair.log.objects.map(\.distance)
      }
      let (a, b, c) = (
        try await distances(7), try await distances(7), try await distances(8)
      )
      #expect(a == b && a != c)
    }
  }
}
