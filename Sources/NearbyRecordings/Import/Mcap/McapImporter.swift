// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Makes a recording from an MCAP file: poses from one topic, ranging from another.
///
/// Poses are read from `geometry_msgs/PoseStamped` and `nav_msgs/Odometry` in CDR, and from JSON
/// that has a position and an orientation where these or Foxglove's `PoseInFrame` have them. For
/// ranging no standard message exists: a ``FieldMap`` says which field of the messages holds what,
/// by paths such as `ranges[0].distance`; the type is decoded by the schema in the file. A
/// message's time is that of its header, or its log time when it has no header.
///
/// The file is streamed chunk by chunk, and rows may be out of order by up to a second.
public struct McapImporter: Sendable {
  /// The file's path.
  public var path: String
  /// The topic of the poses; the only one with poses when `nil`.
  public var poseTopic: String?
  /// The topic of the ranging; no ranging is read when `nil`.
  public var rangeTopic: String?
  /// The meaning of the fields of a ranging message.
  public var rangeMap = FieldMap()
  /// The peer's name for messages that do not name a peer.
  public var peer: String?
  /// The frames of the poses.
  public var frames = ImportFrames(up: .z, axes: .ros)
  /// How the recording is written.
  public var options = ImportOptions()

  /// Makes an importer of a file.
  public init(path: String) { self.path = path }

  /// Reads the file and writes the recording.
  ///
  /// - Parameter output: The folder to make.
  /// - Returns: The report of the import.
  /// - Throws: The first fault, with the byte at which it is.
  public func importRecording(to output: String) throws(RecordingError) -> ImportReport {
    let manifest = options.manifest(
      output: output, frames: frames.recorded, source: "imported from an MCAP file")
    var columns: Set<RecordingWriter.OptionalColumn> = []
    for column in RecordingWriter.OptionalColumn.allCases
    where rangeMap.fields[column.rawValue] != nil {
      columns.insert(column)
    }
    var sink = try ImportSink(
      output: output, manifest: manifest, options: options, columns: columns)
    var messages = try McapMessages(path: path)
    var poses = TimeSorter<PoseRow>()
    var poseTopic = poseTopic
    while let message = try messages.next() {
      let topic = message.channel.topic
      if topic == rangeTopic {
        for row in try rangingRow(of: messages.value(of: message), message) {
          try sink.append(row, file: path)
        }
      } else if topic == poseTopic || poseTopic == nil && messages.mayBePose(message) {
        guard let row = try poseRow(of: messages.value(of: message), message) else {
          if poseTopic == nil { continue }
          throw message.data.error(
            "a message of \(topic) holds no pose,", code: .malformedField,
            remedy: "name a topic of PoseStamped or Odometry with --pose-topic")
        }
        poseTopic = topic
        if let due = poses.add(row) {
          for row in due { try sink.append(row, file: path) }
        }
      } else if self.poseTopic == nil, messages.mayBePose(message), let poseTopic {
        throw message.data.error(
          "there are poses on \(poseTopic) and on \(topic),", code: .missingValue,
          remedy: "name the one to import with --pose-topic")
      }
    }
    for row in poses.finish() { try sink.append(row, file: path) }
    for (topic, count) in messages.undecoded { sink.leaveOut("messages of \(topic)", count) }
    return try sink.finish(file: path)
  }

  /// The pose in a message; `nil` when there is none.
  private func poseRow(
    of value: MessageValue?, _ message: McapReader.Message
  ) throws(RecordingError) -> PoseRow? {
    guard let value else { return nil }
    let pose = value.value(at: "pose.pose") ?? value.value(at: "pose") ?? value
    func numbers(_ path: String, _ names: [String]) -> [Double]? {
      let numbers = names.compactMap { pose.value(at: "\(path).\($0)")?.number }
      return numbers.count == names.count ? numbers : nil
    }
    guard let p = numbers("position", ["x", "y", "z"]),
      let q = numbers("orientation", ["x", "y", "z", "w"])
    else { return nil }
    guard let rotation = TrajectoryReader.rotation(q[0], q[1], q[2], q[3]) else {
      throw message.data.error("a quaternion is not of unit length,", code: .invalidRotation)
    }
    guard p.allSatisfy({ abs($0) <= TrajectoryReader.farthest }) else {
      throw message.data.error("a position is not finite or beyond 1e7 m,", code: .valueOutOfRange)
    }
    return PoseRow(
      timestamp: try time(of: value, message, at: ["header.stamp", "timestamp"], .seconds),
      worldFromDevice: frames.recordedPose(
        RigidTransform(rotation: rotation, translation: Vector3(p[0], p[1], p[2]))))
  }

  /// The sample in a message, as a list of one; empty when there is none.
  private func rangingRow(
    of value: MessageValue?, _ message: McapReader.Message
  ) throws(RecordingError) -> [RangingRow] {
    guard let value else { return [] }
    func number(_ key: String) throws(RecordingError) -> Double? {
      // An optional value is read only if it is mapped, since a field of the same name may mean
      // something else.
      guard rangeMap.fields[key] != nil || RangingColumn.requiredNames.contains(key) else {
        return nil
      }
      guard let found = value.value(at: rangeMap.name(of: key)) else {
        if rangeMap.fields[key] == nil || value.isListEnd(rangeMap.name(of: key)) { return nil }
        throw message.data.error(
          "a message of \(message.channel.topic) has no field \(rangeMap.name(of: key)),",
          code: .missingColumn, remedy: "see --map \(key)")
      }
      guard let number = found.number else {
        throw message.data.error(
          "\(rangeMap.name(of: key)) is not a number,", code: .wrongType,
          remedy: "map \(key) to a number")
      }
      return rangeMap.value(number, of: key)
    }
    let mapped = rangeMap.fields["timestamp"].map { [$0] } ?? ["header.stamp", "timestamp"]
    var row = RangingRow(
      timestamp: try time(of: value, message, at: mapped, rangeMap.timeUnit),
      peer: value.value(at: rangeMap.name(of: "peer"))?.name ?? peer ?? "")
    guard !row.peer.isEmpty else {
      throw message.data.error(
        "a message of \(message.channel.topic) names no peer,", code: .emptyPeer,
        remedy: "name the field with --map peer=FIELD, or the only peer with --peer")
    }
    for column in RangingColumn.all {
      let value = try number(column.name)
      row.values[column] = column.unit == .flag ? value.map { $0 != 0 ? 1 : 0 } : value
    }
    return [row]
  }

  private func time(
    of value: MessageValue, _ message: McapReader.Message, at paths: [String], _ unit: TimeUnit
  ) throws(RecordingError) -> Timestamp {
    for path in paths {
      guard let found = value.value(at: path) else { continue }
      guard let nanoseconds = found.nanoseconds(unit) else {
        throw message.data.error("\(path) is no moment within 4.6e9 s,", code: .malformedField)
      }
      return Timestamp(nanoseconds: nanoseconds)
    }
    guard message.logTime < 4_600_000_000_000_000_000 else {
      throw message.data.error("a message's time is beyond 4.6e9 s,", code: .valueOutOfRange)
    }
    return Timestamp(nanoseconds: Int64(message.logTime))
  }
}

extension MessageValue {
  /// Whether a path ends in a list element that this message does not have.
  fileprivate func isListEnd(_ path: String) -> Bool {
    guard let bracket = path.lastIndex(of: "["), case .list = value(at: String(path[..<bracket]))
    else { return false }
    return true
  }
}

/// The messages of a file, with their decoders.
struct McapMessages: ~Copyable {
  /// The number of messages that cannot be decoded, by topic.
  private(set) var undecoded: [String: Int] = [:]

  private var reader: McapReader
  private var schemas: [UInt16: RosSchema] = [:]

  init(path: String) throws(RecordingError) { reader = try McapReader(path: path) }

  mutating func next() throws(RecordingError) -> McapReader.Message? { try reader.next() }

  /// Whether a message's type holds a pose, or does not tell whether it does.
  func mayBePose(_ message: McapReader.Message) -> Bool {
    guard let schema = reader.schemas[message.channel.schema] else { return false }
    let type = schema.name.split(separator: "/").last ?? ""
    return ["PoseStamped", "Odometry"].contains(type)
      || message.channel.encoding == "json"
        && ["foxglove.PoseInFrame", "PoseInFrame"].contains(schema.name)
  }

  /// The value of a message.
  ///
  /// A message in an unsupported encoding is counted, and gives `nil`.
  mutating func value(of message: McapReader.Message) throws(RecordingError) -> MessageValue? {
    switch message.channel.encoding {
    case "json":
      do throws(RecordingError) {
        let file = message.data.file
        return MessageValue(try LocatedJSON.parse(Array(message.data.rest), file: file))
      } catch {
        throw message.data.error("a message is no JSON (\(error.message)),")
      }
    case "cdr":
      guard let schema = try rosSchema(message) else { break }
      return try CdrDecoder.decode(message.data, schema)
    default: break
    }
    undecoded[message.channel.topic, default: 0] += 1
    return nil
  }

  private mutating func rosSchema(
    _ message: McapReader.Message
  ) throws(RecordingError) -> RosSchema? {
    let id = message.channel.schema
    if let known = schemas[id] { return known }
    guard let found = reader.schemas[id], found.encoding == "ros2msg" else { return nil }
    do throws(RosSchema.Fault) {
      let schema = try RosSchema(String(decoding: found.text, as: UTF8.self), name: found.name)
      schemas[id] = schema
      return schema
    } catch {
      throw message.data.error(
        "the schema of \(message.channel.topic) cannot be read: \(error.message),",
        remedy: "record the topic with its whole definition (ros2msg)")
    }
  }
}
