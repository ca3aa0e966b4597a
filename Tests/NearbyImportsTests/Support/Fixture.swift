// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbyRecordings
import NearbyTestSupport
import Testing

/// Foreign files that reference tools wrote (`Fixtures/make-fixtures.py`), and the motion in them.
enum Fixture {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fixtures")
  /// How many poses there are.
  static let count = 21
  /// The first stamp of most files, nanoseconds.
  static let start: Int64 = 100_000_000_000
  /// The first stamp of those with a clock of 2014.
  static let epoch: Int64 = 1_403_715_273_262_142_976

  static func path(_ name: String) -> String { folder.appending(path: name).path }

  static func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: name)))
  }

  /// A pose of the motion: z up, the device forward, left, up along its way.
  static func pose(_ index: Int) -> RigidTransform {
    let angle = 0.1 * Double(index)
    return RigidTransform(
      rotation: Rotation(angleRadians: angle + .pi / 2, about: Vector3(0, 0, 1)),
      translation: Vector3(2 * cos(angle), 2 * sin(angle), 1 + 0.01 * Double(index)))
  }

  /// Compares a recording's trajectory with the motion.
  static func expectMotion(
    in folder: String, from start: Int64 = start,
    as recorded: (RigidTransform) -> RigidTransform = { $0 },
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    var poses = try RecordingReader(folder: folder).trajectory()
    for index in 0..<count {
      let next = try poses.next()
      let row = try #require(next, sourceLocation: sourceLocation)
      #expect(
        row.timestamp.nanoseconds == start + 100_000_000 * Int64(index),
        sourceLocation: sourceLocation)
      let expected = recorded(pose(index))
      let error = row.worldFromDevice.translation - expected.translation
      #expect(error.length < 2e-9, sourceLocation: sourceLocation)
      #expect(
        row.worldFromDevice.rotation.angle(to: expected.rotation) < 1e-8,
        sourceLocation: sourceLocation)
    }
    let last = try poses.next()
    #expect(last == nil, sourceLocation: sourceLocation)
  }
}

/// Reads a file cut short at every byte, and with every byte changed in three ways.
///
/// The result is an error that names the file, or no error, but never a trap.
func expectNoTrap(
  _ bytes: [UInt8], name: String = "input", sourceLocation: SourceLocation = #_sourceLocation,
  reading read: (String) throws -> Void
) throws {
  let folder = try TemporaryFolder()
  let path = folder.path(name)
  func check(_ damaged: [UInt8]) throws {
    try folder.write(damaged, to: name)
    do {
      try read(path)
    } catch let error as RecordingError {
      #expect(error.file == path, "\(error)", sourceLocation: sourceLocation)
      #expect(!error.remedy.isEmpty, sourceLocation: sourceLocation)
    }
  }
  for length in 0..<bytes.count { try check(Array(bytes.prefix(length))) }
  for index in bytes.indices {
    for flip in [0x01, 0x80, 0xFF] as [UInt8] {
      var damaged = bytes
      damaged[index] ^= flip
      try check(damaged)
    }
  }
  try folder.write(bytes, to: name)
  try read(path)
}
