// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyInteraction

/// Which outputs there are after which motion, as Apple's talks describe it.
struct AvailabilityTests {
  /// A phone that looks ahead along -z while its hand moves.
  private func hand(_ sway: @escaping @Sendable (Double) -> Vector3) -> SimulatedMotion {
    SimulatedMotion { seconds in
      let turn = Rotation(angleRadians: 0.3 * sin(1.3 * seconds), about: Vector3(0, 1, 0))
      return RigidTransform(rotation: turn, translation: Vector3(0, 1.4, 0) + sway(seconds))
    }
  }

  private func rest(_ x: Double, _ y: Double, _ z: Double) -> SimulatedMotion {
    .resting(at: RigidTransform(standingAt: Vector3(x, y, z), facing: Vector3(0, 1.4, 0)))
  }

  private func reasons(_ object: NINearbyObject) -> [NIAlgorithmConvergenceStatus.Reason] {
    guard let estimate = object.estimate,
      case .notConverged(let reasons) = NIAlgorithmConvergenceStatus(estimate.convergence)
    else { return [] }
    return reasons
  }

  /// S-50: while walking about, antennas see the peer at times, and the fusion always once it has it.
  @Test func directionsAreMoreOftenThereWithCameraAssistance() throws {
    var shares: [Double] = []
    for usesCamera in [false, true] {
      let pair = SessionPair(motions: [
        .carried(ScenarioMotion(.wanderingWalk, seed: 7)), rest(1, 1.2, -3),
      ])
      pair.run(usesCamera: usesCamera)
      pair.advance(60)
      let objects = pair.recorders[0].objects
      // From when the peer was found.
      let first =
        usesCamera ? try #require(pair.recorders[0].transforms.firstIndex { $0 != nil }) : 0
      let kept = objects[first...]
      shares.append(Double(kept.count { $0.direction != nil }) / Double(kept.count))
    }
    // 29 % and 86 % of the samples.
    #expect(shares[0] > 0.1 && shares[0] < 0.5)
    #expect(shares[1] > 0.75)
  }

  /// S-54, S-62: on a level walk the height stays open, and the place with it; up and down settles both.
  @Test(arguments: [(3.2, 4), (2.6, 4), (3.2, 6), (2.6, 9)] as [(Double, UInt64)])
  func theHeightNeedsAVerticalSweep(_ height: Double, _ seed: UInt64) throws {
    let walk = ScenarioMotion(.wanderingWalk, seed: seed)
    let levelSeconds = 40.0
    let pair = SessionPair(
      motions: [
        SimulatedMotion { seconds in
          let pose = walk.pose(at: seconds)
          let ahead = pose.rotation.act(Vector3(0, 0, -1))
          let swept = max(0, seconds - levelSeconds)
          return RigidTransform(
            rotation: Rotation(
              angleRadians: atan2(-ahead.x, -ahead.z), about: Vector3(0, 1, 0)),
            translation: Vector3(
              pose.translation.x, 1.4 + 0.5 * sin(1.1 * swept), pose.translation.z))
        }, rest(1, height, -4),
      ], capabilities: .phoneWithoutAntennaArray)
    pair.run(usesCamera: true)
    pair.advance(levelSeconds)
    let level = pair.recorders[0].objects
    #expect(pair.recorders[0].transforms.allSatisfy { $0 == nil })
    #expect(level.allSatisfy { [.unknown, .aboveOrBelow].contains($0.verticalDirectionEstimate) })
    #expect(try reasons(#require(level.last)).contains(.insufficientVerticalSweep))
    pair.advance(20)
    let swept = try #require(pair.recorders[0].objects.last)
    #expect(swept.verticalDirectionEstimate == .above && swept.direction != nil)
    #expect(pair.recorders[0].transforms.last.flatMap { $0 } != nil)
  }

  /// S-66: a hand that hardly moves tells nothing, however long it waits.
  @Test func withoutMovementThereIsNoPlace() throws {
    let pair = SessionPair(
      motions: [
        hand { Vector3(0.02 * sin($0), 0.01 * sin(1.7 * $0), 0) }, rest(1, 1.2, -3),
      ], capabilities: .phoneWithoutAntennaArray)
    pair.run(usesCamera: true)
    pair.advance(60)
    let recorder = pair.recorders[0]
    try #require(recorder.objects.count > 500)
    #expect(recorder.transforms.allSatisfy { $0 == nil })
    #expect(recorder.objects.allSatisfy { $0.horizontalAngle == nil && $0.direction == nil })
    #expect(try reasons(#require(recorder.objects.last)).contains(.insufficientMovement))
    #expect(recorder.objects.allSatisfy { $0.distance != nil })
  }

  /// S-77: virtual content that is placed at the peer stays where it is.
  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func aPlacedThingStaysWhereItIs(_ seed: UInt64) throws {
    var settings = SimulatedWorldSettings()
    settings.seed = seed
    let pair = SessionPair(settings, motions: SessionPair.finderAndTag)
    pair.run(usesCamera: true)
    pair.advance(30)
    let before = pair.recorders[0].transforms.count
    pair.advance(10)
    let places = pair.recorders[0].transforms[before...].compactMap { $0?.columns.3 }
    try #require(places.count > 40)
    let steps = zip(places, places.dropFirst()).map { simd_distance($0, $1) }
    // Measured: 7 mm in the middle, 42 mm at most.
    #expect(steps.sorted()[steps.count / 2] < 0.02)
    #expect(try #require(steps.max()) < 0.1)
    let mean = places.reduce(.zero, +) / Float(places.count)
    #expect(try #require(places.map { simd_distance($0, mean) }.max()) < 0.2)
  }

  /// S-13: the silence after which a peer is removed is a parameter of the device.
  @Test(arguments: [3.0, 20])
  func theAllowedSilenceIsAParameter(_ silence: Double) {
    var settings = SimulatedWorldSettings()
    settings.limits.silence = silence
    let pair = SessionPair(settings)
    pair.run()
    pair.advance(5)
    // A session that only pauses says no farewell.
    pair.sessions[1].pause()
    pair.advance(silence - 0.5)
    #expect(pair.recorders[0].removed.isEmpty)
    pair.advance(1)
    #expect(pair.recorders[0].removed.map(\.reason) == [.timeout])
  }
}
