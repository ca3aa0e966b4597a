// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// Reads ranging from a foreign table.
struct MappedRangingReader: ~Copyable, RangingSource {
  private var table: MappedTableReader
  /// The name of the one peer of a table that names none.
  private let peer: String?
  /// The columns that the table has.
  private let tableColumns: [RangingColumn]
  var leftOut: [String: Int] {
    table.filteredRows > 0 ? ["rows that --where does not name": table.filteredRows] : [:]
  }

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
        remedy:
          "name it with --map peer=COLUMN, or name the only peer with --peer\(table.columnList)")
    }
    let columns = RangingColumn.all.filter { table.has($0.name) }
    let measured = MeasurementKind.allCases.map(\.column)
    if !measured.contains(where: columns.contains) {
      let names = measured.map(\.name)
      throw RecordingError(
        .missingColumn,
        "no column is mapped to \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")",
        file: path, line: table.line,
        remedy: "name at least one of them with --map distance=COLUMN\(table.columnList)")
    }
    tableColumns = columns
    deviceColumn = table.firstColumn {
      Self.deviceColumns.contains($0.lowercased()) && description.filters[$0] == nil
        && !description.map.fields.values.contains($0)
    }
    self.table = table
    self.peer = peer
  }

  var findings: [RecordingFinding] { table.findings + severalDevices }
  /// The names of columns that tell which device measured.
  private static let deviceColumns = ["tag", "tag_id", "tagid", "initiator", "device", "device_id"]
  /// The column of these that the table has, and what it holds.
  private var deviceColumn: String?
  private var devices: [String] = []
  /// More devices than this are not remembered.
  private static let mostDevices = 3

  /// The samples are those of several devices, of which the poses are of one.
  private var severalDevices: [RecordingFinding] {
    guard let deviceColumn, devices.count > 1 else { return [] }
    let names = devices.prefix(Self.mostDevices - 1).joined(separator: ", ")
    return [
      RecordingFinding(
        .warning, .severalDevices,
        "the column \(deviceColumn) holds several devices (\(names)\(devices.count >= Self.mostDevices ? ", ..." : "")), "
          + "but the poses are of one",
        remedy: "read the rows of one with --where \(deviceColumn)=\(devices[0])")
    ]
  }

  var columns: Set<RecordingWriter.OptionalColumn> { Set(tableColumns.compactMap(\.optional)) }

  mutating func next() throws(RecordingError) -> RangingRow? {
    guard try table.next() else { return nil }
    if let deviceColumn, devices.count < Self.mostDevices {
      let device = table.text(ofColumn: deviceColumn)
      if !devices.contains(device) { devices.append(device) }
    }
    var name = peer ?? ""
    if table.has("peer"), case let text = table.name("peer"), !text.isEmpty { name = text }
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
///
/// Without a column for an attitude, poses have none: the identity, or a turn by `yaw` about the
/// vertical. `rx`, `ry` and `rz` are a rotation vector: the axis, as long as the angle. Without `tz` poses
/// are in the plane.
struct MappedPoseReader: ~Copyable, PoseSource {
  private var table: MappedTableReader
  private let up: Vector3

  init(path: String, _ description: MappedTable, up: Vector3) throws(RecordingError) {
    let table = try MappedTableReader(path: path, description, keys: FieldMap.poseKeys)
    for key in ["timestamp", "tx", "ty"] { try table.require(key, option: "--pose-map") }
    let quaternion = ["qx", "qy", "qz", "qw"]
    if quaternion.contains(where: { table.has($0) }) {
      for key in quaternion { try table.require(key, option: "--pose-map") }
    }
    let vector = ["rx", "ry", "rz"]
    if vector.contains(where: { table.has($0) }) {
      for key in vector { try table.require(key, option: "--pose-map") }
    }
    self.table = table
    self.up = up
  }

  var findings: [RecordingFinding] { table.findings }

  mutating func next() throws(RecordingError) -> PoseRow? {
    guard try table.next() else { return nil }
    let z = table.has("tz") ? try table.finite("tz") : 0
    let place = Vector3(try table.finite("tx"), try table.finite("ty"), z)
    guard max(abs(place.x), abs(place.y), abs(place.z)) <= TrajectoryReader.farthest else {
      throw table.rows.lineError(
        .valueOutOfRange, "the position is too far away",
        remedy: "positions are metres, at most 1e7; check --pose-unit")
    }
    return PoseRow(
      timestamp: try table.timestamp(),
      worldFromDevice: RigidTransform(rotation: try rotation(), translation: place),
      line: table.line)
  }

  private func rotation() throws(RecordingError) -> Rotation {
    if table.has("qw") {
      return try table.rows.rotation(
        try table.finite("qx"), try table.finite("qy"), try table.finite("qz"),
        try table.finite("qw"))
    }
    if table.has("rx") {
      let vector = Vector3(try table.finite("rx"), try table.finite("ry"), try table.finite("rz"))
      let angle = vector.length
      return angle > 0 ? Rotation(angleRadians: angle, about: vector / angle) : .identity
    }
    guard table.has("yaw") else { return .identity }
    return Rotation(angleRadians: try table.finite("yaw").wrappedAngle, about: up)
  }
}
