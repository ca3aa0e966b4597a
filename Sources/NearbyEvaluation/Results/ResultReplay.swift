// SPDX-License-Identifier: Apache-2.0
package import NearbyFusion
package import NearbyRecordings

/// Reads a recording and its result together, in time order, in one pass.
///
/// A row of the result belongs to the sample with the same time and peer. A sample may have no row,
/// as when only some peers were located, but every row must have a sample.
package struct ResultReplay: ~Copyable {
  /// The next item in time order.
  package enum Step {
    /// A pose of the odometry.
    case pose(DevicePose)
    /// A sample, and the result's row for it.
    case sample(RangingRow, EstimateRow?)
  }

  private var stream: RecordingEventStream
  private var rows: EstimateReader
  private var row: EstimateRow?
  private let name: String

  /// Opens both.
  package init(
    _ rows: consuming EstimateReader, over recording: RecordingReader, named name: String
  ) throws(RecordingError) {
    var rows = rows
    row = try rows.next()
    stream = try recording.events()
    self.rows = rows
    self.name = name
  }

  /// The next step; `nil` at the end of the recording.
  ///
  /// - Throws: The first fault of either; also when a row does not belong to the recording.
  package mutating func next() throws(RecordingError) -> Step? {
    while let event = try stream.next() {
      switch event {
      case .pose(let pose): return .pose(pose)
      case .tracking: continue
      case .ranging(let sample):
        guard let current = row, current.timestamp == sample.timestamp, current.peer == sample.peer
        else { return .sample(sample, nil) }
        row = try rows.next()
        return .sample(sample, current)
      }
    }
    if let row { throw rows.unexpectedRow(row, recording: name) }
    return nil
  }
}
