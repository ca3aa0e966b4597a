// SPDX-License-Identifier: Apache-2.0

/// The warnings of a reading: all are counted, the first twenty of each kind are kept.
public struct RecordingWarnings: Hashable, Sendable, Codable {
  /// At most so many warnings of a kind are kept.
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

  /// Takes note of a warning.
  public mutating func add(_ warning: RecordingWarning) {
    counts[warning.kind, default: 0] += 1
    if kept.count(where: { $0.kind == warning.kind }) < Self.keptOfEachKind {
      kept.append(warning)
    }
  }

  /// Takes note of the warnings of another reading.
  public mutating func add(_ other: RecordingWarnings) {
    for warning in other.kept
    where kept.count(where: { $0.kind == warning.kind }) < Self.keptOfEachKind {
      kept.append(warning)
    }
    counts.merge(other.counts, uniquingKeysWith: +)
  }
}
