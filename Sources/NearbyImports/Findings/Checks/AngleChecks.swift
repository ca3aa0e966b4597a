// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// Checks that angles are radians and refer to an attitude.
enum AngleChecks {
  static func findings(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let angles = survey.info.peers.map { max($0.azimuthCount, $0.elevationCount) }.reduce(0, +)
    var findings: [RecordingFinding] = []
    let outOfBounds = survey.info.faults.angleOutOfBounds
    if angles > 0, DistanceChecks.isShare(outOfBounds, of: angles, above: 0.05) {
      findings.append(
        RecordingFinding(
          .warning, .angleUnit,
          "\(ShortNumber.percent(outOfBounds, of: angles)) of the angles are beyond half a turn",
          remedy: "if they are degrees, import with --unit azimuth=deg --unit elevation=deg"))
    }
    guard survey.poses.attitudeIsConstant, survey.info.trajectory.poseCount > 1,
      survey.levelExtent > 1
    else { return findings }
    if angles > 0 {
      findings.append(
        RecordingFinding(
          .warning, .noAttitude,
          "all poses have one attitude, so the angles of arrival refer to nothing that turned",
          remedy: "give the attitudes of the device, or leave out the angles"))
    } else {
      findings.append(
        RecordingFinding(
          .note, .noAttitude,
          "all poses have one attitude: peers are located, but directions seen from the device are "
            + "those of the world's axes"))
    }
    return findings
  }
}
