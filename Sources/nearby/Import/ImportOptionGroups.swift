// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
internal import NearbyGeometry
public import NearbyImports
public import NearbyRecordings

/// The output options of every import.
struct ImportOutputOptions: ParsableArguments {
  @Option(
    name: .shortAndLong, help: "The folder to make, the recording.", completion: .directory)
  var output: String

  @Option(help: "The recording's name; the folder's when left out.")
  var name: String?

  @OptionGroup var statements: ImportStatementOptions

  @Flag(help: "Leave out poses that interpolation restores within 1 cm and 0.1 degrees.")
  var thin = false

  @Flag(help: "Replace a recording that is already there.")
  var overwrite = false

  @Flag(help: "Write nothing if there is a warning; it is then an error.")
  var strict = false

  @Flag(help: "Write the recording even if nothing in it can be fused.")
  var force = false

  @Flag(name: .shortAndLong, help: "Print nothing.")
  var quiet = false

  func validate() throws {
    if output.isEmpty { throw ValidationError("--output is empty; name a folder") }
  }

  /// How the recording is written.
  ///
  /// - Parameters:
  ///   - defaultKind: Where poses of the format come from when nothing else is said.
  ///   - assumptions: The frames that neither the format nor the user states.
  /// - Returns: The choices.
  func options(
    kind defaultKind: RecordingManifest.Trajectory.Kind = .visualInertial,
    assuming assumptions: Set<ImportOptions.Assumption> = []
  ) -> ImportOptions {
    var options = statements.options(kind: defaultKind)
    options.name = name
    options.assumptions.formUnion(assumptions)
    options.thinning = thin ? TrajectoryThinning() : nil
    options.replacesRecording = overwrite
    options.isStrict = strict
    options.isForced = force
    return options
  }

  /// Runs an import and prints its report, unless it should be quiet.
  ///
  /// - Parameters:
  ///   - expected: The formats of the files, so that one of another format can be named.
  ///   - importRecording: The import.
  /// - Throws: The error of the import.
  func run(
    _ expected: Set<ForeignFormat>, _ importRecording: () throws -> ImportReport
  ) throws {
    do {
      let report = try importRecording()
      if !quiet {
        try StandardOutput.print(ImportSummary(report, output: output).text)
        Diagnostics.warn(of: report.findings)
      }
    } catch let error as RecordingError {
      throw error.hinting(expected: expected)
    }
  }
}

/// What the user states about poses and ranging, for recording.json.
struct ImportStatementOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Where the poses come from: visualInertial, wheel, lidar, odometry (anything else) or \
      groundTruth. Each has its own drift.
      """, valueName: "kind"))
  var kind: RecordingManifest.Trajectory.Kind?

  @Option(
    help: ArgumentHelp(
      "Drift of the position, one sigma, metres per root of a metre; that of the kind when left out.",
      valueName: "m/√m"))
  var positionDrift: Double?

  @Option(
    help: ArgumentHelp("Drift of the yaw, likewise, degrees.", valueName: "degrees/√m"))
  var yawDrift: Double?

  @Option(
    help: ArgumentHelp(
      "The accuracy of ranges, one sigma; when left out 0.1 m, or what the ranges show.",
      valueName: "metres"))
  var rangeSigma: Double?

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp(
      """
      Device and peers are in one horizontal plane. When left out: only if all poses have exactly \
      one height.
      """))
  var planar: Bool?

  @Option(
    help: ArgumentHelp(
      "The antenna's place along the device's axes, as in 0.02,0.05,0.01; 0,0,0 when left out.",
      valueName: "x,y,z"))
  var antenna: AntennaArgument?

  @Option(help: ArgumentHelp("A peer that moves; again for each.", valueName: "name"))
  var moving: [String] = []

  /// Three lengths, metres.
  struct AntennaArgument: ExpressibleByArgument {
    var place: Vector3

    init?(argument: String) {
      let numbers = argument.split(separator: ",", omittingEmptySubsequences: false)
        .compactMap { Double($0.trimmed) }
      guard numbers.count == 3, numbers.allSatisfy({ abs($0) < 10 }) else { return nil }
      place = Vector3(numbers[0], numbers[1], numbers[2])
    }
  }

  func validate() throws {
    for (option, value, interval) in [
      ("--position-drift", positionDrift, 0.0...10), ("--yaw-drift", yawDrift, 0...180),
      ("--range-sigma", rangeSigma, 1e-4...1e3),
    ] {
      guard let value, !interval.contains(value) else { continue }
      throw ValidationError(
        "\(option) is \(value), must be \(interval.lowerBound) to \(interval.upperBound)")
    }
  }

  /// The statements.
  func options(kind defaultKind: RecordingManifest.Trajectory.Kind) -> ImportOptions {
    var options = ImportOptions()
    options.kind = kind ?? defaultKind
    options.assumptions = kind == nil && defaultKind == .visualInertial ? [.kind] : []
    options.positionDrift = positionDrift
    options.yawDriftDegrees = yawDrift
    options.rangeSigma = rangeSigma
    options.isPlanar = planar
    options.movingPeers = moving
    options.antenna = antenna?.place
    return options
  }
}

/// The frames of the poses.
struct ImportFrameOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Which axis of the world points up: y or z; y-down or z-down when it points down, as z does in \
      north, east, down.
      """, valueName: "axis"))
  var up: ImportFrames.Up?

  @Option(
    help: ArgumentHelp(
      """
      The device's axes x, y, z: arkit (right, up, back), ros (forward, left, up), camera (right, \
      down, forward), euroc (up, right, forward).
      """, valueName: "axes"))
  var axes: ImportFrames.Axes?

  /// Which frames are not stated, for formats that leave them open.
  var assumptions: Set<ImportOptions.Assumption> {
    Set([up == nil ? .up : nil, axes == nil ? .axes : nil].compactMap(\.self))
  }

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

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp(
      "Read only rows whose column holds that text; again for other texts and columns.",
      valueName: "column=text"))
  var filters: [String] = []

  @Option(
    help: ArgumentHelp(
      "The column of a peer's distances, in a table with one for each; again for each.",
      valueName: "peer=column"))
  var peerColumn: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      What lines hold, as JSON, for logs that the options above cannot describe; 'nearby import \
      layouts' shows how.
      """, valueName: "file"), completion: .file(extensions: ["json"]))
  var layout: String?

  /// Whether no option was given.
  var isEmpty: Bool {
    map.isEmpty && unit.isEmpty && missing.isEmpty && peer == nil && delimiter == .comma
      && !noHeader && filters.isEmpty && peerColumn.isEmpty && layout == nil
  }

  func validate() throws {
    _ = try table()
    _ = try peerColumns()
    if !peerColumn.isEmpty, peer != nil {
      throw ValidationError("--peer-column names the peers; leave out --peer")
    }
    guard layout != nil else { return }
    guard map.isEmpty, unit.isEmpty, missing.isEmpty, peer == nil, delimiter == .comma, !noHeader,
      filters.isEmpty, peerColumn.isEmpty
    else {
      throw ValidationError("--layout describes all; leave out the other options of the table")
    }
  }

  /// The description of the table.
  func table() throws -> MappedTable {
    var table = MappedTable(
      map: try Self.map(FieldMap.rangingKeys, map, unit, missing), delimiter: delimiter,
      hasHeader: !noHeader)
    table.filters = try Self.filters(filters, option: "--where")
    return table
  }

  /// How the file is read.
  func format() throws -> RangingInput.Format {
    if let layout { return .layout(try TableLayout(path: layout)) }
    let (table, peers) = (try table(), try peerColumns())
    return peers.isEmpty
      ? .table(table, peer: peer) : .layout(TableLayout(table: table, peerColumns: peers))
  }

  private func peerColumns() throws -> [(peer: String, column: String)] {
    try peerColumn.map { text in
      let (peer, column) = try Self.parts(text, option: "--peer-column", form: "PEER=COLUMN")
      return (peer, column)
    }
  }

  /// Columns and the texts that they must hold.
  static func filters(_ texts: [String], option: String) throws -> [String: Set<String>] {
    var filters: [String: Set<String>] = [:]
    for text in texts {
      let (column, value) = try parts(text, option: option, form: "COLUMN=TEXT")
      filters[column, default: []].insert(value)
    }
    return filters
  }

  private static func parts(
    _ text: String, option: String, form: String
  ) throws -> (String, String) {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw ValidationError("\(option) \(text): write \(form)")
    }
    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
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
      """
      Added to the ranging's times, to bring them onto the clock of the poses; auto finds it: the offset \
      at which the ranges fit the path best.
      """, valueName: "seconds"))
  var rangingOffset = RangingOffset.seconds(0)

  /// An offset that is stated or found.
  enum RangingOffset: ExpressibleByArgument, Hashable, CustomStringConvertible {
    case seconds(Double)
    case auto

    init?(argument: String) {
      if argument == "auto" {
        self = .auto
      } else if let seconds = Double(argument) {
        self = .seconds(seconds)
      } else {
        return nil
      }
    }

    var description: String {
      switch self {
      case .seconds(let seconds): "\(seconds)"
      case .auto: "auto"
      }
    }
  }

  func validate() throws {
    guard case .seconds(let seconds) = rangingOffset, Timestamp(seconds: seconds) == nil else {
      return
    }
    throw ValidationError("--ranging-offset must be within 4.6e9 s")
  }

  /// Sets the offset of a file.
  func apply(to input: inout RangingInput) {
    switch rangingOffset {
    case .seconds(let seconds):
      input.offset = .nanoseconds(Timestamp(seconds: seconds)?.nanoseconds ?? 0)
    case .auto: input.alignsClock = true
    }
  }
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
    if ranging == nil, rangingFormat != nil || !table.isEmpty || clock.rangingOffset != .seconds(0)
    {
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
      case .csv: try table.format()
      case .uci: .uci(UciCapture())
      }
    var input = RangingInput(path: ranging, format: format)
    clock.apply(to: &input)
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
      """
      Which column of a csv of poses holds timestamp, tx, ty, tz, qx, qy, qz, qw. Without an \
      attitude only positions are read; a heading in the plane is yaw, a rotation vector rx, ry, rz.
      """, valueName: "key=column"))
  var poseMap: [String] = []

  @Option(help: ArgumentHelp("The unit of such a column.", valueName: "key=unit"))
  var poseUnit: [String] = []

  @Option(
    help: ArgumentHelp(
      "What separates columns in a csv of poses: comma, semicolon, tab or blanks.",
      valueName: "what"))
  var poseDelimiter: MappedTable.Delimiter = .comma

  @Flag(help: "The first line of a csv of poses is data.")
  var poseNoHeader = false

  @Option(
    help: ArgumentHelp(
      "Read only rows of poses whose column holds that text; again for others.",
      valueName: "column=text"))
  var poseWhere: [String] = []

  @OptionGroup var frames: ImportFrameOptions

  func validate() throws { _ = try input() }

  /// Which frames neither the format nor the user states.
  var assumptions: Set<ImportOptions.Assumption> {
    trajectoryFormat == .tum || trajectoryFormat == .csv ? frames.assumptions : []
  }

  /// The format, for messages.
  var expected: ForeignFormat {
    switch trajectoryFormat {
    case .tum: .tum
    case .euroc: .euroc
    case .stray: .stray
    case .csv: .csv
    }
  }

  /// The poses.
  func input() throws -> TrajectoryInput {
    var table = MappedTable(
      map: try RangingTableOptions.map(FieldMap.poseKeys, poseMap, poseUnit),
      delimiter: poseDelimiter, hasHeader: !poseNoHeader)
    table.filters = try RangingTableOptions.filters(poseWhere, option: "--pose-where")
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
        path: trajectory, format: .table(table),
        frames: frames.frames(up: .y, axes: .arkit))
    }
  }
}

extension ImportFrames.Up: ExpressibleByArgument {}
extension ImportFrames.Axes: ExpressibleByArgument {}
extension MappedTable.Delimiter: ExpressibleByArgument {}
extension RecordingManifest.Trajectory.Kind: ExpressibleByArgument {}

/// The true poses for an odometry, in the same axes, and the true places of its peers.
struct TruthOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The true poses, in the same axes.", valueName: "file"),
    completion: .file())
  var truth: String?

  @Option(
    help: ArgumentHelp(
      "The format of that file, when it is not the trajectory's.", valueName: "format"))
  var truthFormat: Format?

  @Option(
    help: ArgumentHelp(
      "The peers' true places in the world of the true poses: timestamp,peer,x,y,z, a row for a peer at rest.",
      valueName: "file"), completion: .file())
  var truePeers: String?

  func validate() throws {
    if truePeers != nil, truth == nil {
      throw ValidationError("--true-peers needs --truth: places count relative to the device")
    }
  }

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
    importer.truePeers = truePeers
    return importer
  }
}
