// SPDX-License-Identifier: Apache-2.0
internal import NearbyRecordings

/// What a run has to say beside its numbers: what is wrong with the recording, what was calibrated, what
/// happened, and what the peers did for the path.
public struct RunSentences: Sendable {
  /// One finding with its remedy.
  public struct Finding: Hashable, Sendable {
    /// How much it matters: `warning` or `error`.
    public var severity: String
    /// What was seen.
    public var message: String
    /// What to do about it.
    public var remedy: String?
  }

  /// What may be why peers were not found.
  public var findings: [Finding] = []
  /// What the recording told of radio and odometry.
  public var calibration: [String] = []
  /// What happened, with the time in seconds.
  public var events: [(seconds: Double, text: String)] = []
  /// How far off the device's path is; `nil` without the truth.
  public var path: String?

  /// The sentences of a run without any.
  public init() {}

  /// The sentences of a summary.
  init(_ summary: RunSummary) {
    findings = (summary.findings ?? []).map {
      Finding(severity: $0.severity, message: $0.message, remedy: $0.remedy)
    }
    calibration = summary.calibration?.lines ?? []
    events = (summary.events ?? []).map { ($0.seconds, $0.text) }
    path = summary.trajectory.map { trajectory in
      func metres(_ figures: TrajectorySummary.Figures) -> String {
        "\(figures.rmse.fixed(decimals: 2)) m"
      }
      let corrected = trajectory.corrected.map { ", corrected by the peers \(metres($0))" } ?? ""
      let smoothed = trajectory.smoothed.map { ", smoothed \(metres($0))" } ?? ""
      return "the odometry is off by \(metres(trajectory.odometry))\(corrected)\(smoothed)"
    }
  }
}
