// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing

@Suite("Angles")
struct AnglesTests {
  @Test("wrapping at the ends of (-π, π]")
  func wrappingEnds() {
    #expect(Double.pi.wrappedAngle == .pi)
    #expect((-Double.pi).wrappedAngle == .pi)
    #expect((-Double.pi).nextUp.wrappedAngle == (-Double.pi).nextUp)
    #expect(Double.pi.nextUp.wrappedAngle < -3.14159)
    #expect((-Double.pi).nextDown.wrappedAngle > 3.14159)
    #expect(0.0.wrappedAngle == 0)
    #expect((3 * Double.pi).wrappedAngle == .pi)
    #expect((-3 * Double.pi).wrappedAngle == .pi)
    #expect((2 * Double.pi).wrappedAngle == 0)
    #expect(abs((1.5 * Double.pi).wrappedAngle + .pi / 2) < 1e-15)
  }

  @Test("wrapping stays in the interval and changes no sine", arguments: 0..<200 as Range<UInt64>)
  func wrapping(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let angle = generator.normal(sigma: 100)
    let wrapped = angle.wrappedAngle
    #expect(wrapped > -.pi && wrapped <= .pi)
    #expect(abs(sin(wrapped) - sin(angle)) < 1e-12)
    #expect(abs(cos(wrapped) - cos(angle)) < 1e-12)
  }

  @Test("degrees and radians")
  func degrees() {
    #expect(180.0.degreesAsRadians == .pi)
    #expect((Double.pi / 2).radiansAsDegrees == 90)
    #expect(abs(37.5.degreesAsRadians.radiansAsDegrees - 37.5) < 1e-13)
  }

  @Test(
    "directions by hand: azimuth to the right, elevation up",
    arguments: [
      (Vector3(0, 0, -1), 0, 0), (Vector3(2, 0, 0), .pi / 2, 0), (Vector3(-2, 0, 0), -.pi / 2, 0),
      (Vector3(0, 0, 3), .pi, 0), (Vector3(0, 5, 0), 0, .pi / 2), (Vector3(0, -5, 0), 0, -.pi / 2),
      (Vector3(1, 0, -1), .pi / 4, 0), (Vector3(0, 1, -1), 0, .pi / 4), (.zero, 0, 0),
    ] as [(Vector3, Double, Double)])
  func byHand(direction: Vector3, azimuth: Double, elevation: Double) {
    let angles = ArrivalAngles(ofDirection: direction)
    // At the poles, the azimuth depends on the signs of zeros only.
    if abs(elevation) < 1.5, direction != .zero {
      #expect(abs(angles.azimuthRadians - azimuth) < 1e-15)
    }
    #expect(abs(angles.elevationRadians - elevation) < 1e-15)
  }

  @Test("the zero vector gives zeros, as promised")
  func zeroVector() {
    let angles = ArrivalAngles(ofDirection: .zero)
    #expect(angles.azimuthRadians == 0)
    #expect(angles.elevationRadians == 0)
  }

  @Test("straight back is +π from either side, since azimuths are in (-π, π]")
  func straightBack() {
    for zero in [0.0, -0.0] {
      #expect(ArrivalAngles(ofDirection: Vector3(zero, 0, 3)).azimuthRadians == .pi)
    }
  }

  @Test("a direction there and back", arguments: 0..<200 as Range<UInt64>)
  func roundTrip(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var direction = generator.normalVector(sigma: 5)
    if seed % 4 == 1 { direction = Vector3(1e-9 * direction.x, direction.y, 1e-9 * direction.z) }
    if seed % 4 == 2 { direction = Vector3(1e-9 * direction.x, 0, abs(direction.z)) }
    let angles = ArrivalAngles(ofDirection: direction)
    #expect((angles.direction - direction.normalized).length < 1e-15 * 4)
    #expect(angles.azimuthRadians > -.pi && angles.azimuthRadians <= .pi)
    #expect(abs(angles.elevationRadians) <= .pi / 2)
  }
}
