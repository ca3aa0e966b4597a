// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import Testing

@testable import NearbyFusion

/// What a window keeps of the samples when it is full.
@Suite("Observation window")
struct ObservationWindowTests {
  private static let peer = Vector3(0, 0, -8)
  private static let settings = Settings(FusionConfiguration())
  /// More than the window holds, so that neighbours are averaged once.
  private static let samples = 49
  /// The first of a pair of neighbours, and the second.
  private static let outliers = [20, 31]

  /// To and fro across the line of sight, 0.7 m at a step: the range hardly changes.
  private func device(_ index: Int) -> TrajectoryPoint {
    let across = 0.7 * Double([0, 1, 2, 1][index % 4])
    return TrajectoryPoint(
      worldFromDevice: RigidTransform(rotation: .identity, translation: Vector3(across, 0, 0)),
      timestamp: Timestamp(nanoseconds: 0).advanced(bySeconds: 0.5 * Double(index)))
  }

  /// Adds a range measured at a device's place.
  ///
  /// - Returns: Whether the window took it for new.
  private func add(
    range: Double, at device: TrajectoryPoint, to window: inout ObservationWindow,
    expecting expectation: ObservationWindow.Expectation? = nil
  ) -> Bool {
    let ranging = FusionConfiguration().ranging
    let sample = RangingSample(
      peer: PeerID(index: 0), timestamp: device.timestamp, distance: range)
    var measurements = Measurements()
    measurements[.range] = MeasuredValue(.range, of: sample, ranging)
    return window.add(measurements, at: device, noise: NoiseLevels(ranging), expecting: expectation)
  }

  /// A keyframe that is left: where it is, and how wrong its range is there.
  private struct Left {
    var across: Double
    var error: Double
  }

  private func left(
    excess: Double, expecting expectation: ObservationWindow.Expectation?
  ) -> [Left] {
    var window = ObservationWindow()
    for index in 0..<Self.samples {
      let device = device(index)
      let range = (Self.peer - device.worldFromDevice.translation).length
      let error = Self.outliers.contains(index) ? excess : 0
      #expect(add(range: range + error, at: device, to: &window, expecting: expectation))
    }
    #expect(window.count < Self.samples)
    return window.fitKeyframes(now: device(Self.samples - 1), mayMove: false, Self.settings).map {
      let range = $0[.range]?.value ?? .nan
      return Left(across: $0.antenna.x, error: range - (Self.peer - $0.antenna).length)
    }
  }

  @Test("a range too long by a metre stays alone where the peer's place is expected")
  func outlierStaysAlone() {
    let left = left(excess: 1, expecting: .init(position: Self.peer, spread: 0.1))
    // Each has a keyframe of its own; averaged with a neighbour it would be half as wrong.
    #expect(left.count { abs($0.error - 1) < 0.05 } == Self.outliers.count, "\(left)")
    #expect(left.count { abs($0.error) < 0.05 } == left.count - Self.outliers.count, "\(left)")
  }

  @Test("honest ranges are averaged, expected or not", arguments: [true, false])
  func honestAreAveraged(isExpected: Bool) {
    let expectation = ObservationWindow.Expectation(position: Self.peer, spread: 0.1)
    let left = left(excess: 0, expecting: isExpected ? expectation : nil)
    expectPairs(left)
    #expect(left.allSatisfy { abs($0.error) < 0.05 }, "\(left)")
  }

  @Test("where the peer is not known well, any range is averaged that the way between allows")
  func unsureExpectation() {
    expectPairs(left(excess: 1, expecting: .init(position: Self.peer, spread: 0.5)))
    expectPairs(left(excess: 1, expecting: nil))
  }

  @Test("from one place, all that agrees is one keyframe")
  func standingStill() {
    var window = ObservationWindow()
    var device = device(0)
    for _ in 0..<9 {
      _ = add(range: 3, at: device, to: &window)
      device.timestamp = device.timestamp.advanced(bySeconds: 0.1)
    }
    #expect(window.count == 1)
  }

  /// All are averages of two neighbours, half-way between them, but for the newest.
  private func expectPairs(_ left: [Left], sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(left.count == (Self.samples - 1) / 2 + 1, sourceLocation: sourceLocation)
    let areBetween = left.dropLast().allSatisfy { abs(($0.across - 0.7).magnitude - 0.35) < 1e-9 }
    #expect(areBetween, "\(left)", sourceLocation: sourceLocation)
  }
}
