// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

/// A slip of the odometry's world is what its settings say and leaves everything else unchanged.
@Suite("Slips of odometry")
struct SlipTests {
  /// A walk with a slip at 20 s, by default without drift.
  private func scenario(
    drifts: Bool = false, _ change: (inout ScenarioOdometry.Slip) -> Void = { _ in }
  ) -> Scenario {
    var scenario = Scenario(.wanderingWalk)
    scenario.duration = 30
    if !drifts {
      scenario.odometry.positionDrift = 0
      scenario.odometry.yawDriftDegrees = 0
    }
    scenario.odometry.slip.seconds = 20
    change(&scenario.odometry.slip)
    return scenario
  }

  /// A turn of 10 to 18 degrees and a shift of 1 to 1.6 m within 4 s.
  private func slow(_ slip: inout ScenarioOdometry.Slip) {
    slip.duration = 4
    slip.turnDegrees = 10...18
    slip.shift = 1...1.6
  }

  /// By how much the second run's world is turned against the first at each pose, radians.
  private func turns(_ clean: SimulatedRun, _ slipped: SimulatedRun) -> [Double] {
    zip(clean.poses, slipped.poses).map { a, b in
      let turn = b.worldFromDevice.rotation * a.worldFromDevice.rotation.inverse
      return 2 * atan2(turn.y, turn.w)
    }
  }

  /// The steps of the second run that a turned world does not explain, metres.
  private func shifts(_ clean: SimulatedRun, _ slipped: SimulatedRun) -> [Vector3] {
    let turns = turns(clean, slipped)
    return (1..<turns.count).map { index in
      let (a, b) = (clean.poses, slipped.poses)
      let step = a[index].worldFromDevice.translation - a[index - 1].worldFromDevice.translation
      let turned = Rotation(angleRadians: turns[index - 1], about: Vector3(0, 1, 0)).act(step)
      return b[index].worldFromDevice.translation - b[index - 1].worldFromDevice.translation
        - turned
    }
  }

  @Test("turn and shift are as drawn, in their intervals, of either sign and smooth")
  func slowSlip() throws {
    let (still, slipping) = (scenario(), scenario(slow))
    var (signs, directions) = (RunningMoments(), RunningMoments())
    for seed in 0..<40 as Range<UInt64> {
      let (clean, slipped) = (still.simulated(seed: seed), slipping.simulated(seed: seed))
      let turns = turns(clean, slipped)
      let shifts = shifts(clean, slipped)
      #expect(clean.poses[...1200] == slipped.poses[...1200])
      let turn = turns[turns.count - 1]
      #expect((10.0...18).contains(abs(turn).radiansAsDegrees))
      signs.add(turn < 0 ? -1 : 1)
      for later in turns[1440...] { #expect(abs(later - turn) < 1e-9) }
      // The smooth step is symmetric: half of it has passed at half time.
      #expect(abs(turns[1320] - turn / 2) < 1e-9)
      let shift = shifts.reduce(.zero, +)
      #expect((1.0...1.6).contains(shift.length) && abs(shift.y) < 1e-9)
      directions.add(shift.x / shift.length)
      // The steepest rate of the smooth step is 15/8.
      for step in shifts { #expect(step.length < 1.6 * 1.875 / 240 + 1e-9) }
      for step in shifts[1440...] { #expect(step.length < 1e-9) }
    }
    #expect(abs(signs.mean) < 0.6)
    #expect(abs(directions.mean) < 0.4 && directions.deviation > 0.5)
  }

  @Test("without duration the world steps at one pose, about the device")
  func step() throws {
    let still = scenario()
    let slipping = scenario {
      $0.turnDegrees = 90...180
      $0.shift = 3...6
    }
    for seed in 0..<20 as Range<UInt64> {
      let (clean, slipped) = (still.simulated(seed: seed), slipping.simulated(seed: seed))
      #expect(clean.poses[..<1200] == slipped.poses[..<1200])
      let turn = turns(clean, slipped)[1200]
      #expect((90.0...180).contains(abs(turn.wrappedAngle).radiansAsDegrees))
      let gap =
        slipped.poses[1200].worldFromDevice.translation
        - clean.poses[1200].worldFromDevice.translation
      #expect((3.0...6).contains(gap.length))
    }
  }

  @Test(
    "the truth about the device is the same, and that of the poses, through the slip",
    arguments: [0.0, 0.4, 4.0])
  func truth(duration: Double) throws {
    let clean = scenario(drifts: true).simulated(seed: 5)
    var scenario = scenario(drifts: true) {
      slow(&$0)
      $0.duration = duration
      $0.turnDegrees = 60...60
    }
    scenario.radio.rate = 200
    var still = scenario
    still.odometry.slip = .init()
    let (a, b) = (still.simulated(seed: 5), scenario.simulated(seed: 5))
    #expect(a.poses == clean.poses, "whatever the radio does")
    #expect(a.samples.count == b.samples.count)
    let start = SimulatedRun.timestamp(at: 0)
    for (x, y) in zip(a.samples, b.samples) {
      #expect(x.distance == y.distance && x.azimuthRadians == y.azimuthRadians)
      #expect(x.travelled == y.travelled, "the way is the true one")
      let before = x.odometryFromDevice.inverse.act(x.peerInOdometry)
      let after = y.odometryFromDevice.inverse.act(y.peerInOdometry)
      #expect((before - after).length < 1e-9)
      let next = try #require(
        b.poses.firstIndex { $0.timestamp.seconds(since: start) > y.seconds })
      let (old, new) = (b.poses[next - 1], b.poses[next])
      // Between two poses a step has not come yet.
      let isStep = duration == 0 && next == 1200
      let reported = old.worldFromDevice.interpolated(
        to: new.worldFromDevice,
        fraction: isStep ? 0 : (y.seconds - old.timestamp.seconds(since: start)) * 60)
      let gap = (reported.translation - y.odometryFromDevice.translation).length
      // At a step the device goes on for up to a sixtieth of a second.
      #expect(gap < (isStep ? 0.04 : 2e-3), "at \(y.seconds) s")
    }
  }

  @Test("wheels that spin count more of the way, and only while they do")
  func wheel() {
    let still = scenario()
    let slipping = scenario {
      $0.duration = 3
      $0.scale = 1.5
    }
    let (clean, slipped) = (still.simulated(seed: 2), slipping.simulated(seed: 2))
    for index in 1..<clean.poses.count {
      let steps = [clean, slipped].map {
        $0.poses[index].worldFromDevice.translation
          - $0.poses[index - 1].worldFromDevice.translation
      }
      let factor = index > 1200 && index <= 1380 ? 1.5 : 1
      #expect((steps[1] - factor * steps[0]).length < 1e-12)
    }
    #expect(slipped.samples.map(\.travelled) == clean.samples.map(\.travelled))
  }

  @Test("a slip does not change the draws of drift")
  func drift() {
    let still = scenario(drifts: true)
    let slipping = scenario(drifts: true) { $0.shift = 2...2 }
    let (clean, slipped) = (still.simulated(seed: 9), slipping.simulated(seed: 9))
    let gap =
      slipped.poses[1200].worldFromDevice.translation
      - clean.poses[1200].worldFromDevice.translation
    #expect(abs(gap.length - 2) < 1e-9)
    for (a, b) in zip(clean.poses[1200...], slipped.poses[1200...]) {
      let later = b.worldFromDevice.translation - a.worldFromDevice.translation
      #expect((later - gap).length < 1e-9)
    }
  }
}
