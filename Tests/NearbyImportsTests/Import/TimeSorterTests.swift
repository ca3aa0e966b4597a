// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySimulation
import Synchronization
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Putting rows in the order of time")
struct TimeSorterTests {
  /// Counts how often the timestamp of a row was read.
  private final class TimestampReads: Sendable {
    let count = Mutex(0)
  }

  private struct Row: Timed {
    var milliseconds: Double
    var number = 0
    var reads: TimestampReads?

    var timestamp: Timestamp {
      reads?.count.withLock { $0 += 1 }
      return Timestamp(nanoseconds: Int64(milliseconds * 1e6))
    }
  }

  @Test("Rows out of order by less than a second are put in order")
  func outOfOrder() {
    var sorter = TimeSorter<Row>()
    var times: [Double] = []
    for time in [1000.0, 900, 1500, 1400, 2450, 1460, 3600] {
      times += sorter.add(Row(milliseconds: time))?.map(\.milliseconds) ?? []
    }
    #expect(times == [900, 1000, 1400, 1460, 1500, 2450])
    times += sorter.finish().map(\.milliseconds)
    #expect(times.last == 3600)
    // A row after the end starts a new sequence.
    #expect(sorter.add(Row(milliseconds: 5)) == nil)
    #expect(sorter.finish().map(\.milliseconds) == [5])
  }

  @Test("Whatever the order, rows come out sorted, those of one moment as they came")
  func anyOrder() {
    var generator = SeededGenerator(seed: 3)
    var sorter = TimeSorter<Row>()
    var rows: [Row] = []
    var out: [Row] = []
    for number in 0..<4000 {
      let late = Int.random(in: 0...900, using: &generator)
      let row = Row(milliseconds: Double(2 * number - late), number: number)
      rows.append(row)
      let newest = rows.map(\.milliseconds).suffix(500).max() ?? 0
      let due = sorter.add(row) ?? []
      #expect(due.allSatisfy { newest - $0.milliseconds > 1000 })
      out += due
    }
    #expect(out.count > 3000)
    out += sorter.finish()
    let sorted = rows.sorted { ($0.milliseconds, $0.number) < ($1.milliseconds, $1.number) }
    #expect(out.map(\.number) == sorted.map(\.number))
  }

  @Test(
    "A crowd of rows within a second takes few comparisons each, in any order",
    arguments: ["forward", "backward", "shuffled"])
  func reads(order: String) {
    var generator = SeededGenerator(seed: 5)
    let reads = TimestampReads()
    var rows = (0..<3000).map { Row(milliseconds: Double($0) / 10, number: $0, reads: reads) }
    if order == "backward" { rows.reverse() }
    if order == "shuffled" { rows.shuffle(using: &generator) }
    var sorter = TimeSorter<Row>()
    for row in rows { _ = sorter.add(row) }
    #expect(sorter.finish().map(\.number) == Array(0..<3000))
    #expect(reads.count.withLock { $0 } <= 40 * rows.count)
  }
}
