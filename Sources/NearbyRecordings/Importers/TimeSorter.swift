// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Something with a moment.
protocol Timed {
  var timestamp: Timestamp { get }
}

extension PoseRow: Timed {}

/// Puts rows in the order of time that are out of it by up to a second; holds a second's worth.
struct TimeSorter<Row: Timed> {
  private var held: [Row] = []

  /// Takes a row.
  ///
  /// - Returns: The rows before which none can come any more; `nil` when there are none.
  mutating func add(_ row: Row) -> [Row]? {
    var place = held.count
    while place > 0, held[place - 1].timestamp > row.timestamp { place -= 1 }
    held.insert(row, at: place)
    guard let newest = held.last?.timestamp else { return nil }
    let due = held.prefix { newest.seconds(since: $0.timestamp) > RangingReader.reorderingWindow }
    guard !due.isEmpty else { return nil }
    let rows = Array(due)
    held.removeFirst(rows.count)
    return rows
  }

  /// The rows that are left.
  mutating func finish() -> [Row] {
    defer { held = [] }
    return held
  }
}
