// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FoundationEssentials
import NearbyImports
import NearbyRecordings

extension ImportCommand {
  /// `nearby import mcap`: a log of ROS 2 or Foxglove.
  struct Mcap: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "An MCAP log of ROS 2 or Foxglove.",
      discussion: """
        Poses come from one topic, ranging from another. Poses: geometry_msgs/PoseStamped, \
        PoseWithCovarianceStamped, nav_msgs/Odometry, Path, or JSON in their form or that of \
        Foxglove's PoseInFrame; or with --tf the transforms between two frames. Covariances that \
        grow by the way give the drift. Ranging: no standard message exists; --map says which field of \
        the messages on --range-topic holds what, by a path; [] stands for each element of a list. \
        Any type is decoded whose definition (ros2msg) is in the file. The time is that of the \
        header, or that of the recording. \
        Without --up and --axes the world is z up, the device forward, left, up, as ROS has it.

        EXAMPLES
          nearby import mcap drive.mcap --pose-topic /odom --range-topic /uwb \\
            --map distance=range_cm --unit distance=cm --map peer=anchor.id \\
            --map azimuth=angles[0] --unit azimuth=-rad --kind odometry --output drive
          nearby import mcap drive.mcap --tf odom:base_link --range-topic /uwb \\
            --map distance=ranges[].range --map peer=ranges[].id --output drive
        """)

    @Argument(help: "The log.", completion: .file(extensions: ["mcap"]))
    var log: String

    @OptionGroup var messages: LogOptions
    @OptionGroup var frames: ImportFrameOptions
    @OptionGroup(title: "The recording") var recording: ImportOutputOptions

    func run() throws { try messages.run(log, frames, recording) }
  }

  /// `nearby import bag`: a bag of ROS 1 or ROS 2.
  struct Bag: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "A ROS bag: .bag of ROS 1, .db3 or folder of ROS 2.",
      discussion: """
        A bag of ROS 1 may be plain, bzip2 or lz4. A rosbag2 is an .mcap, a .db3, or the folder of \
        either. Poses and ranging are taken from the messages as 'nearby import mcap --help' tells. \
        Bags of ROS 2 before Iron in .db3 hold no definitions of types: those of poses are known, \
        others are named with --definition.

        EXAMPLES
          nearby import bag flight.bag --pose-topic /odom --range-topic /uwb \\
            --map distance=ranges[].distance --map peer=ranges[].id --output flight
          nearby import bag rosbag2_walk --tf map:base_link --range-topic /uwb \\
            --definition my_msgs/Range=Range.msg --map distance=range --peer anchor -o walk
        """)

    @Argument(help: "The file or folder.", completion: .file())
    var bag: String

    @OptionGroup var messages: LogOptions
    @OptionGroup var frames: ImportFrameOptions
    @OptionGroup(title: "The recording") var recording: ImportOutputOptions

    func run() throws { try messages.run(bag, frames, recording) }
  }
}

/// Which messages of a log hold what.
struct LogOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The topic of the poses, if there are several.", valueName: "topic"))
  var poseTopic: String?

  @Option(
    help: ArgumentHelp(
      "The frames between which transforms give the poses, as odom:base_link.",
      valueName: "parent:child"))
  var tf: String?

  @Option(help: ArgumentHelp("The topic of the ranging.", valueName: "topic"))
  var rangeTopic: String?

  @Option(
    help: ArgumentHelp(
      "Which field holds what: distance=ranges[0].m; again for each.", valueName: "key=field"))
  var map: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      The unit of a field: s, ms, us, ns; m, cm, mm; rad, deg, -rad, -deg (positive to the left \
      or down); m2 for a variance of distances; again for each.
      """, valueName: "key=unit"))
  var unit: [String] = []

  @Option(
    help: ArgumentHelp(
      "The number that stands for no measurement; again for each.", valueName: "key=number"))
  var missing: [String] = []

  @Option(help: ArgumentHelp("The peer of messages that name none.", valueName: "name"))
  var peer: String?

  @Option(
    help: ArgumentHelp(
      "The .msg file of a type that the log does not define; again for each.",
      valueName: "type=file"))
  var definition: [String] = []

  func validate() throws {
    _ = try RangingTableOptions.map(FieldMap.rangingKeys, map, unit, missing)
    if rangeTopic == nil, !map.isEmpty || !unit.isEmpty || !missing.isEmpty || peer != nil {
      throw ValidationError("what the ranging is like was said, but not where; add --range-topic")
    }
    if tf != nil {
      guard try transform() != nil else {
        throw ValidationError("--tf names two frames: --tf odom:base_link")
      }
      if poseTopic != nil {
        throw ValidationError("--tf and --pose-topic contradict each other; leave one out")
      }
    }
    for text in definition where !text.contains("=") {
      throw ValidationError("--definition \(text): write TYPE=FILE")
    }
  }

  private func transform() throws -> (parent: String, child: String)? {
    guard let parts = tf?.split(separator: ":"), parts.count == 2 else { return nil }
    return (String(parts[0]), String(parts[1]))
  }

  private func definitions() throws -> [String: String] {
    var definitions: [String: String] = [:]
    for text in definition {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { continue }
      guard let bytes = FileManager.default.contents(atPath: parts[1]) else {
        throw CommandFailure(
          .badData, "\(parts[1]): the file cannot be read; check the path after --definition")
      }
      definitions[parts[0]] = String(decoding: bytes, as: UTF8.self)
    }
    return definitions
  }

  /// Imports a log.
  func run(
    _ path: String, _ frames: ImportFrameOptions, _ recording: ImportOutputOptions
  ) throws {
    var importer = LogImporter(path: path)
    importer.poseTopic = poseTopic
    importer.transform = try transform()
    importer.rangeTopic = rangeTopic
    importer.rangeMap = try RangingTableOptions.map(FieldMap.rangingKeys, map, unit, missing)
    importer.peer = peer
    importer.definitions = try definitions()
    importer.frames = frames.frames(up: .z, axes: .ros)
    importer.options = recording.options()
    let log = importer
    try recording.run([.mcap, .bag]) { try log.importRecording(to: recording.output) }
  }
}
