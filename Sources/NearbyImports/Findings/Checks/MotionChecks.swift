// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// Checks that the device moves in such a way that peers can be located.
enum MotionChecks {
  static func findings(_ survey: RecordingSurvey) -> [RecordingFinding] {
    guard survey.info.trajectory.poseCount > 1 else { return [] }
    return amount(survey) + line(survey) + level(survey) + rest(survey) + speed(survey)
  }

  private static func amount(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let extent = survey.poses.extent.length
    guard extent < 0.5 else { return [] }
    return [
      RecordingFinding(
        .warning, .hardlyMoves,
        "the device stays within \(ShortNumber.number(extent)) m, too little to locate a peer by "
          + "ranges",
        remedy: "walk some metres in two directions, and lift and lower the device")
    ]
  }

  /// From one straight line, ranges and heights cannot tell a peer on the left from one on the right.
  private static func line(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let spread = survey.poses.levelSpread
    let tellsSides = survey.info.peers.contains { $0[.azimuth] > 0 }
    guard survey.samples.count > 0, !tellsSides, spread.along > 0.5,
      spread.across < 0.03 * spread.along
    else { return [] }
    return [
      RecordingFinding(
        .warning, .straightLine,
        "the device moves along one line, within \(ShortNumber.number(spread.across)) m of it, where ranges "
          + "cannot tell a peer on its left from one on its right",
        remedy: "walk around a corner, by a fifth of the distance to the peers")
    ]
  }

  /// On one level, ranges alone cannot tell a peer above from one below.
  private static func level(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let (height, level) = (survey.heightExtent, survey.levelExtent)
    if survey.manifest.trajectory.isPlanar {
      guard height > 0.5 else { return [] }
      return [
        RecordingFinding(
          .warning, .notPlanar,
          "the world is said to be two-dimensional, but the device moves up and down by "
            + "\(ShortNumber.number(height)) m",
          remedy: "import with --no-planar, or write \"planar\": false into recording.json")
      ]
    }
    guard survey.samples.count > 0, level > 0.5, height < 0.5, height < 0.15 * level,
      survey.onlyRangesTellHeights
    else { return [] }
    return [
      RecordingFinding(
        .warning, .level,
        "the device \(height == 0 ? "keeps exactly" : "stays within \(ShortNumber.number(height)) m of") "
          + "one height, where ranges alone cannot tell a peer above from one below",
        remedy:
          "if all peers are at the device's height, import with --planar; else lift and lower "
          + "the device by a metre, or measure elevations or height differences")
    ]
  }

  private static func rest(_ survey: RecordingSurvey) -> [RecordingFinding] {
    let (resting, watched) = (survey.poses.restingSeconds, survey.poses.watchedSeconds)
    guard watched > 5, resting > 0.6 * watched else { return [] }
    return [
      RecordingFinding(
        .note, .rests,
        "the device rests for \(ShortNumber.number(resting)) of \(ShortNumber.number(watched)) s; "
          + "samples at rest tell of noise, hardly of places")
    ]
  }

  private static func speed(_ survey: RecordingSurvey) -> [RecordingFinding] {
    guard let speed = survey.poses.medianSpeed, speed > 40 else { return [] }
    return [
      RecordingFinding(
        .warning, .speed, "the device moves at \(ShortNumber.number(speed)) m/s",
        remedy: "check that positions are metres and times seconds; see --pose-unit")
    ]
  }
}
