// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings
import Testing

/// When a published output is wrong.
@Suite("Published outputs")
struct PublishedOutputsTests {
  /// A peer 5 m ahead and to the right of a device that looks along -z: at 45°.
  private static let place = Vector3(5, 1, -5)

  private static func areWrong(
    distance: PublishedOutputs.Value? = nil, degrees: Double? = nil, sigmaDegrees: Double = 1,
    _ device: Rotation = .identity
  ) -> Bool {
    let angle = degrees.map {
      PublishedOutputs.Value(
        value: $0.degreesAsRadians, sigma: sigmaDegrees.degreesAsRadians)
    }
    return PublishedOutputs(distance: distance, horizontalAngleRadians: angle)
      .areWrong(fromDevice: place, device)
  }

  @Test("a distance must be off by more than half a metre and four sigmas")
  func distance() {
    let truth = Self.place.length
    func isWrong(by error: Double, _ sigma: Double) -> Bool {
      Self.areWrong(distance: .init(value: truth + error, sigma: sigma))
    }
    #expect(!isWrong(by: 0.49, 0.01))
    #expect(isWrong(by: 0.51, 0.01) && isWrong(by: -0.51, 0.01))
    #expect(isWrong(by: 2, 0.49))
    #expect(!isWrong(by: 2, 0.51))
  }

  @Test("an angle must be off by more than 15 degrees and four sigmas, around the circle")
  func angle() {
    #expect(!Self.areWrong(degrees: 59.9))
    #expect(Self.areWrong(degrees: 60.1) && Self.areWrong(degrees: 29.9))
    #expect(Self.areWrong(degrees: 60.1, sigmaDegrees: 3.7))
    #expect(!Self.areWrong(degrees: 60.1, sigmaDegrees: 3.8))
    let turned = Rotation(angleRadians: 130.0.degreesAsRadians, about: Vector3(0, 1, 0))
    #expect(!Self.areWrong(degrees: 175, turned))
    #expect(!Self.areWrong(degrees: -175, turned))
    #expect(Self.areWrong(degrees: 45, turned))
  }

  @Test("what is withheld is not wrong, nor is a bearing to what is straight above")
  func withheld() {
    #expect(!Self.areWrong())
    let outputs = PublishedOutputs(horizontalAngleRadians: .init(value: 3, sigma: 0.01))
    #expect(!outputs.areWrong(fromDevice: Vector3(0.1, 3, 0.1), .identity))
  }
}
