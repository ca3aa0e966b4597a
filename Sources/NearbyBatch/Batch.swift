// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import NearbyEvaluation
internal import NearbyRecordings

/// Runs over many recordings, several at a time.
///
/// The result of a recording is a folder of its own below `results/`, by the recording's name, that
/// appears whole or not at all. A recording that cannot be run stops nothing: its error is kept.
/// Nothing that is written depends on the number of jobs, on what was resumed, or on the time that
/// things took.
///
/// ```swift
/// let batch = Batch(try BatchItem.find(in: ["Datasets"]), output: "out/batch")
/// let report = try await batch.run()
/// try report.write(to: "out/batch")
/// ```
public struct Batch: Sendable {
  /// The folder below the output that holds the results.
  public static let resultsFolder = "results"

  /// The recordings.
  public var items: [BatchItem]
  /// Where to write.
  public var output: String
  /// A file of settings over those of each recording.
  public var settings: String?
  /// Whether each whole recording, past and future, is asked, too.
  public var smooths = false
  /// Whether results are held against the truth, where there is one: `evaluation.json`.
  public var evaluates = false
  /// Whether results that are there, made of the same recording, settings and version, are kept.
  public var resumes = false
  /// How many recordings are worked on at a time, at most; never more than there are cores.
  public var jobs = Int.max

  /// Prepares a batch.
  ///
  /// - Parameters:
  ///   - items: The recordings.
  ///   - output: Where to write.
  public init(_ items: [BatchItem], output: String) {
    self.items = items
    self.output = output
  }

  /// How far a batch is.
  public struct Progress: Sendable {
    /// How many recordings are done, kept ones and failed ones included.
    public var recordings = 0
    /// How many of them were there before.
    public var kept = 0
    /// How many of them failed.
    public var failed = 0
    /// Bytes of all recordings that are done.
    public var bytes = 0
  }

  /// Runs over all recordings.
  ///
  /// The largest begin first, so that no core is left alone with one at the end.
  ///
  /// - Parameter progress: Called after each recording.
  /// - Returns: What came out, in the order of the items.
  /// - Throws: When the output's folder cannot be used.
  public func run(progress: (Progress) -> Void = { _ in }) async throws -> BatchReport {
    try prepareOutput()
    var waiting = items.indices.sorted {
      (items[$1].bytes, $0) < (items[$0].bytes, $1)
    }.makeIterator()
    var entries = items.map { BatchReport.Entry(item: $0, isKept: false, outcome: .failure("")) }
    var done = Progress()
    await withTaskGroup(of: (Int, BatchReport.Entry).self) { group in
      func startNext() {
        guard let index = waiting.next() else { return }
        group.addTask { (index, work(on: items[index])) }
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

  /// Works on one recording; what goes wrong is an outcome.
  private func work(on item: BatchItem) -> BatchReport.Entry {
    do {
      let (rows, isKept) = try result(of: item)
      return BatchReport.Entry(item: item, isKept: isKept, outcome: .success(rows))
    } catch {
      let error = (error as? RecordingError)?.located(in: item.folder) ?? error
      return BatchReport.Entry(item: item, isKept: false, outcome: .failure("\(error)"))
    }
  }

  private func result(of item: BatchItem) throws -> (rows: [BatchRow], isKept: Bool) {
    var run = try RecordingRun(folder: item.folder, settings: settings)
    run.smooths = smooths
    run.keepsTime = false
    let evaluates = evaluates && run.recording.hasTruth
    let folder = "\(output)/\(Self.resultsFolder)/\(item.id)"
    if resumes {
      let receipt = try BatchReceipt(run, evaluates: evaluates)
      if receipt.isFulfilled(by: folder) { return (try BatchRow.rows(of: item, in: folder), true) }
    }
    let result = try AtomicFolder(
      path: folder, replacingFolderWith: resumes ? BatchReceipt.fileName : nil)
    _ = try run.write(into: result.temporaryPath)
    if evaluates {
      var evaluations = try ResultEvaluation.evaluate(
        folder: result.temporaryPath, recording: item.folder)
      for index in evaluations.indices { evaluations[index].result = item.id }
      var file = try AtomicFile(path: "\(result.temporaryPath)/\(ResultEvaluation.fileName)")
      try file.write(CanonicalJSON.text(of: evaluations))
      try file.commit()
    }
    // What was read a moment ago: the files are in the system's memory.
    var receipt = try BatchReceipt(run, evaluates: evaluates)
    try receipt.close(over: result.temporaryPath)
    let rows = try BatchRow.rows(of: item, in: result.temporaryPath)
    try result.commit()
    return (rows, false)
  }

  /// Takes away what runs over these recordings have left that were killed; other machines may be at
  /// work on others.
  private func removeRemains() {
    let results = "\(output)/\(Self.resultsFolder)"
    let own = Set(items.map(\.id))
    let names = FileManager.default.enumerator(atPath: results)
    while let path = names?.nextObject() as? String {
      let parts = path.split(separator: "/")
      guard let last = parts.last, let target = AtomicFolder.target(ofRemains: String(last))
      else { continue }
      names?.skipDescendants()
      let id = (parts.dropLast() + [Substring(target)]).joined(separator: "/")
      if own.contains(id) { try? FileManager.default.removeItem(atPath: "\(results)/\(path)") }
    }
  }

  /// Makes the output's folder, or sees that it is one to go on with.
  private func prepareOutput() throws(RecordingError) {
    let files = FileManager.default
    let contents = (try? files.contentsOfDirectory(atPath: output)) ?? []
    if !contents.isEmpty {
      guard resumes else {
        throw RecordingError(
          .unwritableFile, "the folder exists and is not empty", file: output,
          remedy: "go on with what is in it (--resume), or choose another folder")
      }
      guard contents.contains(Self.resultsFolder) else {
        throw RecordingError(
          .unwritableFile, "the folder is not empty and is not the output of a batch", file: output,
          remedy: "choose another folder")
      }
      removeRemains()
    }
    do {
      try files.createDirectory(
        atPath: "\(output)/\(Self.resultsFolder)", withIntermediateDirectories: true)
    } catch {
      throw RecordingError(
        .unwritableFile, "the folder cannot be made", file: output,
        remedy: "check that nothing of that name is in the way and that you may write there")
    }
  }
}
