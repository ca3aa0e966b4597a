// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// Checks that there are poses whenever there are samples, and that their stamps are even.
enum PoseChecks {
  static func findings(_ survey: RecordingSurvey) -> [RecordingFinding] {
    gaps(survey) + bunchedStamps(survey)
  }

  /// Poses that are stamped on arrival come in bunches: their stamps say little of when they were.
  private static func bunchedStamps(_ survey: RecordingSurvey) -> [RecordingFinding] {
    guard let median = survey.poses.medianStep, let short = survey.poses.shortStep,
      survey.info.trajectory.poseCount > 50, short < 0.1 * median
    else { return [] }
    return [
      RecordingFinding(
        .note, .bunchedStamps,
        "a tenth of the poses follow the one before within \(ShortNumber.number(1000 * short)) ms, "
          + "where most take \(ShortNumber.number(1000 * median)) ms: they seem to be stamped on arrival",
        remedy: "log the time at which the odometry measured, if it is known")
    ]
  }

  private static func gaps(_ survey: RecordingSurvey) -> [RecordingFinding] {
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
