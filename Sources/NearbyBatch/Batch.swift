// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc
internal import NearbyEvaluation
public import NearbyRecordings

/// Runs the engine over many recordings, several at a time.
///
/// The result of a recording is a folder below `results/` with the recording's name, which appears
/// whole or not at all. A recording that cannot be run does not stop the batch; its error is
/// recorded. The outputs do not depend on the number of jobs, on resuming, or on durations. Only
/// one batch at a time writes an output, but the parts of one batch may run concurrently.
///
/// ```swift
/// let batch = Batch(try BatchItem.find(in: ["Datasets"]), output: "out/batch")
/// let report = try await batch.run()
/// ```
public struct Batch: Sendable {
  /// The folder below the output that holds the results.
  public static let resultsFolder = "results"

  /// The recordings of all parts.
  public var items: [BatchItem]
  /// The part to run; all when `nil`.
  ///
  /// A part keeps existing results, and writes no tables.
  public var shard: Shard?
  /// The output folder.
  public var output: String
  /// A file of settings that overrides those of each recording.
  public var settings: String?
  /// Whether each recording is also smoothed.
  public var smooths = false
  /// What is done about the radio's clock.
  public var calibration = CalibrationMode.use
  /// Whether results are compared with the truth, where there is one, in `evaluation.json`.
  public var evaluates = false
  /// Whether existing results of the same recording, settings and build of the engine are kept.
  public var resumes = false
  /// The command that starts a worker, a process that calls ``serve()`` for a batch of the same options.
  ///
  /// With such a command, recordings run in worker processes, and a recording that ends its process
  /// fails alone. When `nil`, they run in this process.
  package var workerCommand: [String]?
  /// The largest number of concurrent recordings; it is limited to the number of cores.
  public var jobs = Int.max

  /// Prepares a batch.
  ///
  /// - Parameters:
  ///   - items: The recordings.
  ///   - output: The output folder.
  public init(_ items: [BatchItem], output: String) {
    self.items = items
    self.output = output
  }

  /// One of several parts of a batch, for concurrent processes or machines.
  public struct Shard: Hashable, Sendable {
    /// The number of the part, from 1.
    public let index: Int
    /// How many parts.
    public let count: Int

    /// Makes a part; `nil` unless `index` is 1 to `count`.
    public init?(index: Int, of count: Int) {
      guard 1 <= index, index <= count else { return nil }
      (self.index, self.count) = (index, count)
    }
  }

  /// The recordings of the part to run: every `count`-th from the `index`-th on.
  public var selectedItems: [BatchItem] {
    guard let shard else { return items }
    return items.enumerated().filter { $0.offset % shard.count == shard.index - 1 }
      .map(\.element)
  }

  /// The progress of a batch.
  public struct Progress: Sendable {
    /// How many recordings are done, kept ones and failed ones included.
    public var recordings = 0
    /// How many of them had existing results that were kept.
    public var kept = 0
    /// How many of them failed.
    public var failed = 0
    /// Bytes of all recordings that are done.
    public var bytes = 0
  }

  /// Runs over all recordings, then writes the table, the figures and the list of failures.
  ///
  /// The largest recordings start first, so that all cores are busy until the end.
  ///
  /// - Parameter progress: Called after each recording.
  /// - Returns: The report, in the order of the items.
  /// - Throws: When the output's folder cannot be used.
  public func run(progress: (Progress) -> Void = { _ in }) async throws -> BatchReport {
    let lock = try prepareOutput()
    let report = await runLocked(selectedItems, progress)
    if shard == nil { try report.write(to: output) }
    _ = consume lock
    return report
  }

  private func runLocked(
    _ items: [BatchItem], _ progress: (Progress) -> Void
  ) async -> BatchReport {
    var waiting = items.indices.sorted {
      (items[$1].bytes, $0) < (items[$0].bytes, $1)
    }.makeIterator()
    var entries = items.map { BatchReport.Entry(item: $0, isKept: false, outcome: .failure("")) }
    var done = Progress()
    let workers = workerCommand.map(BatchWorkers.init)
    await withTaskGroup(of: (Int, BatchReport.Entry).self) { group in
      func startNext() {
        guard let index = waiting.next() else { return }
        group.addTask { (index, work(on: items[index], workers)) }
      }
      for _ in 0..<min(max(1, jobs), ProcessInfo.processInfo.activeProcessorCount) { startNext() }
      while let (index, entry) = await group.next() {
        startNext()
        entries[index] = entry
        done.recordings += 1
        done.bytes += entry.item.bytes
        if entry.isKept { done.kept += 1 }
        if case .failure = entry.outcome { done.failed += 1 }
        progress(done)
      }
    }
    return BatchReport(entries: entries)
  }

  /// Runs one recording.
  ///
  /// An error is returned as an outcome.
  private func work(on item: BatchItem, _ workers: BatchWorkers?) -> BatchReport.Entry {
    do {
      let isKept: Bool
      if let workers {
        let answer = try workers.work(on: item)
        if let error = answer.error {
          return BatchReport.Entry(
            item: item, isKept: false, outcome: .failure(error),
            isOutputLost: answer.isOutputLost)
        }
        isKept = answer.isKept
      } else {
        isKept = try makeResult(of: item)
      }
      let rows = try BatchRow.rows(of: item, in: folder(of: item))
      return BatchReport.Entry(item: item, isKept: isKept, outcome: .success(rows))
    } catch let failure as BatchWorker.WorkerFailure {
      AtomicFolder.removeRemains(of: folder(of: item))
      return BatchReport.Entry(
        item: item, isKept: false, outcome: .failure("\(item.folder): \(failure.description)"))
    } catch {
      let isOutputLost = (error as? RecordingError)?.code == .unwritableFile
      let error = (error as? RecordingError)?.located(in: item.folder) ?? error
      return BatchReport.Entry(
        item: item, isKept: false, outcome: .failure("\(error)"), isOutputLost: isOutputLost)
    }
  }

  private func folder(of item: BatchItem) -> String {
    "\(output)/\(Self.resultsFolder)/\(item.id)"
  }

  /// Makes the result of a recording, unless it is to be kept.
  ///
  /// - Returns: Whether it was kept.
  func makeResult(of item: BatchItem) throws -> Bool {
    var run = try RecordingRun(folder: item.folder, settings: settings)
    run.smooths = smooths
    run.calibration = calibration
    run.keepsTime = false
    let evaluates = evaluates && run.recording.hasTruth
    let folder = folder(of: item)
    if keepsResults {
      let receipt = try BatchReceipt(run, evaluates: evaluates)
      if receipt.isFulfilled(by: folder) { return true }
      try checkBelongs(folder, to: item)
    }
    let result = try AtomicFolder(
      path: folder, replacing: keepsResults ? BatchReceipt.folderKind : nil)
    _ = try run.write(into: result.temporaryPath)
    if evaluates {
      var evaluations = try ResultEvaluation.evaluate(
        folder: result.temporaryPath, recording: item.folder)
      for index in evaluations.indices { evaluations[index].result = item.id }
      var file = try AtomicFile(path: "\(result.temporaryPath)/\(ResultEvaluation.fileName)")
      try file.write(CanonicalJSON.text(of: evaluations))
      try file.commit()
    }
    // Performance: the files were just read, so that they are in the system's cache.
    var receipt = try BatchReceipt(run, evaluates: evaluates)
    try receipt.close(over: result.temporaryPath)
    // Tables of an earlier batch would no longer be those of the results.
    try BatchReport.remove(from: output)
    try result.commit()
    return false
  }

  /// Refuses to replace the result of another recording, one that has the same name in another dataset.
  private func checkBelongs(_ folder: String, to item: BatchItem) throws(RecordingError) {
    let summary = "\(folder)/\(RunSummary.fileName)"
    guard let other = try? RunSummary.recordingFolder(inSummary: summary) else { return }
    var (there, here) = (stat(), stat())
    // A dataset that was moved leaves nothing where it was.
    guard unsafe stat("\(other)/\(RecordingManifest.fileName)", &there) == 0,
      unsafe stat("\(item.folder)/\(RecordingManifest.fileName)", &here) == 0,
      there.st_ino != here.st_ino || there.st_dev != here.st_dev
    else { return }
    throw RecordingError(
      .occupiedOutput, "it is the result of another recording, \(other)", file: folder,
      remedy: "choose another output folder for this dataset")
  }

  /// Removes the remains of killed runs over these recordings.
  ///
  /// Other machines may be running other recordings.
  private func removeRemains() {
    removeRemains(in: "", of: Set(selectedItems.map(\.id)))
  }

  /// - Parameters:
  ///   - group: A folder of results, as the beginning of the names in it.
  ///   - own: The names of these recordings.
  private func removeRemains(in group: String, of own: Set<String>) {
    let folder = "\(output)/\(Self.resultsFolder)/\(group)"
    for name in contents(of: folder) {
      if let target = AtomicFolder.target(ofRemains: name) {
        if own.contains(group + target) {
          try? FileManager.default.removeItem(atPath: folder + name)
        }
      } else if isFolder(folder + name) {
        removeRemains(in: "\(group)\(name)/", of: own)
      }
    }
  }

  /// Whether there is a folder, and no link to one.
  private func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Makes the output folder, or checks that an existing one can be continued.
  ///
  /// - Returns: The lock on it.
  private func prepareOutput() throws(RecordingError) -> BatchLock {
    let contents = contents(of: output).filter { !BatchLock.isLock($0) }
    if !contents.isEmpty {
      guard keepsResults else { throw isNotEmpty }
      guard contents.contains(Self.resultsFolder) else {
        throw RecordingError(
          .occupiedOutput, "the folder is not empty and is not the output of a batch", file: output,
          remedy: "choose another folder")
      }
    }
    let results = "\(output)/\(Self.resultsFolder)"
    do {
      try FileManager.default.createDirectory(atPath: results, withIntermediateDirectories: true)
    } catch {
      throw RecordingError(
        .unwritableFile, "the folder cannot be made", file: output,
        remedy: "check that nothing of that name is in the way and that you may write there")
    }
    let lock = try BatchLock(output: output, shard: shard)
    // Another batch may have run between the first check and the lock.
    guard keepsResults || self.contents(of: results).isEmpty else { throw isNotEmpty }
    removeRemains()
    return lock
  }

  private func contents(of folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }

  private var keepsResults: Bool { resumes || shard != nil }

  private var isNotEmpty: RecordingError {
    RecordingError(
      .occupiedOutput, "the folder exists and is not empty", file: output,
      remedy: "go on with what is in it (--resume), or choose another folder")
  }
}
