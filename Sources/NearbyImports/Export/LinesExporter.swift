// SPDX-License-Identifier: Apache-2.0
public import NearbyRecordings

/// Writes a recording as JSON lines, in the order in which an engine can use them.
///
/// From these lines, `nearby run -` gives the same estimates as `nearby run` from the recording.
///
/// The true poses and positions come last. Memory does not grow with the recording.
public struct LinesExporter: Sendable {
  private let recording: RecordingReader

  /// Makes an exporter of a recording.
  public init(_ recording: RecordingReader) { self.recording = recording }

  /// Writes the file; it appears whole or not at all.
  ///
  /// - Parameter path: Where.
  /// - Returns: How many lines were written.
  /// - Throws: The first fault of the recording, or when the file cannot be written.
  public func export(to path: String) throws(RecordingError) -> ExportReport {
    var report = ExportReport()
    report.lines = 1
    var output = try ExportFile(path: path)
    output.text.append(.manifest(recording.manifest))
    var events = try recording.events()
    while let line = try events.nextLine() {
      output.text.append(line)
      report.lines += 1
      try output.endRow()
    }
    if var poses = try recording.truthTrajectory() {
      while let row = try poses.next() {
        output.text.append(.truePose(row))
        report.lines += 1
        try output.endRow()
      }
    }
    if var peers = try recording.truthPeers() {
      while let row = try peers.next() {
        output.text.append(.truePeer(row))
        report.lines += 1
        try output.endRow()
      }
    }
    try output.commit()
    return report
  }
}
