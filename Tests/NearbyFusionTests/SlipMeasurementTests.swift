// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// How far the odometry has slipped, by the places of peers before and after.
@Suite("Measurement of a slip")
struct SlipMeasurementTests {
  private static let marks = [Vector3(4, 1, -3), Vector3(-2, 2, 1), Vector3(1, 0, 5)].enumerated()
    .map { SlipMeasurement.Mark(peer: $0.offset, place: $0.element) }

  private func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 0).advanced(bySeconds: seconds)
  }

  private func device(at seconds: Double, world: Int = 0) -> TrajectoryPoint {
    var point = TrajectoryPoint.nowhere
    point.timestamp = time(seconds)
    point.world = world
    point.worldFromDevice = RigidTransform(
      rotation: .identity, translation: Vector3(2, 1.5, 0.5))
    return point
  }

  private func measurement(_ marks: [SlipMeasurement.Mark] = marks) -> SlipMeasurement? {
    SlipMeasurement(since: time(0), detectedFrom: device(at: 0), before: marks)
  }

  @Test(
    "a turn about the device and a displacement are found as they were",
    arguments: 0..<20 as Range<UInt64>)
  func exact(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let turn = generator.uniform(in: -3...3)
    let displacement = Vector3(
      generator.normal(sigma: 1), generator.normal(sigma: 0.3), generator.normal(sigma: 1))
    let origin = device(at: 0).worldFromDevice.translation
    let rotation = Rotation(angleRadians: turn, about: Vector3(0, 1, 0))
    let slip = try #require(
      measurement()?.slip(at: time(5)) { peer in
        origin + rotation.act(Self.marks[peer].place - origin + displacement)
      })
    #expect(abs(slip.turnRadians - turn) < 1e-12)
    #expect((slip.displacement - displacement).length < 1e-12)
  }

  @Test("it waits for all peers, is not measured while it lasts, and lapses")
  func waits() {
    let measurement = measurement()
    #expect(measurement?.slip(at: time(5)) { $0 == 1 ? nil : Self.marks[$0].place } == nil)
    #expect(measurement?.slip(at: time(2)) { Self.marks[$0].place } == nil)
    #expect(measurement?.slip(at: time(5)) { Self.marks[$0].place } != nil)
    #expect(measurement?.isVoid(at: device(at: 5)) == false)
    #expect(measurement?.isVoid(at: device(at: 21)) == true)
    #expect(measurement?.isVoid(at: device(at: 5, world: 1)) == true)
  }

  @Test("one peer, or two side by side, tell no turn")
  func tooFew() {
    #expect(measurement([Self.marks[0]]) == nil)
    let near = SlipMeasurement.Mark(peer: 1, place: Self.marks[0].place + Vector3(0.5, 0, 0))
    #expect(measurement([Self.marks[0], near]) == nil)
  }
}
