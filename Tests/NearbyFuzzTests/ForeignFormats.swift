// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbyImports
import NearbyInteraction
import NearbyRecordings
import NearbySimulation
import NearbyTestSupport

@testable import NearbyBatch

/// A format of files from other programs: valid files, and how they are read.
struct ForeignFormat: Sendable {
  /// The name under which cases are counted.
  let name: String
  /// The files that belong together, each by its path in a folder; one of them is damaged.
  let files: [[String: [UInt8]]]
  /// Whether an error names the damaged file.
  var namesFiles = false
  /// Reads the files in a folder, and throws for damaged ones.
  let read: @Sendable (_ folder: String) throws -> Void

  private init(
    _ name: String, _ files: [[String: [UInt8]]],
    read: @escaping @Sendable (_ folder: String) throws -> Void
  ) {
    self.name = name
    self.files = files
    self.read = read
  }

  /// One file, in several forms.
  private init(
    _ name: String, file: String = "input", _ contents: [[UInt8]],
    read: @escaping @Sendable (_ path: String, _ output: String) throws -> Void
  ) {
    self.init(name, contents.map { [file: $0] }) { try read("\($0)/\(file)", "\($0)/out") }
  }

  /// All formats.
  static func all() throws -> [ForeignFormat] {
    try recordings() + trajectories() + ranging() + graphs() + settings() + batches() + tokens()
      + moreRanging()
  }

  // MARK: Sound files

  private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func fixture(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: tests.appending(path: "NearbyImportsTests/Fixtures/\(name)")))
  }

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static let manifest = """
    { "format": "nearby-recording", "version": 1, "name": "n\\u00e9", "world": { "up": "z" },
      "device": { "antenna": [0.1, -2e-1, 0] }, "peers": [ { "id": "a", "motion": "moving" } ] }
    """

  private static let recording = [
    "recording.json": bytes(manifest),
    "trajectory.txt": bytes(
      "# t\n1.5 0 1e0 -2.5 0 0 0.6 0.8\r\n1.75 0 0 0 0 0 0 1\n2 0 0 0 0 0 0 1\n3 1 0 0 0 0 0 1\n"),
    "ranging.csv": bytes(
      """
      timestamp,peer,distance,azimuth,elevation,nlos
      1,"a""b",1.25,-0.5,,1
      1.5,b,nan,,,
      2,a,,1e-3,0.25,false
      2.5,a,3,0.1,0.25,

      """),
    "tracking.csv": bytes(
      "timestamp,state,reason,ambient_intensity\n1,limited,relocalizing,\n2,normal,,900.5\n"),
    "truth/trajectory.txt": bytes("1 0 0 0 0 0 0 1\n3 0 1 0 0 0 0 1\n"),
    "truth/peers.csv": bytes("timestamp,peer,x,y,z\n0,a,1,2,3\n"),
  ]

  // MARK: Recordings

  /// Reads a recording in every way.
  ///
  /// - Parameters:
  ///   - folder: The recording.
  ///   - hasRanging: Whether it should have samples, without which a recording cannot be run.
  /// - Throws: The first fault.
  private static func readRecording(_ folder: String, hasRanging: Bool = true) throws {
    let recording = try RecordingReader(folder: folder)
    guard hasRanging else {
      _ = try TumExporter().export(recording, truth: true, to: "\(folder)/truth.tum")
      _ = try TumExporter().export(recording, truth: false, to: "\(folder)/poses.tum")
      return
    }
    _ = try recording.info().text()
    var events = try recording.events()
    while try events.next() != nil {}
    _ = try? TumExporter().export(recording, truth: true, to: "\(folder)/truth.tum")
    _ = try? PyfgExporter(recording).export(to: "\(folder)/graph.pyfg")
    let lines = "\(folder)/lines.jsonl"
    if (try? LinesExporter(recording).export(to: lines)) != nil {
      var importer = LinesImporter(path: lines)
      importer.options.replacesRecording = true
      _ = try? importer.importRecording(to: "\(folder)/again")
    }
  }

  private static func recordings() throws -> [ForeignFormat] {
    let lines = """
      {"type":"manifest","manifest":\(manifest.replacing("\n", with: ""))}
      {"type":"pose","timestamp":1700000000.123456789,"tx":1,"ty":-2.5e-3,"tz":3,"qx":0,"qy":0,"qz":0.6,"qw":0.8}
      { "timestamp" : 1700000000.2 , "peer" : "a \\"b\\" \\u00e9" , "distance" : 3.25 , "type" : "range", "azimuth": null, "elevation": -0.5, "nlos": true, "rssi": "nan", "more": {"x": ["}"]} }

      {"type":"tracking","timestamp":1700000000.3,"state":"limited","reason":"excessiveMotion","ambient_intensity":120}
      {"type":"truePose","timestamp":1700000000.1,"tx":0,"ty":0,"tz":0,"qx":0,"qy":0,"qz":0,"qw":1}
      {"type":"truePeer","timestamp":0,"peer":"a","x":1,"y":2,"z":3}

      """
    let estimates = """
      timestamp,peer,mean_x,mean_y,mean_z,cov_xx,cov_xy,cov_xz,cov_yy,cov_yz,cov_zz,status,reasons,hypotheses
      1,a,1,2,3,0.1,0,0,0.1,0,0.1,converged,,1

      """
    var ours = ForeignFormat("recordings", [recording]) { try readRecording($0) }
    ours.namesFiles = true
    return [
      ours,
      ForeignFormat("JSON lines", [bytes(lines)]) { path, output in
        _ = try LinesImporter(path: path).importRecording(to: output)
        try readRecording(output)
      },
      ForeignFormat("estimates", [bytes(estimates)]) { path, _ in
        var reader = try EstimateReader(path: path, kind: .smoothed)
        while try reader.next() != nil {}
      },
    ]
  }

  // MARK: Trajectories

  private static func trajectory(
    _ name: String, _ files: [[String: [UInt8]]],
    _ format: @escaping @Sendable (_ folder: String) -> TrajectoryInput.Format
  ) -> ForeignFormat {
    ForeignFormat(name, files) { folder in
      let input = TrajectoryInput(
        path: "\(folder)/input", format: format(folder), frames: ImportFrames(up: .z, axes: .ros))
      var importer = RecordingImporter(trajectory: input)
      importer.truth = input
      importer.options.thinning = TrajectoryThinning()
      _ = try importer.importRecording(to: "\(folder)/out")
      try readRecording("\(folder)/out", hasRanging: false)
    }
  }

  private static func trajectories() throws -> [ForeignFormat] {
    let table = MappedTable(
      map: try FieldMap(
        keys: FieldMap.poseKeys, fields: ["timestamp=t", "tx=x"],
        units: ["timestamp=ns", "tx=mm"]))
    return [
      trajectory("TUM", [["input": try fixture("walk.tum")]]) { _ in .tum },
      trajectory(
        "EuRoC",
        [
          ["input": try fixture("walk-8.euroc.csv")], ["input": try fixture("walk-17.euroc.csv")],
        ]
      ) { _ in .euroc },
      trajectory(
        "KITTI", [["input": try fixture("walk.kitti"), "times": try fixture("walk.times")]]
      ) { .kitti(times: "\($0)/times") },
      trajectory(
        "Stray Scanner",
        [
          [
            "input": bytes(
              "timestamp, frame, x, y, z, qx, qy, qz, qw\n1, 0, 1, 2, 3, 0, 0, 0, 1\n2, 1, 1, 2, 4, 0, 0.6, 0, 0.8\n"
            )
          ]
        ]
      ) { _ in .stray },
      trajectory(
        "tables of poses",
        [
          [
            "input": bytes(
              "t,x,ty,tz,qx,qy,qz,qw\n1403715273262142976,1,2,3,0,0,0,1\n1403715274262142976,1,2,4,0,0,0,1\n"
            )
          ]
        ]
      ) { _ in .table(table) },
    ]
  }

  // MARK: Ranging

  private static func ranging(
    _ name: String, _ contents: [[UInt8]], _ format: RangingInput.Format, offset: Duration = .zero
  ) throws -> ForeignFormat {
    let poses = try fixture("walk.tum")
    return ForeignFormat(name, contents.map { ["input": $0, "poses": poses] }) { folder in
      var importer = RecordingImporter(
        trajectory: TrajectoryInput(
          path: "\(folder)/poses", format: .tum, frames: ImportFrames(up: .z, axes: .ros)))
      var input = RangingInput(path: "\(folder)/input", format: format)
      input.offset = offset
      importer.ranging = input
      _ = try importer.importRecording(to: "\(folder)/out")
      try readRecording("\(folder)/out")
    }
  }

  private static func ranging() throws -> [ForeignFormat] {
    let map = try FieldMap(
      keys: FieldMap.rangingKeys, fields: ["timestamp=time", "azimuth=a"],
      units: ["timestamp=ms", "azimuth=-deg", "distance=cm"], missing: ["distance=65535"])
    let rows = "time,peer,distance,a,nlos\n100262,\"k\",150,0.1,1\n100362,k,65535,,\n"
    return [
      try ranging("tables of ranges", [bytes(rows)], .table(MappedTable(map: map), peer: nil)),
      try ranging(
        "ranges as ours", [recording["ranging.csv"] ?? []], .recording, offset: .seconds(99)),
      try ranging(
        "UCI", [try fixture("uci.bin")], .uci(UciCapture()), offset: .milliseconds(100_500)),
    ]
  }

  /// Captures with times, bags, and logs that a layout describes.
  private static func moreRanging() throws -> [ForeignFormat] {
    let map = try FieldMap(
      keys: FieldMap.rangingKeys,
      fields: [
        "distance=ranges[].distance", "peer=ranges[].id", "distance_sigma=ranges[].variance",
      ],
      units: ["distance_sigma=m2"], missing: ["distance=-1"])
    let layout = """
      { "delimiter": "comma", "header": false, "lines": [ { "where": { "2": ["DIST"] },
        "groups": { "start": 4, "size": 2, "count": 3 }, "samples": [ { "timestamp": 1,
        "peer": "+1", "distance": { "column": "+2", "unit": "cm", "missing": [0] } } ] } ] }
      """
    let log = "100.5,DIST,2,a,150,b,0\n1970-01-01T00:01:41Z,DIST,1,b,250\n101,POS,1\n"
    let poses = try fixture("walk.tum")
    return [
      try ranging("UCI as text", [try fixture("uci.hex")], .uci(UciCapture())),
      try ranging(
        "UCI as pcapng", try ["uci.pcapng", "uci-big-endian.pcapng"].map(fixture),
        .uci(UciCapture()), offset: .seconds(-1_403_715_173)),
      ForeignFormat(
        "ROS bags",
        try ["walk-none.bag", "walk-bz2.bag", "walk-lz4.bag", "walk.db3"].map(fixture)
      ) { path, output in
        var importer = LogImporter(path: path)
        importer.transform = ("map", "body")
        importer.rangeTopic = "/uwb"
        importer.rangeMap = map
        _ = try importer.importRecording(to: output)
        try readRecording(output)
      },
      ForeignFormat("layouts", [["layout": bytes(layout), "log": bytes(log), "poses": poses]]) {
        folder in
        var importer = RecordingImporter(
          trajectory: TrajectoryInput(
            path: "\(folder)/poses", format: .tum, frames: ImportFrames(up: .z, axes: .ros)))
        importer.ranging = RangingInput(
          path: "\(folder)/log", format: .layout(try TableLayout(path: "\(folder)/layout")))
        _ = try importer.importRecording(to: "\(folder)/out")
        try readRecording("\(folder)/out")
      },
    ]
  }

  // MARK: Graphs, logs, MATLAB files

  private static func graphs() throws -> [ForeignFormat] {
    let graph = """
      VERTEX_SE2 0.000000000 A0 10 20 1.5707963267948966
      VERTEX_SE2 1.000000000 A1 10 21 3.141592653589793
      VERTEX_SE2 0.5 B0 5 5 0
      VERTEX_XY L0 12 20
      VERTEX_SE2:PRIOR 0 A0 10 20 1.57 1 0 0 1 0 1
      EDGE_SE2 1.000000000 A0 A1 1 0 1.5707963267948966 1 0 0 1 0 1
      EDGE_RANGE 1.000000000 A1 B0 16.2 0.04
      EDGE_RANGE 0.000000000 L0 A0 2.1 0.010000
      EDGE_SE2_XY 1.0 A1 L0 -2 1 0.04 0 0.01

      """
    let space = """
      VERTEX_SE3:QUAT 0 A0 1 2 3 0 0 0 1
      VERTEX_SE3:QUAT 1 A1 1 2 4 0 0 0.6 0.8
      VERTEX_XYZ L0 4 5 6
      EDGE_SE3:QUAT 1 A0 A1 0 0 1 0 0 0.6 0.8 1 0 0 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 1 0 1
      EDGE_RANGE 1 A1 L0 3.5 0.01

      """
    let logs = [
      "tiny-json.mcap", "tiny-lz4.mcap", "tiny-zstd.mcap", "walk-json.mcap", "walk-none.mcap",
      "rosbag2.mcap",
    ]
    let map = try FieldMap(
      keys: FieldMap.rangingKeys,
      fields: ["distance=range_cm", "peer=anchor", "azimuth=angles[0]", "rssi=qualities[0].value"],
      units: ["distance=cm", "azimuth=-rad"])
    return [
      ForeignFormat("PyFG", [bytes(graph), bytes(space)]) { path, output in
        _ = try PyfgImporter(path: path).importRecording(to: output)
        try readRecording(output)
      },
      ForeignFormat("MCAP", try logs.map(fixture)) { path, output in
        var importer = McapImporter(path: path)
        importer.rangeTopic = "/uwb"
        importer.rangeMap = map
        _ = try importer.importRecording(to: output)
        try readRecording(output)
      },
      ForeignFormat("MATLAB", [true, false].map { ["in/Plaza2_.mat": plaza(isCompressed: $0)] }) {
        folder in
        for odometry in [PlazaImporter.Odometry.increments, .path] {
          var importer = PlazaImporter()
          importer.odometry = odometry
          importer.replacesRecording = true
          _ = try importer.importRecording(from: "\(folder)/in", to: "\(folder)/out")
          try readRecording("\(folder)/out")
        }
      },
    ]
  }

  /// A mower that goes once around a circle.
  private static func plaza(isCompressed: Bool) -> [UInt8] {
    let turn = 2 * Double.pi / 20
    var (x, y, heading) = (3.0, -4.0, 0.5)
    var truth = [[100, x, y, heading]]
    var (steps, path, tags) = ([[Double]](), [[100.0, 0, 0, 0]], [[Double]]())
    for step in 1...20 {
      let time = 100 + 0.25 * Double(step)
      x += cos(heading + turn / 2)
      y += sin(heading + turn / 2)
      heading += turn
      truth.append([time, x, y, heading])
      steps.append([time, 1, turn])
      path.append([time, 2 * Double(step), 0, 0])
      tags.append([time, 2, 7, 20])
    }
    return MatlabSketch(
      tables: [
        ("GT", truth), ("DR", steps), ("DRp", path), ("TD", tags),
        ("TL", [[7, 20, 0], [2, 0, 9]]),
      ], isCompressed: isCompressed
    ).bytes
  }

  // MARK: Settings

  private static func settings() throws -> [ForeignFormat] {
    let configuration = bytes(ConfigurationFile.json(of: FusionConfiguration()))
    let scenarios = Scenario.presets.prefix(3).map { bytes(CanonicalJSON.text(of: $0)) }
    return [
      ForeignFormat("configurations", [configuration]) { path, _ in
        _ = try ConfigurationFile.read(path: path, over: FusionConfiguration())
      },
      ForeignFormat("assignments", [bytes("faults.rangeOnset=0.1"), bytes("odometry={}")]) {
        path, _ in
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        // An error names the assignment, which must not be empty.
        guard !text.isEmpty else { return }
        _ = try ConfigurationFile.apply(assignment: text, over: FusionConfiguration())
      },
      ForeignFormat("scenarios", scenarios) { path, _ in
        let scenario = try SettingsText.apply(
          json: Array(try Data(contentsOf: URL(filePath: path))), file: path,
          over: Scenario(.wanderingWalk), as: SettingsText.Format(name: "the scenario"))
        do { try scenario.validate() } catch {
          throw RecordingError(
            .valueOutOfRange, "\(error)", file: path, remedy: "choose another value")
        }
      },
    ]
  }

  // MARK: Batches

  private static func batches() throws -> [ForeignFormat] {
    let datasets = tests.deletingLastPathComponent().appending(path: "Datasets/datasets.json")
    let digest = ContentDigest([1, 2, 3]).description
    let receipt = """
      { "version": "0", "build": "0", "options": { "smooths": true, "evaluates": false }, "settings": "\(digest)",
        "recording": { "trajectory.txt": "\(digest)" }, "results": { "summary.json": "\(digest)" } }
      """
    return [
      ForeignFormat("data sets", [Array(try Data(contentsOf: datasets))]) { path, _ in
        let manifest = try DatasetManifest(path: path)
        for dataset in manifest.datasets { _ = dataset.files?.map(\.name) }
      },
      ForeignFormat(
        "receipts", [[BatchReceipt.fileName: bytes(receipt), "summary.json": bytes("{}")]]
      ) { folder in
        let wanted = try JSONDecoder().decode(BatchReceipt.self, from: Data(receipt.utf8))
        _ = wanted.isFulfilled(by: folder)
      },
    ]
  }

  // MARK: Tokens

  private static func tokens() throws -> [ForeignFormat] {
    let token = SessionToken(high: 1 << 60, low: 42, capabilities: .phoneWithAntennaArray)
    let accessory = AccessoryConfigurationData(
      radio: .init(maker: 1, model: 2, address: 3)
    ).bytes
    let text = Array(try JSONEncoder().encode([token]))
    let sent = try JSONDecoder().decode([NIDiscoveryToken].self, from: Data(text))
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: sent[0], requiringSecureCoding: true)
    return [
      ForeignFormat("tokens", [text]) { path, _ in
        _ = try JSONDecoder().decode(
          [NIDiscoveryToken].self, from: Data(contentsOf: URL(filePath: path)))
      },
      ForeignFormat("archives of tokens", [Array(archive)]) { path, _ in
        _ = try NSKeyedUnarchiver.unarchivedObject(
          ofClass: NIDiscoveryToken.self, from: Data(contentsOf: URL(filePath: path)))
      },
      ForeignFormat("accessory data", [accessory]) { path, _ in
        _ = try NINearbyAccessoryConfiguration(data: Data(contentsOf: URL(filePath: path)))
      },
    ]
  }
}
