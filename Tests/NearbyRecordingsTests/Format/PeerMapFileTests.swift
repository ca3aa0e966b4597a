// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import Testing

@Suite("Map file")
struct PeerMapFileTests {
  private static func read(_ json: String) throws(RecordingError) -> PeerMapFile {
    try PeerMapFile(json: Array(json.utf8), file: "map.json", FusionConfiguration())
  }

  private static func text(_ rest: String) -> String {
    "{ \"format\": \"nearby-map\", \"version\": 1,\n \(rest) }"
  }

  @Test("what is written reads back", arguments: WorldUp.allCases)
  func roundTrip(up: WorldUp) throws {
    var covariance = [Double](repeating: 0, count: 100)
    for row in 0..<10 {
      for column in 0..<10 {
        covariance[row * 10 + column] = (row == column ? 0.2 : 0) + 0.001 * Double(row * column)
      }
    }
    let file = PeerMapFile(
      map: PeerMap(
        peers: [
          PeerMap.Peer(
            name: "a \"b\"", positionInWorld: Vector3(1, 2, -3), rangeBias: 0.2, rangeScale: 0.01),
          PeerMap.Peer(name: "c", positionInWorld: Vector3(-4, 0.5, 6)),
        ], covariance: covariance),
      recordings: [PeerMapFile.Recording(name: "monday", digest: "00")])
    let back = try Self.read(file.json(up: up))
    #expect(back.recordings == file.recordings)
    for (one, other) in zip(back.map.peers, file.map.peers) {
      #expect(
        one.name == other.name && (one.positionInWorld - other.positionInWorld).length < 1e-12)
      #expect(one.rangeBias == other.rangeBias && one.rangeScale == other.rangeScale)
    }
    for (one, other) in zip(back.map.covariance, covariance) { #expect(abs(one - other) < 1e-12) }
  }

  @Test("one that is written by hand has usual sigmas, in the world's axes")
  func byHand() throws {
    let file = try Self.read(
      Self.text(
        """
        "world": { "up": "z" }, "peers": [
          { "id": "door", "position": [1, 2, 3] },
          { "id": "desk", "position": [4, 5, 6], "positionSigma": 0.5, "rangeBias": 0.1 } ]
        """))
    #expect((file.map.peers[0].positionInWorld - Vector3(1, 3, -2)).length < 1e-12)
    #expect(file.map.peers[1].rangeBias == 0.1)
    #expect(abs(file.map.positionCovariance(of: 0).yy - 1e-4) < 1e-12)
    #expect(abs(file.map.positionCovariance(of: 1).zz - 0.25) < 1e-12)
    let sigma = FusionConfiguration().ranging.rangeBiasSigma
    #expect(file.map.covariance[3 * 10 + 3] == sigma * sigma)
  }

  @Test(
    "faults are located",
    arguments: [
      ("\"peers\": [ { \"id\": 3 } ]", RecordingError.Code.wrongType),
      ("\"peers\": [ { \"id\": \"a\" } ]", .missingValue),
      ("\"peers\": [ { \"id\": \"\", \"position\": [0, 0, 0] } ]", .valueOutOfRange),
      (
        "\"peers\": [ { \"id\": \"a\", \"position\": [0, 0, 0], \"sigma\": 1 } ]",
        .unknownKey
      ),
      (
        "\"peers\": [ { \"id\": \"a\", \"position\": [0, 0, 0] } ], \"covariance\": [[1]]",
        .wrongType
      ),
    ])
  func faults(rest: String, code: RecordingError.Code) throws {
    let error = try #require(throws: RecordingError.self) { try Self.read(Self.text(rest)) }
    #expect(error.code == code && error.line == 2 && error.file == "map.json")
  }

  @Test("another format is refused")
  func otherFormat() throws {
    let error = try #require(throws: RecordingError.self) {
      try Self.read("{ \"format\": \"nearby-recording\", \"version\": 1 }")
    }
    #expect(error.code == .unsupportedFormat)
  }
}
