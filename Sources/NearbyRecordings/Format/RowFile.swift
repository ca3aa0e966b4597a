// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc
internal import NearbyGeometry

/// Writes one file of a recording.
///
/// The file is created with its first row, and each row is checked.
struct RowFile: ~Copyable {
  /// The name inside the recording, for errors.
  let name: String
  /// The rows that were not written to the file yet.
  var text = OutputText()
  /// How far time may go back, seconds.
  var secondsBackAllowed = 0.0
  /// Whether the order of time is checked at all.
  var isOrdered = true
  /// Whether the file is written, with its header, even if it has no rows.
  var isWrittenEmpty = false
  /// How many rows there are.
  private(set) var rows = 0

  private let path: String
  private var file: AtomicFile?
  private var latest: Timestamp?
  /// The start and the time of the row that is being written.
  private var begun: (length: Int, moment: Timestamp)?

  /// Performance: large enough that writing costs little compared with formatting.
  private static let bufferSize = 64 * 1024

  init(_ root: String, _ name: String, header: String) {
    self.name = name
    path = "\(root)/\(name)"
    text.append(header)
  }

  /// The line that is being written, from 1; the header is the first.
  var line: Int { rows + 2 }

  /// Begins a row with its timestamp.
  ///
  /// An unfinished row before it, in which there was a fault, is removed.
  mutating func start(_ moment: Timestamp) throws(RecordingError) {
    drop()
    if isOrdered, let latest, moment.seconds(since: latest) < -secondsBackAllowed {
      throw timeWentBack(from: latest, to: moment)
    }
    guard abs(moment.seconds) < 4.6e9 else {
      throw RecordingError(
        .valueOutOfRange, "the time is \(moment.seconds) s", file: name, line: line,
        remedy: "times are within 4.6e9 s of the clock's origin")
    }
    begun = (text.count, moment)
    text.append(moment)
  }

  /// Appends a comma and a peer's name, in quotes where it needs them (RFC 4180).
  mutating func append(peer: String) throws(RecordingError) {
    text.append(",")
    if peer.isEmpty {
      throw RecordingError(
        .emptyPeer, "a row has no peer", file: name, line: line, remedy: "give every peer a name")
    }
    if peer.utf8.contains(where: { $0 < .blank }) {
      throw RecordingError(
        .malformedField, "a peer's name holds a control character", file: name, line: line,
        remedy: "write names on one line, without tabs")
    }
    let ends = [peer.utf8.first, peer.utf8.last]
    if ends.contains(.blank) || peer.utf8.contains(where: { $0 == .comma || $0 == .quote }) {
      text.append("\"" + peer.replacing("\"", with: "\"\"") + "\"")
    } else {
      text.append(peer)
    }
  }

  /// Appends a comma and a measured value, or nothing after the comma where there is none.
  mutating func append(_ value: Double?, decimals: Int) {
    text.append(",")
    if let value { text.append(measured: value, decimals: decimals) }
  }

  /// Appends the coordinates of a position, each after a separator.
  mutating func append(
    _ position: Vector3, separator: String, decimals: Int
  ) throws(RecordingError) {
    try append(coordinate: position.x, separator, decimals)
    try append(coordinate: position.y, separator, decimals)
    try append(coordinate: position.z, separator, decimals)
  }

  /// Appends a whole row of a trajectory.
  mutating func append(
    _ pose: PoseRow, _ options: RecordingWriter.Options
  ) throws(RecordingError) {
    try start(pose.timestamp)
    let (position, rotation) = (pose.worldFromDevice.translation, pose.worldFromDevice.rotation)
    try append(position, separator: " ", decimals: options.lengthDecimals)
    try append(quaternion: rotation.x, decimals: options.angleDecimals)
    try append(quaternion: rotation.y, decimals: options.angleDecimals)
    try append(quaternion: rotation.z, decimals: options.angleDecimals)
    try append(quaternion: rotation.w, decimals: options.angleDecimals)
    try end()
  }

  /// Ends a row.
  mutating func end() throws(RecordingError) {
    try text.checkIsFinite(for: name, line: line)
    text.append("\n")
    rows += 1
    if let moment = begun?.moment { latest = max(moment, latest ?? moment) }
    begun = nil
    if text.count >= Self.bufferSize { try flush() }
  }

  /// Writes the remaining rows and closes the file.
  ///
  /// Without any row there is no file.
  mutating func close() throws(RecordingError) {
    guard rows > 0 || isWrittenEmpty else { return }
    drop()
    try flush()
    try file.take()?.commit()
  }

  /// The error of a row that comes too late.
  func timeWentBack(from latest: Timestamp, to moment: Timestamp) -> RecordingError {
    RecordingError(
      .timeWentBack, "time goes back from \(latest.seconds) s to \(moment.seconds) s",
      file: name, line: line, remedy: "sort the rows by time before they are written")
  }

  private mutating func append(
    coordinate value: Double, _ separator: String, _ decimals: Int
  ) throws(RecordingError) {
    // The comparison is false for NaN.
    guard abs(value) <= TrajectoryReader.farthest else {
      throw RecordingError(
        value.isFinite ? .valueOutOfRange : .notFinite, "a coordinate is \(value)", file: name,
        line: line, remedy: "positions are metres, at most 1e7; leave out those not known")
    }
    text.append(separator)
    text.append(value, decimals: decimals)
  }

  private mutating func append(
    quaternion value: Double, decimals: Int
  ) throws(RecordingError) {
    guard value.isFinite else {
      throw RecordingError(
        .notFinite, "a component of the quaternion is \(value)", file: name, line: line,
        remedy: "leave out poses that are not known")
    }
    text.append(" ")
    text.append(value, decimals: decimals)
  }

  private mutating func drop() {
    if let begun { text.truncate(to: begun.length) }
    begun = nil
  }

  private mutating func flush() throws(RecordingError) {
    if file == nil, MemoryPlace(path) != nil {
      file = try AtomicFile(path: path)
    } else if file == nil {
      let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
      guard unsafe mkdir(folder, 0o777) == 0 || errno == EEXIST else {
        throw .unwritable(folder, reason: errno)
      }
      file = try AtomicFile(path: path)
    }
    try file?.write(text)
    text.removeAll()
  }
}
