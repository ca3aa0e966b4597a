// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// A recorded motion of a device: what odometry reported, and the truth, if it is known.
///
/// Radios and peers can be simulated over it: ``Scenario/simulated(seed:peerCount:over:)``.
public struct RecordedTrajectory: Sendable {
  /// The odometry's poses.
  public let odometry: [DevicePose]
  /// The true poses, in a world of their own, y up.
  public let truth: [DevicePose]

  /// The reasons why poses cannot be used as a trajectory.
  public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Truth and odometry share less than a second.
    case tooShort
    /// A pose of the odometry or of the truth, given by its index, is not after the previous one.
    case timeWentBack(index: Int)

    /// The fault in words.
    public var description: String {
      switch self {
      case .tooShort: "the odometry and the truth share less than a second"
      case .timeWentBack(let index): "pose \(index) is not after the pose before it"
      }
    }
  }

  /// The start: the first time that odometry and truth share.
  private let start: Timestamp

  /// Makes a trajectory.
  ///
  /// - Parameters:
  ///   - odometry: The odometry's poses, in the order of time.
  ///   - truth: The true poses, in the order of time. If empty, odometry counts as the truth.
  /// - Throws: When it is too short, or time goes back.
  public init(odometry: [DevicePose], truth: [DevicePose]) throws(Fault) {
    self.odometry = odometry
    self.truth = truth.isEmpty ? odometry : truth
    for poses in [self.odometry, self.truth] {
      for index in poses.indices.dropFirst()
      where poses[index].timestamp <= poses[index - 1].timestamp {
        throw .timeWentBack(index: index)
      }
    }
    guard let first = odometry.first, let last = odometry.last, let trueFirst = self.truth.first,
      let trueLast = self.truth.last
    else { throw .tooShort }
    start = max(first.timestamp, trueFirst.timestamp)
    duration = min(last.timestamp, trueLast.timestamp).seconds(since: start)
    guard duration >= 1 else { throw .tooShort }
  }

  /// The length of the time span in which both odometry and truth are known, seconds.
  public let duration: Double

  /// The timestamp of a time on the recording's own clock.
  public func timestamp(at seconds: Double) -> Timestamp { start.advanced(bySeconds: seconds) }

  /// When a pose arrives, seconds after the start.
  func seconds(of pose: DevicePose) -> Double { pose.timestamp.seconds(since: start) }

  /// The interpolated true pose at a time.
  func truePose(at seconds: Double) -> RigidTransform {
    Self.pose(in: truth, at: timestamp(at: seconds))
  }

  /// The interpolated pose of the odometry at a time.
  func reportedPose(at seconds: Double) -> RigidTransform {
    Self.pose(in: odometry, at: timestamp(at: seconds))
  }

  private static func pose(in poses: [DevicePose], at time: Timestamp) -> RigidTransform {
    // Bisection for the first pose that is not before the time.
    var (low, high) = (0, poses.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if poses[middle].timestamp < time { low = middle + 1 } else { high = middle }
    }
    guard low > 0, poses[low].timestamp > time else { return poses[low].worldFromDevice }
    let (before, after) = (poses[low - 1], poses[low])
    return before.worldFromDevice.interpolated(
      to: after.worldFromDevice,
      fraction: time.seconds(since: before.timestamp)
        / after.timestamp.seconds(since: before.timestamp))
  }
}

/// A recorded trajectory, used instead of a drawn one.
struct RecordedTrack: DeviceTrack {
  let poses: [DevicePose]
  let arrivals: [Double]
  let tracking: [(seconds: Double, sample: TrackingSample)] = []
  let positions: [(seconds: Double, position: Vector3)]

  private let trajectory: RecordedTrajectory
  /// The length of the odometry's path up to each pose.
  private var lengths = [0.0]

  init(_ trajectory: RecordedTrajectory, until end: Double) {
    self.trajectory = trajectory
    poses = trajectory.odometry.filter { trajectory.seconds(of: $0) <= end }
    arrivals = poses.map(trajectory.seconds(of:))
    positions = stride(from: 0, through: end, by: 0.1).map {
      ($0, trajectory.truePose(at: $0).translation)
    }
    for (before, after) in zip(poses, poses.dropFirst()) {
      let step = after.worldFromDevice.translation - before.worldFromDevice.translation
      lengths.append(lengths[lengths.count - 1] + step.length)
    }
  }

  func moment(at seconds: Double) -> DeviceMoment {
    let truth = trajectory.truePose(at: seconds)
    return DeviceMoment(
      truth: truth, odometryFromTruth: trajectory.reportedPose(at: seconds) * truth.inverse,
      travelled: length(at: seconds))
  }

  private func length(at seconds: Double) -> Double {
    var (low, high) = (0, arrivals.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if arrivals[middle] < seconds { low = middle + 1 } else { high = middle }
    }
    return lengths[low]
  }
}
