// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// A value with a timestamp.
protocol Timed {
  var timestamp: Timestamp { get }
}

extension PoseRow: Timed {}

/// Sorts rows by time that are out of order by up to a second.
///
/// Holds one second of rows.
///
/// Rows with equal timestamps keep their order. With n buffered rows, the binary heap takes O(log
/// n) steps for each row.
struct TimeSorter<Row: Timed> {
  /// The heap: no row precedes the one at half its index.
  private var held: [Entry] = []
  private var newest: Timestamp?
  private var count = 0

  private struct Entry {
    var row: Row
    var timestamp: Timestamp
    /// The number of rows that arrived before it.
    var number: Int

    func comesBefore(_ other: Entry) -> Bool {
      timestamp == other.timestamp ? number < other.number : timestamp < other.timestamp
    }
  }

  /// Takes a row.
  ///
  /// - Returns: The rows that no later row can precede; `nil` when there are none.
  mutating func add(_ row: Row) -> [Row]? {
    let entry = Entry(row: row, timestamp: row.timestamp, number: count)
    count += 1
    let newest = max(newest ?? entry.timestamp, entry.timestamp)
    self.newest = newest
    held.append(entry)
    siftUp()
    var due: [Row] = []
    while let first = held.first,
      newest.seconds(since: first.timestamp) > RangingReader.reorderingWindow
    {
      due.append(removeFirst())
    }
    return due.isEmpty ? nil : due
  }

  /// The remaining rows.
  mutating func finish() -> [Row] {
    defer { self = TimeSorter() }
    return held.sorted { $0.comesBefore($1) }.map(\.row)
  }

  /// Moves the last row up to its position in the heap.
  private mutating func siftUp() {
    var place = held.count - 1
    while place > 0, held[place].comesBefore(held[(place - 1) / 2]) {
      held.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func removeFirst() -> Row {
    held.swapAt(0, held.count - 1)
    let first = held.removeLast()
    var place = 0
    while true {
      var next = 2 * place + 1
      guard next < held.count else { break }
      if next + 1 < held.count, held[next + 1].comesBefore(held[next]) { next += 1 }
      guard held[next].comesBefore(held[place]) else { break }
      held.swapAt(place, next)
      place = next
    }
    return first.row
  }
}
