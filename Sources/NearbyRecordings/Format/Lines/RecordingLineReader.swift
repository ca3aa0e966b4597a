// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyFusion
import NearbyGeometry

/// Reads a recording as JSON lines, line by line.
///
/// After a faulty line the next ones can be read, unless the file itself cannot be read.
package struct RecordingLineReader: ~Copyable, Sendable {
  /// Keys that no line of their type has, by the name of the type; the first twenty.
  package private(set) var unknownKeys: Set<String> = []
  /// The optional columns of `ranging.csv` that were used so far.
  package private(set) var columns: Set<RecordingWriter.OptionalColumn> = []

  private var lines: LineReader
  private var json = FlatJSON()
  private var lineRange = 0..<0
  private var isFirst = true

  /// Opens a file, under whose path errors name it.
  package init(path: String) throws(RecordingError) {
    lines = try LineReader(path: path, file: path)
  }

  /// Reads standard input.
  package init(standardInput name: String) throws(RecordingError) {
    lines = try LineReader(descriptor: dup(STDIN_FILENO), file: name)
  }

  /// The number of the line that was read last, from 1.
  package var line: Int { lines.line }

  /// Whether reading can go on after an error.
  package static func canGoOn(after error: RecordingError) -> Bool {
    error.code != .unreadableFile
  }

  /// The next line that holds something.
  ///
  /// - Returns: `nil` after the last line.
  /// - Throws: The error in the line.
  package mutating func next() throws(RecordingError) -> RecordingLine? {
    while let line = try lines.next() {
      lineRange = line
      if lines.isBlank(line) { continue }
      try parse(line)
      defer { isFirst = false }
      return try recordingLine()
    }
    return nil
  }

  private mutating func parse(_ line: Range<Int>) throws(RecordingError) {
    // Performance: a local value, because `self` is borrowed while its text is parsed.
    var object = FlatJSON()
    swap(&object, &json)
    var fault: FlatJSON.Fault?
    do throws(FlatJSON.Fault) {
      try object.parse(lines.buffer.span, line)
    } catch {
      fault = error
    }
    json = object
    if let fault {
      isFirst = false
      throw lines.error(
        .malformedField, fault.message, at: fault.position, in: line,
        remedy: "write one JSON object a line")
    }
  }

  private mutating func recordingLine() throws(RecordingError) -> RecordingLine {
    guard let type = try text("type") else {
      throw lines.error(
        .missingValue, "the key \"type\" is missing", in: lineRange,
        remedy: "a type is \(RecordingLine.types.joined(separator: ", "))")
    }
    switch type {
    case "manifest": return .manifest(try manifest())
    case "pose", "truePose":
      noteUnknownKeys(of: type, known: LineKeys.pose)
      return type == "pose" ? .pose(try pose()) : .truePose(try pose())
    case "range":
      noteUnknownKeys(of: type, known: LineKeys.ranging)
      return .range(try range())
    case "tracking":
      noteUnknownKeys(of: type, known: ["timestamp", "state", "reason", "ambient_intensity"])
      return .tracking(try tracking())
    case "truePeer":
      noteUnknownKeys(of: type, known: ["timestamp", "peer", "x", "y", "z"])
      return .truePeer(
        TruthPeerRow(
          timestamp: try timestamp(), peer: try peer(), positionInWorld: try place("x", "y", "z"),
          line: lines.line))
    default:
      throw error(
        .valueOutOfRange, "type", "is unknown",
        remedy: "a type is \(RecordingLine.types.joined(separator: ", "))")
    }
  }

  // MARK: - Lines

  private mutating func manifest() throws(RecordingError) -> RecordingManifest {
    guard isFirst else {
      throw lines.error(
        .valueOutOfRange, "a manifest comes after other lines", in: lineRange,
        remedy: "put it first, and write no second one")
    }
    guard let member = member("manifest"), member.kind == .nested else {
      throw lines.error(
        .missingValue, "the key \"manifest\" with an object is missing", in: lineRange,
        remedy: "write { \"type\": \"manifest\", \"manifest\": what recording.json holds }")
    }
    noteUnknownKeys(of: "manifest", known: ["manifest"])
    var warnings = RecordingWarnings()
    do throws(RecordingError) {
      let manifest = try RecordingManifest(
        json: lines.bytes(member.value), file: lines.file, warnings: &warnings)
      for warning in warnings.kept { noteUnknown("manifest: \(warning.message)") }
      return manifest
    } catch {
      var error = error
      error.line = lines.line
      error.column = error.column.map { $0 + member.value.lowerBound - lineRange.lowerBound }
      throw error
    }
  }

  private func pose() throws(RecordingError) -> PoseRow {
    let (x, y) = (try finite("qx"), try finite("qy"))
    let (z, w) = (try finite("qz"), try finite("qw"))
    guard let rotation = TrajectoryReader.rotation(x, y, z, w) else {
      throw lines.error(
        .invalidRotation,
        "the quaternion's length is \((x * x + y * y + z * z + w * w).squareRoot()), not 1",
        in: lineRange, remedy: "write qx, qy, qz, qw of unit length")
    }
    // A quaternion of unit length is kept unchanged, so that the same numbers give the same
    // estimates.
    let isUnit = abs(x * x + y * y + z * z + w * w - 1) < 1e-15
    return PoseRow(
      timestamp: try timestamp(),
      worldFromDevice: RigidTransform(
        rotation: isUnit ? Rotation(unchecked: x, y, z, w) : rotation,
        translation: try place("tx", "ty", "tz")),
      line: lines.line)
  }

  private mutating func range() throws(RecordingError) -> RangingRow {
    var row = RangingRow(timestamp: try timestamp(), peer: try peer(), line: lines.line)
    for column in RangingColumn.all {
      row.values[column] =
        column.unit == .flag
        ? try flag(column.name).map { $0 ? 1 : 0 } : try number(column.name)
    }
    for column in RangingColumn.all where row.values[column] != nil {
      if let optional = column.optional { columns.insert(optional) }
    }
    return row
  }

  private func tracking() throws(RecordingError) -> TrackingRow {
    let intensity = try number("ambient_intensity")
    if let intensity, !(0...1e9).contains(intensity) {
      throw error(
        .valueOutOfRange, "ambient_intensity", "is no amount of light",
        remedy: "write lumens or leave the key out")
    }
    return TrackingRow(
      sample: TrackingSample(
        timestamp: try timestamp(), quality: try quality(), ambientIntensityLumens: intensity),
      line: lines.line)
  }

  private func quality() throws(RecordingError) -> TrackingSample.Quality {
    switch try text("state") {
    case "normal": return .normal
    case "notAvailable": return .notAvailable
    case "limited":
      guard let name = try text("reason"), !name.isEmpty else { return .limited(.unspecified) }
      guard let reason = TrackingSample.LimitationReason(rawValue: name) else {
        let known = TrackingSample.LimitationReason.allCases.dropFirst().map(\.rawValue)
        throw error(
          .malformedField, "reason", "is unknown",
          remedy: "must be empty, \(known.joined(separator: ", "))")
      }
      return .limited(reason)
    default:
      throw error(
        .malformedField, "state", "is missing or unknown",
        remedy: "must be normal, limited or notAvailable")
    }
  }

  // MARK: - Values

  /// The member of a key; the first when there are several.
  private func member(_ key: String) -> FlatJSON.Member? {
    let text = lines.buffer.span
    return json.members.first { member in
      guard member.key.count == key.utf8.count else { return false }
      for (place, byte) in zip(member.key, key.utf8) where text[place] != byte { return false }
      return true
    }
  }

  private func text(_ key: String) throws(RecordingError) -> String? {
    guard let member = member(key), member.kind != .null else { return nil }
    guard member.kind == .string else {
      throw error(.wrongType, key, "is not a string", remedy: "write a string")
    }
    let bytes = lines.bytes(member.value)
    guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
    do throws(RecordingError) {
      let value = try LocatedJSON.parse([.quote] + bytes + [.quote], file: lines.file)
      if case .string(let text) = value.content { return text }
      return nil
    } catch {
      throw self.error(.malformedField, key, "has an escape that is none", remedy: "see RFC 8259")
    }
  }

  private func peer() throws(RecordingError) -> String {
    guard let name = try text("peer"), !name.isEmpty else {
      throw error(.emptyPeer, "peer", "is missing or empty", remedy: "name the peer of each line")
    }
    return name
  }

  private func number(_ key: String) throws(RecordingError) -> Double? {
    guard let member = member(key), member.kind != .null else { return nil }
    if member.kind == .number || member.kind == .string,
      let value = DecimalText.double(lines.buffer.span, member.value),
      // JSON has no infinities. As strings they are passed on as measured values, which the engine
      // rejects.
      member.kind == .number || !value.isFinite
    {
      return value
    }
    throw error(.malformedNumber, key, "is not a number", remedy: "write a number, or leave it out")
  }

  private func finite(_ key: String) throws(RecordingError) -> Double {
    guard let value = try number(key) else {
      throw error(.missingValue, key, "is missing", remedy: "complete the line")
    }
    guard value.isFinite else {
      throw error(.notFinite, key, "is not finite", remedy: "leave out the line")
    }
    return value
  }

  private func place(
    _ x: String, _ y: String, _ z: String
  ) throws(RecordingError) -> Vector3 {
    let place = Vector3(try finite(x), try finite(y), try finite(z))
    guard max(abs(place.x), abs(place.y), abs(place.z)) <= TrajectoryReader.farthest else {
      throw error(
        .valueOutOfRange, x, "begins a place that is too far away",
        remedy: "positions are metres, at most 1e7")
    }
    return place
  }

  private func timestamp() throws(RecordingError) -> Timestamp {
    guard let member = member("timestamp"), member.kind == .number,
      let time = DecimalText.timestamp(lines.buffer.span, member.value)
    else {
      throw error(
        .malformedNumber, "timestamp", "is missing or no moment",
        remedy: "write seconds, within 4.6e9 s")
    }
    return time
  }

  private func flag(_ key: String) throws(RecordingError) -> Bool? {
    guard let member = member(key), member.kind != .null else { return nil }
    switch DecimalText.string(lines.buffer.span, member.value) {
    case "true", "1": return true
    case "false", "0": return false
    default:
      throw error(.wrongType, key, "is neither true nor false", remedy: "write true or false")
    }
  }

  // MARK: - Faults and oddities

  private func error(
    _ code: RecordingError.Code, _ key: String, _ problem: String, remedy: String
  ) -> RecordingError {
    let value = member(key)?.value
    let shown = value.map { $0.isEmpty ? "" : " \(lines.excerpt($0))" } ?? ""
    return lines.error(
      code, "\(key)\(shown) \(problem)", at: value?.lowerBound, in: lineRange, remedy: remedy)
  }

  private mutating func noteUnknownKeys(of type: String, known: [String]) {
    for member in json.members {
      let key = DecimalText.string(lines.buffer.span, member.key)
      if key != "type", !known.contains(key) { noteUnknown("\(type): unknown key \"\(key)\"") }
    }
  }

  private mutating func noteUnknown(_ what: String) {
    if unknownKeys.count < RecordingWarnings.keptOfEachKind { unknownKeys.insert(what) }
  }
}
