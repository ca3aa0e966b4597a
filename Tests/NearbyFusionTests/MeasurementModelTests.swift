// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

/// The models of all kinds: values by hand, Jacobians against differences.
@Suite("Measurement models")
struct MeasurementModelTests {
  /// A peer and an antenna: `errors` are the range scale, the constant errors of range, azimuth and
  /// elevation, their wandering errors, and the offset of height differences.
  private struct Case {
    var peer: Vector3
    var errors = [Double](repeating: 0, count: errorCount)
    var antenna = Vector3.zero
    var worldFromDevice = Rotation.identity

    static let errorCount = Int(NEARBY_HEIGHT_STATE_SIZE - NEARBY_STATE_RANGE_SCALE)

    var state: [Double] { [peer.x, peer.y, peer.z] + errors }

    /// How far the peer is from the antenna, and from the device's vertical axis through it.
    var distances: (range: Double, axis: Double) {
      let ray = worldFromDevice.inverse.act(peer - antenna)
      return (ray.length, Vector3(ray.x, 0, ray.z).length)
    }

    var pose: nearby_antenna_pose {
      let (x, y, z) = (worldFromDevice.xAxis, worldFromDevice.yAxis, worldFromDevice.zAxis)
      return nearby_antenna_pose(
        antenna_in_world: (antenna.x, antenna.y, antenna.z),
        device_from_world: (x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z))
    }
  }

  private func predict(
    _ kind: MeasurementKind, _ state: [Double], _ pose: nearby_antenna_pose
  ) -> (value: Double, jacobian: [Double]) {
    var jacobian = [Double](repeating: .nan, count: Int(NEARBY_HEIGHT_STATE_SIZE))
    let value = unsafe withUnsafePointer(to: pose) { from in
      unsafe state.withUnsafeBufferPointer { values in
        unsafe jacobian.withUnsafeMutableBufferPointer { result in
          unsafe nearby_predict(
            Int32(kind.rawValue), values.baseAddress, from, result.baseAddress)
        }
      }
    }
    return (value, jacobian)
  }

  private func expectJacobians(
    _ test: Case, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for model in MeasurementKind.allCases {
      let analytic = predict(model, test.state, test.pose)
      #expect(analytic.value.isFinite, "\(model), \(name)", sourceLocation: sourceLocation)
      let numeric = NumericJacobian(
        at: test.state,
        distanceToSingularity: model.isAngle ? test.distances.axis : test.distances.range,
        angles: model.isAngle ? [0] : []
      ) { [predict(model, $0, test.pose).value] }
      let mismatch = numeric.mismatch(with: [analytic.jacobian])
      #expect(mismatch == nil, "\(model), \(name)", sourceLocation: sourceLocation)
    }
  }

  @Test("values by hand")
  func byHand() {
    // Three ahead and four up: five metres, straight ahead, asin 0.8 up; then the errors on top.
    let test = Case(
      peer: Vector3(1, 6, 0), errors: [0.1, 0.5, 0.03, 0.04, 0.25, 0.01, 0.02, 0.3],
      antenna: Vector3(1, 2, 3))
    let range = predict(.range, test.state, test.pose)
    #expect(abs(range.value - (1.1 * 5 + 0.5 + 0.25)) < 1e-14)
    for (entry, expected) in zip(range.jacobian, [0, 0.88, -0.66, 5, 1, 0, 0, 1, 0, 0, 0]) {
      #expect(abs(entry - expected) < 1e-14)
    }
    let azimuth = predict(.azimuth, test.state, test.pose)
    #expect(abs(azimuth.value - (0.03 + 0.01)) < 1e-14)
    for (entry, expected) in zip(azimuth.jacobian, [1.0 / 3, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0]) {
      #expect(abs(entry - expected) < 1e-14)
    }
    let elevation = predict(.elevation, test.state, test.pose)
    #expect(abs(elevation.value - (asin(0.8) + 0.04 + 0.02)) < 1e-14)
    // Up by 3/25 a metre; backwards, which is towards the antenna's axis, by 4/25.
    for (entry, expected) in zip(elevation.jacobian, [0, 0.12, 0.16, 0, 0, 0, 1, 0, 0, 1, 0]) {
      #expect(abs(entry - expected) < 1e-14)
    }
    let height = predict(.heightDifference, test.state, test.pose)
    #expect(abs(height.value - (4 + 0.3)) < 1e-14)
    for (entry, expected) in zip(height.jacobian, [0.0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]) {
      #expect(abs(entry - expected) < 1e-14)
    }
  }

  @Test("a constant error and a wandering one of the same component do the same, to no other")
  func errorStates() {
    let test = Case(peer: Vector3(2, 1, -3))
    // Whose error each state from the range's constant one on is.
    let kinds: [MeasurementKind] = [
      .range, .azimuth, .elevation, .range, .azimuth, .elevation, .heightDifference,
    ]
    for model in MeasurementKind.allCases {
      let before = predict(model, test.state, test.pose)
      for (error, kind) in kinds.enumerated() {
        let index = Int(NEARBY_STATE_RANGE_BIAS) + error
        var state = test.state
        state[index] += 0.01
        let moved = predict(model, state, test.pose).value - before.value
        #expect(abs(moved - (kind == model ? 0.01 : 0)) < 1e-14, "\(model), \(error)")
        #expect(before.jacobian[index] == (kind == model ? 1 : 0))
      }
    }
  }

  @Test("a turned device sees the peer turned the other way")
  func turnedDevice() {
    // Turned a quarter to the left: what was ahead (-z) is now to the right.
    let test = Case(
      peer: Vector3(0, 0, -2),
      worldFromDevice: Rotation(angleRadians: .pi / 2, about: Vector3(0, 1, 0)))
    let azimuth = predict(.azimuth, test.state, test.pose)
    #expect(abs(azimuth.value - .pi / 2) < 1e-14)
  }

  @Test("Jacobians at ordinary places", arguments: 0..<64 as Range<UInt64>)
  func ordinary(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let test = Case(
      peer: generator.normalVector(sigma: 5),
      errors: (0..<Case.errorCount).map { _ in generator.normal(sigma: 0.1) },
      antenna: generator.normalVector(), worldFromDevice: generator.rotation())
    expectJacobians(test, "seed \(seed)")
  }

  @Test("Jacobians with tiny errors and far from the origin", arguments: 0..<16 as Range<UInt64>)
  func tinyAndFar(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let near = Case(
      peer: generator.normalVector(sigma: 0.1),
      errors: (0..<Case.errorCount).map { _ in generator.normal(sigma: 1e-8) },
      worldFromDevice: Rotation(angleRadians: 1e-8, about: generator.normalVector()))
    expectJacobians(near, "near, seed \(seed)")
    let far = Case(
      peer: generator.normalVector(sigma: 300),
      errors: (0..<Case.errorCount).map { _ in generator.normal(sigma: 0.1) },
      antenna: generator.normalVector(sigma: 10),
      worldFromDevice: Rotation(angleRadians: .pi - 1e-8, about: generator.normalVector()))
    expectJacobians(far, "far, seed \(seed)")
  }

  @Test("Jacobians near the singular sets", arguments: 0..<16 as Range<UInt64>)
  func nearSingular(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let turn = generator.rotation()
    let antenna = generator.normalVector(sigma: 2)
    let errors = (0..<Case.errorCount).map { _ in generator.normal(sigma: 0.1) }
    // Two millimetres from the antenna, 1.7 from its vertical axis; the models hold still within one.
    let bearing = generator.uniform(in: -.pi...Double.pi)
    let direction = turn.act(
      ArrivalAngles(azimuthRadians: bearing, elevationRadians: 0.5).direction)
    expectJacobians(
      Case(
        peer: antenna + 2e-3 * direction, errors: errors, antenna: antenna, worldFromDevice: turn),
      "at the antenna, seed \(seed)")
    // Two millimetres from straight above or below.
    let angle = generator.uniform(in: -.pi...Double.pi)
    let height = generator.uniform() < 0.5 ? -3.0 : 3.0
    expectJacobians(
      Case(
        peer: antenna + turn.act(Vector3(2e-3 * cos(angle), height, 2e-3 * sin(angle))),
        errors: errors, antenna: antenna, worldFromDevice: turn),
      "on the vertical axis, seed \(seed)")
    // Straight behind, where azimuth wraps between the two steps.
    expectJacobians(
      Case(
        peer: antenna + turn.act(Vector3(0, 0.5, 4)), antenna: antenna, worldFromDevice: turn),
      "straight behind, seed \(seed)")
  }

  @Test("on the singular sets themselves everything is finite")
  func onSingularSets() {
    for peer in [Vector3.zero, Vector3(0, 2, 0), Vector3(0, -2, 0)] {
      let test = Case(peer: peer)
      for model in MeasurementKind.allCases {
        let prediction = predict(model, test.state, test.pose)
        #expect(prediction.value.isFinite && prediction.jacobian.allSatisfy(\.isFinite))
      }
    }
  }
}
