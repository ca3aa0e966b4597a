// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// A map file that several runs share, in which each recording counts once.
///
/// The file is locked from when it is read until the keeper ends, so that of runs at the same time each goes on from the
/// one before.
struct MapKeeper {
  /// The map of the earlier recordings, the run's prior; `nil` without a file, or when the file is of this
  /// recording alone and there was no survey before it.
  let known: PeerMapFile?
  /// Where the map is written after the run; `nil` when it is not: a survey is left as it is, and what holds this
  /// recording and others already says all that it could.
  let output: String?

  private let recording: RecordingReader
  /// What the map holds after the run.
  private let recordings: [PeerMapFile.Recording]
  private let survey: PeerMap?
  private let lock: FileLock

  /// Reads the file, if there is one.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - output: Where the map is written after the run; `nil` for the file itself, unless that is a survey, which holds
  ///     no recording.
  ///   - recording: The recording that is to be run.
  ///   - configuration: Its settings.
  /// - Throws: The first fault of the file, or that it holds a part of the recording.
  init(
    path: String, output: String? = nil, _ recording: RecordingReader,
    _ configuration: FusionConfiguration
  ) throws(RecordingError) {
    lock = FileLock(of: output ?? path)
    self.recording = recording
    let entry = try PeerMapFile.Recording(of: recording)
    if let output, FileBytes.size(path: output) != nil,
      try PeerMapFile(path: output, configuration).recordings.isEmpty
    {
      throw RecordingError(
        .valueOutOfRange, "is a survey, which no run overwrites", file: output,
        remedy: "name another file for the map after the run")
    }
    guard FileBytes.size(path: path) != nil else {
      (known, survey, self.output, recordings) = (nil, nil, output ?? path, [entry])
      return
    }
    let file = try PeerMapFile(path: path, configuration)
    survey = file.givenSurvey
    let isHeld = file.recordings.contains { $0.isSame(as: entry) }
    if !isHeld, let other = file.recordings.first(where: { $0.sketch.overlaps(entry.sketch) }) {
      throw RecordingError(
        .valueOutOfRange,
        "holds \"\(other.name)\", which has samples of this recording: they would count twice",
        file: path, remedy: "run it with the map as it was before \"\(other.name)\"")
    }
    let isSurvey = file.recordings.isEmpty
    recordings = file.recordings + (isHeld ? [] : [entry])
    guard isHeld else {
      known = file
      self.output = output ?? (isSurvey ? nil : path)
      return
    }
    // A map of this recording is no prior for it: its samples would be counted twice.
    let isAlone = file.recordings.count == 1
    known = isAlone ? survey.map { PeerMapFile(map: $0) } : file
    self.output = isAlone ? output ?? path : nil
  }

  /// Writes the file anew.
  ///
  /// - Parameter map: The map after the run; `nil` if no peer was located, and no file is then written.
  /// - Throws: When it cannot be written.
  func keep(_ map: PeerMap?) throws(RecordingError) {
    guard let map, let output else { return }
    let file = PeerMapFile(map: map, recordings: recordings, survey: survey)
    var stream = try AtomicFile(path: output)
    try stream.write(file.json(up: recording.manifest.frames.up))
    try stream.commit()
    // Until here no other run reads the file.
    withExtendedLifetime(lock) {}
  }
}

extension PeerMapFile.Recording {
  /// What tells a recording from others.
  fileprivate init(of recording: RecordingReader) throws(RecordingError) {
    var sketch = MeasurementSketch()
    var rows = try recording.ranging()
    while let row = try rows.next() { sketch.add(row) }
    self.init(
      name: recording.manifest.name,
      digest: try ContentDigest(ofFile: recording.folder + "/ranging.csv").description,
      sketch: sketch)
  }

  /// Whether two are of the same measurements, whatever the files are called and how they are written.
  fileprivate func isSame(as other: Self) -> Bool {
    digest == other.digest || !sketch.hashes.isEmpty && sketch == other.sketch
  }
}
