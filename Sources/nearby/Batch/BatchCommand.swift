// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import NearbyBatch
import NearbyFusion
import NearbyRecordings

/// `nearby batch`: many recordings, all cores, one table.
struct BatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch",
    abstract: "Locate the peers of many recordings, on all cores.",
    discussion: """
      Finds every recording in the folders given and below them, and writes into DIR

        results/NAME/   what 'nearby run' writes, for each recording; whole or not at all
        batch.csv       a row for each peer of each recording
        batch.json      the same rows, and figures of each group of recordings and of all
        failures.csv    the recordings that could not be run, and why

      NAME is the recording's path below the given folder; its group is the folder that \
      contains it. A bad recording does not stop the others. The files do not depend on --jobs and \
      contain no durations.

      With --resume existing results of the same recording, settings and build of the program are \
      kept, judged by their content. An interrupted batch continues where it stopped, and \
      recordings that were added are run.

      With --shard I/N only every N-th recording is run, from the I-th on, and no table is \
      written. This is for the machines of a cluster, all with the same DIR. Afterwards the whole \
      batch with --resume finds all results and writes the tables; results in several folders are \
      copied together first. Machines with the same kind of processor give the same bytes as one.

      EXAMPLES
        nearby batch Datasets recordings -o out/batch
        nearby batch recordings -o out/batch --smooth --evaluate --resume
        nearby batch recordings -o out/batch --shard $TASK/16
        nearby report out/batch/results/living-room/* --output report.html

      EXIT STATUS
        65  a recording could not be run; the others were
        74  a result could not be written
      """)

  @Argument(
    help: ArgumentHelp("Recordings, or folders with recordings below.", valueName: "path"),
    completion: .directory)
  var paths: [String]

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The output folder; made if missing.", valueName: "dir"),
    completion: .directory)
  var output: String?

  @Option(
    name: .customLong("config"),
    help: ArgumentHelp("Settings of the engine, JSON.", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var configurationPath: String?

  @Flag(help: "Also estimate from each whole recording, past and future: smoothed.csv.")
  var smooth = false

  @Option(
    help: ArgumentHelp(
      "What is done about errors of radio and odometry that a recording tells: off, report or use.",
      valueName: "mode")
  )
  var calibration = CalibrationMode.use

  @Flag(help: "Compare results with the truth where there is one: evaluation.json.")
  var evaluate = false

  @Flag(help: "Keep existing results and run the rest.")
  var resume = false

  @Option(help: ArgumentHelp("Run this part only.", valueName: "i/n"))
  var shard: ShardArgument?

  @Option(help: "How many recordings at a time (default: as many as cores).")
  var jobs: Int?

  @Flag(help: .hidden)
  var worker = false

  @Flag(help: "List the recordings and run nothing.")
  var list = false

  @Flag(help: "Print batch.json instead of the table.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print nothing unless something is wrong.")
  var quiet = false

  /// This program as a worker with the same options.
  private var workerCommand: [String] {
    var command = [ProgramFile.startable, "batch", ".", "--worker", "--output", output ?? ""]
    if let configurationPath { command += ["--config", configurationPath] }
    if smooth { command.append("--smooth") }
    if calibration != .use { command += ["--calibration", calibration.rawValue] }
    if evaluate { command.append("--evaluate") }
    if resume || shard != nil { command.append("--resume") }
    return command
  }

  /// A part as `i/n`.
  struct ShardArgument: ExpressibleByArgument {
    var shard: Batch.Shard

    init?(argument: String) {
      let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
      guard parts.count == 2, let index = parts[0], let count = parts[1],
        let shard = Batch.Shard(index: index, of: count)
      else { return nil }
      self.shard = shard
    }
  }

  func validate() throws {
    if json && quiet {
      throw ValidationError("--json and --quiet contradict each other; leave one out")
    }
    if !list && (output ?? "").isEmpty { throw ValidationError("name a folder with --output") }
    if let jobs, jobs < 1 { throw ValidationError("--jobs must be at least 1") }
    if paths.isEmpty { throw ValidationError("name a recording, or a folder with recordings") }
  }

  func run() async throws {
    var batch = Batch(worker ? [] : try BatchItem.find(in: paths), output: output ?? "")
    batch.shard = shard?.shard
    if list {
      for item in batch.selectedItems { try StandardOutput.print(item.id.printable()) }
      return
    }
    guard let output else { return }
    if let configurationPath {
      // Checks the settings once, so that a wrong setting is not an error of each recording.
      _ = try ConfigurationFile.read(path: configurationPath, over: FusionConfiguration())
    }
    batch.settings = configurationPath
    batch.smooths = smooth
    batch.calibration = calibration
    batch.evaluates = evaluate
    batch.resumes = resume
    if let jobs { batch.jobs = jobs }
    if worker { return try batch.serve() }
    batch.workerCommand = workerCommand
    // A dead worker is detected by its missing answer.
    signal(SIGPIPE, SIG_IGN)
    let progress = BatchProgress(batch.selectedItems, isQuiet: quiet)
    let start = ContinuousClock.now
    let report = try await batch.run(progress: progress.update)
    progress.finish()
    let seconds = start.duration(to: .now).inSeconds
    if json {
      try StandardOutput.write(report.json)
    } else if !quiet {
      try StandardOutput.print(
        BatchTable(report, seconds: seconds, output: shard == nil ? output : nil).text)
    }
    for failure in report.failures { Diagnostics.error(failure.message) }
    if report.hasLostOutput { throw ExitCode.outputLost }
    if !report.failures.isEmpty { throw ExitCode.badData }
  }
}
