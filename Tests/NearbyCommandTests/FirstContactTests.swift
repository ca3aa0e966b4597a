// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Other people's files, imported without knowing our settings.
@Suite("First contact")
struct FirstContactTests {
  private static let fixtures = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "NearbyImportsTests/Fixtures")

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func fixture(_ name: String) -> String { fixtures.appending(path: name).path }

  private func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: folder.url.appending(path: name))
    return folder.path(name)
  }

  /// A walk of twenty seconds around a beacon: the table of its ranges, and its poses.
  private func walk(
    scale: Double = 1, offset: Double = 0, level: Bool = false, header: String = "time,mac,dist"
  ) throws -> (table: String, poses: String) {
    var (poses, table) = ("", header + "\n")
    for step in 0...200 {
      let time = 0.1 * Double(step)
      let (x, y) = (4 * sin(0.5 * time), 4 - 4 * cos(0.5 * time))
      let z = level ? 0 : 0.6 * sin(time)
      poses += "\(100 + time) \(x) \(y) \(z) 0 0 \(sin(time / 4)) \(cos(time / 4))\n"
      let d = (x: 6 - x, y: 1 - y, z: 1 - z)
      let distance = (d.x * d.x + d.y * d.y + d.z * d.z).squareRoot()
      // A noise of five centimetres that needs no generator.
      let noise = 0.07 * sin(Double(step * step))
      table += "\(100 + time + offset),beacon,\(scale * (distance + noise))\n"
    }
    return (try write(table, to: "uwb.csv"), try write(poses, to: "poses.txt"))
  }

  private func importTable(
    _ files: (table: String, poses: String), _ others: [String] = []
  ) throws -> CommandLineTool.Result {
    try CommandLineTool.run(
      [
        "import", "csv", files.table, "--trajectory", files.poses, "--map", "timestamp=time",
        "--map", "peer=mac", "--map", "distance=dist", "-o", folder.path("walk"), "--overwrite",
      ] + (others.contains("--up") ? [] : ["--up", "z", "--axes", "ros"]) + others)
  }

  @Test("A sound import ends with what it saw, and info with the same")
  func sound() throws {
    let result = try importTable(try walk(), ["--strict"])
    #expect(result.exitCode == 0 && result.errors.isEmpty, "\(result.errors)")
    let seen = "poses and samples overlap for 20 s; 10 poses and 10 samples a second"
    #expect(result.output.contains(seen), "\(result.output)")
    let info = try CommandLineTool.run("info", folder.path("walk"), "--strict")
    #expect(info.exitCode == 0)
    #expect(info.output.contains("note: \(seen)"))
    let json = try CommandLineTool.run("info", folder.path("walk"), "--json")
    let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    let findings = try #require(object?["findings"] as? [[String: Any]])
    #expect(findings.map { $0["kind"] as? String } == ["overlap"])
  }

  @Test("Clocks that are 1.7e9 s apart are an error with the offset, and the offset mends them")
  func clocks() throws {
    let files = try walk(offset: 1.7e9)
    let result = try importTable(files)
    #expect(result.exitCode == 65)
    #expect(result.errors.contains("\(files.table): no sample is within the time of the poses"))
    #expect(result.errors.contains("--ranging-offset -1700000000"), "\(result.errors)")
    #expect(!folder.has("walk"))
    #expect(try importTable(files, ["--ranging-offset", "-1700000000"]).exitCode == 0)
  }

  @Test("A run that does not find a peer says what is wrong with the recording")
  func findingsAfterRun() throws {
    let files = try walk(level: true)
    #expect(try importTable(files, ["--no-planar", "-q"]).exitCode == 0)
    let run = try CommandLineTool.run("run", folder.path("walk"), "-o", folder.path("out"))
    #expect(run.output.contains("not converged"), "\(run.output)")
    #expect(run.errors.contains("one height, where ranges alone cannot tell"), "\(run.errors)")
  }

  @Test("Centimetres taken for metres are a warning with the unit, and an error with --strict")
  func centimetres() throws {
    let files = try walk(scale: 100)
    let result = try importTable(files)
    #expect(result.exitCode == 0)
    #expect(result.errors.contains("nearby: warning: the distances change"), "\(result.errors)")
    #expect(result.errors.contains("--unit distance=cm"))
    let info = try CommandLineTool.run("info", folder.path("walk"), "--strict")
    #expect(info.exitCode == 65 && info.errors.contains("--unit distance=cm"))
    let strict = try importTable(files, ["--strict"])
    #expect(strict.exitCode == 65 && strict.output.isEmpty)
    let mended = try importTable(files, ["--strict", "--unit", "distance=cm"])
    #expect(mended.exitCode == 0, "\(mended.errors)")
  }

  @Test("Wheel odometry recorded as that of a camera is seen")
  func wheels() throws {
    let result = try importTable(try walk(level: true), ["--kind", "visualInertial"])
    #expect(result.exitCode == 0)
    #expect(
      result.errors.contains("as visual-inertial odometry never has; say where they come from"))
    let named = try importTable(try walk(level: true), ["--kind", "wheel", "--strict"])
    #expect(named.exitCode == 0, "\(named.errors)")
    #expect(named.output.contains("--no-planar"))
    let json = try folder.text(of: "walk/recording.json")
    #expect(json.contains("\"kind\": \"wheel\", \"positionDrift\": 0.05, \"yawDriftDegrees\": 0.5"))
    #expect(json.contains("\"planar\": true"))
  }

  @Test("What is stated is written")
  func statements() throws {
    let result = try importTable(
      try walk(),
      [
        "--position-drift", "0.2", "--yaw-drift", "1.5", "--range-sigma", "0.3", "--planar",
        "--moving", "beacon", "--antenna", "0.1, -0.02,0",
      ])
    #expect(result.exitCode == 0)
    let json = try folder.text(of: "walk/recording.json")
    for part in [
      "\"positionDrift\": 0.2, \"yawDriftDegrees\": 1.5, \"planar\": true", "\"rangeSigma\": 0.3",
      "{ \"id\": \"beacon\", \"motion\": \"moving\" }", "\"antenna\": [0.1, -0.02, 0.0]",
    ] {
      #expect(json.contains(part), "\(json)")
    }
    #expect(result.errors.contains("--no-planar"))
    let wrong = try importTable(try walk(), ["--range-sigma", "0"])
    #expect(wrong.exitCode == 64 && wrong.errors.contains("--range-sigma is 0.0, must be"))
    let two = try importTable(try walk(), ["--antenna", "0.1,0.2"])
    #expect(two.exitCode == 64 && two.errors.contains("invalid for '--antenna <x,y,z>'"))
  }

  @Test("A table of ranges comes with the true poses and places, where they are known")
  func truth() throws {
    let files = try walk()
    let peers = try write(
      "timestamp,peer,x,y,z\n100,beacon,6,1,1\n", to: "true-peers.csv")
    let result = try importTable(files, ["--truth", files.poses, "--true-peers", peers])
    #expect(result.exitCode == 0, "\(result.errors)")
    let run = try CommandLineTool.run(
      "run", folder.path("walk"), "-o", folder.path("out"), "--json")
    let summary = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
    let errors = try #require(summary?["errors"] as? [String: Any])
    let error = try #require(errors["finalError"] as? Double)
    #expect(error < 0.3)
    let alone = try importTable(files, ["--true-peers", peers])
    #expect(alone.exitCode == 64 && alone.errors.contains("--true-peers needs --truth"))
    let broken = try write("timestamp,peer,x,y,z\n100,beacon,6,one,1\n", to: "true-peers.csv")
    let refused = try importTable(files, ["--truth", files.poses, "--true-peers", broken])
    #expect(refused.exitCode == 65 && refused.errors.contains("true-peers.csv:2"))
  }

  @Test("A wrong name of a topic, a field or a column is answered with those there are")
  func names() throws {
    let log = Self.fixture("rosbag2.mcap")
    let files = try walk()
    for (arguments, said) in [
      (
        ["mcap", log, "--range-topic", "/uwbb"],
        ["there is no message of /uwbb", "did you mean /uwb?"]
      ),
      (
        ["mcap", log, "--range-topic", "/uwb", "--peer", "a"],
        ["none of the fields distance", "range_cm"]
      ),
      (
        ["mcap", log, "--range-topic", "/uwb", "--map", "distance=range_m", "--peer", "a"],
        ["has no field range_m", "range_cm"]
      ),
      (["mcap", log, "--pose-topic", "/uwb"], ["holds no pose"]),
      (
        ["csv", files.table, "--trajectory", files.poses, "--map", "timestamp=tme"],
        ["did you mean \"time\"?", "time, mac, dist"]
      ),
      (
        ["csv", files.table, "--trajectory", files.poses],
        ["no column is mapped to timestamp", "time, mac, dist"]
      ),
    ] {
      let result = try CommandLineTool.run(["import"] + arguments + ["-o", folder.path("out")])
      #expect(result.exitCode == 65, "\(arguments): \(result.output)")
      for part in said { #expect(result.errors.contains(part), "\(arguments): \(result.errors)") }
    }
    #expect(!folder.has("out"))
  }

  @Test("A file of another format is named")
  func otherFormats() throws {
    let euroc = Self.fixture("walk-17.euroc.csv")
    let table = try walk().table
    for (arguments, said) in [
      (["tum", euroc], "it looks like a EuRoC trajectory: see 'nearby import euroc --help'"),
      (
        [
          "csv", table, "--trajectory", euroc, "--map", "timestamp=time", "--map", "distance=dist",
          "--map", "peer=mac",
        ], "a EuRoC trajectory"
      ),
      (["tum", Self.fixture("walk.kitti")], "KITTI poses"),
      (["tum", Self.fixture("rosbag2.mcap")], "an MCAP log"),
      (["euroc", Self.fixture("walk.tum")], "a TUM trajectory"),
      (["pyfg", Self.fixture("walk.tum")], "a TUM trajectory"),
    ] {
      let result = try CommandLineTool.run(["import"] + arguments + ["-o", folder.path("out")])
      #expect(result.exitCode == 65)
      #expect(result.errors.contains(said), "\(arguments): \(result.errors)")
    }
    let info = try CommandLineTool.run("info", Self.fixture("rosbag2.mcap"))
    #expect(info.exitCode == 65 && info.errors.contains("'nearby import mcap --help'"))
  }

  @Test("Ranging that holds nothing is an error, and a motion alone is none")
  func nothing() throws {
    let files = try walk()
    let empty = try write("time,mac,dist\n", to: "empty.csv")
    let none = try importTable((empty, files.poses))
    #expect(none.exitCode == 65 && none.errors.contains("empty.csv: holds no samples"))
    let blank = try write("time,mac,dist\n100,a,\n101,a,nan\n102,a,\n", to: "blank.csv")
    let nothing = try importTable((blank, files.poses), ["--missing", "distance=nan"])
    #expect(nothing.exitCode == 65, "\(nothing.errors)")
    #expect(nothing.errors.contains("none of the 3 samples has a value"), "\(nothing.errors)")
    #expect(
      try CommandLineTool.run("import", "tum", files.poses, "-o", folder.path("motion")).exitCode
        == 0)
  }

  @Test("Tables of every shape: filters, a column for each peer, several files, layouts, ISO times")
  func shapes() throws {
    let poses = try walk().poses
    let wide = try write(
      "time,tag,d0,d1\n1970-01-01T00:01:41Z,7,300,400\n1970-01-01T00:01:42Z,8,1,1\n"
        + "1970-01-01T00:01:43Z,7,310,0\n", to: "wide.csv")
    let other = try write("time,tag,d0,d1\n100.5,7,290,390\n", to: "other.csv")
    let log = try write("101.5,DIST,1,AN0,1151,5.43,8.05,0.00,3.44\n101.6,POS,1,2,3\n", to: "l.log")
    let layout = try write(
      """
      { "header": false, "lines": [ { "where": { "2": "DIST" }, "groups": { "start": 4, "size": 6,
        "count": 3 }, "samples": [ { "timestamp": 1, "peer": "+2", "distance": "+6" } ] } ] }
      """, to: "lec.json")
    let columns = [
      "--map", "timestamp=time", "--peer-column", "A0=d0", "--peer-column", "A1=d1", "--unit",
      "distance=cm", "--missing", "distance=0", "--where", "tag=7",
    ]
    for (arguments, said) in [
      (["csv", wide] + columns, "3 samples of 2 peers"),
      (["csv", wide, other] + columns, "5 samples of 2 peers"),
      (["csv", log, "--layout", layout], "1 samples of 1 peer"),
    ] {
      let result = try CommandLineTool.run(
        ["import"] + arguments + ["--trajectory", poses, "-o", folder.path("out"), "--overwrite"])
      #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
      #expect(result.output.contains(said), "\(result.output)")
    }
    let both = try CommandLineTool.run(
      "import", "csv", log, "--layout", layout, "--peer", "a", "--trajectory", poses, "-o", "x")
    #expect(both.exitCode == 64 && both.errors.contains("--layout describes all"))
    let help = try CommandLineTool.run("import", "layouts")
    #expect(help.exitCode == 0 && help.output.contains("\"groups\": { \"start\": 4"))
    // Positions without attitude.
    let places = try write("t,x,y,z\n100,0,0,0\n101,3,0,1\n102,3,3,0\n103,0,3,1\n", to: "p.csv")
    let result = try CommandLineTool.run(
      "import", "csv", other, "--trajectory", places, "--trajectory-format", "csv", "--pose-map",
      "timestamp=t", "--pose-map", "tx=x", "--pose-map", "ty=y", "--pose-map", "tz=z", "--map",
      "timestamp=time", "--map", "distance=d0", "--unit", "distance=cm", "--peer", "a", "--up", "z",
      "-o", folder.path("places"))
    #expect(result.exitCode == 0, "\(result.errors)")
    #expect(result.output.contains("all poses have one attitude"), "\(result.output)")
  }

  @Test("Bags of ROS 1 and ROS 2, transforms, lists of ranges")
  func bags() throws {
    let map = [
      "--range-topic", "/uwb", "--map", "distance=ranges[].distance", "--map", "peer=ranges[].id",
      "--missing", "distance=-1",
    ]
    for (arguments, said) in [
      (["bag", Self.fixture("walk-bz2.bag"), "--pose-topic", "/path"], "40 samples of 2 peers"),
      (["bag", Self.fixture("walk.db3")], "which gives a drift of 0.1"),
      (["mcap", Self.fixture("walk-lz4.bag"), "--tf", "map:body"], "21 of 21 poses"),
    ] {
      let result = try CommandLineTool.run(
        ["import"] + arguments + map + ["-o", folder.path("out"), "--overwrite"])
      #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
      #expect(result.output.contains(said), "\(result.output)")
    }
    let definition = try write(
      "std_msgs/Header header\nuint8 KIND_TWR=1\nuwb_msgs/Anchor[] ranges\n", to: "Ranges.msg")
    let anchor = try write("string id\nfloat32 distance\nfloat64 variance\n", to: "Anchor.msg")
    let bare = ["import", "bag", Self.fixture("walk-bare.db3"), "-o", folder.path("bare")] + map
    let without = try CommandLineTool.run(bare)
    #expect(without.exitCode == 65 && without.errors.contains("--definition TYPE=FILE.msg"))
    let with = try CommandLineTool.run(
      bare + [
        "--definition", "uwb_msgs/Ranges=\(definition)", "--definition",
        "uwb_msgs/Anchor=\(anchor)",
      ])
    #expect(with.exitCode == 0, "\(with.errors)")
    for (arguments, said) in [
      (["--tf", "map"], "--tf names two frames"), (["--definition", "x"], "write TYPE=FILE"),
      (["--tf", "a:b", "--pose-topic", "/p"], "contradict each other"),
    ] {
      let wrong = try CommandLineTool.run(["import", "bag", "x", "-o", "y"] + arguments)
      #expect(wrong.exitCode == 64 && wrong.errors.contains(said), "\(wrong.errors)")
    }
  }

  @Test(
    "A word that is no command or format is answered with those there are",
    arguments: [
      (["rnu", "x"], "'nearby' has no command 'rnu'; did you mean run? there are run, batch"),
      (
        ["import", "bog", "x", "-o", "y"], "'nearby import' has no format 'bog'; did you mean bag?"
      ),
      (
        ["import", "xyzzy", "x", "-o", "y"],
        "there are tum, euroc, kitti, stray, csv, tdoa, uci, mcap, bag"
      ),
      (["export", "csv", "x"], "'nearby export' has no format 'csv'"),
      (["datasets", "lst"], "'nearby datasets' has no command 'lst'; did you mean list?"),
    ])
  func unknownWords(arguments: [String], said: String) throws {
    let result = try CommandLineTool.run(arguments)
    #expect(result.exitCode == 64)
    #expect(result.errors.contains(said), "\(result.errors)")
    #expect(result.errors.split(separator: "\n").count == 1)
  }

  @Test("A result whose recording is elsewhere asks for --recording")
  func elsewhere() throws {
    let recording = try WalkRecording().write(to: folder)
    let out = folder.path("out")
    #expect(try CommandLineTool.run("run", recording, "-o", out, "-q").exitCode == 0)
    try FileManager.default.moveItem(atPath: recording, toPath: folder.path("moved"))
    for arguments in [["evaluate", out], ["report", out, "-o", folder.path("r.html")]] {
      let result = try CommandLineTool.run(arguments)
      #expect(result.exitCode == 65)
      #expect(result.errors.contains("name the recording with --recording DIR"), "\(result.errors)")
    }
    let named = try CommandLineTool.run("evaluate", out, "--recording", folder.path("moved"))
    #expect(named.exitCode == 0, "\(named.errors)")
    let wrong = try CommandLineTool.run("evaluate", folder.path("none"))
    #expect(!wrong.errors.contains("--recording"), "\(wrong.errors)")
  }

  @Test("Settings are listed, and other spellings are read with a notice")
  func settings() throws {
    let list = try CommandLineTool.run("settings")
    #expect(list.exitCode == 0)
    #expect(list.output.contains("odometry.isPlanar"))
    let found = try CommandLineTool.run("settings", "planar")
    #expect(found.output.split(separator: "\n").count == 1)
    #expect(found.output.contains("also odometry.planar, trajectory.planar"), "\(found.output)")
    #expect(try CommandLineTool.run("settings", "xyzzy").exitCode == 64)
    let recording = try WalkRecording().write(to: folder)
    let file = try write("{ \"odometry\": { \"yawDriftDegrees\": 18 } }", to: "c.json")
    let run = try CommandLineTool.run(
      "run", recording, "-o", folder.path("out"), "--config", file)
    #expect(run.exitCode == 0, "\(run.errors)")
    // Warnings about the recording may follow.
    #expect(
      run.errors.hasPrefix(
        "nearby: \(file): odometry.yawDriftDegrees is read as odometry.yawDriftRadians; write that\n"
      ))
    #expect(try folder.text(of: "out/configuration.json").contains("\"yawDriftRadians\" : 0.31415"))
  }
}
