// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("Level walks")
struct LevelWalkTests {
  private static let presets = Scenario.presets.filter { $0.name.hasPrefix("level") }
  private static let slopes = Scenario.presets.filter { $0.name.hasPrefix("slope") }

  @Test(
    "the device stays as level as the scenario says, and the peers in the room", arguments: presets)
  func level(preset: Scenario) {
    for seed in 0..<4 as Range<UInt64> {
      let run = preset.simulated(seed: seed, peerCount: preset.peer.count)
      #expect(run.peers.count == preset.peer.count)
      let begin = preset.walk.sweeps ? 6.5 : 0
      let end =
        preset.walk.stairsAfterSeconds > 0 ? preset.walk.stairsAfterSeconds : preset.duration
      let path = stride(from: begin, to: end, by: 0.1).map { run.device.pose(at: $0).translation }
      let heights = path.map(\.y)
      #expect(heights.allSatisfy { abs($0 - 1.4) <= preset.walk.heightVariation + 1e-9 })
      let diagonal = hypotenuse(preset.walk.roomLength, preset.walk.roomWidth)
      for peer in run.peers {
        let place = peer.path.position(at: 0)
        #expect((0.35...2.65).contains(place.y - run.device.pose(at: 0).translation.y + 1.4))
        #expect(path.allSatisfy { horizontal($0 - place) < diagonal })
      }
    }
  }

  @Test("velocities on any ground are the derivatives of the pose", arguments: slopes)
  func velocities(preset: Scenario) {
    for seed in 0..<4 as Range<UInt64> {
      let motion = ScenarioMotion(.levelWalk, walk: preset.walk, seed: seed)
      let step = 1e-5
      // Not at the end of a straight line, where the walk begins to turn at once.
      for time in stride(from: 0.55, to: 50, by: 0.7) {
        let away =
          motion.pose(at: time + step).translation - motion.pose(at: time - step).translation
        let velocity = motion.velocities(at: time).velocity
        #expect((away / (2 * step) - velocity).length < 1e-6, "seed \(seed), \(time) s")
      }
    }
  }

  @Test("a slope is as steep as it is said to be, and a straight line is straight at first")
  func grounds() throws {
    var walk = ScenarioWalk()
    (walk.slopePercent, walk.heightVariation) = (10, 0)
    let slope = ScenarioMotion(.levelWalk, walk: walk, seed: 3)
    let heights = stride(from: 0, to: 200, by: 0.5).map { slope.pose(at: $0).translation }
    let steepest = zip(heights, heights.dropFirst()).map { a, b in
      abs(b.y - a.y) / max(horizontal(b - a), 1e-9)
    }.max()
    #expect((0.097...0.1001).contains(try #require(steepest)))
    var line = ScenarioWalk()
    (line.straightSeconds, line.heightVariation) = (20, 0)
    let straight = ScenarioMotion(.levelWalk, walk: line, seed: 3)
    let (a, b, c) = (straight.pose(at: 2), straight.pose(at: 10), straight.pose(at: 18))
    let ways = (b.translation - a.translation, c.translation - b.translation)
    #expect((ways.0 - ways.1).length < 1e-9)
  }

  @Test(
    "a sweep and stairs change the height, a trolley does not tilt",
    arguments: 0..<4 as Range<UInt64>)
  func parts(seed: UInt64) {
    func poses(_ change: (inout ScenarioWalk) -> Void) -> [RigidTransform] {
      var walk = ScenarioWalk()
      change(&walk)
      let motion = ScenarioMotion(.levelWalk, walk: walk, seed: seed)
      return stride(from: 0, to: 60, by: 0.05).map(motion.pose)
    }
    func spread(_ poses: some Sequence<RigidTransform>) -> Double {
      let heights = poses.map(\.translation.y)
      return (heights.max() ?? 0) - (heights.min() ?? 0)
    }
    let swept = poses { ($0.sweeps, $0.heightVariation) = (true, 0) }
    #expect((0.2...0.7).contains(spread(swept.prefix(100))))
    #expect(spread(swept.dropFirst(130)) < 1e-12)
    let climbed = poses { ($0.stairsAfterSeconds, $0.heightVariation) = (30, 0) }
    #expect(spread(climbed.prefix(600)) < 1e-12)
    #expect((2.5...3.3).contains(spread(climbed)))
    let up = Vector3(0, 1, 0)
    #expect(
      poses { $0.isHandHeld = false }.allSatisfy { ($0.rotation.act(up) - up).length < 1e-12 })
    #expect(poses { _ in }.contains { ($0.rotation.act(up) - up).length > 0.05 })
  }

  @Test(
    "place-dependent errors have their spread, come back with the device, and draw nothing else")
  func placeErrors() throws {
    var scenario = try #require(Scenario.preset(named: "level-place"))
    scenario.radio.rangePlaceSigma = 0.1
    var without = scenario
    without.radio.rangePlaceSigma = 0
    var moments = RunningMoments()
    for seed in 0..<20 as Range<UInt64> {
      let (a, b) = (scenario.simulated(seed: seed), without.simulated(seed: seed))
      let places = a.samples.map { a.device.pose(at: $0.seconds).translation }
      let errors = zip(a.samples, b.samples).map { ($0.distance ?? 0) - ($1.distance ?? 0) }
      for error in errors { moments.add(error) }
      for i in stride(from: 0, to: places.count, by: 40) {
        for j in (i + 100)..<max(i + 100, places.count)
        where horizontal(places[i] - places[j]) < 0.1 {
          #expect(abs(errors[i] - errors[j]) < 0.05)
        }
      }
    }
    #expect((0.08...0.12).contains(moments.deviation), "\(moments.deviation)")
  }

  @Test("a steady turn is a constant rate of yaw error, of its spread over runs")
  func steadyTurn() throws {
    var scenario = try #require(Scenario.preset(named: "level-turn"))
    scenario.odometry.yawDriftDegrees = 0
    scenario.odometry.positionDrift = 0
    var squares = 0.0
    for seed in 0..<40 as Range<UInt64> {
      let run = scenario.simulated(seed: seed)
      let yaws = run.poses.enumerated().map { index, pose in
        let truth = run.device.pose(at: Double(index) / scenario.odometry.rate).rotation
        let error = pose.worldFromDevice.rotation * truth.inverse
        return 2 * (error.w < 0 ? -error.y : error.y)
      }
      let (half, whole) = (yaws[yaws.count / 2], yaws[yaws.count - 1])
      #expect(abs(whole - 2 * half) < 0.01 * abs(whole) + 1e-4)
      let rate = whole.radiansAsDegrees / scenario.duration
      squares += rate * rate / 40
    }
    #expect((0.03...0.07).contains(squares.squareRoot()))
  }

  private func horizontal(_ offset: Vector3) -> Double { hypotenuse(offset.x, offset.z) }
  private func hypotenuse(_ x: Double, _ y: Double) -> Double { (x * x + y * y).squareRoot() }
}
