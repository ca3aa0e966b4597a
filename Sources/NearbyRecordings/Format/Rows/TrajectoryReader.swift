// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

/// Reads `trajectory.txt` pose by pose: the TUM format, `timestamp tx ty tz qx qy qz qw`.
///
/// Blanks separate, `#` starts a comment, empty lines are skipped. Memory does not depend on the
/// file's size. The reader cannot be copied, since two readers of one file would take each other's
/// lines.
public struct TrajectoryReader: ~Copyable, Sendable {
  /// The oddities met so far.
  public private(set) var warnings = RecordingWarnings()

  private var lines: LineReader
  private var lastTimestamp: Timestamp?

  /// Opens a trajectory.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - file: The name for errors and warnings.
  /// - Throws: When the file is not there or cannot be read.
  public init(path: String, file: String = "trajectory.txt") throws(RecordingError) {
    try self.init(TextFile(path: path, name: file))
  }

  init(_ file: TextFile) throws(RecordingError) { lines = try LineReader(file) }

  /// The bytes read so far.
  public var bytesRead: Int { lines.bytesRead }
  /// The file's size, bytes.
  public var totalBytes: Int { lines.totalBytes }

  /// The next pose, in the recording's frames.
  ///
  /// A quaternion whose length is off by up to 1 % is normalised. A pose with the stamp of the one
  /// before is skipped, with a warning.
  ///
  /// - Returns: `nil` after the last pose.
  /// - Throws: The first fault: a line of other than eight finite numbers, a position beyond 1e7 m, a
  ///   quaternion that is no rotation, time that goes back, a file without a pose.
  public mutating func next() throws(RecordingError) -> PoseRow? {
    while let line = try lines.next() {
      let parsed = if let row = ordinaryRow(line) { row } else { try parse(line) }
      guard let row = parsed else { continue }
      if let last = lastTimestamp, row.timestamp <= last {
        guard row.timestamp == last else {
          throw lines.error(
            .timeWentBack,
            "time goes back by \(last.seconds(since: row.timestamp)) s to \(row.timestamp.seconds)",
            at: line.lowerBound, in: line,
            remedy: "sort the lines by time, or cut the recording where its clock was reset")
        }
        warnings.add(
          RecordingWarning(
            .duplicateTimestamp, "the stamp is that of the pose before; the line is skipped",
            file: lines.file, line: lines.line))
        continue
      }
      lastTimestamp = row.timestamp
      return row
    }
    if lastTimestamp == nil {
      throw RecordingError(
        .noSamples, "holds no poses", file: lines.file,
        remedy: "a trajectory needs at least one line of timestamp tx ty tz qx qy qz qw")
    }
    return nil
  }

  /// Fast path for common poses: eight plain numbers separated by single blanks.
  ///
  /// - Returns: `nil` for any other line, which ``parse(_:)`` reads.
  @inline(__always)
  private func ordinaryRow(_ line: Range<Int>) -> PoseRow? {
    let text = lines.buffer.span
    var position = line.lowerBound
    guard let timestamp = DecimalText.plainScan(text, &position, upTo: line.upperBound)?.timestamp
    else { return nil }
    var values = InlineArray<7, Double>(repeating: 0)
    for index in 0..<7 {
      guard position < line.upperBound, unsafe text[unchecked: position] == .blank else {
        return nil
      }
      position &+= 1
      guard
        let value = DecimalText.plainScan(text, &position, upTo: line.upperBound)?.ordinaryDouble
      else { return nil }
      values[index] = value
    }
    let translation = Vector3(values[0], values[1], values[2])
    guard position == line.upperBound, Self.isWithinLimits(translation),
      let rotation = Self.rotation(values[3], values[4], values[5], values[6])
    else { return nil }
    return PoseRow(
      timestamp: timestamp,
      worldFromDevice: RigidTransform(rotation: rotation, translation: translation),
      line: lines.line)
  }

  /// Parses any line in one pass over its bytes: a number must end where its field ends.
  ///
  /// - Returns: `nil` for a line without data.
  private func parse(_ line: Range<Int>) throws(RecordingError) -> PoseRow? {
    let text = lines.buffer.span
    var position = line.lowerBound
    let end = line.upperBound
    var timestamp = Timestamp(nanoseconds: 0)
    var values = InlineArray<7, Double>(repeating: 0)
    var count = 0
    while true {
      while position < end, unsafe text[unchecked: position].isBlank { position += 1 }
      guard position < end, unsafe text[unchecked: position] != .hash else { break }
      let start = position
      var scan = DecimalText.scan(text, &position, upTo: end)
      while position < end, unsafe !text[unchecked: position].endsField {
        scan = nil
        position += 1
      }
      let field = start..<position
      if count == 0 {
        guard let stamp = scan?.timestamp else { throw lines.malformedTimestamp(field, in: line) }
        timestamp = stamp
      } else if count < 8 {
        values[count - 1] = try number(scan, field, index: count, in: line)
      }
      count += 1
    }
    if count == 0 { return nil }
    guard count == 8 else {
      throw lines.error(
        .wrongFieldCount, "the line has \(count) field\(count == 1 ? "" : "s"), not 8", in: line,
        remedy: "write timestamp tx ty tz qx qy qz qw, separated by blanks")
    }
    let rotation = try rotation(values[3], values[4], values[5], values[6], in: line)
    return PoseRow(
      timestamp: timestamp,
      worldFromDevice: RigidTransform(
        rotation: rotation, translation: Vector3(values[0], values[1], values[2])),
      line: lines.line)
  }

  @inline(__always)
  private func number(
    _ scan: DecimalText.Scan?, _ field: Range<Int>, index: Int, in line: Range<Int>
  ) throws(RecordingError) -> Double {
    guard let value = DecimalText.double(scan, lines.buffer.span, field) else {
      throw lines.error(
        .malformedNumber, "\(Self.names[index]) \(lines.excerpt(field)) is not a number",
        at: field.lowerBound, in: line, remedy: "write a decimal number")
    }
    guard value.isFinite else {
      throw lines.error(
        .notFinite, "\(Self.names[index]) \(lines.excerpt(field)) is not finite",
        at: field.lowerBound, in: line, remedy: "leave out poses that the odometry could not give")
    }
    guard index > 3 || abs(value) <= Self.farthest else {
      throw lines.error(
        .valueOutOfRange,
        "\(Self.names[index]) \(lines.excerpt(field)) is not a valid position",
        at: field.lowerBound, in: line, remedy: "positions are metres, at most 1e7")
    }
    return value
  }

  private func rotation(
    _ x: Double, _ y: Double, _ z: Double, _ w: Double, in line: Range<Int>
  ) throws(RecordingError) -> Rotation {
    guard let rotation = Self.rotation(x, y, z, w) else {
      let length = (x * x + y * y + z * z + w * w).squareRoot()
      throw lines.error(
        .invalidRotation, "the quaternion's length is \(length), not 1", in: line,
        remedy: "write qx qy qz qw of unit length")
    }
    return rotation
  }

  /// The rotation of a quaternion that has unit length to 1 %; `nil` when it has not.
  @inline(__always)
  package static func rotation(_ x: Double, _ y: Double, _ z: Double, _ w: Double) -> Rotation? {
    let length = (x * x + y * y + z * z + w * w).squareRoot()
    return (0.99...1.01).contains(length) ? Rotation(normalizing: x, y, z, w) : nil
  }

  @inline(__always)
  private static func isWithinLimits(_ translation: Vector3) -> Bool {
    max(abs(translation.x), abs(translation.y), abs(translation.z)) <= farthest
  }

  package static let farthest = 1e7
  private static let names = ["timestamp", "tx", "ty", "tz", "qx", "qy", "qz", "qw"]
}

extension UInt8 {
  /// Whether it may follow a field of a trajectory.
  @inline(__always)
  fileprivate var endsField: Bool { isBlank || self == .hash }
}

extension LineReader {
  /// The error of a malformed timestamp.
  func malformedTimestamp(_ field: Range<Int>, in line: Range<Int>) -> RecordingError {
    guard !field.isEmpty else {
      return error(
        .malformedNumber, "the timestamp is empty", at: field.lowerBound, in: line,
        remedy: "write seconds")
    }
    guard DecimalText.double(buffer.span, field)?.isFinite == true else {
      return error(
        .malformedNumber, "timestamp \(excerpt(field)) is not a finite number",
        at: field.lowerBound, in: line, remedy: "write seconds")
    }
    return error(
      .valueOutOfRange, "timestamp \(excerpt(field)) is beyond 4.6e9 s", at: field.lowerBound,
      in: line, remedy: "timestamps are seconds; divide nanoseconds by 1e9")
  }
}
