// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEvaluation
import NearbyGeometry
import NearbyRecordings
import NearbySimulation
import Testing

@Suite("Error of the odometry")
final class TrajectoryErrorTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "ate-\(UUID())")

  deinit { try? FileManager.default.removeItem(at: folder) }

  private static func line(_ seconds: Double, _ pose: RigidTransform) -> String {
    let (t, q) = (pose.translation, pose.rotation)
    return "\(seconds) \(t.x) \(t.y) \(t.z) \(q.x) \(q.y) \(q.z) \(q.w)\n"
  }

  private func recording(
    odometry: [(Double, RigidTransform)], truth: [(Double, RigidTransform)]
  ) throws -> RecordingReader {
    let files = [
      "recording.json": #"{ "format": "nearby-recording", "version": 1, "name": "walk" }"#,
      "ranging.csv": "timestamp,peer,distance,azimuth,elevation\n1,p,1,,\n",
      "trajectory.txt": odometry.map(Self.line).joined(),
      "truth/trajectory.txt": truth.map(Self.line).joined(),
      "truth/peers.csv": "timestamp,peer,x,y,z\n0,p,0,0,0\n",
    ]
    try FileManager.default.createDirectory(
      at: folder.appending(path: "truth"), withIntermediateDirectories: true)
    for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
    return try RecordingReader(folder: folder.path)
  }

  /// A walk in three dimensions.
  private static func pose(_ seconds: Double) -> RigidTransform {
    RigidTransform(
      rotation: Rotation(angleRadians: 0.7 * seconds, about: Vector3(0.2, 1, -0.4)),
      translation: Vector3(3 * sin(seconds), 2 * cos(1.3 * seconds), seconds + sin(2 * seconds)))
  }

  @Test(
    "an odometry in another world is without error, however far and however turned",
    arguments: [(0.0, 0.0), (0.3, 10), (3.1, 1e6), (-2, 4e4)])
  func anotherWorld(angle: Double, distance: Double) throws {
    let moved = RigidTransform(
      rotation: Rotation(angleRadians: angle, about: Vector3(1, -2, 0.5)),
      translation: Vector3(distance, -distance, 0.3 * distance))
    let times = (0..<200).map { 0.1 * Double($0) }
    let recording = try recording(
      odometry: times.map { ($0, moved * Self.pose($0)) },
      truth: times.map { ($0, Self.pose($0)) })
    let error = try #require(try TrajectoryError.evaluate(recording, longestPoseGap: 0.5))
    #expect(error.poses == 200)
    #expect(error.max < 1e-8 && error.rotationRMSEDegrees < 1e-5)
  }

  @Test("errors that no alignment takes away are counted")
  func knownError() throws {
    // Alternating up and down by a metre over a square, which no alignment can reduce.
    let places = [Vector3(0, 0, 0), Vector3(10, 0, 0), Vector3(10, 0, 10), Vector3(0, 0, 10)]
    let signs = [1.0, -1, 1, -1]
    let still = Rotation.identity
    let turned = Rotation(angleRadians: 2.0.degreesAsRadians, about: Vector3(0, 1, 0))
    let recording = try recording(
      odometry: (0..<4).map {
        let place = places[$0] + Vector3(0, signs[$0], 0)
        return (Double($0), RigidTransform(rotation: turned, translation: place))
      },
      truth: (0..<4).map {
        (Double($0), RigidTransform(rotation: still, translation: places[$0]))
      })
    let error = try #require(try TrajectoryError.evaluate(recording, longestPoseGap: 0.5))
    #expect(abs(error.rmse - 1) < 1e-9 && abs(error.mean - 1) < 1e-9 && abs(error.max - 1) < 1e-9)
    #expect(abs(error.rotationRMSEDegrees - 2) < 1e-6)
  }

  @Test("true poses are interpolated, but not over a gap; poses outside are left out")
  func times() throws {
    let truth = [0.0, 1, 2, 5, 6].map { second -> (Double, RigidTransform) in
      let place = Vector3(second, 0, second * second)
      return (second, RigidTransform(rotation: .identity, translation: place))
    }
    let odometry = [-0.5, 0, 0.5, 1.25, 3, 5, 5.5, 7].map { second in
      (second, RigidTransform(rotation: .identity, translation: Vector3(second, 0, 0)))
    }
    let recording = try recording(odometry: odometry, truth: truth)
    // 0, 0.5, 1.25, 5 and 5.5 have a true pose.
    #expect(try TrajectoryError.evaluate(recording, longestPoseGap: 1)?.poses == 5)
    #expect(try TrajectoryError.evaluate(recording, longestPoseGap: 3)?.poses == 6)
    #expect(try TrajectoryError.evaluate(recording, longestPoseGap: 0.5) == nil)
  }
}
