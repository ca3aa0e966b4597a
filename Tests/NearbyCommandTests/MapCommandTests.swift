// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import Testing

@Suite("nearby run --map")
struct MapCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Beacons of a hall, z up.
  private static let beacons: [(name: String, x: Double, y: Double, z: Double)] = [
    ("door", 0, 0, 2.6), ("desk", 8, 0.5, 0.4), ("shelf", 7.5, 6, 2.2), ("window", 0.5, 7, 0.8),
  ]

  /// The device in the hall at a moment.
  private static func place(_ time: Double) -> (x: Double, y: Double, z: Double) {
    (4 + 2.5 * sin(0.4 * time), 3 + 2 * cos(0.5 * time), 1.4 + 0.3 * sin(0.7 * time))
  }

  /// A recording of a walk through the hall, in a world that begins at the device and is turned.
  private func recording(
    _ name: String, from start: Double, yaw: Double, seconds: Double = 30
  ) throws -> String {
    var trajectory = ""
    var ranging = "timestamp,peer,distance,azimuth,elevation\n"
    let first = Self.place(start)
    let (sine, cosine) = (sin(yaw), cos(yaw))
    for step in 0...Int(10 * seconds) {
      let time = 0.1 * Double(step)
      let here = Self.place(start + time)
      let (x, y) = (here.x - first.x, here.y - first.y)
      trajectory +=
        "\(time) \(cosine * x - sine * y) \(sine * x + cosine * y) \(here.z - first.z) 0 0 "
        + "\(sin(0.5 * yaw)) \(cos(0.5 * yaw))\n"
      for (index, beacon) in Self.beacons.enumerated() where step % 2 == index % 2 {
        let away = (beacon.x - here.x, beacon.y - here.y, beacon.z - here.z)
        let distance = (away.0 * away.0 + away.1 * away.1 + away.2 * away.2).squareRoot()
        ranging += "\(time),\(beacon.name),\(distance),,\n"
      }
    }
    let root = folder.url.appending(path: name)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    let manifest = """
      { "format": "nearby-recording", "version": 1, "name": "\(name)", "world": { "up": "z" },
        "device": { "axes": "ros" } }
      """
    for (file, text) in [
      ("recording.json", manifest), ("trajectory.txt", trajectory), ("ranging.csv", ranging),
    ] { try Data(text.utf8).write(to: root.appending(path: file)) }
    return root.path
  }

  private func run(_ recording: String, _ output: String, _ options: String...) throws -> (
    exitCode: Int32, output: String, errors: String
  ) {
    let result = try CommandLineTool.run(
      ["run", recording, "-o", folder.path(output), "-q", "--map", folder.path("map.json")]
        + options)
    return (result.exitCode, result.output, result.errors)
  }

  private func map() throws -> PeerMapFile {
    try PeerMapFile(path: folder.path("map.json"), FusionConfiguration())
  }

  /// The last pose of a file.
  private func lastPlace(_ file: String) throws -> [Double] {
    let line = try #require(try folder.text(of: file).split(separator: "\n").last)
    return line.split(separator: " ").dropFirst().prefix(3).compactMap { Double($0) }
  }

  /// Writes a survey of the beacons, with their names in this order.
  private func writeSurvey(_ names: [String]) throws {
    let peers = zip(names, Self.beacons).map {
      "{ \"id\": \"\($0)\", \"position\": [\($1.x), \($1.y), \($1.z)] }"
    }
    let text = """
      { "format": "nearby-map", "version": 1, "world": { "up": "z" },
        "peers": [ \(peers.joined(separator: ",\n")) ] }
      """
    try Data(text.utf8).write(to: folder.url.appending(path: "map.json"))
  }

  @Test func exchangedNamesAreNamed() throws {
    try writeSurvey(["desk", "door", "shelf", "window"])
    let walk = try recording("walk", from: 0, yaw: 2)
    let result = try CommandLineTool.run(
      "run", walk, "-o", folder.path("out"), "--map", folder.path("map.json"))
    #expect(result.exitCode == 0)
    #expect(result.output.contains("desk and door fit when they are exchanged"), "\(result.output)")
    let summary = try folder.text(of: "out/summary.json")
    #expect(summary.contains("\"survey\""))
  }

  @Test func surveyedAnchorsGiveThePathInTheirFrame() throws {
    try writeSurvey(Self.beacons.map(\.name))
    let result = try run(recording("walk", from: 0, yaw: 2), "out")
    #expect(result.exitCode == 0 && result.errors.isEmpty, "\(result.errors)")
    let truth = Self.place(30)
    let found = try lastPlace("out/trajectory-corrected.txt")
    #expect(abs(found[0] - truth.x) < 0.15 && abs(found[1] - truth.y) < 0.15)
    #expect(abs(found[2] - truth.z) < 0.15)
    // Before it was found among the anchors there is no place in their frame.
    let poses = try folder.text(of: "out/trajectory-corrected.txt").split(separator: "\n").count
    #expect((100..<301).contains(poses))
  }

  /// A survey is the user's, and is right in every run.
  @Test func aSurveyIsNeverChanged() throws {
    try writeSurvey(Self.beacons.map(\.name))
    let survey = try folder.text(of: "map.json")
    let walk = try recording("walk", from: 0, yaw: 2)
    for output in ["first", "second", "third"] {
      #expect(try run(walk, output).exitCode == 0)
      #expect(try folder.text(of: "map.json") == survey)
      #expect(
        try folder.text(of: "\(output)/estimates.csv") == folder.text(of: "first/estimates.csv"))
    }
    // What is kept beside it holds it, however often the recording is run.
    for _ in 0..<2 {
      #expect(try run(walk, "kept", "--map-out", folder.path("kept.json")).exitCode == 0)
    }
    let kept = try PeerMapFile(path: folder.path("kept.json"), FusionConfiguration())
    #expect(kept.recordings.map(\.name) == ["walk"])
    let given = try map().map.peers
    let held = try #require(kept.survey).peers
    #expect(held.map(\.name) == given.map(\.name))
    for (a, b) in zip(held, given) {
      #expect((a.positionInWorld - b.positionInWorld).length < 1e-9)
    }
    let before = try folder.text(of: "kept.json")
    let again = try CommandLineTool.run(
      "run", walk, "-o", folder.path("again"), "-q", "--map", folder.path("kept.json"))
    #expect(again.exitCode == 0)
    #expect(try folder.text(of: "kept.json") == before)
    #expect(
      try folder.text(of: "again/estimates.csv") == folder.text(of: "first/estimates.csv"))
    // Nor is it named as where a map goes.
    let refused = try run(walk, "no", "--map-out", folder.path("map.json"))
    #expect(refused.exitCode == 65 && refused.errors.contains("is a survey"), "\(refused.errors)")
    #expect(try folder.text(of: "map.json") == survey)
  }

  /// A recording counts once, whatever is cut off and whatever it is called.
  @Test func aPartOfARecordingIsRefused() throws {
    let walk = try recording("walk", from: 0, yaw: 0)
    #expect(try run(walk, "first").exitCode == 0)
    let before = try folder.text(of: "map.json")
    let rows = try folder.text(of: "walk/ranging.csv").split(separator: "\n")
    for (name, part) in [("cut", rows.dropLast()), ("half", rows.prefix(rows.count / 2))] {
      let copy = try recording(name, from: 0, yaw: 0)
      try Data((part.joined(separator: "\n") + "\n").utf8)
        .write(to: URL(filePath: copy + "/ranging.csv"))
      let result = try run(copy, "out-\(name)")
      #expect(result.exitCode == 65)
      #expect(result.errors.contains("holds \"walk\""), "\(result.errors)")
      #expect(try folder.text(of: "map.json") == before)
    }
    // Without its comment lines and with another name it is the same recording.
    let renamed = try recording("renamed", from: 0, yaw: 0)
    try Data((rows.joined(separator: "\n") + "\n\n").utf8)
      .write(to: URL(filePath: renamed + "/ranging.csv"))
    #expect(try run(renamed, "out-renamed").exitCode == 0)
    #expect(try folder.text(of: "map.json") == before)
  }

  /// Runs at the same time wait for each other, so that each goes on from the one before.
  @Test func runsAtTheSameTimeAreAllKept() async throws {
    let runs = try (0..<3).map { number in
      let walk = try recording("walk-\(number)", from: 7 * Double(number), yaw: 1)
      return [
        "run", walk, "-o", folder.path("out-\(number)"), "-q", "--map", folder.path("map.json"),
      ]
    }
    try await withThrowingTaskGroup(of: Int32.self) { group in
      for arguments in runs { group.addTask { try CommandLineTool.run(arguments).exitCode } }
      for try await status in group { #expect(status == 0) }
    }
    #expect(Set(try map().recordings.map(\.name)) == ["walk-0", "walk-1", "walk-2"])
    #expect(!FileManager.default.fileExists(atPath: folder.path(".map.json.lock")))
  }

  @Test(arguments: [
    ("[[1, 0.9, 0, 0, 0], [-0.9, 1, 0, 0, 0]", "symmetric"),
    ("[[1, 2, 0, 0, 0], [2, 1, 0, 0, 0]", "positive definite"),
  ])
  func aCovarianceThatContradictsItselfIsRefused(_ rows: String, word: String) throws {
    let text = """
      { "format": "nearby-map", "version": 1,
        "peers": [ { "id": "door", "position": [0, 0, 0] } ],
        "covariance": \(rows), [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]] }
      """
    try Data(text.utf8).write(to: folder.url.appending(path: "map.json"))
    let result = try run(recording("walk", from: 0, yaw: 0, seconds: 5), "out")
    #expect(result.exitCode == 65)
    #expect(result.errors.contains(word), "\(result.errors)")
  }

  @Test func oneRunKeepsItForTheNext() throws {
    let (monday, tuesday) = (
      try recording("monday", from: 0, yaw: 0), try recording("tuesday", from: 11, yaw: -1.2)
    )
    #expect(try run(monday, "first").exitCode == 0)
    let first = try map()
    #expect(Set(first.map.peers.map(\.name)) == Set(Self.beacons.map(\.name)))
    #expect(first.recordings.map(\.name) == ["monday"])
    let before = try folder.text(of: "map.json")

    // The same once more tells nothing new.
    #expect(try run(monday, "again").exitCode == 0)
    #expect(try folder.text(of: "map.json") == before)
    #expect(
      try folder.text(of: "again/estimates.csv") == folder.text(of: "first/estimates.csv"))

    #expect(try run(tuesday, "second", "--smooth").exitCode == 0)
    let second = try map()
    #expect(second.recordings.map(\.name) == ["monday", "tuesday"])
    #expect(
      second.map.positionCovariance(of: 0).trace < first.map.positionCovariance(of: 0).trace)
    // Tuesday's path is in Monday's frame, which began where Monday's did.
    let (origin, truth) = (Self.place(0), Self.place(41))
    let found = try lastPlace("second/trajectory-corrected.txt")
    #expect(abs(found[0] - truth.x + origin.x) < 0.3)
    #expect(abs(found[1] - truth.y + origin.y) < 0.3)

    // What both have told counts no third time.
    let both = try folder.text(of: "map.json")
    #expect(try run(monday, "third").exitCode == 0)
    #expect(try folder.text(of: "map.json") == both)
  }

  @Test func aFaultyMapIsRefusedWithItsPlace() throws {
    let walk = try recording("walk", from: 0, yaw: 0, seconds: 5)
    try Data("{ \"format\": \"nearby-map\", \"version\": 1,\n \"peers\": [ { \"id\": 3 } ] }".utf8)
      .write(to: folder.url.appending(path: "map.json"))
    let result = try run(walk, "out")
    #expect(result.exitCode == 65)
    #expect(result.errors.contains("map.json:2:"))
    #expect(try folder.contents(of: ".").contains("out") == false)
  }
}
