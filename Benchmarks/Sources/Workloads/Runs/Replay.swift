// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyRecordings

/// Reading, fusing and writing a recording in this process.
///
/// An operation is a whole run.
struct Replay: Workload {
  let operations = 1

  private let recording: RecordingReader
  private let output: String
  private var samples = 0

  init(_ folder: String) throws {
    recording = try RecordingReader(folder: folder)
    output = NSTemporaryDirectory() + "nearby-benchmark-\(getpid())-estimates.csv"
  }

  mutating func prepare() {
    samples = 0
    try? FileManager.default.removeItem(atPath: output)
  }

  mutating func run() {
    // A fault leaves no samples, which `check` detects.
    try? replay()
  }

  private mutating func replay() throws {
    var writer = try EstimateWriter(path: output, frames: recording.manifest.frames)
    let outcome = try RecordingReplay(recording).run {
      row, report, estimate throws(RecordingError) in
      try writer.write(row, report: report, estimate: estimate)
    }
    try writer.commit()
    samples = outcome.summary.samples
  }

  func check() throws {
    defer { try? FileManager.default.removeItem(atPath: output) }
    guard samples > 0 else { throw WrongState("\(recording.folder): no samples") }
  }
}
