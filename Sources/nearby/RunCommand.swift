// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
import FoundationEssentials
import NearbyBatch
public import NearbyRecordings

/// `nearby run`: replays a recording and writes estimates.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Locate the peers of a recording.",
    discussion: """
      Replays the recording as if it were live and writes three files into DIR: estimates.csv, a \
      row for each ranging sample with the state after it; summary.json; and configuration.json, \
      the settings that were in force. Where peers at rest correct the odometry's drift there is \
      trajectory-corrected.txt, the device's path in a map that does not drift (TUM). With --smooth \
      there is smoothed.csv: a row for each sample \
      with the estimate from the whole recording, past and future; and trajectory-smoothed.txt. \
      Where the recording has range differences (tdoa.csv, DL-TDoA) the device itself is located among \
      the anchors of map.json in the recording's folder, or of --map: located.csv has its place twice a second. \
      The files replace all those of an earlier run; summary.json comes last, so that where it is \
      the result is whole. Nothing is written when the recording has a fault.

      The table at the end says for each peer whether it converged, after how many seconds, how \
      often convergence was lost again, and the peer's position: in the recording's own world \
      axes, ± the root of the covariance's trace. For a peer that did not converge it gives \
      advice. If the recording holds the truth, errors of the position relative to the device \
      follow. On a terminal a small map is drawn: the device's path and, by number, the peers that \
      were located.

      EXAMPLES
        nearby run Datasets/plaza2 --output out/plaza2
        nearby run living-room -o out --peer keys --peer bag
        nearby run living-room -o out --json | python3 -m json.tool
        nearby run living-room -o out --config noisy.json
        nearby run living-room -o out --smooth
        nearby run monday -o out/1 --map building.json
        nearby run tuesday -o out/2 --map building.json
        tail -f log.jsonl | nearby run -

      With --map the peers at rest are kept in a file: their places with their joint covariance, \
      and the errors of their radios. If the file exists, the run begins with it: once the ranges \
      to three of its peers tell where the device is among them, all are known, and \
      trajectory-corrected.txt is the device's path in the map's frame. Surveyed anchors are such \
      a file, written by hand:
        { "format": "nearby-map", "version": 1, "world": { "up": "z" },
          "peers": [ { "id": "door", "position": [0.2, 3.1, 2.2] } ] }
      A survey, which holds no recording, is never changed: --map-out says where the map after the run \
      goes. It keeps the survey apart, as what was known before. A recording that the file holds already \
      is not counted twice, and one that shares samples with it is refused. Runs at the same time wait \
      for each other.

      With - for the recording, JSON lines come from standard input, as 'nearby import jsonl \
      --help' shows them, and for each range line a line goes to standard output at once: the \
      state after it, its keys the columns of estimates.csv. A faulty line is reported on \
      standard error and skipped; the exit status is then 65.

      The recording is calibrated first: the offset of the radio's clock, the antenna's place, the noise of \
      ranges and angles, the odometry's drift and steady turn are estimated from it, without the truth. \
      What contradicts the settings is said with its sigma and used: the clock is corrected, noise and drift \
      are taken as they are. --calibration report only says it, --calibration off leaves it and saves the time.

      A configuration file overrides recording.json, which overrides the engine's defaults:
        { "ranging": { "rangeSigma": 0.3 }, "odometry": { "positionDrift": 0.05 } }
      The configuration.json of a run is such a file with all settings; 'nearby settings' lists them.
      """)

  @Argument(
    help: ArgumentHelp(
      "The recording's folder, or - for JSON lines from standard input.", valueName: "recording"),
    completion: .directory)
  var recordingPath: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The output folder; made if missing. Needed unless the recording is -.", valueName: "dir"),
    completion: .directory)
  var output: String?

  @Option(
    name: .customLong("peer"),
    help: ArgumentHelp(
      "Locate this peer only; may be given several times.", valueName: "name"))
  var peers: [String] = []

  @Option(
    name: .customLong("config"),
    help: ArgumentHelp("Settings of the engine, JSON.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var configurationPath: String?

  @Flag(help: "Also estimate from the whole recording, past and future: smoothed.csv.")
  var smooth = false

  @Option(
    help: ArgumentHelp(
      "What is done about errors of radio and odometry that the recording tells: off, report or use.",
      valueName: "mode")
  )
  var calibration = CalibrationMode.use

  @Option(
    name: .customLong("map"),
    help: ArgumentHelp(
      "A map of the peers at rest: read if it exists, and written unless it is a survey.",
      valueName: "file"),
    completion: .file(extensions: ["json"]))
  var mapPath: String?

  @Option(
    name: .customLong("map-out"),
    help: ArgumentHelp(
      "Where the map is written after the run, instead of --map.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var mapOutput: String?

  @Flag(help: "Print summary.json instead of the table.")
  var json = false

  @Flag(name: .customLong("no-map"), help: "Draw no map in the terminal.")
  var leavesMapOut = false

  @Flag(name: .shortAndLong, help: "Print nothing unless something is wrong.")
  var quiet = false

  func validate() throws {
    if json && quiet {
      throw ValidationError("--json and --quiet contradict each other; leave one out")
    }
    if isLive {
      guard output == nil, !smooth, !json, mapPath == nil else {
        throw ValidationError(
          "'run -' writes to standard output; leave out --output, --smooth, --json, --map")
      }
    } else if output == nil {
      throw ValidationError("Missing expected argument '--output <dir>'")
    }
    if mapPath == "" { throw ValidationError("--map is empty; name a file") }
    if mapOutput == "" { throw ValidationError("--map-out is empty; name a file") }
    if mapOutput != nil, mapPath == nil {
      throw ValidationError("--map-out needs --map, which may name a file that does not exist yet")
    }
    if output == "" { throw ValidationError("--output is empty; name a folder") }
  }

  /// Whether live lines come from standard input.
  private var isLive: Bool { recordingPath == "-" }

  func run() throws {
    if isLive {
      let pipe = LivePipe(
        selection: Set(peers), configurationPath: configurationPath, isQuiet: quiet)
      return try pipe.run()
    }
    if let configurationPath, !quiet {
      try ConfigurationFile.otherSpellings(path: configurationPath).forEach(Diagnostics.note)
    }
    let progress = ProgressLine(isQuiet: quiet)
    defer { progress.finish() }
    do {
      var run = try RecordingRun(folder: recordingPath, settings: configurationPath)
      run.selection = Set(peers)
      run.smooths = smooth
      run.calibration = calibration
      run.mapPath = mapPath
      run.mapOutput = mapOutput
      let path = output ?? ""
      let folder = try OutputFolder(path: path)
      let outcome = try run.write(
        into: path, progress: progress.update(fraction:samples:),
        accept: { try checkSelection(against: $0.peersInRecording) })
      folder.keep()
      progress.finish()
      if !quiet { try report(outcome, of: run.recording) }
    } catch let error as RecordingError {
      throw error.located(in: recordingPath)
    }
  }

  private func checkSelection(against known: [String]) throws {
    guard let unknown = peers.first(where: { !known.contains($0) }) else { return }
    throw CommandFailure(
      .usage,
      "--peer \(unknown): the recording has no such peer; it has \(known.joined(separator: ", "))")
  }

  private func report(_ outcome: RecordingReplay.Outcome, of recording: RecordingReader) throws {
    Diagnostics.warn(of: outcome.warnings, in: recording)
    outcome.summary.findings.map(Diagnostics.warn(of:))
    if json {
      try StandardOutput.write(outcome.summary.json())
    } else {
      try StandardOutput.print(ResultTable(summary: outcome.summary).text)
      try drawMap(of: outcome.summary, recording)
      try StandardOutput.print(
        """
        \(EstimateWriter.fileName), \
        \(outcome.summary.located == nil ? "" : "\(LocatedWriter.fileName), ")\(smooth ? "\(SmoothedWriter.fileName), " : "")\
        \(RunSummary.fileName) and \(ConfigurationFile.fileName) are in \(output ?? "")
        """)
    }
  }
}

extension RunCommand {
  /// Draws the map, if there is a terminal for it.
  private func drawMap(of summary: RunSummary, _ recording: RecordingReader) throws {
    guard !leavesMapOut, let output,
      let columns = TerminalMap.columnsOfTerminal(
        environment: ProcessInfo.processInfo.environment)
    else { return }
    // The result is written; a map that cannot be drawn is no reason to fail.
    guard var map = try? TerminalMap(of: summary, in: output, recording: recording) else { return }
    map.columns = columns
    let lines = map.lines
    if !lines.isEmpty { try StandardOutput.print(lines.joined(separator: "\n") + "\n") }
  }
}

extension CalibrationMode: ExpressibleByArgument {}
