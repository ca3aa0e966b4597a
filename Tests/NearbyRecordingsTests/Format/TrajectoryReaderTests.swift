// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import NearbyTestSupport
import Testing

@Suite struct TrajectoryReaderTests {
  private func read(
    _ text: String
  ) throws -> (rows: [PoseRow], warnings: RecordingWarnings) {
    let recording = try TemporaryRecording(trajectory: text)
    var reader = try TrajectoryReader(path: recording.path + "/trajectory.txt")
    var rows: [PoseRow] = []
    while let row = try reader.next() { rows.append(row) }
    #expect(try reader.next() == nil)
    #expect(reader.bytesRead == text.utf8.count && reader.totalBytes == text.utf8.count)
    return (rows, reader.warnings)
  }

  @Test("Lines written in any other way give what ordinary lines give", arguments: 0..<12)
  func ordinaryLinesAreReadAsOthers(decimals: Int) throws {
    var (ordinary, other) = ("", "")
    for row in 0..<200 {
      let half = [0.5, -0.5, 0.25, 0.6][row % 4]
      let numbers =
        [1000 + Double(row) / 8, Double(row) / 7, -Double(row * row) / 11, 123 / Double(row + 1)]
        + [half, (0.5 - half * half).squareRoot(), 0.5, -0.5]
      let fields = numbers.map { number in
        var text = OutputText()
        // With fewer decimals the quaternion would not have unit length.
        text.append(number, decimals: abs(number) < 1 ? max(decimals, 3) : decimals)
        return String(decoding: text.bytes, as: UTF8.self)
      }
      ordinary += fields.joined(separator: " ") + "\n"
      other += fields.joined(separator: "  ") + "\n"
    }
    let rows = try read(ordinary).rows
    #expect(rows == (try read(other).rows))
    #expect(rows.count > 20)
  }

  @Test(arguments: [
    "1.5 1 2 3 0 0 0 1\n2.5 4 5 6 0 0 0 1\n",
    "1.5 1 2 3 0 0 0 1\n2.5 4 5 6 0 0 0 1",
    "1.5 1 2 3 0 0 0 1\r\n2.5 4 5 6 0 0 0 1\r\n",
    "\u{FEFF}1.5 1 2 3 0 0 0 1\n2.5 4 5 6 0 0 0 1\n",
    "\u{FEFF}# comment\r\n\r\n  \t\r\n1.5\t1  2 3 0 0 0 1 # more\n #x\n2.5 4 5 6 0 0 0 1\n\n\n",
    "1.5 1. 2e0 +3 0 -0 0 1\n25e-1 4 5 6 0 0 0 1.0#\n",
  ])
  func everyWayOfWritingTheSameIsRead(text: String) throws {
    let (rows, warnings) = try read(text)
    #expect(rows.map(\.timestamp.nanoseconds) == [1_500_000_000, 2_500_000_000])
    #expect(
      rows.map(\.worldFromDevice.translation) == [Vector3(1, 2, 3), Vector3(4, 5, 6)])
    #expect(rows.allSatisfy { $0.worldFromDevice.rotation == .identity })
    #expect(warnings.isEmpty)
  }

  @Test func linesAreCountedAsInAnEditor() throws {
    let (rows, _) = try read("# one\n\n1 0 0 0 0 0 0 1\r\n# four\n2 0 0 0 0 0 0 1")
    #expect(rows.map(\.line) == [3, 5])
  }

  @Test(arguments: [
    ("", RecordingError.Code.noSamples, "trajectory.txt: holds no poses; "),
    ("# timestamp tx\n\n", .noSamples, "trajectory.txt: holds no poses; "),
    ("1 0 0 0 0 0 0\n", .wrongFieldCount, "trajectory.txt:1: the line has 7 fields, not 8; "),
    ("1 0 0 0 0 0 0 1 9\n", .wrongFieldCount, "trajectory.txt:1: the line has 9 fields, not 8; "),
    ("1,0,0,0,0,0,0,1\n", .malformedNumber, "trajectory.txt:1:1: timestamp \"1,0,0,0,0,0,0,1\" is"),
    (
      "1 0 0 0 0 0 0 1\n2 0 0 0 0 0 0 1\n3 0 0", .wrongFieldCount,
      "trajectory.txt:3: the line has 3 fields"
    ),
    ("1 0 abc 0 0 0 0 1\n", .malformedNumber, "trajectory.txt:1:5: ty \"abc\" is not a number; "),
    ("1 0 0 nan 0 0 0 1\n", .notFinite, "trajectory.txt:1:7: tz \"nan\" is not finite; "),
    ("1 0 0 0 inf 0 0 1\n", .notFinite, "trajectory.txt:1:9: qx \"inf\" is not finite; "),
    (
      "nan 0 0 0 0 0 0 1\n", .malformedNumber,
      "trajectory.txt:1:1: timestamp \"nan\" is not a finite"
    ),
    (
      "1 0 0 -1.1e7 0 0 0 1\n", .valueOutOfRange,
      "trajectory.txt:1:7: tz \"-1.1e7\" is not a valid position"
    ),
    (
      "1 0 0 0 0 0 0 0\n", .invalidRotation,
      "trajectory.txt:1: the quaternion's length is 0.0, not 1"
    ),
    (
      "1 0 0 0 0 0 0 1.011\n", .invalidRotation,
      "trajectory.txt:1: the quaternion's length is 1.011"
    ),
    (
      "1 0 0 0 0 0 0 -0.989\n", .invalidRotation,
      "trajectory.txt:1: the quaternion's length is 0.989"
    ),
    (
      "2 0 0 0 0 0 0 1\n1.5 0 0 0 0 0 0 1\n", .timeWentBack,
      "trajectory.txt:2:1: time goes back by 0.5 s to 1.5; sort the lines by time"
    ),
    (
      "1403636579758555584 0 0 0 0 0 0 1\n", .valueOutOfRange,
      "trajectory.txt:1:1: timestamp \"1403636579758555584\" is beyond 4.6e9 s; timestamps are seconds"
    ),
    (
      "a\u{1B}[0m\0 0\n", .malformedNumber,
      "trajectory.txt:1:1: timestamp \"a\u{FFFD}[0m\u{FFFD}\" is"
    ),
    (
      String(repeating: "7", count: 300_000), .lineTooLong,
      "trajectory.txt:1: the line is longer than 262144 bytes"
    ),
    (
      String(repeating: "x", count: 100) + " 1\n", .malformedNumber,
      "trajectory.txt:1:1: timestamp \"\(String(repeating: "x", count: 40))…\" is"
    ),
  ])
  func faultsAreLocated(text: String, code: RecordingError.Code, message: String) throws {
    let error = #expect(throws: RecordingError.self) { try read(text) }
    let description = error?.description ?? ""
    #expect(error?.code == code)
    #expect(description.hasPrefix(message), "\(description)")
  }

  @Test func quaternionsNearUnitLengthAreNormalised() throws {
    let (rows, _) = try read("1 0 0 0 0 0.6 0 0.793\n")
    let q = rows[0].worldFromDevice.rotation
    #expect(abs(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w - 1) < 1e-15)
    #expect(abs(q.y / q.w - 0.6 / 0.793) < 1e-15)
  }

  @Test func repeatedStampsAreSkippedAndCounted() throws {
    let line = "1 7 0 0 0 0 0 1\n"
    let (rows, warnings) = try read(
      "1 5 0 0 0 0 0 1\n" + String(repeating: line, count: 30) + "2 0 0 0 0 0 0 1\n")
    #expect(rows.map(\.worldFromDevice.translation.x) == [5, 0])
    #expect(warnings.count(of: .duplicateTimestamp) == 30)
    #expect(warnings.kept.count == RecordingWarnings.keptOfEachKind)
    #expect(
      warnings.kept.first?.description
        == "trajectory.txt:2: the stamp is that of the pose before; the line is skipped")
  }

  /// Lines across the end of the buffer are read completely.
  @Test func linesAcrossBuffersAreWhole() throws {
    let count = 20_000
    let text = (0..<count).map { "\($0) \($0) \($0)e-1 0 0 0 0 1 # \($0)\n" }.joined()
    #expect(text.utf8.count > 2 * 256 * 1024)
    let (rows, _) = try read(text)
    #expect(rows.count == count)
    for (index, row) in rows.enumerated() {
      let value = Double(index)
      #expect(row.worldFromDevice.translation == Vector3(value, value / 10, 0))
    }
  }

  /// A ROS robot at the origin that faces east (world +x, z up): in engine axes it looks along -z
  /// rotated to world +x, and engine world is (x, z, -y).
  @Test func posesAreTurnedToTheEngine() throws {
    let (rows, _) = try read("0 1 2 3 0 0 0 1\n")
    let pose = rows[0].devicePose(from: FrameConvention(up: .z, axes: .ros))
    #expect((pose.worldFromDevice.translation - Vector3(1, 3, -2)).length < 1e-12)
    let ahead = pose.worldFromDevice.rotation.act(Vector3(0, 0, -1))
    #expect((ahead - Vector3(1, 0, 0)).length < 1e-12)
    let up = pose.worldFromDevice.rotation.act(Vector3(0, 1, 0))
    #expect((up - Vector3(0, 1, 0)).length < 1e-12)
  }
}
