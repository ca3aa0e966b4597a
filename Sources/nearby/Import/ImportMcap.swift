// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyRecordings

extension ImportCommand {
  /// `nearby import mcap`: a log of ROS 2 or Foxglove.
  struct Mcap: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "An MCAP log of ROS 2 or Foxglove.",
      discussion: """
        Poses come from one topic, ranging from another. Poses: geometry_msgs/PoseStamped, nav_msgs/Odometry, or JSON in their form or that of \
        Foxglove's PoseInFrame. Ranging: no standard message exists; --map says which field of \
        the messages on --range-topic holds what, by a path. Any type is decoded whose definition \
        (ros2msg) is in the file. The time is that of the header, or that of the recording. \
        Without --up and --axes the world is z up, the device forward, left, up, as ROS has it.

        EXAMPLE
          nearby import mcap drive.mcap --pose-topic /odom --range-topic /uwb \\
            --map distance=range_cm --unit distance=cm --map peer=anchor.id \\
            --map azimuth=angles[0] --unit azimuth=-rad --kind odometry --output drive
        """)

    @Argument(help: "The log.", completion: .file(extensions: ["mcap"]))
    var log: String

    @Option(help: ArgumentHelp("The topic of the poses, if there are several.", valueName: "topic"))
    var poseTopic: String?

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
        or down); again for each.
        """, valueName: "key=unit"))
    var unit: [String] = []

    @Option(
      help: ArgumentHelp(
        "The number that stands for no measurement; again for each.", valueName: "key=number"))
    var missing: [String] = []

    @Option(help: ArgumentHelp("The peer of messages that name none.", valueName: "name"))
    var peer: String?

    @OptionGroup var frames: ImportFrameOptions
    @OptionGroup(title: "The recording") var recording: ImportOutputOptions

    func validate() throws {
      _ = try RangingTableOptions.map(FieldMap.rangingKeys, map, unit, missing)
      if rangeTopic == nil, !map.isEmpty || !unit.isEmpty || !missing.isEmpty || peer != nil {
        throw ValidationError("what the ranging is like was said, but not where; add --range-topic")
      }
    }

    func run() throws {
      var importer = McapImporter(path: log)
      importer.poseTopic = poseTopic
      importer.rangeTopic = rangeTopic
      importer.rangeMap = try RangingTableOptions.map(FieldMap.rangingKeys, map, unit, missing)
      importer.peer = peer
      importer.frames = frames.frames(up: .z, axes: .ros)
      importer.options = recording.options()
      try recording.report(importer.importRecording(to: recording.output))
    }
  }
}
