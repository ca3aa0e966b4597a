// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbyRecordings
import Testing

@Suite("Writing estimates")
struct EstimateWriterTests {
  @Test func numbersReadBackToNineSignificantDigits() throws {
    var generator = SeededGenerator(seed: 7)
    var text = OutputText()
    for _ in 0..<20_000 {
      let exponent = Double.random(in: -12...12, using: &generator)
      let sign = Bool.random(using: &generator) ? 1.0 : -1.0
      let number = sign * pow(10, exponent)
      text.removeAll()
      text.append(number, significantDigits: 10)
      let back = try #require(Double(String(decoding: text.bytes, as: UTF8.self)))
      #expect(abs(back - number) <= 1e-9 * abs(number), "\(number) became \(back)")
    }
  }

  @Test func aRowIsWrittenInTheRecordingsFrames() throws {
    let frames = FrameConvention(up: .z, axes: .ros)
    var engine = try FusionEngine()
    let peer = engine.addPeer()
    var estimate = engine.estimate(of: peer)
    estimate.convergence = .notConverged([.insufficientVerticalSweep, .insufficientMovement])
    estimate.distance = Estimated(value: 1.0 / 3, sigma: .infinity, unavailability: nil)
    // Ahead and up in engine axes; forward and up in ROS axes.
    estimate.direction = Estimated(
      value: Vector3(0, 0.6, -0.8), sigma: 0.1, unavailability: nil)
    estimate.verticalDirection = .aboveOrBelow
    // Engine (x, y, z) is (x, -z, y) where z is up.
    estimate.positionInWorld = Vector3(1, 2, 3)
    estimate.covarianceInWorld = SymmetricMatrix3(xx: 1, xy: 0.2, xz: 0.3, yy: 4, yz: 0.5, zz: 9)
    estimate.hypothesisCount = 12
    let report = engine.add(
      RangingSample(peer: peer, timestamp: Timestamp(nanoseconds: 0), distance: -1))
    let row = RangingRow(
      timestamp: Timestamp(nanoseconds: 1_234_567_891), peer: "a \"b\", c", distance: 1)

    let path = FileManager.default.temporaryDirectory.appending(path: "nearby-\(UUID()).csv").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var writer = try EstimateWriter(path: path, frames: frames)
    try writer.write(row, report: report, estimate: estimate)
    #expect(!FileManager.default.fileExists(atPath: path), "not before the commit")
    try writer.commit()
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 2)
    #expect(String(lines[0]) == EstimateWriter.columns.joined(separator: ","))
    #expect(
      lines[1] == """
        1.234567891,"a ""b"", c",notConverged,insufficientMovement;insufficientVerticalSweep,\
        0.3333333333,0.8,0,0.6,,aboveOrBelow,,,,1,-3,2,1,-0.3,0.2,9,-0.5,4,,,12,,rejected
        """)
  }

  @Test func anUncommittedFileLeavesNothing() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "nearby-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      let writer = try EstimateWriter(
        path: folder.appending(path: "estimates.csv").path, frames: .engine)
      _ = consume writer
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
