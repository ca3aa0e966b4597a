// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// Checks that there are poses whenever there are samples.
enum PoseChecks {
  static func findings(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let inGaps = survey.info.faults.inPoseGap
    guard DistanceChecks.isShare(inGaps, of: survey.samples.count, above: 0.01) else { return [] }
    let gaps = survey.info.trajectory.largestGaps.prefix(1).map {
      ", the longest \(ShortNumber.number($0.durationSeconds)) s at "
        + "\(ShortNumber.seconds($0.startSeconds)) s"
    }
    return [
      RecordingFinding(
        .warning, .poseGaps,
        "\(ShortNumber.percent(inGaps, of: survey.samples.count)) of the samples lie in gaps between "
          + "poses longer than 2 s\(gaps.joined()), and are left out",
        remedy: "log poses at least once a second; odometry.maximumPoseGap of the settings is the "
          + "longest gap that is bridged")
    ]
  }
}
