// SPDX-License-Identifier: Apache-2.0

/// Poses of a file, one after the other, as the file has them.
protocol PoseSource: ~Copyable {
  /// The next pose; `nil` after the last.
  mutating func next() throws(RecordingError) -> PoseRow?
}

/// Ranging samples of a file, one after the other, in the recording's units.
protocol RangingSource: ~Copyable {
  /// The columns of `ranging.csv`, beyond the five that are always there, that samples may fill.
  var columns: Set<RecordingWriter.OptionalColumn> { get }
  /// What was left out so far, each kind with how often.
  var leftOut: [String: Int] { get }
  /// The next sample; `nil` after the last.
  mutating func next() throws(RecordingError) -> RangingRow?
}

/// The ranging of a recording that has none: radios may be simulated over its motion.
struct NoRanging: RangingSource {
  var columns: Set<RecordingWriter.OptionalColumn> { [] }
  var leftOut: [String: Int] { [:] }
  func next() throws(RecordingError) -> RangingRow? { nil }
}

extension TrajectoryReader: PoseSource {}

extension RangingReader: RangingSource {
  var leftOut: [String: Int] { [:] }
}
