// SPDX-License-Identifier: Apache-2.0

/// The checks of a recording: what `nearby info` and every import say at their end.
///
/// Each group is a pure function of a ``RecordingSurvey``, in a file of its own.
enum RecordingChecks {
  /// The groups, in the order in which their findings are listed.
  static let groups: [@Sendable (RecordingSurvey) -> [RecordingFinding]] = [
    ClockChecks.findings, DistanceChecks.findings, NoiseChecks.findings, AngleChecks.findings,
    MotionChecks.findings, FrameChecks.findings, PoseChecks.findings, PeerChecks.findings,
  ]

  /// All findings about a recording; errors come first, then warnings, then notes.
  static func findings(_ survey: RecordingSurvey) -> [RecordingFinding] {
    groups.flatMap { $0(survey) }.worstFirst
  }
}
