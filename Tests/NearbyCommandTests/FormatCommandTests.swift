// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("nearby import, nearby export and nearby run -")
struct FormatCommandTests {
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

  @Test("Every format becomes a recording that the other commands read")
  func imports() throws {
    let poses = Self.fixture("walk.tum")
    let uwb = try write(
      "time_ms,mac,dist_cm,aoa\n100100,a,512,-10\n100200,b,300,5\n", to: "uwb.csv")
    let map = [
      "--map", "timestamp=time_ms", "--map", "distance=dist_cm", "--map", "peer=mac", "--map",
      "azimuth=aoa", "--unit", "timestamp=ms", "--unit", "distance=cm", "--unit", "azimuth=deg",
    ]
    let imports: [(arguments: [String], said: String)] = [
      (["tum", poses, "--up", "z", "--axes", "ros"], "no ranging, 21 of 21 poses, 2 s, 4 m"),
      (["tum", poses, "--ranging", uwb] + map, "2 samples of 2 peers"),
      (
        ["tum", poses, "--ranging", Self.fixture("uci.hex"), "--ranging-format", "uci"],
        "12 samples"
      ),
      (
        [
          "euroc", Self.fixture("walk-17.euroc.csv"), "--ranging", Self.fixture("uci.pcapng"),
          "--thin",
        ],
        "12 samples of 3 peers"
      ),
      (["kitti", Self.fixture("walk.kitti"), Self.fixture("walk.times")], "y up, device camera"),
      (["csv", uwb, "--trajectory", poses] + map, "2 samples of 2 peers"),
      (
        [
          "uci", Self.fixture("uci.bin"), "--trajectory", poses, "--ranging-offset", "100.5",
          "--name", "lab",
        ], "lab: 12 samples of 3 peers"
      ),
      (
        [
          "mcap", Self.fixture("rosbag2.mcap"), "--range-topic", "/uwb", "--map", "peer=anchor",
          "--map", "distance=range_cm", "--unit", "distance=cm",
        ], "21 samples of 2 peers, 21 of 21 poses"
      ),
    ]
    for (arguments, said) in imports {
      let output = folder.path("out")
      let result = try CommandLineTool.run(
        ["import"] + arguments + ["--output", output, "--overwrite"])
      #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
      #expect(result.output.contains(said), "\(arguments): \(result.output)")
      guard !said.contains("no ranging"), !said.contains("camera") else { continue }
      let info = try CommandLineTool.run("info", output)
      #expect(info.exitCode == 0, "\(arguments): \(info.errors)")
    }
    let simulated = try CommandLineTool.run(
      "import", "kitti", Self.fixture("walk.kitti"), Self.fixture("walk.times"), "-o",
      folder.path("motion"), "--quiet")
    #expect(simulated.exitCode == 0 && simulated.output.isEmpty)
    let radios = try CommandLineTool.run(
      "simulate", "find", "--trajectory", folder.path("motion"), "-o", folder.path("radios"))
    #expect(radios.exitCode == 0, "\(radios.errors)")
  }

  @Test(
    "Command lines that make no sense",
    arguments: [
      (["import", "tum", "x", "-o", "o", "--map", "distance=d"], "add --ranging FILE"),
      (
        ["import", "csv", "x", "-o", "o", "--trajectory", "t", "--unit", "distance=km"], "cm, m, mm"
      ),
      (["import", "mcap", "x", "-o", "o", "--peer", "a"], "add --range-topic"),
      (["import", "uci", "x", "-o", "o"], "--trajectory"), (["run", "x"], "--output"),
      (["run", "-", "--output", "o"], "standard output"), (["run", "-", "--smooth"], "leave out"),
      (["export", "tum", "x", "-o", "y", "--truth", "--peer", "a"], "--truth"),
      (["export", "jsonl", "x", "-o", ""], "name a file"),
    ])
  func usage(arguments: [String], said: String) throws {
    let result = try CommandLineTool.run(arguments)
    #expect(result.exitCode == 64)
    #expect(result.errors.contains(said), "\(result.errors)")
  }

  @Test("A fault in a foreign file is reported with its location, and no files are left")
  func faults() throws {
    let path = try write("1 0 0 0 0 0 0 1\n2 0 0 0 0 0 0 2\n", to: "poses.txt")
    let result = try CommandLineTool.run("import", "tum", path, "-o", folder.path("out"))
    #expect(result.exitCode == 65)
    #expect(result.errors.hasPrefix("nearby: error: \(path):2: the quaternion's length is 2.0"))
    #expect(try folder.contents() == ["poses.txt"])
  }

  @Test("The estimates of the live pipe are those of a run")
  func live() throws {
    let recording = try WalkRecording().write(to: folder)
    let lines = folder.path("walk.jsonl")
    #expect(try CommandLineTool.run("export", "jsonl", recording, "-o", lines).exitCode == 0)
    let run = try CommandLineTool.run("run", recording, "--output", folder.path("out"), "--quiet")
    #expect(run.exitCode == 0)
    let live = try CommandLineTool.run(["run", "-"], inputPath: lines)
    #expect(live.exitCode == 0)
    #expect(live.errors.isEmpty)
    let table = EstimateTable(try folder.text(of: "out/estimates.csv"))
    let answers = live.output.split(separator: "\n")
    #expect(answers.count == WalkRecording.samples)
    try #require(answers.count == table.rows.count)
    for (row, answer) in zip(table.rows, answers) {
      // Compares the text of each number, not its value, since the written text must be the same.
      var fields: [String: String] = [:]
      let object = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
      for (key, value) in try #require(object) {
        if value is String { fields[key] = value as? String }
      }
      for column in table.columns {
        let expected = row[column] ?? ""
        if let text = fields[column] {
          #expect(text == expected, "\(column)")
        } else {
          let shown = expected.isEmpty ? "null" : expected
          #expect(
            answer.contains("\"\(column)\":\(shown),")
              || answer.contains("\"\(column)\":\(shown)}"),
            "\(column) \(expected): \(answer)")
        }
      }
      #expect(object?.count == table.columns.count)
    }
  }

  @Test("Faulty lines are reported and skipped, and the exit status is 65")
  func faultyLines() throws {
    let pose = { (time: Double) in
      #"{"type":"pose","timestamp":\#(time),"tx":0,"ty":0,"tz":0,"qx":0,"qy":0,"qz":0,"qw":1}"#
    }
    let range = { (time: Double) in
      #"{"type":"range","timestamp":\#(time),"peer":"keys","distance":3,"colour":"red"}"#
    }
    let path = try write(
      [pose(1), "nonsense", range(1), pose(0.5), #"{"type":"manifest"}"#, range(1.05)]
        .joined(separator: "\n"), to: "lines")
    let result = try CommandLineTool.run(["run", "-"], inputPath: path)
    #expect(result.exitCode == 65)
    #expect(result.output.split(separator: "\n").count == 2)
    #expect(result.output.hasPrefix("{\"timestamp\":1.000000,\"peer\":\"keys\",\"status\":"))
    let errors = result.errors.split(separator: "\n")
    #expect(errors.count == 5)
    #expect(errors[0] == "nearby: error: -:2:1: expected \"{\"; write one JSON object a line")
    #expect(errors[1].hasPrefix("nearby: error: -:4: the pose is not after the pose before it"))
    #expect(errors[2].hasPrefix("nearby: error: -:5: a manifest comes after other lines"))
    #expect(errors[3] == "nearby: warning: -: range: unknown key \"colour\" is ignored")
    #expect(errors[4] == "nearby: error: 3 lines were faulty and left out")
    // Peers that are not selected get no output.
    let other = try CommandLineTool.run(["run", "-", "--peer", "bag", "-q"], inputPath: path)
    #expect(other.output.isEmpty)
  }

  @Test("Truth comes in the trajectory's format, or in another that is named")
  func truth() throws {
    let (poses, other) = (Self.fixture("walk.tum"), Self.fixture("walk-17.euroc.csv"))
    for (arguments, count) in [
      (["tum", poses, "--truth", poses], 21),
      (["tum", poses, "--truth", other, "--truth-format", "euroc"], 21),
      (["euroc", other, "--truth", other], 21),
      (["euroc", other, "--truth", poses, "--truth-format", "tum"], 21),
    ] {
      let result = try CommandLineTool.run(
        ["import"] + arguments + ["-o", folder.path("walk"), "--overwrite"])
      #expect(result.exitCode == 0, "\(result.errors)")
      #expect(result.output.contains("\(count) true poses"), "\(result.output)")
    }
    let wrong = try CommandLineTool.run(
      "import", "tum", poses, "--truth", other, "-o", folder.path("none"))
    #expect(wrong.exitCode == 65 && wrong.errors.contains("walk-17.euroc.csv:"))
  }

  @Test("Trajectories, truth and the positions of a peer for evo")
  func tum() throws {
    let recording = try WalkRecording().write(to: folder)
    #expect(
      try CommandLineTool.run("run", recording, "-o", folder.path("out"), "-q").exitCode == 0)
    for (arguments, count) in [
      ([recording], 103), ([recording, "--truth"], 103),
      ([folder.path("out"), "--peer", "keys"], 101),
    ] {
      let result = try CommandLineTool.run(
        ["export", "tum"] + arguments + ["-o", folder.path("t.tum")])
      #expect(result.exitCode == 0, "\(result.errors)")
      #expect(result.output == "\(count) lines -> \(folder.path("t.tum"))\n")
      let lines = try folder.text(of: "t.tum").split(separator: "\n")
      #expect(lines.count == count)
      for line in lines {
        let fields = line.split(separator: " ", omittingEmptySubsequences: false)
        #expect(fields.count == 8)
        #expect(fields.allSatisfy { Double($0) != nil })
        #expect(fields[0].split(separator: ".").last?.count == 9)
      }
    }
    let result = try CommandLineTool.run(
      "export", "tum", folder.path("out"), "-o", folder.path("t.tum"))
    #expect(result.exitCode == 64)
    #expect(result.errors.contains("--peer NAME"))
    let unknown = try CommandLineTool.run(
      "export", "tum", folder.path("out"), "--peer", "dog", "-o", folder.path("t.tum"))
    #expect(unknown.exitCode == 65)
    #expect(unknown.errors.contains("name one of bag, blue, keys"))
  }

  @Test("A factor graph of a recording can be imported again and gives the same positions")
  func graph() throws {
    let recording = try WalkRecording().write(to: folder)
    let exported = try CommandLineTool.run(
      "export", "pyfg", recording, "-o", folder.path("walk.pyfg"))
    #expect(exported.exitCode == 0)
    #expect(
      try CommandLineTool.run(
        "import", "pyfg", folder.path("walk.pyfg"), "-o", folder.path("again")
      )
      .exitCode == 0)
    let result = try CommandLineTool.run("run", folder.path("again"), "-o", folder.path("out"))
    #expect(result.exitCode == 0, "\(result.errors)")
    let table = EstimateTable(try folder.text(of: "out/estimates.csv"))
    let last = try #require(table.rows.last { $0["peer"] == "L0" })
    #expect(abs((last.number("mean_x") ?? 0) - WalkRecording.keys.x) < 0.2)
    #expect(abs((last.number("mean_y") ?? 0) - WalkRecording.keys.y) < 0.2)
    #expect(abs((last.number("mean_z") ?? 0) - WalkRecording.keys.z) < 0.2)
  }
}
