// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
public import NearbyGeometry
public import NearbyRecordings

/// The contents of a recording, as `nearby info` prints them.
///
/// Gathered in one pass by ``NearbyRecordings/RecordingReader/info()``. Times are seconds, lengths metres.
public struct RecordingInfo: Hashable, Sendable, Codable {
  /// The recording's name.
  public var name: String
  /// A description of it.
  public var description: String?
  /// Its origin.
  public var source: String?
  /// Its licence.
  public var license: String?
  /// The world's up axis.
  public var worldUp: WorldUp
  /// The device's axes.
  public var deviceAxes: DeviceAxes
  /// When the first pose or sample was.
  public var startSeconds = 0.0
  /// From the first pose or sample to the last.
  public var durationSeconds = 0.0
  /// The odometry.
  public var trajectory: Trajectory
  /// How many rows of `tracking.csv` name each state; `nil` without that file.
  public var trackingStates: [String: Int]?
  /// The peers, in the reader's order.
  public var peers: [Peer] = []
  /// The range differences; `nil` without that file.
  public var differences: Differences?
  /// Faults of the samples, as opposed to faults of the files.
  public var faults = Faults()
  /// The truth; `nil` unless both of its files are there.
  public var truth: Truth?
  /// The warnings about the files.
  public var warnings = RecordingWarnings()
  /// What to look at before the recording is run, the worst first.
  public var findings: [RecordingFinding] = []
  /// By how much the radio's clock differs from that of the poses; `nil` when the ranges do not tell it.
  public var clock: ClockAlignment?

  /// The odometry of a recording.
  public struct Trajectory: Hashable, Sendable, Codable {
    /// The source of the poses.
    public var kind: RecordingManifest.Trajectory.Kind
    /// Whether it is two-dimensional.
    public var isPlanar: Bool
    /// How many poses there are.
    public var poseCount = 0
    /// Poses a second on average; `nil` for a single pose.
    public var rate: Double?
    /// The sum of the distances between neighbouring poses, their jitter included.
    public var pathLength = 0.0
    /// The longest times between neighbouring poses, at most three, longest first.
    public var largestGaps: [Gap] = []
  }

  /// A time without poses.
  public struct Gap: Hashable, Sendable, Codable {
    /// The time of the pose before it.
    public var startSeconds: Double
    /// How long it lasts.
    public var durationSeconds: Double
  }

  /// The samples of one peer.
  public struct Peer: Hashable, Sendable, Codable {
    /// Its name, and how it may move.
    public var peer: RecordingPeer
    /// How many samples there are.
    public var sampleCount = 0
    /// Samples a second on average; `nil` for fewer than two or all at once.
    public var rate: Double?
    /// How many samples have a distance.
    public var distanceCount = 0
    /// How many samples have an azimuth.
    public var azimuthCount = 0
    /// How many samples have an elevation.
    public var elevationCount = 0
    /// How many samples have a height difference.
    public var heightDifferenceCount = 0
    /// The smallest distance that is a positive number.
    public var minimumDistance: Double?
    /// The median of the distances that are positive numbers, to 1 %.
    public var medianDistance: Double?
    /// The largest distance that is a positive number.
    public var maximumDistance: Double?

    /// The share of samples that lack an azimuth, 0 to 1.
    public var missingAzimuthShare: Double {
      sampleCount > 0 ? 1 - Double(azimuthCount) / Double(sampleCount) : 0
    }
  }

  /// The range differences of a recording.
  public struct Differences: Hashable, Sendable, Codable {
    /// How many there are.
    public var count = 0
    /// How many a second on average; `nil` for fewer than two or all at once.
    public var rate: Double?
    /// The anchors, in the order in which the file names them.
    public var anchors: [String] = []
    /// How many anchors have a place in the recording's map; `nil` when it has none.
    public var anchorsInMap: Int?
    /// How many repeat stamp, anchors and value of the row before them.
    public var duplicates = 0
  }

  /// How many samples have which fault; a sample may have several.
  public struct Faults: Hashable, Sendable, Codable {
    /// A value is infinite or not a number.
    public var notFinite = 0
    /// A distance is zero or negative.
    public var notPositiveDistance = 0
    /// A distance is beyond 1000 m.
    public var absurdDistance = 0
    /// A height difference is beyond ±1000 m.
    public var absurdHeightDifference = 0
    /// An azimuth is beyond ±π, or an elevation beyond ±π/2.
    public var angleOutOfBounds = 0
    /// A sample repeats the stamp and the values of its peer's sample before.
    public var duplicate = 0
    /// A sample has no value at all.
    public var empty = 0
    /// A sample is before the first pose.
    public var beforeFirstPose = 0
    /// A sample is after the last pose.
    public var afterLastPose = 0
    /// A sample lies in a gap between poses that is longer than 2 s.
    public var inPoseGap = 0

    /// Makes a record of no faults.
    public init() {}
  }

  /// The truth of a recording.
  public struct Truth: Hashable, Sendable, Codable {
    /// How many true poses there are.
    public var poseCount = 0
    /// How many peers have true positions.
    public var peerCount = 0
  }
}

extension RecordingInfo.Peer {
  /// How many samples have a measurement of a kind.
  subscript(kind: MeasurementKind) -> Int {
    get {
      switch kind {
      case .range: distanceCount
      case .azimuth: azimuthCount
      case .elevation: elevationCount
      case .heightDifference: heightDifferenceCount
      }
    }
    set {
      switch kind {
      case .range: distanceCount = newValue
      case .azimuth: azimuthCount = newValue
      case .elevation: elevationCount = newValue
      case .heightDifference: heightDifferenceCount = newValue
      }
    }
  }
}

extension RecordingInfo {
  /// The information as JSON with sorted keys; missing values are left out.
  public func json() -> String { CanonicalJSON.text(of: self) }
}
