// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// Reads `modes.csv` of a run, row by row.
///
/// The reader cannot be copied, since two readers of one file would take each other's lines.
public struct ModesReader: ~Copyable, Sendable {
  /// One place where a peer may be, in the recording's own world.
  public struct Row: Hashable, Sendable {
    /// The sample's time.
    public var timestamp: Timestamp
    /// The peer's name.
    public var peer: String
    /// The place with its probability.
    public var mode: PositionMode
  }

  private var csv: CSVReader

  /// Opens a file and reads its header.
  ///
  /// - Parameter path: The file's path, under which errors name it, too.
  /// - Throws: When the file cannot be read, or its header lacks a column.
  public init(path: String) throws(RecordingError) {
    csv = try CSVReader.open(
      TextFile(path: path, name: path),
      columns: ModesWriter.columns.map { CSVColumn(name: $0, isRequired: $0 != "mode") })
  }

  /// The next row.
  ///
  /// - Returns: `nil` after the last row.
  /// - Throws: The first fault: text where a number belongs, a missing number, a wrong number of fields.
  public mutating func next() throws(RecordingError) -> Row? {
    guard try csv.nextRow() else { return nil }
    var values = InlineArray<10, Double>(repeating: 0)
    for index in 0..<10 {
      guard let value = try csv.number(Self.firstNumber + index) else {
        throw csv.error(
          .missingValue, Self.firstNumber + index, "is empty", remedy: "run the recording again")
      }
      values[index] = value
    }
    return Row(
      timestamp: try csv.timestamp(0), peer: try csv.peer(1),
      mode: PositionMode(
        weight: values[0], mean: Vector3(values[1], values[2], values[3]),
        covariance: SymmetricMatrix3(
          xx: values[4], xy: values[5], xz: values[6], yy: values[7], yz: values[8],
          zz: values[9])))
  }

  /// The column of the weight, which mean and covariance follow.
  private static let firstNumber = 3
}
