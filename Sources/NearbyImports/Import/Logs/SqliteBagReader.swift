// SPDX-License-Identifier: Apache-2.0
import CSQLite
import FoundationEssentials
import NearbyRecordings

/// Reads the messages of a rosbag2 in SQLite (`.db3`) in the order of time.
///
/// The file is opened for reading only and is never changed. Bags before ROS 2 Iron hold no definitions
/// of their types.
@safe final class SqliteBagReader: LogSource {
  static let magic = Array("SQLite format 3\0".utf8)

  private struct Topic {
    var name: String
    var type: String
    var isCDR: Bool
  }

  /// The largest accepted message, bytes.
  private static let largestMessage: Int32 = 1 << 28

  private let path: String
  private var database: OpaquePointer?
  private var statement: OpaquePointer?
  private var topics: [Int: Topic] = [:]
  private var definitions: [String: String] = [:]
  private var messageCount = 0

  init(path: String) throws(RecordingError) {
    self.path = path
    // A log that was not written back yet must be read, too; without one nothing is locked.
    let hasLog = FileManager.default.fileExists(atPath: path + "-wal")
    let uri = "file:\(Self.escaped(path))?mode=ro\(hasLog ? "" : "&immutable=1")"
    let result = unsafe sqlite3_open_v2(
      uri, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nil)
    guard result == SQLITE_OK else { throw failure() }
    _ = unsafe sqlite3_limit(database, SQLITE_LIMIT_LENGTH, Self.largestMessage)
    try execute("PRAGMA trusted_schema=OFF")
    try execute("PRAGMA cell_size_check=ON")
    try readTopics()
    try prepare(
      "SELECT topic_id, timestamp, data FROM messages ORDER BY timestamp, id")
  }

  /// A path in a URI: other bytes than letters, digits and slashes are written by their numbers.
  private static func escaped(_ path: String) -> String {
    path.utf8.reduce(into: "") { text, byte in
      let character = Character(Unicode.Scalar(byte))
      if byte < 0x80, character.isLetter || character.isNumber || character == "/" {
        text.append(character)
      } else {
        text += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
  }

  deinit {
    unsafe sqlite3_finalize(statement)
    unsafe sqlite3_close(database)
  }

  func definition(of message: LogMessage) -> String? { definitions[message.type] }

  func next() throws(RecordingError) -> LogMessage? {
    while try step() {
      messageCount += 1
      guard unsafe sqlite3_column_type(statement, 0) == SQLITE_INTEGER,
        unsafe sqlite3_column_type(statement, 1) == SQLITE_INTEGER,
        unsafe sqlite3_column_type(statement, 2) == SQLITE_BLOB
      else { throw failure("message \(messageCount) is none") }
      let id = Int(unsafe sqlite3_column_int64(statement, 0))
      let time = unsafe sqlite3_column_int64(statement, 1)
      guard let topic = topics[id], time >= 0 else {
        throw failure("message \(messageCount) is of topic \(id) at \(time) ns, which there is not")
      }
      let count = Int(unsafe sqlite3_column_bytes(statement, 2))
      let bytes =
        unsafe sqlite3_column_blob(statement, 2).map {
          unsafe Array(UnsafeRawBufferPointer(start: $0, count: count))
        } ?? []
      return LogMessage(
        topic: topic.name, type: topic.type, logTime: UInt64(time),
        encoding: topic.isCDR ? .cdr : .unknown, definition: id,
        data: ByteCursor(bytes, file: path))
    }
    return nil
  }

  private func readTopics() throws(RecordingError) {
    // Only real tables: a view could run for ever.
    try prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
    var tables: Set<String> = []
    while try step() { tables.insert(text(0)) }
    guard tables.isSuperset(of: ["topics", "messages"]) else {
      throw RecordingError(
        .unsupportedFormat, "the database has no tables topics and messages", file: path,
        remedy: "give a .db3 of a rosbag2")
    }
    try prepare("SELECT id, name, type, serialization_format FROM topics")
    while try step() {
      topics[Int(unsafe sqlite3_column_int64(statement, 0))] = Topic(
        name: text(1), type: text(2), isCDR: text(3) == "cdr")
    }
    guard tables.contains("message_definitions") else { return }
    try prepare(
      "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions")
    while try step() {
      if text(1) == "ros2msg" { definitions[text(0)] = text(2) }
    }
  }

  // MARK: - SQLite

  private func prepare(_ query: String) throws(RecordingError) {
    unsafe sqlite3_finalize(statement)
    unsafe statement = nil
    guard unsafe sqlite3_prepare_v2(database, query, -1, &statement, nil) == SQLITE_OK else {
      throw failure()
    }
  }

  private func execute(_ query: String) throws(RecordingError) {
    try prepare(query)
    while try step() {}
  }

  private func step() throws(RecordingError) -> Bool {
    switch unsafe sqlite3_step(statement) {
    case SQLITE_ROW: true
    case SQLITE_DONE: false
    default: throw failure()
    }
  }

  private func text(_ column: Int32) -> String {
    unsafe sqlite3_column_text(statement, column).map { unsafe String(cString: $0) } ?? ""
  }

  private func failure(_ problem: String? = nil) -> RecordingError {
    let reason = unsafe problem ?? String(cString: sqlite3_errmsg(database))
    return RecordingError(
      .malformedField, "it cannot be read as a rosbag2 (\(reason))", file: path,
      remedy: "the file is damaged or cut short; fetch it again")
  }
}
