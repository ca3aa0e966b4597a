// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// The ring of poses: what it looks up, what it sums, what it forgets.
@Suite("Trajectory")
struct TrajectoryTests {
  private static func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 5_000_000_000_000).advanced(bySeconds: seconds)
  }

  private static func pose(
    _ seconds: Double, _ place: Vector3, yaw: Double = 0
  ) -> DevicePose {
    DevicePose(
      timestamp: time(seconds),
      worldFromDevice: RigidTransform(
        rotation: Rotation(angleRadians: yaw, about: Vector3(0, 1, 0)), translation: place))
  }

  private func empty(_ odometry: OdometryConfiguration = OdometryConfiguration()) -> Trajectory {
    Trajectory(odometry: odometry, maximumLateness: 1)
  }

  private func append(_ pose: DevicePose, to trajectory: inout Trajectory) {
    #expect(trajectory.append(pose) == .accepted)
  }

  // MARK: - Looking up

  @Test("between two poses, place and attitude are interpolated", arguments: [0.1, 0.25, 0.5, 0.9])
  func interpolation(fraction: Double) throws {
    var trajectory = empty()
    append(Self.pose(0, Vector3(1, 2, 3)), to: &trajectory)
    append(Self.pose(0.1, Vector3(1.2, 2, 2.9), yaw: 0.3), to: &trajectory)
    let point = try #require(trajectory.point(at: Self.time(0.1 * fraction)))
    let expected = Vector3(1 + 0.2 * fraction, 2, 3 - 0.1 * fraction)
    #expect((point.worldFromDevice.translation - expected).length < 1e-9)
    let turned = Rotation(angleRadians: 0.3 * fraction, about: Vector3(0, 1, 0))
    #expect(point.worldFromDevice.rotation.angle(to: turned) < 1e-3)
    #expect(point.timestamp == Self.time(0.1 * fraction))
    let half = 0.5 * 0.01 * fraction * (1 - fraction)
    #expect(abs(point.interpolationVariance - half * half) < 1e-12)
  }

  @Test("at a pose it is the pose, without doubt")
  func atPose() throws {
    var trajectory = empty()
    for step in 0..<5 {
      append(Self.pose(0.1 * Double(step), Vector3(0.1 * Double(step), 0, 0)), to: &trajectory)
    }
    let point = try #require(trajectory.point(at: Self.time(0.2)))
    #expect(point.worldFromDevice.translation.x == 0.2 && point.interpolationVariance == 0)
    #expect(trajectory.point(at: Self.time(-0.001)) == nil)
  }

  @Test("poses at uneven times are found as well", arguments: 0..<8 as Range<UInt64>)
  func unevenTimes(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var odometry = OdometryConfiguration()
    odometry.maximumPoseGap = 2
    var trajectory = Trajectory(odometry: odometry, maximumLateness: 10)
    // Bursts at a millisecond, then pauses of up to a second, to and fro by a millimetre.
    var times: [Double] = []
    var seconds = 0.0
    for step in 0..<200 {
      times.append(seconds)
      append(Self.pose(seconds, Vector3(0.001 * Double(step % 2), 0, 0)), to: &trajectory)
      seconds += step % 20 == 19 ? generator.uniform(in: 0.1...0.9) : 0.001
    }
    for _ in 0..<200 {
      let after = 1 + Int(generator.uniform() * 198)
      let share = generator.uniform(in: 0.01...0.99)
      let asked = times[after - 1] + share * (times[after] - times[after - 1])
      let point = try #require(trajectory.point(at: Self.time(asked)))
      let expected = 0.001 * (after % 2 == 1 ? share : 1 - share)
      #expect(abs(point.worldFromDevice.translation.x - expected) < 1e-8, "\(asked) s")
    }
  }

  @Test("extrapolation goes on straight ahead, up to its limit")
  func extrapolation() throws {
    var trajectory = empty()
    #expect(trajectory.point(at: Self.time(0)) == nil)
    append(Self.pose(0, .zero), to: &trajectory)
    let alone = try #require(trajectory.point(at: Self.time(0.05)))
    #expect(alone.worldFromDevice.translation == .zero)
    append(Self.pose(0.1, Vector3(0.1, 0, 0)), to: &trajectory)
    let ahead = try #require(trajectory.point(at: Self.time(0.15)))
    #expect((ahead.worldFromDevice.translation - Vector3(0.15, 0, 0)).length < 1e-9)
    #expect(ahead.interpolationVariance > 0)
    #expect(trajectory.point(at: Self.time(0.199)) != nil)
    #expect(trajectory.point(at: Self.time(0.201)) == nil)
  }

  @Test("poses that are stamped as they arrive, in bunches, are no jumps")
  func bunchedStamps() throws {
    var trajectory = empty()
    for step in 0..<300 {
      // At a metre per second, every third pose is stamped 50 µs before the next one.
      let seconds = Double(step) / 60
      let stamp = step % 3 == 0 ? Double(step + 1) / 60 - 5e-5 : seconds
      let outcome = trajectory.append(Self.pose(stamp, Vector3(seconds, 0, 0)))
      #expect(outcome == .accepted, "pose \(step)")
      let ahead = try #require(trajectory.point(at: Self.time(stamp + 0.05)))
      if step > 5 {
        #expect(abs(ahead.worldFromDevice.translation.x - (seconds + 0.05)) < 0.05, "pose \(step)")
      }
    }
  }

  @Test(
    "a gap is bridged up to its limit",
    arguments: [(1.99, true), (2.01, false), (30, false)] as [(Double, Bool)])
  func gap(seconds: Double, isBridged: Bool) {
    var trajectory = empty()
    append(Self.pose(0, .zero), to: &trajectory)
    append(Self.pose(seconds, Vector3(0.1, 0, 0)), to: &trajectory)
    #expect((trajectory.point(at: Self.time(0.5 * seconds)) != nil) == isBridged)
    #expect(trajectory.point(at: Self.time(seconds)) != nil)
  }

  @Test(
    "the recent past is there after the ring has grown and turned",
    arguments: [30, 60, 1000] as [Double])
  func lookBack(rate: Double) throws {
    var trajectory = empty()
    var largest = 0
    // Twelve seconds, at a slow walk along x: the place tells the time.
    for step in 0..<Int(12 * rate) {
      let t = Double(step) / rate
      append(Self.pose(t, Vector3(0.5 * t, 0, 0)), to: &trajectory)
      largest = max(largest, trajectory.poses.count)
      guard step % 97 == 0, t > 3.2 else { continue }
      for back in [0.003, 0.02, 0.5, 1, 2.9] {
        let point = try #require(trajectory.point(at: Self.time(t - back)))
        #expect(abs(point.worldFromDevice.translation.x - 0.5 * (t - back)) < 1e-6)
      }
    }
    // It keeps 3.1 s, in a ring whose size is a power of two.
    #expect(Double(largest) <= max(64, 2 * 3.2 * rate) + 2)
  }

  @Test("poses centuries apart are a gap")
  func centuriesApart() {
    var trajectory = empty()
    let start = Int64.max - 3_000_000_000
    // Enough poses for the ring to look at what it may forget, at the end of the clock.
    for step in 0..<200 as Range<Int64> {
      let pose = DevicePose(
        timestamp: Timestamp(nanoseconds: step == 0 ? .min : start + step * 10_000_000),
        worldFromDevice: .identity)
      append(pose, to: &trajectory)
      #expect(trajectory.point(at: Timestamp(nanoseconds: step)) == nil)
    }
    #expect(trajectory.point(at: Timestamp(nanoseconds: start + 1_985_000_000)) != nil)
  }

  @Test("memory stays bounded")
  func bounded() {
    var trajectory = empty()
    for step in 0..<20_000 {
      append(Self.pose(Double(step) / 100, .zero), to: &trajectory)
    }
    #expect(trajectory.poses.capacity == 512)
    #expect(trajectory.poses.count <= 512 && trajectory.poses.count > 300)
  }

  // MARK: - Path and drift

  @Test("a device at rest travels no path and does not drift")
  func jitter() throws {
    var generator = SeededGenerator(seed: 7)
    var trajectory = empty()
    for step in 0..<100_000 {
      // Five millimetres altogether, 2.9 along each axis.
      let place = generator.normalVector(sigma: 0.005 / 3.0.squareRoot())
      append(
        Self.pose(Double(step) / 60, place, yaw: generator.normal(sigma: 0.002)), to: &trajectory)
    }
    let newest = try #require(trajectory.newest)
    #expect(newest.path == 0 && newest.turn == 0 && newest.world == 0)
    // A rare pose far out counts as a step; in half an hour that must stay below 3 mm.
    #expect(newest.positionDriftVariance < 1e-5)
    #expect(newest.yawDriftVariance < 1e-5)
  }

  @Test("a device at rest does not drift with 5 mm of noise along each axis either")
  func strongJitter() throws {
    var generator = SeededGenerator(seed: 8)
    var trajectory = empty()
    for step in 0..<100_000 {
      append(
        Self.pose(Double(step) / 60, generator.normalVector(sigma: 0.005)), to: &trajectory)
    }
    let newest = try #require(trajectory.newest)
    #expect(newest.path == 0 && newest.turn == 0 && newest.world == 0)
    // Two poses are 20 mm apart in one of twenty cases: too often for jitter to be told from steps.
    #expect(newest.positionDriftVariance < 1e-5)
  }

  @Test("drift sums up as sigma² times the way", arguments: [0.03, 0.05, 0.5])
  func drift(step: Double) throws {
    var odometry = OdometryConfiguration()
    odometry.positionDrift = 0.02
    odometry.yawDriftRadians = 0.01
    var trajectory = empty(odometry)
    let count = Int(20 / step)
    for index in 0...count {
      append(
        Self.pose(step * Double(index), Vector3(step * Double(index), 0, 0)), to: &trajectory)
    }
    let newest = try #require(trajectory.newest)
    let way = step * Double(count)
    #expect(abs(newest.positionDriftVariance - 4e-4 * way) < 1e-9)
    #expect(abs(newest.yawDriftVariance - 1e-4 * way) < 1e-9)
    #expect(abs(newest.path - way) < 0.2)
    #expect(newest.turn == 0)
  }

  @Test("turning on the spot drifts in yaw only, and counts as turn")
  func turning() throws {
    var trajectory = empty()
    for index in 0...100 {
      append(Self.pose(0.05 * Double(index), .zero, yaw: 0.05 * Double(index)), to: &trajectory)
    }
    let newest = try #require(trajectory.newest)
    #expect(newest.positionDriftVariance == 0 && newest.path == 0)
    let yaw = OdometryConfiguration().yawDriftRadians
    #expect(abs(newest.yawDriftVariance - yaw * yaw * 0.25 * 5) < 1e-9)
    #expect(abs(newest.turn - 5) < 0.26)
  }

  @Test("a limited odometry drifts faster")
  func limited() throws {
    func variance(_ quality: TrackingSample.Quality) throws -> Double {
      var trajectory = empty()
      trajectory.setQuality(quality)
      for index in 0...50 {
        append(Self.pose(0.1 * Double(index), Vector3(0.1 * Double(index), 0, 0)), to: &trajectory)
      }
      return try #require(trajectory.newest).positionDriftVariance
    }
    let ratio = try variance(.limited(.excessiveMotion)) / variance(.normal)
    #expect(abs(ratio - 9) < 1e-6)
  }

  // MARK: - Jumps and tracking

  @Test("a jump is another world, a small one more variance", arguments: [(0.45, 0), (3.0, 1)])
  func jump(metres: Double, worlds: Int) throws {
    var trajectory = empty()
    for index in 0..<10 { append(Self.pose(0.02 * Double(index), .zero), to: &trajectory) }
    let outcome = trajectory.append(Self.pose(0.2, Vector3(metres, 0, 0)))
    #expect(outcome == .acceptedAfterJump(metres: metres))
    let newest = try #require(trajectory.newest)
    #expect(newest.world == worlds)
    #expect(abs(newest.positionDriftVariance - metres * metres) < 1e-12)
    #expect(abs(newest.yawDriftVariance - 0.04) < 1e-12)
    #expect(newest.path == 0)
    // What comes after it is measured from there.
    append(Self.pose(0.22, Vector3(metres, 0, 0)), to: &trajectory)
    #expect(trajectory.newest?.world == worlds)
  }

  @Test("a brisk walk, a shake and a gap are no jumps")
  func noJump() {
    var trajectory = empty()
    for index in 0..<50 {
      append(Self.pose(0.1 * Double(index), Vector3(0.2 * Double(index), 0, 0)), to: &trajectory)
    }
    append(Self.pose(20, Vector3(60, 0, 0)), to: &trajectory)
    #expect(trajectory.newest?.world == 0)
  }

  @Test("poses without tracking are marked, and the world after them is another")
  func tracking() throws {
    var trajectory = empty()
    append(Self.pose(0, .zero), to: &trajectory)
    append(Self.pose(0.1, .zero), to: &trajectory)
    trajectory.setQuality(.notAvailable)
    append(Self.pose(0.2, .zero), to: &trajectory)
    #expect(trajectory.newest?.isTracked == false)
    #expect(try #require(trajectory.point(at: Self.time(0.15))).isTracked == false)
    #expect(try #require(trajectory.point(at: Self.time(0.05))).isTracked)
    trajectory.setQuality(.normal)
    #expect(trajectory.append(Self.pose(0.3, .zero)) == .acceptedAfterJump(metres: 1))
    let newest = try #require(trajectory.newest)
    #expect(newest.isTracked && newest.world == 1)
  }

  // MARK: - A stamp far ahead

  @Test(
    "one pose stamped far ahead is taken back once three agree that it was", arguments: [2.0, 3600])
  func stampedAhead(seconds: Double) throws {
    var trajectory = empty()
    for step in 0...10 {
      append(Self.pose(0.1 * Double(step), Vector3(0.1 * Double(step), 0, 0)), to: &trajectory)
    }
    #expect(trajectory.append(Self.pose(1 + seconds, Vector3(1.1, 0, 0))) == .accepted)
    #expect(trajectory.append(Self.pose(1.2, Vector3(1.2, 0, 0))) == .rejectedNotLater)
    #expect(trajectory.append(Self.pose(1.3, Vector3(1.3, 0, 0))) == .rejectedNotLater)
    guard case .acceptedInstead(let ahead) = trajectory.append(Self.pose(1.4, Vector3(1.4, 0, 0)))
    else {
      Issue.record("the pose is not taken back")
      return
    }
    #expect(abs(ahead - (seconds - 0.4)) < 1e-6)
    append(Self.pose(1.5, Vector3(1.5, 0, 0)), to: &trajectory)
    let point = try #require(trajectory.point(at: Self.time(1.45)))
    #expect(abs(point.worldFromDevice.translation.x - 1.45) < 1e-9)
  }

  @Test("poses that come late after an outage take nothing back")
  func lateAfterAnOutage() {
    var trajectory = empty()
    for step in 0...10 {
      append(Self.pose(0.1 * Double(step), Vector3(0, 0, 0)), to: &trajectory)
    }
    append(Self.pose(5, .zero), to: &trajectory)
    append(Self.pose(5.1, .zero), to: &trajectory)
    for step in 1...6 {
      #expect(
        trajectory.append(Self.pose(1 + 0.1 * Double(step), .zero)) == .rejectedNotLater)
    }
    append(Self.pose(5.2, .zero), to: &trajectory)
  }
}
