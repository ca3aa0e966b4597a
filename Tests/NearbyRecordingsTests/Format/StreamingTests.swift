// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyRecordings
import NearbyTestSupport
import Testing

/// Files far larger than the buffers are read in memory that does not grow.
@Suite(.serialized) struct StreamingTests {
  /// The resident memory of this process, bytes; `nil` where the system does not report it.
  private func residentBytes() -> Int? {
    let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let pages = text?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return pages.map { $0 * sysconf(Int32(_SC_PAGESIZE)) }
  }

  /// Appends numbered lines to a file, a thousand at a time.
  private func generate(_ count: Int, to path: String, line: (Int) -> String) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.seekToEnd()
    for start in stride(from: 0, to: count, by: 1000) {
      let lines = (start..<min(start + 1000, count)).map(line).joined()
      try file.write(contentsOf: Data(lines.utf8))
    }
    try file.close()
  }

  private func stamp(_ index: Int, perSecond: Int) -> String {
    let millionths = String(index % perSecond * (1_000_000 / perSecond))
    return "\(index / perSecond)." + String(repeating: "0", count: 6 - millionths.count)
      + millionths
  }

  /// Reads `samples` rows at 200 a second and as many poses at 100 a second as that takes.
  private func stream(samples: Int) throws {
    let recording = try TemporaryRecording(ranging: TemporaryRecording.header, others: [:])
    try recording.write("# poses\n", to: "trajectory.txt")
    try generate(samples / 2, to: recording.path + "/trajectory.txt") { index in
      "\(stamp(index, perSecond: 100)) 1.234567 -0.234567 12.345678 0.000000 0.600000 0.000000 0.800000\n"
    }
    try generate(samples, to: recording.path + "/ranging.csv") { index in
      "\(stamp(index, perSecond: 200)),anchor-\(index % 8),3.456789,\(index % 3 == 0 ? "" : "-0.123456"),0.012345\n"
    }

    var stream = try RecordingReader(folder: recording.path).events()
    _ = try stream.next()
    let before = residentBytes()
    var poses = 1
    var rows = 0
    while let event = try stream.next() {
      switch event {
      case .pose: poses += 1
      case .ranging: rows += 1
      case .tracking: break
      }
    }
    #expect(poses == samples / 2 && rows == samples)
    #expect(stream.bytesRead == stream.totalBytes && stream.peerCount == 8)
    if let before, let after = residentBytes() {
      // Concurrent tests use some memory, too. The files are larger than the bound.
      let bound = 24 << 20
      #expect(stream.totalBytes > bound && after - before < bound)
    }
  }

  #if DEBUG
    static let samples = 400_000
  #else
    static let samples = 1_000_000
  #endif

  @Test func memoryDoesNotGrowWithTheFile() throws { try stream(samples: Self.samples) }

  /// Half a gigabyte, only with `NEARBY_LONG_TESTS=1`.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["NEARBY_LONG_TESTS"] == "1"))
  func tenMillionSamplesAreRead() throws { try stream(samples: 10_000_000) }
}
