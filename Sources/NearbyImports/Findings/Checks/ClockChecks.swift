// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import NearbyRecordings

/// Checks that poses and samples are on one clock.
enum ClockChecks {
  /// With a smaller share of the samples within the time of the poses there is nothing to fuse.
  private static let leastShareWithin = 0.01

  /// Whether hardly any sample is within the time of the poses.
  static func areApart(_ samples: RecordingSurvey.Samples) -> Bool {
    Double(samples.withinPoses) < leastShareWithin * Double(samples.count)
  }

  static func findings(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let (poses, samples) = (survey.poses, survey.samples)
    guard samples.count > 0, let firstPose = poses.first, let lastPose = poses.last,
      let firstSample = samples.first, let lastSample = samples.last
    else { return [] }
    let times =
      "poses from \(ShortNumber.seconds(firstPose.seconds)) to "
      + "\(ShortNumber.seconds(lastPose.seconds)) s, samples from "
      + "\(ShortNumber.seconds(firstSample.seconds)) to \(ShortNumber.seconds(lastSample.seconds)) s"
    if areApart(samples) {
      let share = samples.withinPoses == 0 ? "no sample is" : "hardly any sample is"
      return [
        RecordingFinding(
          .error, .clocksApart, "\(share) within the time of the poses: \(times)",
          remedy: remedy(survey, offset: firstPose.seconds(since: firstSample)))
      ]
    }
    let outside = samples.count - samples.withinPoses
    if Double(outside) > 0.05 * Double(samples.count) {
      return [
        RecordingFinding(
          .warning, .clocksOverlapPartly,
          "\(ShortNumber.percent(outside, of: samples.count)) of the samples are before the first "
            + "pose or after the last: \(times)",
          remedy: "check that both are of one walk and on one clock; --ranging-offset of 'nearby "
            + "import' shifts the samples")
      ]
    }
    let start = max(firstPose, firstSample)
    let overlap = max(min(lastPose, lastSample).seconds(since: start), 0)
    let rates = [
      survey.info.trajectory.rate.map { "\(ShortNumber.number($0)) poses" },
      samples.duration > 0
        ? "\(ShortNumber.number(Double(samples.count - 1) / samples.duration)) samples" : nil,
    ].compactMap(\.self).joined(separator: " and ")
    return offset(survey) + [
      RecordingFinding(
        .note, .overlap,
        "poses and samples overlap for \(ShortNumber.number(overlap)) s"
          + (rates.isEmpty ? "" : "; \(rates) a second"))
    ]
  }

  /// An offset of the radio's clock that is far beyond its sigma.
  private static func offset(_ survey: RecordingSurvey) -> [RecordingFinding] {
    guard let clock = survey.clock, clock.isSignificant else { return [] }
    return [
      RecordingFinding(
        .warning, .clockOffset,
        clock.text,
        remedy: "import with --ranging-offset \(ShortNumber.number(clock.offset)), or with "
          + "--ranging-offset auto")
    ]
  }

  /// What brings two clocks together: another unit, or an offset.
  private static func remedy(_ survey: RecordingSurvey, offset: Double) -> String {
    let (poses, samples) = (survey.poses.duration, survey.samples.duration)
    let shift =
      "if both began together, import with --ranging-offset \(ShortNumber.seconds(offset))"
    guard poses > 0, samples > 0 else { return shift }
    if let clock = survey.clock, clock.isSure {
      let zone = (clock.offset / 900).rounded() * 900
      let isZone =
        abs(clock.offset - zone) < max(0.1, 3 * clock.sigma) && zone != 0 && abs(zone) < 50_400
      return
        "the ranges fit the path with --ranging-offset \(ShortNumber.seconds(isZone ? zone : clock.offset))"
        + (isZone ? ", the difference of two time zones" : "; --ranging-offset auto finds it")
    }
    for (power, unit) in [(3.0, "ms"), (6, "us"), (9, "ns")] {
      // Of one walk, both last about as long.
      if abs(log10(samples / poses) - power) < 0.3 {
        return "the times of the samples look like \(unit); import with --unit timestamp=\(unit)"
      }
      if abs(log10(poses / samples) - power) < 0.3 {
        return "the times of the poses look like \(unit); import with --pose-unit timestamp=\(unit)"
      }
    }
    return shift
  }
}
