// SPDX-License-Identifier: Apache-2.0

/// Which axis of a gravity-aligned world points up.
public enum WorldUp: String, Sendable, Codable, CaseIterable {
  /// +y is up, as in ARKit and inside the engine.
  case y
  /// +z is up, as in ROS (REP-103).
  case z
}

/// How a device's axes are named.
public enum DeviceAxes: String, Sendable, Codable, CaseIterable {
  /// +x right, +y up, +z toward the user: the back camera looks along -z. The engine's own.
  case arkit
  /// +x forward, +y left, +z up.
  case ros
  /// +x right, +y down, +z forward.
  case camera
}

/// The frames in which a source gives its poses and expects its results.
///
/// The engine uses one world (y up) and one device frame (ARKit's). This type converts all others,
/// on input and on output. Both conversions are proper rotations, so lengths and covariances are
/// preserved.
public struct FrameConvention: Hashable, Sendable {
  /// The world's up axis.
  public var up: WorldUp
  /// The device's axes.
  public var axes: DeviceAxes

  /// The engine's own frames.
  public static let engine = FrameConvention(up: .y, axes: .arkit)

  /// Makes a convention from its two choices.
  public init(up: WorldUp, axes: DeviceAxes) {
    self.up = up
    self.axes = axes
  }

  /// Takes the source's world coordinates to the engine's.
  ///
  /// For z up: `(x, y, z) ↦ (x, z, -y)`, a quarter turn about x.
  public var engineWorldFromWorld: Rotation {
    switch up {
    case .y: .identity
    case .z: Rotation(xAxis: Vector3(1, 0, 0), yAxis: Vector3(0, 0, -1), zAxis: Vector3(0, 1, 0))
    }
  }

  /// Takes the source's device coordinates to the engine's.
  public var engineDeviceFromDevice: Rotation {
    switch axes {
    case .arkit: .identity
    case .ros:
      // forward is -z, left is -x, up is +y.
      Rotation(xAxis: Vector3(0, 0, -1), yAxis: Vector3(-1, 0, 0), zAxis: Vector3(0, 1, 0))
    case .camera:
      // right is +x, down is -y, forward is -z.
      Rotation(xAxis: Vector3(1, 0, 0), yAxis: Vector3(0, -1, 0), zAxis: Vector3(0, 0, -1))
    }
  }

  /// Takes a pose `worldFromDevice` of the source to the engine's frames.
  public func engineWorldFromEngineDevice(_ worldFromDevice: RigidTransform) -> RigidTransform {
    let turn = engineWorldFromWorld
    return RigidTransform(
      rotation: turn * worldFromDevice.rotation * engineDeviceFromDevice.inverse,
      translation: turn.act(worldFromDevice.translation))
  }

  /// Takes a pose of the engine back to the source's frames.
  public func worldFromDevice(fromEngine pose: RigidTransform) -> RigidTransform {
    let turn = engineWorldFromWorld.inverse
    return RigidTransform(
      rotation: turn * pose.rotation * engineDeviceFromDevice,
      translation: turn.act(pose.translation))
  }

  /// Takes a world point or direction of the engine back to the source's world.
  public func worldVector(fromEngine vector: Vector3) -> Vector3 {
    engineWorldFromWorld.inverse.act(vector)
  }

  /// Takes a world covariance of the engine back to the source's world.
  public func worldCovariance(fromEngine covariance: SymmetricMatrix3) -> SymmetricMatrix3 {
    covariance.rotated(by: engineWorldFromWorld.inverse)
  }

  /// Takes a device direction of the engine back to the source's device axes.
  public func deviceVector(fromEngine vector: Vector3) -> Vector3 {
    engineDeviceFromDevice.inverse.act(vector)
  }

  /// Takes a device vector of the source, such as a lever arm, to the engine's device axes.
  public func engineDeviceVector(_ vector: Vector3) -> Vector3 {
    engineDeviceFromDevice.act(vector)
  }
}
