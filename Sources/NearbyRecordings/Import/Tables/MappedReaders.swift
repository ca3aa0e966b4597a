// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// Reads ranging from a foreign table.
struct MappedRangingReader: ~Copyable, RangingSource {
  private var table: MappedTableReader
  /// The name of the one peer of a table that names none.
  private let peer: String?
  /// The columns that the table has.
  private let tableColumns: [RangingColumn]
  let leftOut: [String: Int] = [:]

  /// Opens a table.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - description: The table's format and columns.
  ///   - peer: The name of the peer of rows that name none.
  /// - Throws: When the file cannot be read, or lacks a column that is needed.
  init(path: String, _ description: MappedTable, peer: String?) throws(RecordingError) {
    let table = try MappedTableReader(path: path, description, keys: FieldMap.rangingKeys)
    try table.require("timestamp", option: "--map")
    if !table.has("peer"), peer == nil {
      throw RecordingError(
        .missingColumn, "no column is mapped to peer", file: path, line: table.line,
        remedy: "name it with --map peer=COLUMN, or name the only peer with --peer")
    }
    let columns = RangingColumn.all.filter { table.has($0.name) }
    let measured = MeasurementKind.allCases.map(\.column)
    if !measured.contains(where: columns.contains) {
      let names = measured.map(\.name)
      throw RecordingError(
        .missingColumn,
        "no column is mapped to \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")",
        file: path, line: table.line,
        remedy: "name at least one of them with --map distance=COLUMN")
    }
    tableColumns = columns
    self.table = table
    self.peer = peer
  }

  var columns: Set<RecordingWriter.OptionalColumn> { Set(tableColumns.compactMap(\.optional)) }

  mutating func next() throws(RecordingError) -> RangingRow? {
    guard try table.next() else { return nil }
    var name = peer ?? ""
    if table.has("peer"), case let text = table.text("peer"), !text.isEmpty { name = text }
    var row = RangingRow(timestamp: try table.timestamp(), peer: name, line: table.line)
    for column in tableColumns {
      row.values[column] =
        column.unit == .flag
        ? try table.flag(column.name).map { $0 ? 1 : 0 } : try table.value(column.name)
    }
    return row
  }
}

/// Reads poses from a foreign table.
struct MappedPoseReader: ~Copyable, PoseSource {
  private var table: MappedTableReader

  init(path: String, _ description: MappedTable) throws(RecordingError) {
    let table = try MappedTableReader(path: path, description, keys: FieldMap.poseKeys)
    for key in FieldMap.poseKeys { try table.require(key, option: "--pose-map") }
    self.table = table
  }

  mutating func next() throws(RecordingError) -> PoseRow? {
    guard try table.next() else { return nil }
    let place = Vector3(try table.finite("tx"), try table.finite("ty"), try table.finite("tz"))
    guard max(abs(place.x), abs(place.y), abs(place.z)) <= TrajectoryReader.farthest else {
      throw table.rows.lineError(
        .valueOutOfRange, "the position is too far away",
        remedy: "positions are metres, at most 1e7; check --pose-unit")
    }
    return PoseRow(
      timestamp: try table.timestamp(),
      worldFromDevice: RigidTransform(
        rotation: try table.rows.rotation(
          try table.finite("qx"), try table.finite("qy"), try table.finite("qz"),
          try table.finite("qw")),
        translation: place),
      line: table.line)
  }
}
