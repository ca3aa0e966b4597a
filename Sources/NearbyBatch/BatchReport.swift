// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
public import NearbyRecordings

/// What came out of a batch: a table, figures of groups, and what failed.
public struct BatchReport: Sendable {
  /// One recording.
  public struct Entry: Sendable {
    /// Which.
    public var item: BatchItem
    /// Whether its result was there before.
    public var isKept: Bool
    /// A row for each peer, or the error.
    public var outcome: Outcome
  }

  /// What became of a recording.
  public enum Outcome: Sendable {
    /// A row for each peer.
    case success([BatchRow])
    /// The error, in one line.
    case failure(String)
  }

  /// The recordings, in the order of their names.
  public var entries: [Entry]

  /// The recordings that failed, and why.
  public var failures: [(item: BatchItem, message: String)] {
    entries.compactMap { entry in
      if case .failure(let message) = entry.outcome { (entry.item, message) } else { nil }
    }
  }

  /// The figures of each group in the order of their names.
  public var groups: [BatchFigures] {
    var entriesOfGroup: [String: [Entry]] = [:]
    for entry in entries { entriesOfGroup[entry.item.group, default: []].append(entry) }
    return entriesOfGroup.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      .map { BatchFigures(group: $0.key, $0.value) }
  }

  /// The figures of all recordings.
  public var all: BatchFigures { BatchFigures(group: "all", entries) }
}

extension BatchReport {
  /// The table's file.
  public static let tableFile = "batch.csv"
  /// The figures' file.
  public static let figuresFile = "batch.json"
  /// The file of what failed.
  public static let failuresFile = "failures.csv"

  /// Writes the table, the figures and the list of failures, each whole or not at all.
  ///
  /// - Parameter folder: Where to; it must exist.
  /// - Throws: When a file cannot be written.
  public func write(to folder: String) throws(RecordingError) {
    var table = try TableFile(path: "\(folder)/\(Self.tableFile)", columns: BatchRow.columns)
    for entry in entries {
      guard case .success(let rows) = entry.outcome else { continue }
      for row in rows {
        row.append(to: &table.text, of: entry.item)
        try table.endRow()
      }
    }
    var failed = try TableFile(
      path: "\(folder)/\(Self.failuresFile)", columns: ["recording", "error"])
    for failure in failures {
      failed.text.append(name: failure.item.id)
      failed.text.append(",")
      failed.text.append(name: failure.message)
      try failed.endRow()
    }
    var figures = try AtomicFile(path: "\(folder)/\(Self.figuresFile)")
    try figures.write(json)
    try table.commit()
    try failed.commit()
    try figures.commit()
  }

  /// The figures as JSON.
  public var json: String {
    CanonicalJSON.text(
      of: Figures(
        version: NearbyVersion.current, all: all, groups: groups,
        failures: failures.map { Figures.Failure(recording: $0.item.id, error: $0.message) }))
  }

  /// `batch.json`.
  private struct Figures: Encodable {
    struct Failure: Encodable {
      var recording: String
      var error: String
    }

    var version: String
    var all: BatchFigures
    var groups: [BatchFigures]
    var failures: [Failure]
  }
}

extension BatchRow {
  /// The columns of `batch.csv`.
  public static let columns = [
    "recording", "group", "peer", "motion", "samples", "rejected", "duration", "status", "reasons",
    "seconds_to_convergence", "losses", "distance", "distance_sigma", "x", "y", "z", "sigma",
    "rmse_converged", "rmse_second_half", "distance_error", "bearing_error_degrees", "final_error",
    "error_95", "nees", "falsely_converged_share", "nis", "jitter", "smoothed_x", "smoothed_y",
    "smoothed_z", "smoothed_rmse_second_half", "smoothed_nees",
  ]

  /// Appends the row's fields.
  func append(to text: inout OutputText, of item: BatchItem) {
    func word(_ word: String) {
      text.append(",")
      text.append(name: word)
    }
    text.append(name: item.id)
    word(item.group)
    word(peer.id)
    word(peer.motion.rawValue)
    text.appendField(Double(peer.samples))
    text.appendField(Double(peer.samplesRejected))
    text.appendField(duration)
    word(peer.status.rawValue)
    word(peer.reasons.joined(separator: ";"))
    text.appendField(peer.secondsToFirstConvergence)
    text.appendField(Double(peer.lossesOfConvergence))
    text.appendField(peer.distance)
    text.appendField(peer.distanceSigma)
    text.appendField(peer.position)
    text.appendField(peer.positionSigma)
    text.appendField(peer.errors?.rmseConverged)
    text.appendField(peer.errors?.rmseSecondHalf)
    text.appendField(peer.errors?.medianDistanceErrorSecondHalf)
    text.appendField(peer.errors?.medianBearingErrorDegreesSecondHalf)
    text.appendField(peer.errors?.finalError)
    text.appendField(peer.errors?.percentile95Converged)
    text.appendField(peer.errors?.meanNormalizedNEES)
    text.appendField(peer.errors?.falselyConvergedShare)
    text.appendField(normalizedInnovationSquared)
    text.appendField(jitter)
    text.appendField(peer.smoothed?.position)
    text.appendField(peer.smoothed?.errors?.rmseSecondHalf)
    text.appendField(peer.smoothed?.errors?.meanNormalizedNEES)
  }
}
