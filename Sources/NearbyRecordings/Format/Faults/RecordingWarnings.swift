// SPDX-License-Identifier: Apache-2.0

/// The warnings of one reading.
///
/// All are counted, and the first twenty of each kind are kept.
public struct RecordingWarnings: Hashable, Sendable, Codable {
  /// The number of warnings of each kind that are kept.
  public static let keptOfEachKind = 20

  /// The warnings kept, in the order in which they came.
  public private(set) var kept: [RecordingWarning] = []
  /// How many there were of each kind; kinds without any are absent.
  public private(set) var counts: [RecordingWarning.Kind: Int] = [:]

  /// Makes an empty collection.
  public init() {}

  /// Whether there was none.
  public var isEmpty: Bool { counts.isEmpty }

  /// How many there were of a kind.
  public func count(of kind: RecordingWarning.Kind) -> Int { counts[kind, default: 0] }

  /// Adds a warning.
  public mutating func add(_ warning: RecordingWarning) {
    counts[warning.kind, default: 0] += 1
    if kept.count(where: { $0.kind == warning.kind }) < Self.keptOfEachKind {
      kept.append(warning)
    }
  }

  /// Adds the warnings of another reading.
  public mutating func add(_ other: RecordingWarnings) {
    for warning in other.kept
    where kept.count(where: { $0.kind == warning.kind }) < Self.keptOfEachKind {
      kept.append(warning)
    }
    counts.merge(other.counts, uniquingKeysWith: +)
  }
}
