// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("ScenarioMotion")
struct ScenarioMotionTests {
  @Test(
    "motions are smooth: no speed above 4 m/s, no acceleration above 20 m/s²",
    arguments: ScenarioMotion.Kind.allCases, 0..<5 as Range<UInt64>)
  func smoothness(kind: ScenarioMotion.Kind, seed: UInt64) {
    let motion = ScenarioMotion(kind, seed: seed)
    let step = 0.01
    for index in 1..<Int(motion.duration / step) {
      let t = Double(index) * step
      let (a, b, c) = (motion.pose(at: t - step), motion.pose(at: t), motion.pose(at: t + step))
      let speed = (c.translation - a.translation).length / (2 * step)
      let acceleration = (c.translation - 2 * b.translation + a.translation).length / (step * step)
      let turning = b.rotation.angle(to: c.rotation) / step
      guard speed < 4, acceleration < 20, turning < 5 else {
        Issue.record("at \(t) s: \(speed) m/s, \(acceleration) m/s², \(turning) rad/s")
        return
      }
    }
  }

  @Test("each motion keeps still what it promises", arguments: 0..<10 as Range<UInt64>)
  func promises(seed: UInt64) {
    func poses(_ kind: ScenarioMotion.Kind) -> [RigidTransform] {
      let motion = ScenarioMotion(kind, seed: seed)
      return stride(from: 0, through: motion.duration, by: 0.05).map(motion.pose)
    }
    let level = poses(.constantHeightWalk)
    let up = Vector3(0, 1, 0)
    #expect(level.allSatisfy { abs($0.translation.y - 1.4) < 1e-12 })
    #expect(level.allSatisfy { ($0.rotation.act(up) - up).length < 1e-12 })
    let turning = poses(.rotationInPlace)
    #expect(turning.allSatisfy { ($0.translation - turning[0].translation).length < 1e-12 })
    let line = poses(.straightLine)
    let direction = (line[200].translation - line[0].translation).normalized
    #expect(line.allSatisfy { direction.cross($0.translation - line[0].translation).length < 1e-9 })
    let still = poses(.standingStill)
    #expect(still.allSatisfy { ($0.translation - still[0].translation).length < 0.02 })
    let sweep = poses(.sweepThenWalk).prefix(100).map(\.translation.y)
    let height = (sweep.max() ?? 0) - (sweep.min() ?? 0)
    #expect((0.25...0.75).contains(height))
  }

  @Test(
    "velocity and angular velocity are the derivatives of the pose",
    arguments: ScenarioMotion.Kind.allCases, 0..<4 as Range<UInt64>)
  func derivatives(kind: ScenarioMotion.Kind, seed: UInt64) {
    let motion = ScenarioMotion(kind, seed: seed)
    let step = 1e-5
    for t in stride(from: 0.03, to: motion.duration + 5, by: 0.37) {
      let (a, b) = (motion.pose(at: t - step), motion.pose(at: t + step))
      let (velocity, angularVelocity) = motion.velocities(at: t)
      #expect(((b.translation - a.translation) / (2 * step) - velocity).length < 1e-7, "at \(t) s")
      let turn = b.rotation * a.rotation.inverse
      let rate = (turn.w < 0 ? -1 : 1) * Vector3(turn.x, turn.y, turn.z) / step
      #expect((rate - angularVelocity).length < 1e-7, "at \(t) s")
    }
  }

  @Test("stairs rise by a floor, a stopped walk only trembles", arguments: 0..<10 as Range<UInt64>)
  func stairsAndStop(seed: UInt64) {
    let climb = ScenarioMotion(.sweepThenClimb, seed: seed)
    let rise = climb.pose(at: 30).translation.y - climb.pose(at: 12).translation.y
    #expect((2.4...3.4).contains(rise))
    let stand = ScenarioMotion(.sweepThenStand, seed: seed)
    let place = stand.pose(at: 22)
    let way = stride(from: 6.0, to: 20, by: 1).map {
      (stand.pose(at: $0).translation - place.translation).length
    }
    #expect((way.max() ?? 0) > 1)
    for t in stride(from: 22.0, through: 10_000, by: 97.3) {
      let pose = stand.pose(at: t)
      #expect((pose.translation - place.translation).length < 0.02)
      #expect(pose.rotation.angle(to: place.rotation) < 1e-9)
    }
  }
}
