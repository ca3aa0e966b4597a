// SPDX-License-Identifier: Apache-2.0
internal import NearbyEvaluation
internal import NearbyFusion
internal import NearbyGeometry
public import NearbyRecordings

extension Report {
  /// The default number of rows of all tracks together, at some 80 bytes of a page each.
  public static let defaultRowBudget = 10_000
  /// The smallest number of rows of a track, for any number of tracks that share the budget.
  private static let fewestRows = 150

  /// Gathers the estimates of results, and their smoothed rows if there are any.
  ///
  /// Reads each result and its recording once, and once more for the figures where there is truth.
  /// Rows are joined with the recording's samples by time and peer, as for `ResultEvaluation`.
  ///
  /// - Parameters:
  ///   - folders: The folders that runs wrote.
  ///   - recordingFolder: The recording of all of them; those that the summaries name when `nil`.
  ///   - rowBudget: How many rows of all tracks together are kept.
  /// - Returns: The report.
  /// - Throws: The first fault of a result or of a recording, located.
  public static func gather(
    results folders: [String], recording recordingFolder: String? = nil,
    rowBudget: Int = defaultRowBudget
  ) throws(RecordingError) -> Report {
    var report = Report(recordings: [], runs: [])
    var gathered: [(run: RunGatherer, index: Int)] = []
    for folder in folders {
      for source in ResultEvaluation.Source.allCases {
        guard let run = try RunGatherer(folder, source, recording: recordingFolder) else {
          continue
        }
        gathered.append((run, try report.index(of: run.recording)))
      }
    }
    let tracks = gathered.reduce(0) { $0 + $1.run.tracks.count }
    let budget = max(fewestRows, rowBudget / max(1, tracks))
    let names = RunNames(gathered.map(\.run.folder))
    for (run, index) in gathered {
      let tracks = run.tracks.map { gatherer in
        var track = gatherer.track(budget: budget, duration: report.recordings[index].duration)
        track.figures = run.figures?.peers.first { $0.id == gatherer.peer }?.figures
        return track
      }
      let suffix = run.source == .smoothed ? " smoothed" : ""
      var reported = ReportRun(
        name: names.short(run.folder) + suffix, recording: index, source: run.source,
        correctedPath: run.correctedPath, truePath: run.truePath, tracks: tracks)
      if run.source == .estimates, let summary = ResultFolder(path: run.folder).summary {
        reported.add(summary)
      }
      report.runs.append(reported)
    }
    return report
  }

  /// The index of a recording, which is appended if it is new.
  private mutating func index(of recording: RecordingReader) throws(RecordingError) -> Int {
    if let known = recordings.firstIndex(where: { $0.folder == recording.folder }) { return known }
    recordings.append(try ReportRecording(recording))
    return recordings.count - 1
  }
}

extension ReportRecording {
  private static let deviceRows = 2000

  /// Reads the device's path.
  init(_ recording: RecordingReader) throws(RecordingError) {
    var device = ReportTable<DeviceColumn>()
    var clock = RecordingClock()
    var stream = try recording.events()
    while let event = try stream.next() {
      switch event {
      case .pose(let pose):
        let place = MapFrame.vector(fromEngine: pose.worldFromDevice.translation)
        var row = ReportTable<DeviceColumn>.Row()
        row[.time] = clock.seconds(at: pose.timestamp)
        (row[.x], row[.y], row[.z]) = (place.x, place.y, place.z)
        // The negative bearing of the map's y relative to the heading.
        row[.heading] =
          -Heading(pose.worldFromDevice.rotation).bearing(of: Vector3(0, 0, -1)).radiansAsDegrees
        device.append(row)
      case .ranging(let row): _ = clock.seconds(at: row.timestamp)
      case .tracking: break
      }
    }
    self.init(
      name: recording.manifest.name, folder: recording.folder, duration: clock.duration,
      axes: MapFrame.axisNames(up: recording.manifest.frames.up), hasTruth: recording.hasTruth,
      device: device.thinned(to: Self.deviceRows, keepingExtremesOf: [.x, .y, .z]))
  }
}

extension ReportRun {
  /// Adds what a summary says.
  fileprivate mutating func add(_ summary: RunSummary) {
    sentences = RunSentences(summary)
    let adviser = PeerAdvice(summary)
    for peer in summary.peers {
      guard let index = tracks.firstIndex(where: { $0.peer == peer.id }) else { continue }
      tracks[index].advice = adviser.sentences(for: peer)
    }
  }
}

/// Seconds since the first event of a recording: its first pose or sample.
struct RecordingClock {
  /// The time of the first event.
  private(set) var first: Timestamp?
  /// Seconds from the first event to the last so far.
  private(set) var duration = 0.0

  /// The time of an event.
  ///
  /// The events of a recording must be passed in their order.
  mutating func seconds(at timestamp: Timestamp) -> Double {
    let start = first ?? timestamp
    first = start
    let seconds = timestamp.seconds(since: start)
    duration = max(duration, seconds)
    return seconds
  }
}

/// Gathers one file of one result.
struct RunGatherer {
  let folder: String
  let source: ResultEvaluation.Source
  let recording: RecordingReader
  private(set) var tracks: [TrackGatherer] = []
  let correctedPath: ReportTable<PathColumn>
  let truePath: ReportTable<PathColumn>
  let figures: ResultEvaluation?

  /// Reads a file of a result to its end; `nil` when there is no such file.
  init?(
    _ folder: String, _ source: ResultEvaluation.Source, recording recordingFolder: String?
  ) throws(RecordingError) {
    let result = ResultFolder(path: folder)
    guard source == .estimates || result.has(source) else { return nil }
    self.folder = folder
    self.source = source
    let own = try RecordingReader(
      folder: try result.recording(named: recordingFolder)
    ).keepingFiles
    let configuration = try result.configuration()
    recording = own.ordered(by: configuration)
    figures =
      recording.hasTruth
      ? try ResultEvaluation.evaluate(source, folder: folder, recording: recording) : nil

    var truth = try TruthSampler(recording, longestPoseGap: configuration.odometry.maximumPoseGap)
    let comparison = TruthComparison(isPlanar: configuration.odometry.isPlanar)
    var corrected = try CorrectedPath(result, source, recording.manifest.frames)
    var modes =
      try source == .estimates ? ModesFollower(result: folder, recording.manifest.frames) : nil
    var clock = RecordingClock()
    var indexOfPeer: [String: Int] = [:]
    var replay = try ResultReplay(
      try result.rows(source), over: recording,
      named: recording.folder)
    while let step = try replay.next() {
      switch step {
      case .pose(let pose):
        try corrected.note(pose, at: clock.seconds(at: pose.timestamp))
        truth.note(pose)
      case .sample(let sample, let row):
        let time = clock.seconds(at: sample.timestamp)
        guard let row else { continue }
        let index = indexOfPeer[row.peer] ?? tracks.count
        if index == tracks.count {
          indexOfPeer[row.peer] = index
          tracks.append(
            TrackGatherer(peer: row.peer, isPlanar: configuration.odometry.isPlanar))
        }
        tracks[index].add(
          row, sample, at: time, frames: recording.manifest.frames,
          place: try truth.sample(at: sample), comparison: comparison,
          mapFromWorld: corrected.mapFromWorld)
        if let places = try modes?.places(of: row) {
          tracks[index].add(places, at: time, mapFromWorld: corrected.mapFromWorld)
        }
      }
    }
    correctedPath = corrected.path.thinned
    if let start = clock.first {
      truePath = try ReportTable<PathColumn>(
        truthOf: recording, besideResult: folder,
        longestPoseGap: configuration.odometry.maximumPoseGap, since: start
      ).thinned
    } else {
      truePath = ReportTable<PathColumn>()
    }
  }
}

/// The shortest names of results that are still distinct.
struct RunNames {
  private let depth: Int

  /// Finds the number of last path components that distinguishes the folders.
  init(_ folders: [String]) {
    let paths = Set(folders).map(Self.parts(of:))
    let deepest = paths.map(\.count).max() ?? 1
    depth =
      (1...max(1, deepest)).first { depth in
        Set(paths.map { $0.suffix(depth) }).count == paths.count
      } ?? deepest
  }

  /// The short name of one of them.
  func short(_ folder: String) -> String {
    let name = Self.parts(of: folder).suffix(depth).joined(separator: "/")
    return name.isEmpty ? folder : name
  }

  private static func parts(of folder: String) -> [Substring] { folder.split(separator: "/") }
}
