// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Exporting results to MCAP")
struct McapExporterTests {
  /// A message as JSON, with its topic, its schema and its time.
  private struct Message {
    var topic: String
    var schema: String
    var time: UInt64
    var content: [String: Any]

    /// A number at a path such as `entities.0.spheres.1.size.x`.
    func number(_ path: String) throws -> Double {
      try #require(try value(path) as? NSNumber).doubleValue
    }

    func text(_ path: String) throws -> String { try #require(try value(path) as? String) }

    private func value(_ path: String) throws -> Any {
      var value: Any = content
      for step in path.split(separator: ".") {
        if let index = Int(step) {
          let list = try #require(value as? [Any])
          value = try #require(list.indices.contains(index) ? list[index] : nil)
        } else {
          value = try #require((value as? [String: Any])?[String(step)])
        }
      }
      return value
    }

    func vector(_ path: String) throws -> Vector3 {
      Vector3(try number(path + ".x"), try number(path + ".y"), try number(path + ".z"))
    }

    func rotation(_ path: String) throws -> Rotation {
      try #require(
        Rotation(
          normalizing: try number(path + ".x"), try number(path + ".y"), try number(path + ".z"),
          try number(path + ".w")))
    }
  }

  private let folder: TemporaryFolder
  private let header = """
    timestamp,peer,status,reasons,distance,direction_x,direction_y,direction_z,horizontal_angle,\
    vertical,world_x,world_y,world_z,mean_x,mean_y,mean_z,cov_xx,cov_xy,cov_xz,cov_yy,cov_yz,\
    cov_zz,distance_sigma,horizontal_angle_sigma,hypotheses,nis,used

    """

  /// A device at (10, 20, 1) of a world with z up, which faces y.
  ///
  /// In truth it stands at the origin of another world and faces x. The keys are in truth at (2, 3, 0.5)
  /// there: in the odometry's world at (7, 22, 1.5).
  init() throws {
    folder = try TemporaryFolder()
    try writeRecording()
    try folder.write(
      header + """
        1,keys,notConverged,insufficientMovement,3.6,,,,,unknown,,,,7.3,22,1.5,4,1,0.5,3,0.2,2,0.2,,3,,all
        2,a/b c,unknown,,,,,,,unknown,,,,,,,,,,,,,,,,,rejected
        2,keys,converged,,3.6,0,1,0,-0.9,same,7.1,22,1.5,7.1,22,1.5,0.04,0,0,0.01,0,0.09,0.2,0.1,1,2.5,all
        3,keys,notConverged,insufficientMovement;insufficientVerticalSweep,3.6,,,,,unknown,,,,7.3,22,1.5,4,0,0,3,0,2,0.2,,2,,all

        """, to: "out/estimates.csv")
    try folder.write("{}", to: "out/configuration.json")
    try folder.write(#"{ "recording": "\#(folder.path("walk"))" }"#, to: "out/summary.json")
  }

  private func writeRecording(start: Int = 0, up: String = "z") throws {
    let turn = "0 0 0.70710678118654752 0.70710678118654752"
    try folder.write(
      """
      { "format": "nearby-recording", "version": 1, "name": "hand",
        "world": { "up": "\(up)" }, "device": { "axes": "ros" } }
      """, to: "walk/recording.json")
    try folder.write(
      (start...4).map { "\($0) 10 20 1 \(turn)\n" }.joined(), to: "walk/trajectory.txt")
    try folder.write(
      "timestamp,peer,distance,azimuth,elevation\n1,keys,3.64,,\n2,a/b c,9,,\n2,keys,3.64,,\n3,keys,3.7,,\n",
      to: "walk/ranging.csv")
    try folder.write(
      (start...4).map { "\($0) 0 0 0 0 0 0 1\n" }.joined(), to: "walk/truth/trajectory.txt")
    try folder.write("timestamp,peer,x,y,z\n0,keys,2,3,0.5\n", to: "walk/truth/peers.csv")
  }

  private func messages(recording: String? = nil) throws -> [Message] {
    let report = try McapExporter(result: folder.path("out"), recording: recording)
      .export(to: folder.path("a.mcap"))
    var reader = try McapReader(path: folder.path("a.mcap"))
    var messages: [Message] = []
    while let message = try reader.next() {
      let content = try JSONSerialization.jsonObject(with: Data(message.data.rest))
      messages.append(
        Message(
          topic: message.channel.topic, schema: reader.schemas[message.channel.schema]?.name ?? "",
          time: message.logTime, content: try #require(content as? [String: Any])))
    }
    #expect(report.lines == messages.count)
    return messages
  }

  @Test func everyEstimateHasItsMessages() throws {
    let messages = try messages()
    let counts = Dictionary(grouping: messages, by: \.topic).mapValues(\.count)
    #expect(
      counts == [
        "/tf": 5, "/tf_static": 1, "/device/pose": 5, "/path/raw": 1, "/path/true": 1,
        "/peers/keys/numbers": 3, "/peers/keys/scene": 3, "/peers/keys/pose": 1,
        "/peers/keys/true": 3, "/peers/a_b_c/numbers": 1, "/events": 2,
      ])
    let schemas = Dictionary(
      messages.map { ($0.topic, $0.schema) }, uniquingKeysWith: { first, _ in first })
    #expect(schemas["/peers/keys/scene"] == "foxglove.SceneUpdate")
    #expect(schemas["/peers/keys/numbers"] == "nearby.PeerNumbers")
    #expect(schemas["/path/raw"] == "foxglove.PosesInFrame")
    #expect(schemas["/events"] == "foxglove.Log")
    #expect(messages.map(\.time) == messages.map(\.time).sorted())
  }

  /// What two axes and a turn of the ellipsoid say is the covariance of the row.
  @Test func ellipsoidsAreTheCovariance() throws {
    let scenes = try messages().filter { $0.topic == "/peers/keys/scene" }
    let first = try #require(scenes.first)
    for (index, sigmas) in [1, 3.4].enumerated() {
      let sphere = "entities.0.spheres.\(index)"
      let center = try first.vector("\(sphere).pose.position")
      #expect((center - Vector3(7.3, 22, 1.5)).length < 1e-9)
      let size = try first.vector("\(sphere).size")
      func variance(_ diameter: Double) -> Double {
        (diameter / (2 * sigmas)) * (diameter / (2 * sigmas))
      }
      let axes = SymmetricMatrix3(
        xx: variance(size.x), xy: 0, xz: 0, yy: variance(size.y), yz: 0, zz: variance(size.z))
      let covariance = axes.rotated(by: try first.rotation("\(sphere).pose.orientation"))
      let expected = SymmetricMatrix3(xx: 4, xy: 1, xz: 0.5, yy: 3, yz: 0.2, zz: 2)
      for (a, b) in [
        (covariance.xx, expected.xx), (covariance.xy, expected.xy), (covariance.xz, expected.xz),
        (covariance.yy, expected.yy), (covariance.yz, expected.yz), (covariance.zz, expected.zz),
      ] {
        #expect(abs(a - b) < 1e-8)
      }
    }
    #expect(try first.text("entities.0.texts.0.text") == "keys 3.60 m ±0.20 ?")
    #expect(try scenes[1].text("entities.0.texts.0.text") == "keys 3.60 m ±0.20")
  }

  @Test func errorsAreThoseAgainstTheTruth() throws {
    let messages = try messages()
    let numbers = try #require(
      messages.filter { $0.topic == "/peers/keys/numbers" }.dropFirst().first)
    #expect(abs(try numbers.number("error") - 0.1) < 1e-9)
    #expect(abs(try numbers.number("nees") - 0.01 / 0.04 / 3) < 1e-9)
    #expect(abs(try numbers.number("distance_error") - (3.6 - 13.25.squareRoot())) < 1e-9)
    #expect(try numbers.number("nis") == 2.5)
    let truth = try #require(messages.first { $0.topic == "/peers/keys/true" })
    #expect((try truth.vector("pose.position") - Vector3(7, 22, 1.5)).length < 1e-9)
    let path = try #require(messages.first { $0.topic == "/path/true" })
    #expect((try path.vector("poses.3.position") - Vector3(10, 20, 1)).length < 1e-9)
  }

  @Test func convergenceWonAndLostIsToldWithItsReasons() throws {
    let events = try messages().filter { $0.topic == "/events" }
    #expect(
      try events.map { try $0.text("message") } == [
        "keys: converged after 1.0 s, 3.60 m away ± 0.20 m",
        "keys: convergence lost after 2.0 s: insufficientMovement, insufficientVerticalSweep",
      ])
    #expect(try events.map { try $0.number("level") } == [2, 3])
  }

  @Test func modesAreShownAndRemoved() throws {
    try folder.write(
      """
      timestamp,peer,mode,weight,mean_x,mean_y,mean_z,cov_xx,cov_xy,cov_xz,cov_yy,cov_yz,cov_zz
      1,keys,0,0.75,7.3,22,1.5,1,0,0,1,0,1
      1,keys,1,0.25,7.3,18,1.5,1,0,0,1,0,1

      """, to: "out/modes.csv")
    let modes = try messages().filter { $0.topic == "/peers/keys/modes" }
    #expect(modes.count == 2)
    #expect(try modes[0].vector("entities.0.spheres.1.pose.position") == Vector3(7.3, 18, 1.5))
    #expect(try modes[0].text("entities.0.texts.1.text") == "keys 25 %")
    #expect(try modes[1].text("deletions.0.id") == "keys modes")
  }

  @Test("The map's frame has z up whatever the recording's world has", arguments: ["y", "z"])
  func mapIsUpright(up: String) throws {
    try writeRecording(up: up)
    let still = try #require(try messages().first { $0.topic == "/tf_static" })
    let rotation = try still.rotation("rotation")
    let upward = up == "y" ? Vector3(0, 1, 0) : Vector3(0, 0, 1)
    #expect((rotation.act(upward) - Vector3(0, 0, 1)).length < 1e-9)
  }

  @Test func negativeTimesAreShifted() throws {
    try writeRecording(start: -2)
    let report = try McapExporter(result: folder.path("out")).export(to: folder.path("a.mcap"))
    #expect(report.notes.count == 1 && report.notes[0].contains("3 s later"))
    let poses = try messages().filter { $0.topic == "/device/pose" }
    #expect(poses.first?.time == 1_000_000_000)
    #expect(try poses.first?.number("timestamp.sec") == 1)
  }

  @Test func pathsOfTheResultAreWritten() throws {
    try folder.write(
      (0...2).map { "\($0) \($0) 0 0 0 0 0 1\n" }.joined(), to: "out/trajectory-corrected.txt")
    try folder.write("0 5 0 0 0 0 0 1\n", to: "out/trajectory-smoothed.txt")
    let messages = try messages()
    let corrected = try #require(messages.first { $0.topic == "/path/corrected" })
    #expect(try corrected.vector("poses.2.position") == Vector3(2, 0, 0))
    let smoothed = try #require(messages.first { $0.topic == "/path/smoothed" })
    #expect(try smoothed.vector("poses.0.position") == Vector3(5, 0, 0))
  }

  @Test func aResultOfAnotherRecordingIsAnError() throws {
    let other = try TemporaryRecording()
    let error = recordingError { _ = try messages(recording: other.path) }
    #expect(error?.message.contains("no sample of the recording") == true)
    #expect(try folder.contents("") == ["out", "walk"])
  }

  @Test func aResultWithoutARecordingNamesTheOption() throws {
    try folder.write("{}", to: "out/summary.json")
    let error = recordingError { _ = try messages() }
    #expect(error?.remedy.contains("--recording") == true)
  }
}
