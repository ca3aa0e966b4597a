// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings
import NearbyTestSupport
import Testing

@Suite struct TruthPeersReaderTests {
  static let header = "timestamp,peer,x,y,z\n"

  private func read(_ text: String) throws -> [TruthPeerRow] {
    let recording = try TemporaryRecording(others: ["truth/peers.csv": text])
    var reader = try TruthPeersReader(path: recording.path + "/truth/peers.csv")
    var rows: [TruthPeerRow] = []
    while let row = try reader.next() { rows.append(row) }
    return rows
  }

  @Test func rowsAreRead() throws {
    let rows = try read(Self.header + "0,a,1,2,3\n5,a,4,5,6\n0,b,-1,0,1e1\n")
    #expect(rows.map(\.peer) == ["a", "a", "b"])
    #expect(
      rows.map(\.positionInWorld) == [Vector3(1, 2, 3), Vector3(4, 5, 6), Vector3(-1, 0, 10)])
    #expect(rows.map(\.line) == [2, 3, 4])
    let turned = rows[0].positionInEngineWorld(from: FrameConvention(up: .z, axes: .ros))
    #expect((turned - Vector3(1, 3, -2)).length < 1e-12)
  }

  @Test(arguments: [
    ("", RecordingError.Code.noSamples, "truth/peers.csv: the file is empty"),
    (header, .noSamples, "truth/peers.csv: holds no positions"),
    ("timestamp,peer,x,y\n", .missingColumn, "truth/peers.csv:1: the header lacks column \"z\""),
    (header + "0,a,1,2,\n", .missingValue, "truth/peers.csv:2:9: z is empty; write metres"),
    (header + "0,a,1,2,nan\n", .notFinite, "truth/peers.csv:2:9: z \"nan\" is not finite"),
    (header + "0,a,1,2e7,0\n", .valueOutOfRange, "truth/peers.csv:2:7: y \"2e7\" is too far away"),
    (header + "0,,1,2,3\n", .emptyPeer, "truth/peers.csv:2:3: peer is empty"),
    (
      header + "1,a,1,2,3\n0,b,1,2,3\n0,a,1,2,3\n", .timeWentBack,
      "truth/peers.csv:4:1: time goes back by 1.0 s; sort the rows of each peer"
    ),
  ])
  func faultsAreLocated(text: String, code: RecordingError.Code, message: String) throws {
    let error = #expect(throws: RecordingError.self) { try read(text) }
    let description = error?.description ?? ""
    #expect(error?.code == code)
    #expect(description.hasPrefix(message), "\(description)")
  }
}
