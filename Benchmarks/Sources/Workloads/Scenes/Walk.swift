// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyFusion
import NearbyGeometry

/// A device that walks past a stationary peer; poses at 60 Hz, samples at 10 Hz between them.
struct Walk {
  /// The paths of the device.
  enum Path {
    /// A smooth curve in three dimensions, with the device roughly facing the peer.
    case curve
    /// Back and forth on a straight line: ranges leave a circle about that line unresolved.
    case line
    /// Half an hour on the curve, then half an hour at rest, and so on.
    case breaks
    /// At walking speed on a level floor, the device turning as it goes.
    case level
    /// At rest.
    case rest
  }

  static let posesPerSecond = 60
  static let samplesPerSecond = 10

  let path: Path
  let peer: Vector3

  /// One sigma of each component's white noise.
  var rangeNoise = 0.05
  var azimuthNoise = 1.5.degreesAsRadians
  var elevationNoise = 2.0.degreesAsRadians

  /// The device's pose at a time in seconds.
  func worldFromDevice(at time: Double) -> RigidTransform {
    switch path {
    case .rest:
      return .identity
    case .line:
      return RigidTransform(
        rotation: .identity, translation: Vector3(3 * sin(0.35 * time), 0, 0))
    case .breaks:
      // The curve continues where it was left.
      let hours = (time / 3600).rounded(.down)
      return curve(at: 1800 * hours + min(time - 3600 * hours, 1800))
    case .level:
      return RigidTransform(
        rotation: Rotation(angleRadians: 0.3 * time, about: Vector3(0, 1, 0)),
        translation: Vector3(5 * sin(0.2 * time), 0, 3 * sin(0.27 * time + 0.5)))
    case .curve:
      return curve(at: time)
    }
  }

  private func curve(at time: Double) -> RigidTransform {
    let place = Vector3(
      3 * sin(0.35 * time) + 0.5 * sin(0.11 * time), 0.3 * sin(0.23 * time),
      3 * cos(0.35 * time))
    let away = peer - place
    let yaw = atan2(-away.x, -away.z) + 0.4 * sin(0.5 * time)
    let pitch = 0.2 * sin(0.31 * time)
    return RigidTransform(
      rotation: Rotation(angleRadians: yaw, about: Vector3(0, 1, 0))
        * Rotation(angleRadians: pitch, about: Vector3(1, 0, 0)),
      translation: place)
  }

  /// The poses of one second.
  func poses(ofSecond second: Int) -> [DevicePose] {
    (0..<Self.posesPerSecond).map { step in
      let time = Double(second) + Double(step) / Double(Self.posesPerSecond)
      return DevicePose(
        timestamp: Timestamp(nanoseconds: Int64(time * 1e9)),
        worldFromDevice: worldFromDevice(at: time))
    }
  }

  /// The samples of one second, each a third of the way from one pose to the next.
  ///
  /// - Parameters:
  ///   - second: The second.
  ///   - handle: The handle of the measured peer.
  ///   - place: The peer's position, if it is not the one that the device faces.
  ///   - withAngles: Whether angles are measured; they are never beyond 60 degrees.
  ///   - noise: The source of the noise.
  /// - Returns: The samples in time order.
  func samples(
    ofSecond second: Int, peer handle: PeerID, at place: Vector3? = nil, withAngles: Bool,
    _ noise: inout Noise
  ) -> [RangingSample] {
    (0..<Self.samplesPerSecond).map { step in
      let time =
        Double(second) + (Double(step) + 0.5) / Double(Self.samplesPerSecond)
        + 1 / Double(3 * Self.posesPerSecond)
      let inDevice = worldFromDevice(at: time).inverse.act(place ?? peer)
      let angles = ArrivalAngles(ofDirection: inDevice)
      var sample = RangingSample(
        peer: handle, timestamp: Timestamp(nanoseconds: Int64(time * 1e9)),
        distance: inDevice.length + noise.normal(rangeNoise))
      if withAngles, abs(angles.azimuthRadians) < 60.0.degreesAsRadians {
        sample.azimuthRadians = (angles.azimuthRadians + noise.normal(azimuthNoise)).wrappedAngle
        sample.elevationRadians = angles.elevationRadians + noise.normal(elevationNoise)
      }
      return sample
    }
  }
}
