// SPDX-License-Identifier: Apache-2.0
internal import CNearbyKernels
package import NearbyGeometry

/// From where something was measured: the antenna, and the axes of the device, in the odometry's world.
package struct AntennaPose: Hashable, Sendable {
  package var antenna: Vector3
  /// The device's axes as vectors of that world: right, up and back.
  package var right: Vector3
  package var up: Vector3
  package var back: Vector3

  /// Makes one of its parts.
  package init(antenna: Vector3, right: Vector3, up: Vector3, back: Vector3) {
    (self.antenna, self.right, self.up, self.back) = (antenna, right, up, back)
  }

  /// That of an antenna in a device at a pose.
  package init(_ worldFromDevice: RigidTransform, antennaInDevice: Vector3) {
    antenna = worldFromDevice.act(antennaInDevice)
    right = worldFromDevice.rotation.xAxis
    up = worldFromDevice.rotation.yAxis
    back = worldFromDevice.rotation.zAxis
  }

  /// The same with all vectors turned, the antenna about a centre that is moved.
  ///
  /// - Parameters:
  ///   - turn: The turn.
  ///   - center: Where the antenna's vector begins.
  ///   - newCenter: Where it begins then.
  /// - Returns: The pose in the other world.
  package func turned(
    by turn: (Vector3) -> Vector3, about center: Vector3, to newCenter: Vector3
  ) -> AntennaPose {
    AntennaPose(
      antenna: newCenter + turn(antenna - center), right: turn(right), up: turn(up),
      back: turn(back))
  }

  var deviceFromWorld: (Double, Double, Double, Double, Double, Double, Double, Double, Double) {
    (right.x, right.y, right.z, up.x, up.y, up.z, back.x, back.y, back.z)
  }
}

/// A measurement predicted by the kernels' model, with its derivatives.
package struct PredictedMeasurement: Sendable {
  package var value: Double
  /// The derivative by the peer's position, in the world of the pose.
  package var gradient: Vector3
  /// The derivative by the scale error of ranges; zero for an angle.
  package var scaleDerivative: Double

  /// Predicts a measurement of a peer.
  ///
  /// - Parameters:
  ///   - kind: What is measured.
  ///   - pose: From where.
  ///   - peer: The peer's position in the same world.
  ///   - bias: The constant error of ranges, metres.
  ///   - scale: The scale error of ranges.
  package init(
    _ kind: MeasurementKind, from pose: AntennaPose, peer: Vector3, rangeBias bias: Double,
    rangeScale scale: Double
  ) {
    StateIndex.assertLayout()
    var state = StateVector(repeating: 0)
    (state[0], state[1], state[2]) = (peer.x, peer.y, peer.z)
    state[StateIndex.rangeBias] = bias
    state[StateIndex.rangeScale] = scale
    var jacobian = StateVector(repeating: 0)
    var from = nearby_antenna_pose(
      antenna_in_world: (pose.antenna.x, pose.antenna.y, pose.antenna.z),
      device_from_world: pose.deviceFromWorld)
    value = unsafe withUnsafeBytes(of: state) { state in
      unsafe withUnsafeMutableBytes(of: &jacobian) { jacobian in
        unsafe nearby_predict(
          Int32(kind.component), state.assumingMemoryBound(to: Double.self).baseAddress, &from,
          jacobian.assumingMemoryBound(to: Double.self).baseAddress)
      }
    }
    gradient = Vector3(jacobian[0], jacobian[1], jacobian[2])
    scaleDerivative = kind == .range ? jacobian[StateIndex.rangeScale] : 0
  }
}
