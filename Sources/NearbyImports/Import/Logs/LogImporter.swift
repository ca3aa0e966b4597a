// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
public import NearbyRecordings

/// Makes a recording from a log of messages: MCAP, a bag of ROS 1, or a rosbag2 (a `.db3` or a folder).
///
/// Poses come from one topic, of `PoseStamped`, `PoseWithCovarianceStamped`, `Odometry` or `Path`, from
/// JSON that has a position and an orientation where these or Foxglove's `PoseInFrame` have them, or
/// from a chain of transforms (`tf`). For ranging no standard message exists: a ``FieldMap`` says which
/// field of the messages holds what, by paths such as `ranges[0].distance`, or `ranges[].distance` for
/// a sample of each element. Types are decoded by the definitions in the log. A message's time is that
/// of its header, or its log time when it has no header.
///
/// The log is streamed chunk by chunk, and rows may be out of order by up to a second.
public struct LogImporter: Sendable {
  /// The path of the file, or of the folder of a rosbag2.
  public var path: String
  /// The topic of the poses; the only one with `PoseStamped` or `Odometry` when `nil`.
  public var poseTopic: String?
  /// The two frames between which transforms give the poses, instead of a topic.
  public var transform: (parent: String, child: String)?
  /// The topic of the ranging; no ranging is read when `nil`.
  public var rangeTopic: String?
  /// The meaning of the fields of a ranging message.
  public var rangeMap = FieldMap()
  /// The peer's name for messages that do not name a peer.
  public var peer: String?
  /// The text of `.msg` files, by the names of their types, for logs that lack definitions.
  public var definitions: [String: String] = [:]
  /// The frames of the poses.
  public var frames = ImportFrames(up: .z, axes: .ros)
  /// How the recording is written.
  public var options = ImportOptions()

  /// Makes an importer of a file or folder.
  public init(path: String) { self.path = path }

  /// Reads the log and writes the recording.
  ///
  /// - Parameter output: The folder to make.
  /// - Returns: The report of the import.
  /// - Throws: The first fault, with the byte at which it is.
  public func importRecording(to output: String) throws(RecordingError) -> ImportReport {
    let manifest = options.manifest(
      output: output, frames: frames.recorded, source: "imported from a log of messages")
    var columns: Set<RecordingWriter.OptionalColumn> = []
    for column in RecordingWriter.OptionalColumn.allCases
    where rangeMap.fields[column.rawValue] != nil {
      columns.insert(column)
    }
    var sink = try ImportSink(
      output: output, manifest: manifest, options: options, columns: columns)
    var messages = try LogMessages(path: path, definitions: definitions)
    var poses = PoseMessages(topic: poseTopic, transform: transform, frames: frames)
    let ranging = RangingMessages(map: rangeMap, peer: peer)
    while let message = try messages.next() {
      if message.topic == rangeTopic {
        guard let value = try messages.value(of: message) else { continue }
        for row in try ranging.rows(of: value, message) { try sink.append(row, file: path) }
      } else if try poses.wants(message), let value = try messages.value(of: message) {
        for row in try poses.rows(of: value, message) { try sink.append(row, file: path) }
      }
    }
    for row in try poses.finish() { try sink.append(row, file: path) }
    for (topic, count) in messages.undecoded { sink.leaveOut("messages of \(topic)", count) }
    try messages.topics.check(poses: poseTopic, ranging: rangeTopic, file: path)
    if sink.report.posesRead == 0 {
      throw transform == nil
        ? messages.topics.noPoses(file: path) : poses.noTransforms(file: path)
    }
    if let rangeTopic, sink.report.samples == 0, messages.undecoded[rangeTopic] != nil {
      throw RecordingError(
        .unsupportedFormat, "the messages of \(rangeTopic) are of a type that it does not define",
        file: path,
        remedy: "name the type's file with --definition TYPE=FILE.msg; the type is "
          + messages.topics.type(of: rangeTopic))
    }
    sink.drift = poses.drift
    return try sink.finish(file: path, ranging: rangeTopic == nil ? nil : path)
  }
}

/// The importer of logs, under its name of before it read bags.
public typealias McapImporter = LogImporter
