// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// `truth/peers.csv`, row by row: where the peers truly were.
///
/// Memory depends on the number of peers, not on the file's size. The reader cannot be copied, since
/// two readers of one file would take each other's lines.
public struct TruthPeersReader: ~Copyable, Sendable {
  private var csv: CSVReader
  private var last: [String: Timestamp] = [:]

  /// Opens a file of true positions and reads its header.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - file: The name for errors and warnings.
  /// - Throws: When the file cannot be read, or its header lacks a required column.
  public init(path: String, file: String = "truth/peers.csv") throws(RecordingError) {
    csv = try CSVReader.open(
      path: path, file: file,
      columns: [
        .required("timestamp"), .required("peer"), .required("x"), .required("y"), .required("z"),
      ])
  }

  /// The oddities met so far.
  public var warnings: RecordingWarnings { csv.warnings }
  /// The bytes read so far.
  public var bytesRead: Int { csv.lines.bytesRead }
  /// The file's size, bytes.
  public var totalBytes: Int { csv.lines.totalBytes }

  /// The next row.
  ///
  /// - Returns: `nil` after the last row.
  /// - Throws: The first fault: a position that is not finite or beyond 1e7 m, a row without a peer,
  ///   time that goes back for a peer, a wrong number of fields, a file without rows.
  public mutating func next() throws(RecordingError) -> TruthPeerRow? {
    guard try csv.nextRow() else {
      if last.isEmpty {
        throw csv.noRows("positions", remedy: "write one row for each peer, or remove the file")
      }
      return nil
    }
    let timestamp = try csv.timestamp(0)
    let peer = try csv.peer(1)
    if let last = last[peer], timestamp < last {
      throw csv.timeWentBack(
        last.seconds(since: timestamp), 0, remedy: "sort the rows of each peer by time")
    }
    last[peer] = timestamp
    return TruthPeerRow(
      timestamp: timestamp, peer: peer,
      positionInWorld: Vector3(
        try csv.coordinate(2), try csv.coordinate(3), try csv.coordinate(4)),
      line: csv.lines.line)
  }
}
