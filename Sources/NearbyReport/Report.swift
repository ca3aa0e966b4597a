// SPDX-License-Identifier: Apache-2.0
public import NearbyEvaluation
internal import NearbyFusion

/// The data of a report on one or several results, small enough for a page.
///
/// Long tables are thinned, but keep their extremes, so that no outlier is hidden. A page contains
/// the report as ``page``.
public struct Report: Sendable {
  /// The version of the JSON; it is increased when a key changes its meaning.
  public static let formatVersion = 2

  /// The reasons in the order of their bits.
  public static let reasonNames = ConvergenceReasons.all.sorted { $0.rawValue < $1.rawValue }
    .map(\.description)

  /// The recordings, each once, in the order in which results name them.
  public var recordings: [ReportRecording]
  /// The runs, in the order in which they were given; smoothed rows follow the estimates.
  public var runs: [ReportRun]
}

/// A recording with results in the report.
public struct ReportRecording: Sendable {
  /// Its name.
  public var name: String
  /// Its folder, as given by the caller.
  public var folder: String
  /// Seconds from its first event to its last.
  public var duration: Double
  /// The names of the map's axes (right, ahead, up) in the recording's world.
  public var axes: [String]
  /// Whether it holds the truth.
  public var hasTruth: Bool
  /// The device's path according to its odometry.
  public var device: ReportTable<DeviceColumn>
}

/// One result.
public struct ReportRun: Sendable {
  /// The short name of the result's folder; marked for smoothed rows.
  public var name: String
  /// The index of its recording in ``Report/recordings``.
  public var recording: Int
  /// The file from which it was read.
  public var source: ResultEvaluation.Source
  /// What the run says beside its numbers; nothing for smoothed rows.
  public var sentences = RunSentences()
  /// The device's path as peers correct it, or smoothed; empty where there is none.
  public var correctedPath = ReportTable<PathColumn>()
  /// The true path, turned about gravity and shifted onto the corrected path, or else onto the odometry's; empty without truth.
  public var truePath = ReportTable<PathColumn>()
  /// The tracks of the peers, in the order of their first rows.
  public var tracks: [ReportTrack]
}

/// The results for one peer.
public struct ReportTrack: Sendable {
  /// The peer's name.
  public var peer: String
  /// The facts from all rows.
  public var facts: TrackFacts
  /// The figures against the truth; `nil` when it is not known.
  public var figures: ResultFigures?
  /// What to do for a peer that has not converged at the end.
  public var advice: [String] = []
  /// The places where the peer may be while there are several, thinned.
  public var modes = ReportTable<ModeColumn>()
  /// The states after each sample, thinned.
  public var moments: ReportTable<MomentColumn>
  /// The changes of the status, not thinned; empty for smoothed rows.
  public var timeline: ReportTable<TimelineColumn>
  /// How many samples were used; empty for smoothed rows.
  public var outcomes: ReportTable<OutcomeColumn>
}

/// Facts of one peer in one result, before thinning.
public struct TrackFacts: Hashable, Sendable {
  /// How many rows the result has for it.
  public var samples = 0
  /// How many samples were used partly.
  public var partial = 0
  /// How many samples were rejected as a whole.
  public var rejected = 0
  /// Seconds from the first row to the first that is converged.
  public var secondsToConverge: Double?
  /// How often convergence was lost again.
  public var losses = 0
  /// The number of components of most completely used samples, which is the degrees of freedom of
  /// NIS.
  public var components = 0
  /// The degrees of freedom of its position: two where the recording is planar, else three.
  public var positionComponents = 3
}
