// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// The report of an import.
public struct ImportReport: Hashable, Sendable {
  /// The recording's name.
  public var name: String
  /// The frames that the recording declares.
  public var frames: FrameConvention
  /// How many ranging samples were written.
  public var samples = 0
  /// The peers, in the order in which they came.
  public var peers: [String] = []
  /// How many range differences were written.
  public var differences = 0
  /// Their anchors, in the order in which they came.
  public var anchors: [String] = []
  /// How many poses were read.
  public var posesRead = 0
  /// How many poses were written.
  public var posesWritten = 0
  /// How many true poses were written.
  public var truePosesWritten = 0
  /// From the first pose to the last, seconds.
  public var durationSeconds = 0.0
  /// The length of the device's path, metres.
  public var pathLength = 0.0
  /// How often each kind of data was left out.
  public var leftOut: [String: Int] = [:]
  /// What to look at before the recording is run, the worst first.
  public var findings: [RecordingFinding] = []

  init(name: String, frames: FrameConvention) {
    self.name = name
    self.frames = frames
  }
}
