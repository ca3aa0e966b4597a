// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// The samples of several files, sorted by time, as when each anchor has a table of its own.
///
/// They are held in memory.
struct MergedRanging: RangingSource {
  private(set) var leftOut: [String: Int] = [:]
  private(set) var findings: [RecordingFinding] = []
  private(set) var columns: Set<RecordingWriter.OptionalColumn> = []
  private var rows: [RangingRow] = []
  private var taken = 0

  init(_ inputs: [RangingInput]) throws(RecordingError) {
    for input in inputs {
      switch input.format {
      case .recording: try add(RangingReader(path: input.path, file: input.path), input)
      case .table(let table, let peer):
        try add(MappedRangingReader(path: input.path, table, peer: peer), input)
      case .layout(let layout): try add(LayoutReader(path: input.path, layout), input)
      case .uci(let capture): try add(UciRangingReader(path: input.path, capture), input)
      }
    }
    // A sort that keeps the order of equal times, so that the result is the same each time.
    rows = rows.enumerated()
      .sorted { ($0.element.timestamp, $0.offset) < ($1.element.timestamp, $1.offset) }
      .map(\.element)
  }

  private mutating func add<Source: RangingSource & ~Copyable>(
    _ source: consuming Source, _ input: RangingInput
  ) throws(RecordingError) {
    columns.formUnion(source.columns)
    while var row = try source.next() {
      row.timestamp.nanoseconds += input.offset.nanoseconds
      rows.append(row)
    }
    findings += source.findings
    leftOut.merge(source.leftOut, uniquingKeysWith: +)
  }

  mutating func next() throws(RecordingError) -> RangingRow? {
    guard taken < rows.count else { return nil }
    defer { taken += 1 }
    return rows[taken]
  }
}
