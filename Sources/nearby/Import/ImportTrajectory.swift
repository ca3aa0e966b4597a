// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NearbyImports
import NearbyRecordings

extension ImportCommand {
  /// `nearby import tum`: a trajectory in the TUM format.
  struct Tum: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "A TUM trajectory: timestamp tx ty tz qx qy qz qw.",
      discussion: """
        Seconds, metres, unit quaternion with w last; '#' begins a comment. The format does not \
        say in which frames it is: without --up and --axes ARKit's frames, y up, are assumed. Use \
        --up z --axes ros for files from ROS, and --up z --axes camera for the RGB-D data sets of \
        TUM.

        EXAMPLES
          nearby import tum poses.txt --output walk
          nearby import tum poses.txt --ranging ranging.csv --output walk
          nearby import tum odom.txt --up z --axes ros --kind odometry \\
            --truth mocap.txt --output lab
        """)

    @Argument(help: "The trajectory.", completion: .file())
    var trajectory: String

    @OptionGroup(title: "Truth") var truth: TruthOptions
    @OptionGroup var frames: ImportFrameOptions
    @OptionGroup(title: "Ranging") var ranging: RangingOptions
    @OptionGroup(title: "The recording") var recording: ImportOutputOptions

    func run() throws {
      var importer = truth.importer(
        of: TrajectoryInput(
          path: trajectory, format: .tum, frames: frames.frames(up: .y, axes: .arkit)))
      importer.ranging = try ranging.input()
      importer.options = recording.options(assuming: frames.assumptions)
      try recording.run([.tum, .csv, .uci]) { try importer.importRecording(to: recording.output) }
    }
  }

  /// `nearby import euroc`: a trajectory in the format of the EuRoC data sets.
  struct Euroc: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "A EuRoC trajectory: CSV, nanoseconds, w first.",
      discussion: """
        TRAJECTORY is mav0/state_groundtruth_estimate0/data.csv of a sequence, or what basalt and \
        others write in its form. Nanoseconds are kept exactly; velocities and biases are left out.

        The world is z up. The body of the EuRoC drone has x up, y right and z forward; it is \
        converted to ARKit's axes. For a body with other axes use --axes.

        EXAMPLES
          nearby import euroc mav0/state_groundtruth_estimate0/data.csv -o flight
          nearby import euroc basalt.csv --kind visualInertial --axes ros -o flight
        """)

    @Argument(help: "The trajectory.", completion: .file(extensions: ["csv"]))
    var trajectory: String

    @OptionGroup(title: "Truth") var truth: TruthOptions
    @OptionGroup var frames: ImportFrameOptions
    @OptionGroup(title: "Ranging") var ranging: RangingOptions
    @OptionGroup(title: "The recording") var recording: ImportOutputOptions

    func run() throws {
      var importer = truth.importer(
        of: TrajectoryInput(
          path: trajectory, format: .euroc, frames: frames.frames(up: .z, axes: .euroc)))
      importer.ranging = try ranging.input()
      importer.options = recording.options(kind: .groundTruth)
      try recording.run([.euroc, .csv, .uci]) { try importer.importRecording(to: recording.output) }
    }
  }

  /// `nearby import kitti`: poses of the KITTI odometry benchmark.
  struct Kitti: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "KITTI poses, and the file of their times.",
      discussion: """
        POSES is a file such as poses/00.txt, TIMES the sequence's times.txt. The device is \
        the left camera. The world is its first pose, whose y points down, and is converted to \
        y up. It is gravity aligned only as far as the car stood level.

        EXAMPLE
          nearby import kitti 07.txt times.txt --kind groundTruth --output drive
        """)

    @Argument(help: "The poses.", completion: .file())
    var poses: String

    @Argument(help: "The times.", completion: .file())
    var times: String

    @OptionGroup var frames: ImportFrameOptions
    @OptionGroup(title: "Ranging") var ranging: RangingOptions
    @OptionGroup(title: "The recording") var recording: ImportOutputOptions

    func run() throws {
      var importer = RecordingImporter(
        trajectory: TrajectoryInput(
          path: poses, format: .kitti(times: times),
          frames: frames.frames(up: .yDown, axes: .camera)))
      importer.ranging = try ranging.input()
      importer.options = recording.options()
      try recording.run([.kitti, .csv, .uci]) { try importer.importRecording(to: recording.output) }
    }
  }

  /// `nearby import stray`: the odometry of Stray Scanner.
  struct Stray: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Stray Scanner's odometry.csv: ARKit poses.",
      discussion: """
        The scanner wrote the camera's attitude in OpenCV's axes; this is reverted, so that the \
        recording has ARKit's. Times are seconds since the phone's start, as Nearby Interaction's \
        samples can be stamped, too.

        EXAMPLES
          nearby import stray scan/odometry.csv --output walk
          nearby import stray scan/odometry.csv --ranging nearby.csv -o walk
        """)

    @Argument(help: "The odometry.", completion: .file(extensions: ["csv"]))
    var odometry: String

    @OptionGroup(title: "Ranging") var ranging: RangingOptions
    @OptionGroup(title: "The recording") var recording: ImportOutputOptions

    func run() throws {
      var importer = RecordingImporter(
        trajectory: TrajectoryInput(
          path: odometry, format: .stray, frames: ImportFrames(up: .y, axes: .arkit)))
      importer.ranging = try ranging.input()
      importer.options = recording.options()
      try recording.run([.stray, .csv, .uci]) { try importer.importRecording(to: recording.output) }
    }
  }
}
