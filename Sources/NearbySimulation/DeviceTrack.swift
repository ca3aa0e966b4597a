// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

/// What the odometry of one run reports, and how its world lies to the true one at any moment.
protocol DeviceTrack {
  /// The poses that arrive.
  var poses: [DevicePose] { get }
  /// When each of the poses arrives, seconds after the start.
  var arrivals: [Double] { get }
  /// What it says of its quality, with the moments of that.
  var tracking: [(seconds: Double, sample: TrackingSample)] { get }
  /// Places that the device truly comes by, about every tenth of a second.
  var places: [(seconds: Double, place: Vector3)] { get }

  /// The device and the odometry's world at a moment.
  func moment(at seconds: Double) -> DeviceMoment
}

/// The device at one moment.
struct DeviceMoment {
  /// Its true pose.
  var truth: RigidTransform
  /// The true world to the odometry's as it is at that moment.
  var odometryFromTruth: RigidTransform
  /// The length of the path so far, metres.
  var travelled: Double
}
