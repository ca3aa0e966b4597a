// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

/// A mode of a peer's position after a sample, in the recording's own frames.
package struct ModeRow: Hashable, Sendable {
  /// The sample's time.
  package var timestamp: Timestamp
  /// The peer's name.
  package var peer: String
  /// Its number after this sample, the most probable first.
  package var mode: Int
  /// Its probability.
  package var weight: Double
  /// The mean of the position in the recording's world, metres.
  package var mean: Vector3
  /// Its covariance, m².
  package var covariance: SymmetricMatrix3
}

/// Reads `modes.csv` of a run: a row for each mode after a sample that leaves more than one.
///
/// The reader cannot be copied, since two readers of one file would take each other's lines.
package struct ModeTableReader: ~Copyable, Sendable {
  private var csv: CSVReader

  /// Opens the file of a result and reads its header; `nil` when there is no such file.
  ///
  /// - Parameter folder: The folder that a run wrote.
  /// - Throws: When the file cannot be read, or its header lacks a column.
  package init?(result folder: String) throws(RecordingError) {
    let path =
      folder.hasSuffix("/") ? folder + ModesWriter.fileName : "\(folder)/\(ModesWriter.fileName)"
    guard FileBytes.size(path: path) != nil else { return nil }
    csv = try CSVReader.open(
      TextFile(path: path, name: path), columns: ModesWriter.columns.map(CSVColumn.required))
  }

  /// The next row; `nil` after the last.
  ///
  /// - Throws: The first fault: a field that is empty or no number, a wrong number of fields.
  package mutating func next() throws(RecordingError) -> ModeRow? {
    guard try csv.nextRow() else { return nil }
    func number(_ column: Int) throws(RecordingError) -> Double {
      guard let value = try csv.number(column), value.isFinite else {
        throw csv.error(.missingValue, column, "is not there", remedy: "run the recording again")
      }
      return value
    }
    return ModeRow(
      timestamp: try csv.timestamp(0), peer: try csv.peer(1),
      mode: Int(exactly: try number(2)) ?? 0, weight: try number(3),
      mean: Vector3(try csv.coordinate(4), try csv.coordinate(5), try csv.coordinate(6)),
      covariance: SymmetricMatrix3(
        xx: try number(7), xy: try number(8), xz: try number(9), yy: try number(10),
        yz: try number(11), zz: try number(12)))
  }
}
