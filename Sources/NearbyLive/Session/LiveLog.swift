// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry
package import NearbyRecordings

/// The newest minutes of what came in, for saving as a recording.
///
/// Copies are cheap, so that one is written while the log goes on. Lines that the format does not hold, such as
/// a pose before the one before it, are left out.
package struct LiveLog: Sendable {
  /// How much is kept, seconds.
  package static let keptSeconds = 600.0
  private static let chunkSeconds = 30.0

  private struct Chunk {
    var begin: Timestamp
    var lines: [RecordingLine] = []
  }

  /// What the recording says of its sensors.
  package var manifest: RecordingManifest
  private var chunks: [Chunk] = []
  private var newestPose: Timestamp?
  private var newestTruth: Timestamp?
  private var newestTracking: Timestamp?
  private var newestRange: Timestamp?
  private var newestPeerTruth: [String: Timestamp] = [:]

  /// Makes an empty log.
  package init(manifest: RecordingManifest) { self.manifest = manifest }

  /// How many lines are kept.
  package var count: Int { chunks.reduce(0) { $0 + $1.lines.count } }

  /// Adds a line.
  package mutating func add(_ line: RecordingLine) {
    let time: Timestamp
    switch line {
    case .manifest(let manifest):
      self.manifest = manifest
      return
    case .pose(let row):
      guard Self.isLater(row.timestamp, &newestPose) else { return }
      time = row.timestamp
    case .truePose(let row):
      guard Self.isLater(row.timestamp, &newestTruth) else { return }
      time = row.timestamp
    case .tracking(let row):
      guard Self.isLater(row.sample.timestamp, &newestTracking) else { return }
      time = row.sample.timestamp
    case .range(let row):
      let newest = newestRange ?? row.timestamp
      guard newest.seconds(since: row.timestamp) < 1 else { return }
      newestRange = max(newest, row.timestamp)
      time = row.timestamp
    case .truePeer(let row):
      guard Self.isLater(row.timestamp, &newestPeerTruth[row.peer]) else { return }
      time = row.timestamp
    }
    let begin = chunks.last?.begin
    if begin.map({ time.seconds(since: $0) >= Self.chunkSeconds }) ?? true {
      chunks.append(Chunk(begin: time))
      while let first = chunks.first, chunks.count > 1,
        time.seconds(since: first.begin) > Self.keptSeconds + Self.chunkSeconds
      {
        chunks.removeFirst()
      }
    }
    chunks[chunks.count - 1].lines.append(line)
  }

  private static func isLater(_ time: Timestamp, _ newest: inout Timestamp?) -> Bool {
    if let newest, time < newest { return false }
    newest = time
    return true
  }

  /// Writes what is kept as a recording.
  ///
  /// - Parameters:
  ///   - path: The folder to make.
  ///   - name: The recording's name.
  /// - Throws: ``RecordingError`` when it cannot be written, or when there are no poses or samples yet.
  package func write(to path: String, name: String) throws(RecordingError) {
    var manifest = manifest
    manifest.name = name
    if manifest.source == nil { manifest.source = "nearby live" }
    var options = RecordingWriter.Options()
    options.columns = columns
    var writer = try RecordingWriter(path: path, manifest: manifest, options: options)
    for chunk in chunks {
      for line in chunk.lines {
        switch line {
        case .manifest: break
        case .pose(let row): try writer.append(row)
        case .range(let row): try writer.append(row)
        case .tracking(let row): try writer.append(row)
        case .truePose(let row): try writer.appendTruth(row)
        case .truePeer(let row): try writer.appendTruth(row)
        }
      }
    }
    try writer.finish()
  }

  private var columns: Set<RecordingWriter.OptionalColumn> {
    var columns: Set<RecordingWriter.OptionalColumn> = []
    for chunk in chunks {
      for case .range(let row) in chunk.lines {
        for column in RangingColumn.all where row.values[column] != nil {
          if let optional = column.optional { columns.insert(optional) }
        }
      }
    }
    return columns
  }
}
