// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyImports
@testable import NearbyRecordings

@Suite("What a file looks like")
struct ForeignFormatTests {
  @Test(
    "Fixtures are recognised",
    arguments: [
      ("walk.tum", ForeignFormat.tum), ("walk-17.euroc.csv", .euroc), ("walk-8.euroc.csv", .euroc),
      ("walk.kitti", .kitti), ("rosbag2.mcap", .mcap), ("uci.pcapng", .uci), ("tiny-bz2.bag", .bag),
      ("tiny.db3", .bag),
    ])
  func fixtures(name: String, format: ForeignFormat) {
    #expect(ForeignFormat.guess(path: Fixture.path(name)) == format)
  }

  @Test(
    "Texts are recognised",
    arguments: [
      (
        "timestamp, frame, x, y, z, qx, qy, qz, qw\n1, 000000, 0, 0, 0, 0, 0, 0, 1",
        ForeignFormat.stray
      ),
      ("VERTEX_SE2 0 A0 0 0 0\n", .pyfg), ("{\"type\":\"pose\"}\n", .jsonl),
      ("time,mac,dist\n1,a,2\n", .csv), ("", nil), ("1 2 3\n", nil), ("1,2,3\n", nil),
      ("hello\n", nil), ("a\0b", nil), ("{\n  \"a\": 1\n}\n", nil), ("{", nil), ("{ 1 }\n", nil),
      ("{\"text\":\"" + String(repeating: "x", count: 4085), .jsonl),
    ])
  func texts(text: String, format: ForeignFormat?) {
    #expect(ForeignFormat.guess(beginning: Array(text.utf8)) == format)
  }

  @Test("An error names the format that the file looks like, if it is another")
  func hint() throws {
    let path = Fixture.path("walk-8.euroc.csv")
    let error = RecordingError(.wrongFieldCount, "odd", file: path, line: 1, remedy: "mend it")
    #expect(
      error.hinting(expected: [.tum]).remedy
        == "mend it; it looks like a EuRoC trajectory: see 'nearby import euroc --help'")
    #expect(error.hinting(expected: [.euroc]) == error)
    var late = error
    late.line = 3
    #expect(late.hinting(expected: [.tum]) == late)
    #expect(ForeignFormat.guess(path: Fixture.path("none")) == nil)
    #expect(ForeignFormat.guess(path: "/") == nil)
  }
}
