// SPDX-License-Identifier: Apache-2.0
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyInteraction

/// What a person is told in scenes of a peer at rest, 4.3 m ahead to the right and 0.5 m lower.
@Suite("Coaching in scenes", .enabled(if: BuildMode.isOptimized, "needs an optimised build"))
struct CoachingSceneTests {
  private static let seeds: ClosedRange<UInt64> = 1...20

  /// A scene: what the person does, and for how long.
  struct CoachedScene: CustomTestStringConvertible, Sendable {
    var name: String
    var script: String
    var seconds: Double
    /// When the last movement ends that resolves the place with a camera alone; `nil` if none does.
    var resolvedAt: Double?
    var testDescription: String { name }
  }

  static let scenes = [
    CoachedScene(name: "hold still", script: "", seconds: 20),
    CoachedScene(name: "turn", script: "2 turn 180\n8 turn 180", seconds: 20),
    CoachedScene(name: "sweep", script: "2 sweep side 8\n11 sweep up 8", seconds: 25),
    CoachedScene(name: "walk", script: "2 walk 2.5 0\n6 walk 2.5 2", seconds: 20),
    CoachedScene(
      name: "walk and sweep",
      script: "2 walk 2.5 0\n5 walk 2.5 2\n8 sweep side 5\n13 sweep up 7", seconds: 30,
      resolvedAt: 20),
    CoachedScene(
      name: "sweep and walk", script: "2 sweep side 5\n7 walk 2.5 0\n10 walk 2.5 2\n13 sweep up 6",
      seconds: 30, resolvedAt: 19),
  ]

  private struct Outcome {
    /// How often the engine's status changed: what was told before there was a coach.
    var engineChanges = 0
    var callbacks = 0
    var convergedAt: [Double?] = []
  }

  private func outcome(_ scene: CoachedScene, _ capabilities: DeviceCapabilities) throws -> Outcome
  {
    var outcome = Outcome()
    for seed in Self.seeds {
      var settings = SimulatedWorldSettings()
      settings.seed = seed
      let start = RigidTransform(standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 1.4, -1))
      let peer = RigidTransform(standingAt: Vector3(1.5, 0.9, -4), facing: Vector3(0, 1.4, 0))
      let pair = SessionPair(
        settings, motions: [.resting(at: start), .resting(at: peer)], capabilities: capabilities)
      pair.sessions[0].options.peerMotion = .stationary
      pair.world.play(try WorldScript(scene.script))
      pair.run(usesCamera: true)
      pair.advance(scene.seconds)
      let recorder = pair.recorders[0]
      let statuses = recorder.objects.compactMap(\.estimate?.convergence)
      outcome.engineChanges += zip([.unknown] + statuses, statuses).count { $0 != $1 }
      outcome.callbacks += recorder.convergences.count
      let times = recorder.convergences.map {
        (status: $0.status, seconds: ($0.object?.timestamp?.seconds ?? 0) - 1000)
      }
      for (a, b) in zip(times, times.dropFirst())
      where a.status != .converged && b.status != .converged {
        #expect(b.seconds - a.seconds >= ConvergenceCoach.leastInterval - 0.01)
      }
      outcome.convergedAt.append(times.first { $0.status == .converged }?.seconds)
    }
    return outcome
  }

  @Test(
    "callbacks are few, and a good sweep and walk converges",
    arguments: scenes, [DeviceCapabilities.phoneWithAntennaArray, .phoneWithoutAntennaArray])
  func fewCallbacks(_ scene: CoachedScene, _ capabilities: DeviceCapabilities) throws {
    let outcome = try outcome(scene, capabilities)
    let count = Double(Self.seeds.count)
    // The figures of the page on coaching.
    print(
      "coaching, \(scene.name), \(capabilities.contains(.direction) ? "antenna array" : "camera only"):",
      "\(Double(outcome.engineChanges) / count) changes of the engine,",
      "\(Double(outcome.callbacks) / count) callbacks a scene, converged at",
      outcome.convergedAt.map { $0.map { "\(($0 * 10).rounded() / 10)" } ?? "-" }
        .joined(separator: " "))
    #expect(Double(outcome.callbacks) <= 5 * count)
    guard let resolved = scene.resolvedAt else { return }
    let inTime = outcome.convergedAt.count { $0 ?? .infinity <= resolved + 5 }
    #expect(Double(inTime) >= 0.85 * count, "\(inTime) of \(count)")
  }
}
