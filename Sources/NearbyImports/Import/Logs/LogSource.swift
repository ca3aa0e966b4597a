// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// A message of a log, not decoded yet.
struct LogMessage: Sendable {
  /// How the data is written.
  enum Encoding: Sendable {
    case json, cdr, ros1, unknown
  }

  var topic: String
  /// The message's type, such as `nav_msgs/msg/Odometry`; empty when the log does not say.
  var type: String
  /// When it was recorded, nanoseconds.
  var logTime: UInt64
  var encoding: Encoding
  /// What tells its definition from others of the same log.
  var definition: Int
  var data: ByteCursor
}

/// Reads the messages of one file of a log in its order.
protocol LogSource: AnyObject {
  /// The next message; `nil` after the last.
  func next() throws(RecordingError) -> LogMessage?
  /// The text that defines a message's type; `nil` when the log has none.
  func definition(of message: LogMessage) -> String?
}

/// The kinds of files that hold logs, by their beginning.
enum LogFile: Sendable {
  case mcap, ros1, sqlite

  /// The kind of a file that begins with some bytes; `nil` for any other file.
  init?(beginning bytes: some Collection<UInt8>) {
    if bytes.starts(with: McapReader.magic.prefix(5)) {
      self = .mcap
    } else if bytes.starts(with: RosBagReader.magic) {
      self = .ros1
    } else if bytes.starts(with: SqliteBagReader.magic) {
      self = .sqlite
    } else {
      return nil
    }
  }

  /// Opens a file.
  static func open(path: String) throws(RecordingError) -> any LogSource {
    var file = try BinaryReader(path: path)
    switch LogFile(beginning: try file.peek(16)) {
    case .mcap: return McapSource(try McapReader(path: path))
    case .ros1: return try RosBagReader(path: path)
    case .sqlite: return try SqliteBagReader(path: path)
    case nil:
      throw RecordingError(
        .unsupportedFormat, "it begins neither as an MCAP file nor as a ROS bag does", file: path,
        remedy: "give an .mcap, a .bag of ROS 1 (version 2.0), a .db3 or the folder of a rosbag2")
    }
  }
}

/// An MCAP file as a source of messages.
final class McapSource: LogSource {
  private var reader: McapReader

  init(_ reader: consuming McapReader) { self.reader = reader }

  func next() throws(RecordingError) -> LogMessage? {
    guard let message = try reader.next() else { return nil }
    let schema = reader.schemas[message.channel.schema]
    let encoding: LogMessage.Encoding =
      switch (message.channel.encoding, schema?.encoding) {
      case ("json", _): .json
      case ("cdr", "ros2msg"): .cdr
      case ("ros1", "ros1msg"): .ros1
      default: .unknown
      }
    return LogMessage(
      topic: message.channel.topic, type: schema?.name ?? "", logTime: message.logTime,
      encoding: encoding, definition: Int(message.channel.schema), data: message.data)
  }

  func definition(of message: LogMessage) -> String? {
    reader.schemas[UInt16(truncatingIfNeeded: message.definition)].map {
      String(decoding: $0.text, as: UTF8.self)
    }
  }
}
