// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// Checks that the axes and the kind of the odometry fit to the poses.
enum FrameChecks {
  static func findings(_ survey: RecordingSurvey) -> [RecordingFinding] {
    upAxis(survey) + kind(survey)
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
    guard survey.manifest.trajectory.kind == .visualInertial, survey.heightExtent == 0,
      survey.levelExtent > 1, survey.info.trajectory.poseCount > 10
    else { return [] }
    return [
      RecordingFinding(
        .warning, .odometryKind,
        "all poses have one height exactly, as visual-inertial odometry never has",
        remedy: "say where they come from, as in --kind wheel; the drift depends on it")
    ]
  }
}
