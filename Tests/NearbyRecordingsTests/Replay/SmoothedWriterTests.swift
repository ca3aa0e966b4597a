// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import Testing

@Suite("Writing smoothed rows")
struct SmoothedWriterTests {
  @Test func rowsAreWrittenInTheRecordingsFrames() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "nearby-\(UUID()).csv").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var writer = try SmoothedWriter(path: path, frames: FrameConvention(up: .z, axes: .ros))
    // Engine (x, y, z) is (x, -z, y) where z is up; ahead in ROS axes is forward.
    var row = SmoothedRow(
      timestamp: Timestamp(nanoseconds: 1_500_000_000), peer: "a, b", peerIndex: 0,
      worldFromDevice: RigidTransform(rotation: .identity, translation: Vector3(1, 2, 5)),
      positionInWorld: Vector3(1, 2, 3),
      covariance: SymmetricMatrix3(xx: 1, xy: 0.2, xz: 0.3, yy: 4, yz: 0.5, zz: 9),
      modeProbability: 0.75,
      horizontalAngleRadians: 0)
    try writer.write(row)
    row.worldFromDevice = nil
    try writer.write(row)
    row.worldFromDevice = RigidTransform(rotation: .identity, translation: Vector3(1, 2, 3))
    try writer.write(row)
    row.positionInWorld = nil
    try writer.write(row)
    #expect(!FileManager.default.fileExists(atPath: path), "not before the commit")
    try writer.commit()
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    #expect(
      lines.map(String.init) == [
        SmoothedWriter.columns.joined(separator: ","),
        "1.500000,\"a, b\",1,-3,2,1,-0.3,0.2,9,-0.5,4,2,1,0,0,0,0.75",
        "1.500000,\"a, b\",1,-3,2,1,-0.3,0.2,9,-0.5,4,,,,,,0.75",
        // The direction is undefined when device and peer coincide.
        "1.500000,\"a, b\",1,-3,2,1,-0.3,0.2,9,-0.5,4,0,,,,,0.75",
        "1.500000,\"a, b\",,,,,,,,,,,,,,,",
      ])
  }

  @Test func summariesReadBackAsWritten() throws {
    let summary = SmoothedSummary(
      motion: .moving, positionInWorld: Vector3(1, 2, 3), covarianceInWorld: nil, rangeBias: 0.1,
      rangeBiasSigma: 0.02, rangeScale: 0.01, rangeScaleSigma: 0.003,
      modes: [
        SmoothedSummary.Mode(
          positionInWorld: Vector3(1, 2, 3),
          covarianceInWorld: SymmetricMatrix3(outer: Vector3(1, 0, 0)),
          probability: 1)
      ], errors: nil)
    let text = try JSONEncoder().encode(summary)
    #expect(try JSONDecoder().decode(SmoothedSummary.self, from: text) == summary)
    #expect(String(decoding: text, as: UTF8.self).contains("\"errors\":null"))
    #expect(summary.positionSigma == nil)
  }
}
