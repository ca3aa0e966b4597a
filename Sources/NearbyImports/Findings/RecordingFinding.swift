// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// Something that was seen in a recording before it was run, and what to do about it.
///
/// `nearby info` and every import end with their findings. Notes say what is there, warnings what is
/// suspicious, errors what leaves nothing to fuse.
public struct RecordingFinding: Hashable, Sendable, Codable, CustomStringConvertible {
  /// How much a finding matters.
  public enum Severity: String, Hashable, Sendable, Codable, CaseIterable {
    /// A fact worth knowing.
    case note
    /// Suspicious: results may be wrong or missing.
    case warning
    /// Nothing can be fused.
    case error
  }

  /// The kinds of findings; more may come in later versions.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// How long and how often poses and samples came.
    case overlap
    /// Poses and samples are not on one clock.
    case clocksApart
    /// A counter of time has wrapped, or midnight has passed.
    case clockWraps
    /// The radio's clock is ahead of that of the poses, or behind.
    case clockOffset
    /// Some samples are outside of the time of the poses.
    case clocksOverlapPartly
    /// No sample has a value.
    case nothingMeasured
    /// Many samples have no value.
    case emptySamples
    /// Distances are zero or negative.
    case notPositiveDistances
    /// Distances are beyond what a radio reaches.
    case farDistances
    /// Distances and positions are not in the same unit.
    case unit
    /// Distances repeat the one before.
    case repeatedDistances
    /// Angles are beyond a turn.
    case angleUnit
    /// The device hardly moves.
    case hardlyMoves
    /// The device rests most of the time.
    case rests
    /// The device moves along one straight line.
    case straightLine
    /// The device stays at one height.
    case level
    /// The world is said to be two-dimensional and is not.
    case notPlanar
    /// Another axis points up than is said.
    case upAxis
    /// The numbers of the quaternions are in another order than is said.
    case quaternionOrder
    /// The device is upside down.
    case upsideDown
    /// The poses have no attitude.
    case noAttitude
    /// The poses are of another kind of odometry than is said.
    case odometryKind
    /// The device is faster than devices are.
    case speed
    /// Samples lie in gaps between poses.
    case poseGaps
    /// Many poses are stamped right after the one before, as when they are stamped on arrival.
    case bunchedStamps
    /// There are long gaps without samples.
    case sampleGaps
    /// A table holds the samples of several devices.
    case severalDevices
    /// A peer has hardly any samples.
    case fewSamples
    /// A peer that is said to rest moves.
    case movingPeer
    /// The ranges scatter by more than is stated.
    case rangeNoise
    /// The ranges scatter by so little that something filtered them.
    case filteredRanges
    /// The import chose a value that nobody stated.
    case chosen
  }

  /// How much it matters.
  public var severity: Severity
  /// What kind of finding it is.
  public var kind: Kind
  /// What was seen, a sentence without its full stop.
  public var message: String
  /// What to do about it; `nil` when there is nothing to do.
  public var remedy: String?

  /// Makes a finding.
  public init(_ severity: Severity, _ kind: Kind, _ message: String, remedy: String? = nil) {
    self.severity = severity
    self.kind = kind
    self.message = message
    self.remedy = remedy
  }

  /// The finding and the remedy in one line.
  public var description: String {
    let limit = RecordingError.longestMessage
    return ([message] + [remedy].compactMap(\.self)).map { $0.printable(limit: limit) }
      .joined(separator: "; ")
  }
}

extension [RecordingFinding] {
  /// The errors, then the warnings, then the notes, each in their order.
  var worstFirst: [RecordingFinding] {
    [.error, .warning, .note].flatMap { severity in filter { $0.severity == severity } }
  }

  /// The first finding with which a recording is not accepted.
  ///
  /// - Parameter isStrict: Whether a warning counts as an error.
  /// - Returns: `nil` when it is accepted.
  public func firstFault(isStrict: Bool) -> RecordingFinding? {
    first { $0.severity == .error } ?? (isStrict ? first { $0.severity == .warning } : nil)
  }
}
