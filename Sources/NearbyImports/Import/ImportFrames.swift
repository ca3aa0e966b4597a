// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// The frames in which a foreign file gives its poses, and how they become a recording's.
///
/// A recording can declare two worlds and three device frames. Others are converted by the import:
/// a world whose y or z points down, and the body frame of the EuRoC data sets.
public struct ImportFrames: Hashable, Sendable {
  /// Which axis of the world points against gravity.
  public enum Up: String, Hashable, Sendable, CaseIterable {
    /// +y, as in ARKit.
    case y
    /// +z, as in ROS.
    case z
    /// -y, as when the world is the first camera's frame (KITTI). The import rotates it by half a
    /// turn about x, to y up.
    case yDown = "y-down"
    /// -z, as in north, east, down. The import rotates it by half a turn about x, to z up.
    case zDown = "z-down"

    /// Whether z is the vertical axis.
    var isAlongZ: Bool { self == .z || self == .zDown }
    /// Whether the axis points along gravity.
    var isDown: Bool { self == .yDown || self == .zDown }
  }

  /// How the axes of the device are named.
  public enum Axes: String, Hashable, Sendable, CaseIterable {
    /// +x right, +y up, +z toward the user.
    case arkit
    /// +x forward, +y left, +z up.
    case ros
    /// +x right, +y down, +z forward.
    case camera
    /// +x up, +y right, +z forward: the inertial sensor of the EuRoC drone. The import converts it
    /// to `arkit`.
    case euroc
  }

  /// The world's up axis.
  public var up: Up
  /// The device's axes.
  public var axes: Axes

  /// Makes frames from their two choices.
  public init(up: Up = .y, axes: Axes = .arkit) {
    self.up = up
    self.axes = axes
  }

  /// The frames that the recording declares.
  public var recorded: FrameConvention {
    FrameConvention(up: up.isAlongZ ? .z : .y, axes: DeviceAxes(rawValue: axes.rawValue) ?? .arkit)
  }

  /// Converts a pose of the file to the frames that the recording declares.
  ///
  /// - Parameter worldFromDevice: The pose in the file's frames.
  /// - Returns: The pose in the recording's frames.
  public func recordedPose(_ worldFromDevice: RigidTransform) -> RigidTransform {
    var pose = worldFromDevice
    if up.isDown {
      pose = RigidTransform(rotation: Self.halfTurn, translation: .zero) * pose
    }
    if axes == .euroc { pose.rotation = pose.rotation * Self.arkitFromEuroc.inverse }
    return pose
  }

  /// Converts a position in the file's world to the recording's world.
  ///
  /// - Parameter place: The position in the file's world.
  /// - Returns: The position in the recording's world.
  public func recordedPlace(_ place: Vector3) -> Vector3 {
    up.isDown ? Self.halfTurn.act(place) : place
  }

  private static let halfTurn = Rotation(
    xAxis: Vector3(1, 0, 0), yAxis: Vector3(0, -1, 0), zAxis: Vector3(0, 0, -1))
  private static let arkitFromEuroc = Rotation(
    xAxis: Vector3(0, 1, 0), yAxis: Vector3(1, 0, 0), zAxis: Vector3(0, 0, -1))
}
