// SPDX-License-Identifier: Apache-2.0
public import NearbyRecordings

/// The formats that an import can tell from a file's beginning.
///
/// For messages such as "it looks like EuRoC".
public enum ForeignFormat: String, Hashable, Sendable, CaseIterable {
  /// Poses: time, position, quaternion, separated by blanks.
  case tum
  /// Poses: nanoseconds, position, quaternion with w first, separated by commas.
  case euroc
  /// Poses: twelve numbers a line.
  case kitti
  /// Poses of Stray Scanner.
  case stray
  /// A factor graph.
  case pyfg
  /// JSON lines.
  case jsonl
  /// A log of ROS 2 or Foxglove.
  case mcap
  /// A bag of ROS 1, or of ROS 2 in SQLite.
  case bag
  /// A capture of UWB commands.
  case uci
  /// A table with a header.
  case csv

  /// What people call it.
  public var name: String {
    switch self {
    case .tum: "a TUM trajectory"
    case .euroc: "a EuRoC trajectory"
    case .kitti: "KITTI poses"
    case .stray: "Stray Scanner's odometry"
    case .pyfg: "a factor graph (PyFG)"
    case .jsonl: "JSON lines"
    case .mcap: "an MCAP log"
    case .bag: "a ROS bag"
    case .uci: "a pcapng capture"
    case .csv: "a table with a header"
    }
  }

  /// What a file looks like.
  ///
  /// - Parameter path: The file's path.
  /// - Returns: `nil` when it cannot be read or looks like nothing known.
  public static func guess(path: String) -> ForeignFormat? {
    (try? FileBytes.beginning(path: path, count: 4096)).flatMap { guess(beginning: $0) }
  }

  /// What a file looks like that begins with some bytes.
  static func guess(beginning bytes: [UInt8]) -> ForeignFormat? {
    if let log = LogFile(beginning: bytes) { return log == .mcap ? .mcap : .bag }
    if bytes.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]) { return .uci }
    guard !bytes.contains(0) else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard let first = lines.first else { return nil }
    if first.hasPrefix("timestamp, frame,") { return .stray }
    let data = lines.first { !$0.hasPrefix("#") } ?? ""
    if data.hasPrefix("{") { return isObject(data, isCut: lines.count == 1) ? .jsonl : nil }
    if data.hasPrefix("VERTEX_") || data.hasPrefix("EDGE_") { return .pyfg }
    return guess(line: data)
  }

  /// Whether a line is a whole JSON object, as opposed to the first line of a longer one.
  ///
  /// - Parameters:
  ///   - line: The line.
  ///   - isCut: Whether its end may be missing.
  /// - Returns: Whether it is an object.
  private static func isObject(_ line: Substring, isCut: Bool) -> Bool {
    if case .object? = (try? LocatedJSON.parse(Array(line.utf8), file: ""))?.content { return true }
    return isCut && line.utf8.count > 1000 && line.hasPrefix("{\"")
  }

  private static func guess(line: Substring) -> ForeignFormat? {
    let words = line.split(whereSeparator: \.isWhitespace)
    if !line.contains(","), words.allSatisfy({ Double($0) != nil }) {
      return words.count == 8 ? .tum : words.count == 12 ? .kitti : nil
    }
    let fields = line.split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmed
    }
    guard fields.count > 1 else { return nil }
    if fields.count >= 8, fields.allSatisfy({ Double($0) != nil }),
      let time = Int64(fields[0]), time > 1_000_000_000_000_000
    {
      return .euroc
    }
    return fields.contains { Double($0) != nil } ? nil : .csv
  }
}

extension RecordingError {
  /// The error with a hint at what its file looks like, when that is none of some formats.
  ///
  /// - Parameter expected: The formats in which the files were read.
  /// - Returns: The error, its remedy longer if a file of another format was given.
  public func hinting(expected: Set<ForeignFormat>) -> RecordingError {
    let codes: [Code] = [
      .malformedNumber, .malformedField, .wrongFieldCount, .missingColumn, .unsupportedFormat,
      .noSamples, .lineTooLong, .malformedManifest, .unreadableFile, .invalidRotation,
      .missingFolder, .notFinite, .missingValue,
    ]
    guard codes.contains(code), (line ?? 1) <= 2, let found = ForeignFormat.guess(path: file),
      !expected.contains(found)
    else { return self }
    var error = self
    error.remedy +=
      "; it looks like \(found.name): see 'nearby import \(found.rawValue) --help'"
    return error
  }
}
