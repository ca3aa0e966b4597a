// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

/// The odometry of one run, and the transform between its world and the true one at
/// any time.
protocol DeviceTrack {
  /// The poses that arrive.
  var poses: [DevicePose] { get }
  /// When each of the poses arrives, seconds after the start.
  var arrivals: [Double] { get }
  /// The reports of its quality, with their times.
  var tracking: [(seconds: Double, sample: TrackingSample)] { get }
  /// True positions of the device, about every tenth of a second.
  var positions: [(seconds: Double, position: Vector3)] { get }

  /// The device and the odometry's world at a time.
  func moment(at seconds: Double) -> DeviceMoment
}

/// The device at one time.
struct DeviceMoment {
  /// Its true pose.
  var truth: RigidTransform
  /// The transform from the true world to the odometry's world as it is at that time.
  var odometryFromTruth: RigidTransform
  /// The length of the path so far, metres.
  var travelled: Double
}
