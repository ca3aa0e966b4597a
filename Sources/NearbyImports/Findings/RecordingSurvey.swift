// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// What the checks of a recording look at: figures of one pass over its poses and samples.
struct RecordingSurvey: Hashable, Sendable {
  /// The figures that `nearby info` prints.
  var info: RecordingInfo
  /// What `recording.json` says.
  var manifest: RecordingManifest
  var poses = Poses()
  var samples = Samples()
  /// By how much the radio's clock is off; `nil` when the recording does not tell it.
  var clock: ClockAlignment?
  /// The peers, in the order of ``info``.
  var peers: [Peer] = []

  /// The motion of the device.
  struct Poses: Hashable, Sendable {
    var first: Timestamp?
    var last: Timestamp?
    /// The extent of the positions along each axis of the recording's world, metres.
    var extent = Vector3.zero
    /// Whether all attitudes are the same.
    var attitudeIsConstant = true
    /// The mean of the vertical in the device's axes, shorter than one where the device tilts about; and the
    /// same if the first number of each quaternion is its scalar part.
    var meanUpInDevice = Vector3.zero
    var meanUpInDeviceScalarFirst = Vector3.zero
    /// The spread of the positions in the level plane, along the direction in which it is largest and across,
    /// metres.
    var levelSpread = LevelSpread()
    /// How long the device was watched, and how long it moved by less than 5 cm within a second.
    var watchedSeconds = 0.0
    var restingSeconds = 0.0
    /// The median speed over seconds in which the device moved, m/s.
    var medianSpeed: Double?
    /// The time from pose to pose: the median, and what a tenth of the poses are below, seconds.
    var medianStep: Double?
    var shortStep: Double?

    /// From the first pose to the last, seconds.
    var duration: Double { first.flatMap { last?.seconds(since: $0) } ?? 0 }
  }

  /// The spread of positions in the level plane: one sigma along the direction in which it is largest, and
  /// across.
  struct LevelSpread: Hashable, Sendable {
    var along = 0.0
    var across = 0.0
  }

  /// The samples of all peers together.
  struct Samples: Hashable, Sendable {
    var first: Timestamp?
    var last: Timestamp?
    var count = 0
    /// Samples within the time of the poses, or so near that they can be used.
    var withinPoses = 0
    var zeroDistances = 0
    /// Distances that equal the peer's distance before, and how many could have, as the device had
    /// moved.
    var repeatedDistances = 0
    var comparedDistances = 0
    /// The time in gaps without samples that are ten times as long as most and a fifth of a second at least,
    /// and the longest of them, seconds.
    var secondsInGaps = 0.0
    var longestGap = 0.0

    /// From the first sample to the last, seconds.
    var duration: Double { first.flatMap { last?.seconds(since: $0) } ?? 0 }
  }

  /// The ranges of one peer.
  struct Peer: Hashable, Sendable {
    /// The white noise of its ranges: metres, and in units of the stated accuracy.
    var scatter: Scatter?
    /// How many pairs of samples there are between which the device moved by a metre.
    var pairs = 0
    /// The median over these of the change of the distance, per metre that the device moved.
    var changePerMetre: Double?
    /// By how much the distance changed more than the device moved: exceeded by a quarter of the
    /// pairs, metres.
    var excess: Double?
  }

  /// The scatter of ranges.
  struct Scatter: Hashable, Sendable {
    /// How many ranges it is from.
    var count: Int
    /// One sigma of white noise, metres.
    var metres: Double
    /// The same in units of the stated accuracy.
    var perStatedSigma: Double
  }

  /// The scatter of all peers together: the median, weighted by nothing; `nil` when no peer has one.
  var scatter: Scatter? {
    let known = peers.compactMap(\.scatter).sorted { $0.perStatedSigma < $1.perStatedSigma }
    guard !known.isEmpty else { return nil }
    return known[known.count / 2]
  }

  /// The median change of distances per metre moved over the peers; `nil` when it is not known.
  var changePerMetre: Double? {
    let known = peers.filter { $0.pairs >= 8 }.compactMap(\.changePerMetre).sorted()
    return known.isEmpty ? nil : known[known.count / 2]
  }

  /// The extent along the axis that is said to point up, metres.
  var heightExtent: Double { manifest.worldUp == .y ? poses.extent.y : poses.extent.z }

  /// The larger extent along the two level axes, metres.
  var levelExtent: Double {
    max(poses.extent.x, manifest.worldUp == .y ? poses.extent.z : poses.extent.y)
  }

  /// Whether nothing but ranges tells of the peers' heights.
  var onlyRangesTellHeights: Bool {
    info.peers.allSatisfy { peer in
      MeasurementKind.allCases.allSatisfy { !$0.tellsHeight || peer[$0] == 0 }
    }
  }
}
