// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyEnvironment
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyInteraction

/// A phone without antenna array that is carried straight towards an accessory at rest.
@Suite("Straight walks")
struct StraightWalkTests {
  /// A person who walks along -z, with the bob and sway of steps, and stops 0.6 m before a distance.
  private func walk(of distance: Double, _ generator: inout SeededGenerator) -> SimulatedMotion {
    let speed = generator.uniform(in: 0.6...1.4)
    let phase = generator.uniform(in: -.pi...Double.pi)
    return SimulatedMotion { seconds in
      let way = min(speed * seconds, distance - 0.6)
      let step = way < distance - 0.6 ? 0.02 : 0
      return RigidTransform(
        rotation: .identity,
        translation: Vector3(
          step * sin(5.5 * seconds + phase), 1.3 + step * sin(11 * seconds + phase), -way))
    }
  }

  /// How far the published horizontal angles are off in half a minute, degrees, and how many updates there are.
  private func errors(
    seed: UInt64, offset: Double
  ) throws -> (degrees: [Double], updates: Int) {
    var settings = SimulatedWorldSettings()
    settings.seed = seed
    let world = SimulatedWorld(settings)
    var generator = SeededGenerator(seed: seed, stream: 5)
    let distance = generator.uniform(in: 5...15)
    let phone = world.makeDevice(
      motion: walk(of: distance, &generator), capabilities: .phoneWithoutAntennaArray)
    let place = Vector3(
      generator.normal(sigma: offset), 1.2 + generator.normal(sigma: offset), -distance)
    let tag = world.makeDevice(
      motion: .resting(at: RigidTransform(standingAt: place, facing: Vector3(0, 1.3, 0))))
    let accessory = SimulatedAccessory(on: tag)
    let session = NISession(on: phone)
    let recorder = SessionRecorder()
    recorder.attach(to: session)
    let configuration = try NINearbyAccessoryConfiguration(data: accessory.configurationData)
    configuration.isCameraAssistanceEnabled = true
    session.run(configuration)
    world.advance(bySeconds: 0.1)
    recorder.drain()
    try accessory.start(with: #require(recorder.shared))
    var degrees: [Double] = []
    for _ in 0..<300 {
      let before = recorder.objects.count
      world.advance(bySeconds: 0.1)
      recorder.drain()
      guard recorder.objects.count > before, let angle = recorder.objects.last?.horizontalAngle
      else { continue }
      let pose = phone.truePose
      let there = pose.rotation.inverse.act(tag.truePose.translation - pose.translation)
      let error = (Double(angle) - atan2(there.x, -there.z)).remainder(dividingBy: 2 * .pi)
      degrees.append(abs(error).radiansAsDegrees)
    }
    return (degrees, recorder.objects.count)
  }

  @Test(
    "a horizontal angle published on a straight walk is right: ranges alone do not tell left from right",
    .enabled(if: BuildMode.isOptimized, "needs an optimised build"), arguments: [0.1, 0.3])
  func angles(offset: Double) throws {
    var (updates, wrong) = (0, [String]())
    for seed in 0..<40 as Range<UInt64> {
      let scene = try errors(seed: seed, offset: offset)
      updates += scene.updates
      if let worst = scene.degrees.max(), worst > 20 { wrong.append("seed \(seed): \(worst)") }
    }
    #expect(updates > 10_000)
    #expect(wrong.isEmpty)
  }
}
