// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// Checks that the axes and the kind of the odometry fit to the poses.
enum FrameChecks {
  static func findings(_ survey: RecordingSurvey) -> [RecordingFinding] {
    upAxis(survey) + kind(survey) + attitude(survey)
  }

  /// A walk that is high and flat is one whose axes are mixed up.
  private static func upAxis(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let (height, extent) = (survey.heightExtent, survey.poses.extent)
    let other = survey.manifest.worldUp == .y ? extent.z : extent.y
    guard height > 3, other < 0.05 * height else { return [] }
    let (up, flat) = survey.manifest.worldUp == .y ? ("y", "z") : ("z", "y")
    return [
      RecordingFinding(
        .warning, .upAxis,
        "the device moves \(ShortNumber.number(height)) m along \(up), which is said to point up, "
          + "and \(ShortNumber.number(other)) m along \(flat)",
        remedy: "if \(flat) points up, import with --up \(flat)")
    ]
  }

  private static func kind(_ survey: RecordingSurvey) -> [RecordingFinding] {
    guard survey.manifest.trajectory.kind == .visualInertial, survey.heightExtent < Self.flatHeight,
      survey.levelExtent > 1, survey.info.trajectory.poseCount > 10
    else { return [] }
    return [
      RecordingFinding(
        .warning, .odometryKind,
        "all poses have one height\(survey.heightExtent == 0 ? " exactly" : " to a millimetre"), as "
          + "visual-inertial odometry never has",
        remedy: "say where they come from, as in --kind wheel; the drift depends on it")
    ]
  }

  /// Heights that differ by less are one height, metres: what rounding and integration leave of it.
  private static let flatHeight = 1e-3

  /// A device keeps about the same side up.
  ///
  /// Where it seems to tumble, its quaternions may be in another order; where it is upside down, the world's
  /// vertical may point down.
  private static func attitude(_ survey: RecordingSurvey) -> [RecordingFinding] {
    guard !survey.poses.attitudeIsConstant, survey.info.trajectory.poseCount > 50 else { return [] }
    let (read, other) = (survey.poses.meanUpInDevice, survey.poses.meanUpInDeviceScalarFirst)
    if read.length < 0.6, other.length > 0.9 {
      return [
        RecordingFinding(
          .warning, .quaternionOrder,
          "the device tumbles by its attitudes, and keeps one side up if the first number of each quaternion is "
            + "its scalar part",
          remedy:
            "import the poses as a table, with --trajectory-format csv --pose-map qw=COLUMN and so on"
        )
      ]
    }
    // A phone may be held in any way; a robot, which has the axes of ROS, stands upright.
    guard survey.manifest.frames.axes == .ros, read.z < -0.7 else { return [] }
    return [
      RecordingFinding(
        .warning, .upsideDown, "the device is upside down most of the time",
        remedy: "if the world's z points down, as in north-east-down, import with --up z-down")
    ]
  }
}
