// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import NearbyRecordings

/// The messages of a log of one file or of several, with their decoders.
struct LogMessages: ~Copyable {
  /// The number of messages that cannot be decoded, by topic.
  private(set) var undecoded: [String: Int] = [:]
  /// The topics so far.
  private(set) var topics = MessageTopics()

  /// The files that were not opened yet, last first.
  private var paths: [String]
  private var source: (any LogSource)?
  /// Definitions of types that the log itself does not hold.
  private let definitions: [String: String]
  private var schemas: [Int: RosSchema] = [:]

  /// Opens a log.
  ///
  /// - Parameters:
  ///   - path: A file, or the folder of a rosbag2.
  ///   - definitions: The text of `.msg` files, by the names of their types.
  /// - Throws: When it cannot be read, or is no log.
  init(path: String, definitions: [String: String]) throws(RecordingError) {
    paths = try Self.files(of: path).reversed()
    self.definitions = definitions
  }

  /// The files of a log: the file itself, or those of the folder of a rosbag2 in their order.
  private static func files(of path: String) throws(RecordingError) -> [String] {
    var isFolder = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder else {
      return [path]
    }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw RecordingError(
        .unreadableFile, "the folder cannot be read", file: path, remedy: "check its permissions")
    }
    // They are numbered: bag_0.db3, bag_1.db3, bag_10.db3.
    let found = names.filter { $0.hasSuffix(".mcap") || $0.hasSuffix(".db3") }.sortedByNumbers
    guard !found.isEmpty else {
      throw RecordingError(
        .unsupportedFormat, "the folder holds no .mcap and no .db3", file: path,
        remedy: "give the folder that holds metadata.yaml, or a file")
    }
    return found.map { path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" }
  }

  mutating func next() throws(RecordingError) -> LogMessage? {
    while true {
      if let message = try source?.next() {
        topics.count(message.topic, type: message.type)
        return message
      }
      guard let path = paths.popLast() else { return nil }
      source = try LogFile.open(path: path)
      schemas = [:]
    }
  }

  /// The value of a message.
  ///
  /// A message in an unsupported encoding is counted, and gives `nil`.
  mutating func value(of message: LogMessage) throws(RecordingError) -> MessageValue? {
    switch message.encoding {
    case .json:
      do throws(RecordingError) {
        return MessageValue(
          try LocatedJSON.parse(Array(message.data.rest), file: message.data.file))
      } catch {
        throw message.data.error("a message is no JSON (\(error.message)),")
      }
    case .cdr:
      if let schema = try schema(message) {
        return try MessageDecoder.decode(cdr: message.data, schema)
      }
    case .ros1:
      if let schema = try schema(message) {
        return try MessageDecoder.decode(ros1: message.data, schema)
      }
    case .unknown: break
    }
    undecoded[message.topic, default: 0] += 1
    return nil
  }

  private mutating func schema(_ message: LogMessage) throws(RecordingError) -> RosSchema? {
    if let known = schemas[message.definition] { return known }
    guard
      let text = source?.definition(of: message)
        ?? StandardMessages.definition(of: message.type, with: definitions)
    else { return nil }
    do throws(RosSchema.Fault) {
      let schema = try RosSchema(text, name: message.type)
      schemas[message.definition] = schema
      return schema
    } catch {
      throw message.data.error(
        "the definition of \(message.topic) cannot be read: \(error.message),",
        remedy: "record the topic with its whole definition, or name it with --definition")
    }
  }
}
