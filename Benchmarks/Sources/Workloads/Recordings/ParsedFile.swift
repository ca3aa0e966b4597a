// SPDX-License-Identifier: Apache-2.0
import CFloors
import FoundationEssentials
import NearbyRecordings

/// Reading a file of a recording from its first row to its last.
///
/// An operation is a byte. The floor counts the lines of the same bytes in memory.
struct ParsedFile: Workload {
  /// The text formats.
  enum Format: String, CaseIterable {
    case trajectory, ranging, tracking, peers, estimates
  }

  let operations: Int

  private let format: Format
  private let path: String
  private let recording: RecordingReader
  private let text: [UInt8]
  private let lines: Int
  private var rows = 0
  private var sink = 0

  init(_ format: Format) throws {
    self.format = format
    let folder = Places.fullRecording
    recording = try RecordingReader(folder: folder)
    path =
      switch format {
      case .trajectory: "\(folder)/trajectory.txt"
      case .ranging: "\(folder)/ranging.csv"
      case .tracking: "\(folder)/tracking.csv"
      case .peers: "\(folder)/truth/peers.csv"
      case .estimates: Places.estimates
      }
    text = try [UInt8](Data(contentsOf: URL(filePath: path)))
    operations = text.count
    lines = text.count { $0 == UInt8(ascii: "\n") }
  }

  mutating func prepare() { rows = 0 }

  mutating func run() {
    // A fault leaves too few rows, which `check` detects.
    try? read()
  }

  private mutating func read() throws {
    switch format {
    case .trajectory:
      var reader = try recording.trajectory()
      while let row = try reader.next() { count(row.line) }
    case .ranging:
      var reader = try recording.ranging()
      while let row = try reader.next() { count(row.line) }
    case .tracking:
      guard var reader = try recording.tracking()
      else {
        return
      }
      while let row = try reader.next() { count(row.line) }
    case .peers:
      guard var reader = try recording.truthPeers()
      else {
        return
      }
      while let row = try reader.next() { count(row.line) }
    case .estimates:
      var reader = try EstimateReader(path: path, kind: .estimates)
      while let row = try reader.next() { count(row.line) }
    }
  }

  /// Uses the row, as a caller would.
  private mutating func count(_ line: Int) {
    rows += 1
    sink &+= line
  }

  mutating func runFloor() {
    unsafe text.withUnsafeBytes { bytes in
      sink &+= unsafe floor_count_lines(
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
  }

  func check() throws {
    // One line is the heading, or a comment with the columns' names.
    guard rows == lines - 1 else { throw WrongState("\(path): \(rows) rows in \(lines) lines") }
  }
}
