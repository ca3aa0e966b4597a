// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
internal import NearbyGeometry
public import NearbyRecordings

/// The output options of every import.
struct ImportOutputOptions: ParsableArguments {
  @Option(
    name: .shortAndLong, help: "The folder to make, the recording.", completion: .directory)
  var output: String

  @Option(help: "The recording's name; the folder's when left out.")
  var name: String?

  @Option(
    help: ArgumentHelp(
      "Where the poses come from: visualInertial, odometry or groundTruth.", valueName: "kind"))
  var kind: RecordingManifest.Trajectory.Kind?

  @Flag(help: "Leave out poses that interpolation restores within 1 cm and 0.1 degrees.")
  var thin = false

  @Flag(help: "Replace a recording that is already there.")
  var overwrite = false

  @Flag(name: .shortAndLong, help: "Print nothing.")
  var quiet = false

  func validate() throws {
    if output.isEmpty { throw ValidationError("--output is empty; name a folder") }
  }

  /// How the recording is written.
  func options(
    kind defaultKind: RecordingManifest.Trajectory.Kind = .visualInertial
  ) -> ImportOptions {
    var options = ImportOptions()
    options.name = name
    options.kind = kind ?? defaultKind
    options.thinning = thin ? TrajectoryThinning() : nil
    options.replacesRecording = overwrite
    return options
  }

  /// Prints the report of an import, unless it should be quiet.
  func report(_ report: ImportReport) throws {
    if !quiet { try StandardOutput.print(ImportSummary(report, output: output).text) }
  }
}

/// The frames of the poses.
struct ImportFrameOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Which axis of the world points up: y, z, or y-down when y points down.", valueName: "axis"))
  var up: ImportFrames.Up?

  @Option(
    help: ArgumentHelp(
      """
      The device's axes x, y, z: arkit (right, up, back), ros (forward, left, up), camera (right, \
      down, forward), euroc (up, right, forward).
      """, valueName: "axes"))
  var axes: ImportFrames.Axes?

  /// The frames, with the given defaults of the format.
  func frames(up: ImportFrames.Up, axes: ImportFrames.Axes) -> ImportFrames {
    ImportFrames(up: self.up ?? up, axes: self.axes ?? axes)
  }
}

/// The meaning of the columns of a foreign table of ranging.
struct RangingTableOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Which column holds what: timestamp=time_ms, distance=3 for the third; again for each.",
      valueName: "key=column"))
  var map: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      The unit of a column: s, ms, us, ns; m, cm, mm; rad, deg; for angles and heights also with \
      a minus, as -deg (positive to the left or down); again for each.
      """, valueName: "key=unit"))
  var unit: [String] = []

  @Option(
    help: ArgumentHelp(
      "The number that stands for no measurement: distance=65535; again for each.",
      valueName: "key=number"))
  var missing: [String] = []

  @Option(help: ArgumentHelp("The peer of rows that name none.", valueName: "name"))
  var peer: String?

  @Option(
    help: ArgumentHelp(
      "What separates columns: comma, semicolon, tab or blanks.", valueName: "what"))
  var delimiter: MappedTable.Delimiter = .comma

  @Flag(help: "The first line is data; columns are named by their numbers.")
  var noHeader = false

  /// Whether no option was given.
  var isEmpty: Bool {
    map.isEmpty && unit.isEmpty && missing.isEmpty && peer == nil && delimiter == .comma
      && !noHeader
  }

  func validate() throws { _ = try table() }

  /// The description of the table.
  func table() throws -> MappedTable {
    MappedTable(
      map: try Self.map(FieldMap.rangingKeys, map, unit, missing), delimiter: delimiter,
      hasHeader: !noHeader)
  }

  /// The map of some assignments, whose faults are faults of the command line.
  static func map(
    _ keys: [String], _ fields: [String], _ units: [String], _ missing: [String] = []
  ) throws -> FieldMap {
    do throws(FieldMap.Fault) {
      return try FieldMap(keys: keys, fields: fields, units: units, missing: missing)
    } catch {
      throw ValidationError(error.description)
    }
  }
}

/// The conversion of the ranging's clock to that of the poses.
struct RangingClockOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Added to the ranging's times, to bring them onto the clock of the poses.",
      valueName: "seconds"))
  var rangingOffset = 0.0

  func validate() throws {
    guard Timestamp(seconds: rangingOffset) != nil else {
      throw ValidationError("--ranging-offset must be within 4.6e9 s")
    }
  }

  /// The offset.
  var offset: Duration { .nanoseconds(Timestamp(seconds: rangingOffset)?.nanoseconds ?? 0) }
}

/// The ranging for a file of poses.
struct RangingOptions: ParsableArguments {
  /// The formats of ranging.
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case recording, csv, uci
  }

  @Option(
    help: ArgumentHelp(
      "The ranging: a recording's ranging.csv, any table (see --map), or a UCI capture.",
      valueName: "file"), completion: .file())
  var ranging: String?

  @Option(
    help: ArgumentHelp(
      """
      What that file is: recording, csv or uci. When left out: csv if it is described by --map and \
      the like, uci if it ends in .pcapng, else recording.
      """, valueName: "format"))
  var rangingFormat: Format?

  @OptionGroup var clock: RangingClockOptions
  @OptionGroup var table: RangingTableOptions

  func validate() throws {
    if ranging == nil, rangingFormat != nil || !table.isEmpty || clock.rangingOffset != 0 {
      throw ValidationError("what the ranging is like was said, but not where; add --ranging FILE")
    }
  }

  /// The ranging; `nil` when there is none.
  func input() throws -> RangingInput? {
    guard let ranging else { return nil }
    let found: Format =
      !table.isEmpty ? .csv : ranging.lowercased().hasSuffix(".pcapng") ? .uci : .recording
    let format: RangingInput.Format =
      switch rangingFormat ?? found {
      case .recording: .recording
      case .csv: .table(try table.table(), peer: table.peer)
      case .uci: .uci(UciCapture())
      }
    var input = RangingInput(path: ranging, format: format)
    input.offset = clock.offset
    return input
  }
}

/// The poses for a file of ranging.
struct TrajectoryOptions: ParsableArguments {
  /// The formats of poses.
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case tum, euroc, stray, csv
  }

  @Option(help: ArgumentHelp("The poses.", valueName: "file"), completion: .file())
  var trajectory: String

  @Option(
    help: ArgumentHelp("What that file is: tum, euroc, stray or csv.", valueName: "format"))
  var trajectoryFormat: Format = .tum

  @Option(
    help: ArgumentHelp(
      "Which column of a csv of poses holds timestamp, tx, ty, tz, qx, qy, qz, qw.",
      valueName: "key=column"))
  var poseMap: [String] = []

  @Option(help: ArgumentHelp("The unit of such a column.", valueName: "key=unit"))
  var poseUnit: [String] = []

  @OptionGroup var frames: ImportFrameOptions

  func validate() throws { _ = try input() }

  /// The poses.
  func input() throws -> TrajectoryInput {
    let map = try RangingTableOptions.map(FieldMap.poseKeys, poseMap, poseUnit)
    return switch trajectoryFormat {
    case .tum:
      TrajectoryInput(
        path: trajectory, format: .tum, frames: frames.frames(up: .y, axes: .arkit))
    case .euroc:
      TrajectoryInput(
        path: trajectory, format: .euroc, frames: frames.frames(up: .z, axes: .euroc))
    case .stray:
      TrajectoryInput(path: trajectory, format: .stray, frames: ImportFrames(up: .y, axes: .arkit))
    case .csv:
      TrajectoryInput(
        path: trajectory, format: .table(MappedTable(map: map)),
        frames: frames.frames(up: .y, axes: .arkit))
    }
  }
}

extension ImportFrames.Up: ExpressibleByArgument {}
extension ImportFrames.Axes: ExpressibleByArgument {}
extension MappedTable.Delimiter: ExpressibleByArgument {}
extension RecordingManifest.Trajectory.Kind: ExpressibleByArgument {}

/// The true poses for an odometry, in the same axes.
struct TruthOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The true poses, in the same axes.", valueName: "file"),
    completion: .file())
  var truth: String?

  @Option(
    help: ArgumentHelp(
      "The format of that file, when it is not the trajectory's.", valueName: "format"))
  var truthFormat: Format?

  /// The formats of true poses.
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case tum
    case euroc

    fileprivate var format: TrajectoryInput.Format { self == .tum ? .tum : .euroc }
  }

  /// An importer of a trajectory and the truth about it.
  func importer(of trajectory: TrajectoryInput) -> RecordingImporter {
    var importer = RecordingImporter(trajectory: trajectory)
    importer.truth = truth.map { path in
      TrajectoryInput(
        path: path, format: truthFormat?.format ?? trajectory.format, frames: trajectory.frames)
    }
    return importer
  }
}
