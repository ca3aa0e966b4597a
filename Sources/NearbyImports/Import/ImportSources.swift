// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// Reads the poses of a file one after the other, in the file's frames.
protocol PoseSource: ~Copyable {
  /// What was chosen and repaired so far.
  var findings: [RecordingFinding] { get }
  /// The next pose; `nil` after the last.
  mutating func next() throws(RecordingError) -> PoseRow?
}

extension PoseSource where Self: ~Copyable {
  var findings: [RecordingFinding] { [] }
}

/// Reads the ranging samples of a file one after the other, in the recording's units.
protocol RangingSource: ~Copyable {
  /// The optional columns of `ranging.csv` that samples may fill.
  var columns: Set<RecordingWriter.OptionalColumn> { get }
  /// How often each kind of data was left out so far.
  var leftOut: [String: Int] { get }
  /// What was chosen and repaired so far.
  var findings: [RecordingFinding] { get }
  /// The next sample; `nil` after the last.
  mutating func next() throws(RecordingError) -> RangingRow?
}

extension RangingSource where Self: ~Copyable {
  var findings: [RecordingFinding] { [] }
}

/// The ranging of a recording without samples, over whose motion radios can be simulated.
struct NoRanging: RangingSource {
  var columns: Set<RecordingWriter.OptionalColumn> { [] }
  var leftOut: [String: Int] { [:] }
  func next() throws(RecordingError) -> RangingRow? { nil }
}

extension TrajectoryReader: PoseSource {}

extension RangingReader: RangingSource {
  var leftOut: [String: Int] { [:] }
}
