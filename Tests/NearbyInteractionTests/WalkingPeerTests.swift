// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyEnvironment
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyInteraction

/// A session with camera assistance whose peer is a walking phone of undeclared motion.
@Suite("Walking peers")
struct WalkingPeerTests {
  /// What was published of the angle to the peer in a scene.
  private struct Angles {
    /// How far each was off, radians, and whether the session was converged.
    var errors: [(radians: Double, isConverged: Bool)] = []
    var updates = 0
  }

  /// A person who walks at 0.6 m/s and turns as people do, three metres ahead at first.
  private func walker(seed: UInt64, from seconds: Double) -> SimulatedMotion {
    var generator = SeededGenerator(seed: seed, stream: 71)
    let first = generator.uniform(in: -.pi...Double.pi)
    let (slow, fast) = (generator.uniform(in: 0.5...1.2), generator.uniform(in: 0.2...0.5))
    let step = 0.01
    var (places, place) = ([Vector3](), Vector3(0, 1.2, -3))
    for index in 0..<4000 {
      places.append(place)
      let time = step * Double(index)
      guard time >= seconds else { continue }
      let heading = first + slow * sin(0.7 * time) + fast * time
      place = place + 0.6 * step * Vector3(cos(heading), 0, sin(heading))
    }
    return SimulatedMotion { [places] seconds in
      let index = min(max(Int(seconds / step), 0), places.count - 1)
      return RigidTransform(standingAt: places[index], facing: Vector3(0, 1.4, 0))
    }
  }

  /// Thirty seconds of a scene.
  private func angles(
    seed: UInt64, _ capabilities: DeviceCapabilities, walksFrom seconds: Double
  ) -> Angles {
    let start = RigidTransform(standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 0, -3))
    let finder = SimulatedMotion.carried(ScenarioMotion(.wanderingWalk, seed: seed), from: start)
    let pair = SessionPair(
      motions: [finder, walker(seed: seed, from: seconds)], capabilities: capabilities)
    pair.run(usesCamera: true)
    var angles = Angles()
    for _ in 0..<300 {
      let before = pair.recorders[0].objects.count
      pair.advance(0.1)
      let recorder = pair.recorders[0]
      angles.updates += recorder.objects.count - before
      guard recorder.objects.count > before, let object = recorder.objects.last,
        let angle = object.horizontalAngle
      else { continue }
      let (here, there) = (pair.devices[0].truePose, pair.devices[1].truePose)
      let offset = here.rotation.inverse.act(there.translation - here.translation)
      let truth = atan2(offset.x, -offset.z)
      angles.errors.append(
        (
          abs((Double(angle) - truth).remainder(dividingBy: 2 * .pi)),
          recorder.convergences.last?.status == .converged
        ))
    }
    return angles
  }

  @Test(
    "no converged session is off by more than 20 degrees",
    .enabled(if: BuildMode.isOptimized, "needs an optimised build"),
    arguments: [
      (DeviceCapabilities.phoneWithAntennaArray, 0), (.phoneWithoutAntennaArray, 0),
      (.phoneWithAntennaArray, 12), (.phoneWithoutAntennaArray, 12),
    ] as [(DeviceCapabilities, Double)])
  func neverSureAndWrong(capabilities: DeviceCapabilities, seconds: Double) {
    var (converged, wrong) = (0, [String]())
    for seed in 0..<20 as Range<UInt64> {
      let scene = self.angles(seed: seed, capabilities, walksFrom: seconds)
      #expect(scene.updates > 200)
      converged += scene.errors.count { $0.isConverged }
      for (index, error) in scene.errors.enumerated()
      where error.isConverged && error.radians > 20.0.degreesAsRadians {
        wrong.append("seed \(seed), \(index): \(error.radians)")
      }
    }
    #expect(wrong.isEmpty, "\(wrong.count) of \(converged): \(wrong.prefix(5))")
  }
}
