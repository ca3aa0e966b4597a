// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// The faulty lines of a stream: the first of them are said, all are counted.
struct FaultyLines {
  /// How many there were.
  private(set) var count = 0

  /// A stream of nothing else must not fill the disk with messages.
  private static let mostSaid = 10

  /// Takes note of a faulty line.
  ///
  /// - Parameter error: What is wrong with it.
  mutating func add(_ error: RecordingError) {
    count += 1
    if count <= Self.mostSaid { Diagnostics.error(error.description) }
    if count == Self.mostSaid {
      Diagnostics.note("further faulty lines are left out and counted, but not shown")
    }
  }

  /// The failure at the end of the stream; `nil` without a faulty line.
  var failure: CommandFailure? {
    count == 0
      ? nil
      : CommandFailure(
        .badData, "\(count) line\(count == 1 ? " was" : "s were") faulty and left out")
  }
}
