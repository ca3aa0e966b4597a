// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import NearbyFusion
import NearbyRecordings

/// A recording read and fused event by event, with the peak memory of this process.
public struct StreamedRecording {
  private let samples: Int
  private let poses: Int
  private let seconds: Double
  private let megabytes: Double
  private let bytes: Int

  /// Streams the recording once.
  public init(folder: String) throws {
    let recording = try RecordingReader(folder: folder)
    var stream = try recording.events()
    var engine = try FusionEngine(recording.manifest.fusionConfiguration())
    var handles: [PeerID] = []
    var (samples, poses) = (0, 0)
    let clock = ContinuousClock()
    let start = clock.now
    while let event = try stream.next() {
      while handles.count < stream.peerCount { handles.append(engine.addPeer()) }
      switch event {
      case .pose(let pose):
        engine.add(pose)
        poses += 1
      case .tracking(let sample): engine.add(sample)
      case .ranging(let row):
        engine.add(row.sample(of: handles[row.peerIndex]))
        samples += 1
      }
    }
    seconds = start.duration(to: clock.now) / .seconds(1)
    bytes = stream.bytesRead
    (self.samples, self.poses) = (samples, poses)
    var usage = rusage()
    unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
    // Linux counts kibibytes.
    megabytes = Double(usage.ru_maxrss) * 1024 / 1e6
  }

  /// One line of JSON.
  public var text: String {
    """
    {"samples": \(samples), "poses": \(poses), "bytes": \(bytes), "seconds": \(seconds), \
    "peakMegabytes": \(megabytes)}
    """
  }
}
