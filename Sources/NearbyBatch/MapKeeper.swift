// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// A map file that several runs share, in which each recording counts once.
struct MapKeeper {
  /// The map of the earlier recordings, the run's prior; `nil` without a file, or when the file is of this
  /// recording alone.
  let known: PeerMapFile?

  private let path: String
  private let recording: RecordingReader
  private let entry: PeerMapFile.Recording
  /// Whether this recording and others are in the map already: the file is then not written again.
  private let isComplete: Bool

  /// Reads the file, if there is one.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - recording: The recording that is to be run.
  ///   - configuration: Its settings.
  /// - Throws: The first fault of the file.
  init(
    path: String, _ recording: RecordingReader, _ configuration: FusionConfiguration
  ) throws(RecordingError) {
    let digest = try ContentDigest(ofFile: recording.folder + "/ranging.csv").description
    self.path = path
    self.recording = recording
    entry = PeerMapFile.Recording(name: recording.manifest.name, digest: digest)
    guard FileBytes.size(path: path) != nil else {
      (known, isComplete) = (nil, false)
      return
    }
    let file = try PeerMapFile(path: path, configuration)
    let isHeld = file.recordings.contains { $0.digest == digest }
    // A map of this recording is no prior for it: its samples would be counted twice.
    known = isHeld && file.recordings.count == 1 ? nil : file
    isComplete = isHeld && file.recordings.count > 1
  }

  /// Writes the file anew.
  ///
  /// - Parameter map: The map after the run; `nil` if no peer was located, and no file is then written.
  /// - Throws: When it cannot be written.
  func keep(_ map: PeerMap?) throws(RecordingError) {
    guard let map, !isComplete else { return }
    let file = PeerMapFile(map: map, recordings: (known?.recordings ?? []) + [entry])
    var output = try AtomicFile(path: path)
    try output.write(file.json(up: recording.manifest.frames.up))
    try output.commit()
  }
}
