// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyTestSupport
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("Importing ROS bags")
struct BagTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  static let files = ["walk-none.bag", "walk-bz2.bag", "walk-lz4.bag", "walk.db3"]

  private static func importer(_ path: String) throws -> LogImporter {
    var importer = LogImporter(path: path)
    importer.rangeTopic = "/uwb"
    importer.rangeMap = try FieldMap(
      keys: FieldMap.rangingKeys,
      fields: [
        "distance=ranges[].distance", "peer=ranges[].id", "distance_sigma=ranges[].variance",
      ], units: ["distance_sigma=m2"], missing: ["distance=-1"])
    importer.options.replacesRecording = true
    return importer
  }

  private func expectSamples() throws {
    var samples = try RecordingReader(folder: folder.path("out")).ranging()
    for index in 0..<Fixture.count {
      let first = try #require(try samples.next())
      #expect(first.peer == "A1" && first.distance == 1.5 + Double(index))
      #expect(first.distanceSigma == 0.2)
      #expect(
        first.timestamp.nanoseconds == Fixture.start + 100_000_000 * Int64(index) + 5_000_001)
      guard index > 1 else { continue }
      let second = try #require(try samples.next())
      #expect(second.peer == "B2" && second.distance == 2.5 + Double(index))
    }
    #expect(try samples.next() == nil)
  }

  @Test(
    "Poses of every type, and a list of ranges in one message", arguments: files,
    ["/pose", "/odom", "/path", "tf", nil])
  func poses(file: String, topic: String?) throws {
    var importer = try Self.importer(Fixture.path(file))
    if topic == "tf" { importer.transform = ("map", "body") } else { importer.poseTopic = topic }
    let report = try importer.importRecording(to: folder.path("out"))
    #expect(report.peers == ["A1", "B2"] && report.leftOut.isEmpty)
    try Fixture.expectMotion(in: folder.path("out"))
    try expectSamples()
    // The covariances grow by 0.01 m² and 0.0004 rad² in a metre.
    let drift = try RecordingReader(folder: folder.path("out")).manifest.trajectory
    let hasCovariance = topic != "/path" && topic != "tf"
    #expect(drift.positionDrift == (hasCovariance ? 0.11 : 0.01) || drift.positionDrift == 0.1)
    #expect(drift.yawDriftDegrees == (hasCovariance ? 1.2 : 0.3))
    importer.options.yawDriftDegrees = 5
    _ = try importer.importRecording(to: folder.path("out"))
    #expect(
      try RecordingReader(folder: folder.path("out")).manifest.trajectory.yawDriftDegrees == 5)
  }

  @Test("A part of a chain of transforms, and frames that are not there")
  func chains() throws {
    var importer = try Self.importer(Fixture.path("walk-bz2.bag"))
    importer.transform = ("/map", "base_link")
    _ = try importer.importRecording(to: folder.path("out"))
    try Fixture.expectMotion(in: folder.path("out")) {
      RigidTransform(rotation: $0.rotation, translation: $0.translation - Vector3(0, 0, 1))
    }
    importer.transform = ("map", "camera")
    let error = recordingError { _ = try importer.importRecording(to: folder.path("out")) }
    #expect(error?.code == .noSamples)
    #expect(error?.remedy == "there are map:base_link, base_link:body")
  }

  @Test("A bag without definitions knows the types of poses, and others from a file")
  func definitions() throws {
    var importer = try Self.importer(Fixture.path("walk-bare.db3"))
    importer.poseTopic = "/odom"
    let error = recordingError { _ = try importer.importRecording(to: folder.path("out")) }
    #expect(error?.message.hasPrefix("the messages of /uwb are of a type") == true)
    #expect(error?.remedy.hasSuffix("uwb_msgs/msg/Ranges") == true)
    importer.definitions = [
      "uwb_msgs/msg/Ranges":
        "std_msgs/Header header\nuint8 KIND_TWR=1\nuwb_msgs/Anchor[] ranges\n",
      "uwb_msgs/Anchor": "string id\nfloat32 distance\nfloat64 variance\n",
    ]
    _ = try importer.importRecording(to: folder.path("out"))
    try Fixture.expectMotion(in: folder.path("out"))
    try expectSamples()
  }

  @Test("The folder of a rosbag2 is read in the order of its numbers")
  func folders() throws {
    try folder.write(Fixture.bytes("walk.db3"), to: "bag/walk_0.db3")
    try folder.write("storage: x", to: "bag/metadata.yaml")
    var importer = try Self.importer(folder.path("bag"))
    importer.poseTopic = "/pose"
    _ = try importer.importRecording(to: folder.path("out"))
    try expectSamples()
    // The same once more comes after it, and so goes back in time.
    try folder.write(Fixture.bytes("walk-bare.db3"), to: "bag/walk_10.db3")
    importer.path = folder.path("bag") + "/"
    let error = recordingError { _ = try importer.importRecording(to: folder.path("out")) }
    #expect(error?.code == .timeWentBack)
    try folder.makeFolder("empty")
    let none = recordingError {
      _ = try Self.importer(folder.path("empty")).importRecording(to: folder.path("out"))
    }
    #expect(none?.message == "the folder holds no .mcap and no .db3")
  }

  @Test("Lists of several fields side by side, and peers without a name")
  func parallelLists() throws {
    let map = try FieldMap(
      keys: FieldMap.rangingKeys, fields: ["distance=d[]", "rssi=r[]"], units: ["distance=cm"])
    let message = LogMessage(
      topic: "/uwb", type: "", logTime: 5, encoding: .json, definition: 0,
      data: ByteCursor([], file: "f"))
    let json = try LocatedJSON.parse(
      Array(#"{ "d": [100, null, 300], "r": [-70, -71] }"#.utf8), file: "f")
    let value = try #require(MessageValue(json))
    let rows = try RangingMessages(map: map, peer: "anchor-").rows(of: value, message)
    // A null is left out of its list.
    #expect(rows.map(\.peer) == ["anchor-0", "anchor-1"])
    #expect(rows.map(\.distance) == [1, 3])
    #expect(rows.map(\.rssi) == [-70, -71])
    let wrong = try FieldMap(keys: FieldMap.rangingKeys, fields: ["distance=x[]"])
    let error = recordingError {
      _ = try RangingMessages(map: wrong, peer: "a").rows(of: value, message)
    }
    #expect(error?.message.hasPrefix("a message of /uwb has no list x,") == true)
  }

  @Test("A covariance that does not grow is no drift")
  func constantCovariance() {
    var growth = CovarianceGrowth()
    let matrix = MessageValue.list((0..<36).map { .number($0 % 7 == 0 ? 0.1 : 0) })
    for step in 0..<10 { growth.add(matrix, at: Vector3(Double(step), 0, 0), isZUp: true) }
    #expect(growth.drift == nil)
    growth.add(.list([]), at: .zero, isZUp: true)
    growth.add(.list((0..<36).map { _ in .number(-1) }), at: .zero, isZUp: true)
    #expect(growth.drift == nil)
  }

  @Test("A ring of transforms ends")
  func ring() {
    var chain = TransformChain(parent: "map", child: "a")
    #expect(chain.update(child: "a", parent: "b", .identity, isStatic: false) == nil)
    #expect(chain.update(child: "b", parent: "a", .identity, isStatic: false) == nil)
    #expect(chain.update(child: "b", parent: "map", .identity, isStatic: false) == .identity)
    #expect(chain.update(child: "c", parent: "map", .identity, isStatic: false) == nil)
  }

  @Test("Other files are none of these")
  func otherFiles() throws {
    let error = recordingError {
      _ = try LogImporter(path: Fixture.path("walk.tum")).importRecording(to: folder.path("out"))
    }
    #expect(error?.code == .unsupportedFormat)
    try folder.write(SqliteBagReader.magic + [UInt8](repeating: 0, count: 100), to: "a.db3")
    #expect(
      recordingError {
        _ = try LogImporter(path: folder.path("a.db3")).importRecording(to: folder.path("out"))
      }?.file == folder.path("a.db3"))
  }

  @Test(
    "Damage is an error, never a trap",
    arguments: ["tiny-none.bag", "tiny-bz2.bag", "tiny-lz4.bag", "tiny.db3"])
  func damage(name: String) throws {
    try expectNoTrap(Fixture.bytes(name), name: name) { path in
      var messages = try LogMessages(path: path, definitions: [:])
      while let message = try messages.next() { _ = try messages.value(of: message) }
    }
  }
}
