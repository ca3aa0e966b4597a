// SPDX-License-Identifier: Apache-2.0
public import NearbyEvaluation
internal import NearbyFusion

/// What a report shows of one or several results, small enough for a page.
///
/// Long tables are thinned; the extremes stay, so that no outlier is lost from sight. ``json`` is the
/// form in which a page carries it.
public struct Report: Sendable {
  /// The version of the JSON; it rises when a key changes its meaning.
  public static let formatVersion = 1

  /// The reasons in the order of their bits, the most useful action first.
  public static let reasonNames = (0..<5).map { ConvergenceReasons(rawValue: 1 << $0).description }

  /// The recordings, each once, in the order in which results name them.
  public var recordings: [ReportRecording]
  /// The runs, in the order in which they were named; what was smoothed follows what was estimated.
  public var runs: [ReportRun]
}

/// A recording on which results rest.
public struct ReportRecording: Sendable {
  /// Its name.
  public var name: String
  /// Its folder, as it was named.
  public var folder: String
  /// Seconds from its first event to its last.
  public var duration: Double
  /// The names that the map's axes (right, ahead, up) have in the recording's world.
  public var axes: [String]
  /// Whether it holds the truth.
  public var hasTruth: Bool
  /// Where the device went, by its odometry.
  public var device: ReportTable<DeviceColumn>
}

/// One result.
public struct ReportRun: Sendable {
  /// The result's folder, short; marked when it is what was smoothed.
  public var name: String
  /// The place of its recording in ``Report/recordings``.
  public var recording: Int
  /// What estimated it.
  public var source: ResultEvaluation.Source
  /// What it says of each peer, in the order in which their rows begin.
  public var tracks: [ReportTrack]
}

/// What one result says of one peer.
public struct ReportTrack: Sendable {
  /// The peer's name.
  public var peer: String
  /// The facts of the whole.
  public var facts: TrackFacts
  /// How it holds against the truth; `nil` where that is not known.
  public var figures: ResultFigures?
  /// What is known after each sample, thinned.
  public var moments: ReportTable<MomentColumn>
  /// When the status changed, whole; empty for what was smoothed.
  public var timeline: ReportTable<TimelineColumn>
  /// What became of the samples; empty for what was smoothed.
  public var outcomes: ReportTable<OutcomeColumn>
}

/// Facts of one peer in one result, before thinning.
public struct TrackFacts: Hashable, Sendable {
  /// How many rows the result has for it.
  public var samples = 0
  /// Of how many samples only a part was used.
  public var partial = 0
  /// Of how many nothing was used.
  public var rejected = 0
  /// Seconds from the first row to the first that is converged.
  public var secondsToConverge: Double?
  /// How often convergence was lost again.
  public var losses = 0
  /// The number of components of most samples that were used whole: NIS has so many degrees of freedom.
  public var components = 0
  /// The degrees of freedom of its position: two where the recording is planar, else three.
  public var positionComponents = 3
}
