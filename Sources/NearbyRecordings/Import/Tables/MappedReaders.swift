// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Reads ranging from a foreign table.
struct MappedRangingReader: ~Copyable, RangingSource {
  private var table: MappedTableReader
  /// The name of the one peer of a table that names none.
  private let peer: String?
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
    if !table.has("distance"), !table.has("azimuth"), !table.has("elevation") {
      throw RecordingError(
        .missingColumn, "no column is mapped to distance, azimuth or elevation", file: path,
        line: table.line, remedy: "name at least one of them with --map distance=COLUMN")
    }
    self.table = table
    self.peer = peer
  }

  var columns: Set<RecordingWriter.OptionalColumn> {
    var columns: Set<RecordingWriter.OptionalColumn> = []
    for column in RecordingWriter.OptionalColumn.allCases where table.has(column.rawValue) {
      columns.insert(column)
    }
    return columns
  }

  mutating func next() throws(RecordingError) -> RangingRow? {
    guard try table.next() else { return nil }
    var name = peer ?? ""
    if table.has("peer"), case let text = table.text("peer"), !text.isEmpty { name = text }
    return RangingRow(
      timestamp: try table.timestamp(), peer: name, distance: try table.value("distance"),
      azimuthRadians: try table.value("azimuth"), elevationRadians: try table.value("elevation"),
      distanceSigma: try table.value("distance_sigma"),
      azimuthSigmaRadians: try table.value("azimuth_sigma"),
      elevationSigmaRadians: try table.value("elevation_sigma"),
      azimuthFigureOfMerit: try table.value("azimuth_fom"),
      elevationFigureOfMerit: try table.value("elevation_fom"), rssi: try table.value("rssi"),
      isNonLineOfSight: try table.flag("nlos"), line: table.line)
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
