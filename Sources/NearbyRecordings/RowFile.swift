// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import NearbyGeometry

/// One file of a recording while it is written: made with its first row, checked row by row.
struct RowFile: ~Copyable {
  /// The name inside the recording, for errors.
  let name: String
  /// The rows of the file as they gather; written when there is enough of it.
  var text = OutputText()
  /// How far time may go back, seconds.
  var secondsBackAllowed = 0.0
  /// Whether the order of time is checked at all.
  var isOrdered = true
  /// How many rows there are.
  private(set) var rows = 0

  private let path: String
  private var file: AtomicFile?
  private var latest: Timestamp?

  /// Enough for a write to cost nothing against the formatting.
  private static let bufferSize = 64 * 1024

  init(_ root: String, _ name: String, header: String) {
    self.name = name
    path = "\(root)/\(name)"
    text.append(header)
  }

  /// The line that is being written, from 1; the header is the first.
  var line: Int { rows + 2 }

  /// Begins a row with its moment.
  mutating func start(_ moment: Timestamp) throws(RecordingError) {
    if isOrdered, let latest, moment.seconds(since: latest) < -secondsBackAllowed {
      throw RecordingError(
        .timeWentBack,
        "time goes back from \(latest.seconds) s to \(moment.seconds) s", file: name, line: line,
        remedy: "sort the rows by time before they are written")
    }
    latest = max(moment, latest ?? moment)
    text.append(moment)
  }

  /// Appends a peer's name, which must fit into a field.
  mutating func append(peer: String) throws(RecordingError) {
    if peer.isEmpty {
      throw RecordingError(
        .emptyPeer, "a row has no peer", file: name, line: line, remedy: "give every peer a name")
    }
    let hasForbidden = peer.utf8.contains { $0 == .comma || $0 == .quote || $0 < .blank }
    if hasForbidden || peer.utf8.first == .blank || peer.utf8.last == .blank {
      throw RecordingError(
        .malformedField, "\"\(peer)\" cannot be a peer's name", file: name, line: line,
        remedy: "a name has no comma, quote or control character and no blank at its ends")
    }
    text.append(peer)
  }

  /// Appends a comma and a value, or nothing after the comma where there is none.
  mutating func append(
    _ value: Double?, _ column: String, decimals: Int
  ) throws(RecordingError) {
    text.append(",")
    guard let value else { return }
    try check(value, column)
    text.append(value, decimals: decimals)
  }

  /// Appends a whole row of a trajectory.
  mutating func append(
    _ pose: PoseRow, _ options: RecordingWriter.Options
  ) throws(RecordingError) {
    try start(pose.timestamp)
    let (position, rotation) = (pose.worldFromDevice.translation, pose.worldFromDevice.rotation)
    for (value, column) in [(position.x, "tx"), (position.y, "ty"), (position.z, "tz")] {
      try check(value, column)
      text.append(" ")
      text.append(value, decimals: options.lengthDecimals)
    }
    for value in [rotation.x, rotation.y, rotation.z, rotation.w] {
      try check(value, "the quaternion")
      text.append(" ")
      text.append(value, decimals: options.angleDecimals)
    }
    try end()
  }

  /// Ends a row.
  mutating func end() throws(RecordingError) {
    text.append("\n")
    rows += 1
    if text.bytes.count >= Self.bufferSize { try flush() }
  }

  /// Writes the rest and ends the file; without a row there will be no file.
  mutating func close() throws(RecordingError) {
    guard rows > 0 else { return }
    try flush()
    try file.take()?.commit()
  }

  private func check(_ value: Double, _ column: String) throws(RecordingError) {
    guard value.isFinite else {
      throw RecordingError(
        .notFinite, "\(column) is \(value)", file: name, line: line,
        remedy: "leave out what was not measured")
    }
  }

  private mutating func flush() throws(RecordingError) {
    if file == nil {
      let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
      do {
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true)
      } catch {
        throw .unwritable(name, reason: error.localizedDescription)
      }
      file = try AtomicFile(path: path)
    }
    try file?.write(text)
    text.removeAll()
  }
}
