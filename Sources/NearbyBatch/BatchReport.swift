// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry
internal import NearbyRecordings

/// The results of a batch: a table, figures of groups, and failures.
public struct BatchReport: Sendable {
  /// One recording.
  public struct Entry: Sendable {
    /// The recording.
    public var item: BatchItem
    /// Whether an existing result was kept.
    public var isKept: Bool
    /// A row for each peer, or the error.
    public var outcome: Outcome
    /// Whether the error is that the result could not be written.
    public var isOutputLost = false
  }

  /// The outcome of a recording.
  public enum Outcome: Sendable {
    /// A row for each peer.
    case success([BatchRow])
    /// The error, in one line.
    case failure(String)
  }

  /// The recordings, in the order of their names.
  public var entries: [Entry]

  /// The recordings that failed, with their errors.
  public var failures: [(item: BatchItem, message: String)] {
    entries.compactMap { entry in
      if case .failure(let message) = entry.outcome { (entry.item, message) } else { nil }
    }
  }

  /// Whether a result could not be written.
  public var hasLostOutput: Bool { entries.contains(where: \.isOutputLost) }

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
  /// The file of failures.
  public static let failuresFile = "failures.csv"

  /// Writes the table, the figures and the list of failures, each whole or not at all.
  ///
  /// - Parameter folder: The folder, which must exist.
  /// - Throws: When a file cannot be written.
  func write(to folder: String) throws(RecordingError) {
    var table = try TableFile(path: "\(folder)/\(Self.tableFile)", columns: BatchRow.columns)
    for entry in entries {
      guard case .success(let rows) = entry.outcome else { continue }
      for row in rows {
        table.text.append(row.cells(of: entry.item))
        try table.endRow()
      }
    }
    var failed = try TableFile(
      path: "\(folder)/\(Self.failuresFile)", columns: ["recording", "error"])
    for failure in failures {
      failed.text.append([.text(failure.item.id), .text(failure.message)])
      try failed.endRow()
    }
    var figures = try AtomicFile(path: "\(folder)/\(Self.figuresFile)")
    try figures.write(json)
    try table.flush()
    try failed.flush()
    try Self.remove(from: folder)
    try table.commit()
    try failed.commit()
    try figures.commit()
  }

  /// Removes the table, the figures and the list of failures of an earlier batch.
  ///
  /// - Parameter folder: The folder.
  /// - Throws: When the system refuses.
  static func remove(from folder: String) throws(RecordingError) {
    for name in [figuresFile, failuresFile, tableFile] {
      try AtomicFile.remove("\(folder)/\(name)")
    }
  }

  /// Figures, rows and failures as JSON.
  public var json: String {
    CanonicalJSON.text(
      of: Figures(
        version: NearbyVersion.current, all: all, groups: groups, rows: rows,
        failures: failures.map { Figures.Failure(recording: $0.item.id, error: $0.message) }))
  }

  /// The rows of the table, by their columns.
  private var rows: [[String: BatchCell]] {
    entries.flatMap { entry -> [[String: BatchCell]] in
      guard case .success(let rows) = entry.outcome else { return [] }
      return rows.map { row in
        Dictionary(uniqueKeysWithValues: zip(BatchRow.columns, row.cells(of: entry.item)))
      }
    }
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
    var rows: [[String: BatchCell]]
    var failures: [Failure]
  }
}

extension BatchRow {
  /// The columns of `batch.csv`.
  public static let columns = [
    "recording", "group", "peer", "motion", "samples", "rejected", "duration", "status", "reasons",
    "seconds_to_convergence", "losses", "distance", "distance_sigma", "x", "y", "z", "sigma",
    "rmse_converged", "rmse_second_half", "distance_error", "bearing_error_degrees", "final_error",
    "error_95", "nees", "falsely_converged_share", "nis", "jitter", "odometry_rmse", "smoothed_x",
    "smoothed_y",
    "smoothed_z", "smoothed_rmse_second_half", "smoothed_nees", "wrongly_published_share",
  ]

  /// The row's values, one for each column.
  func cells(of item: BatchItem) -> [BatchCell] {
    [
      .text(item.id), .text(item.group), .text(peer.id), .text(peer.motion.rawValue),
      .number(Double(peer.samples)), .number(Double(peer.samplesRejected)), .number(duration),
      .text(peer.status.rawValue), .text(peer.reasons.joined(separator: ";")),
      .number(peer.secondsToFirstConvergence), .number(Double(peer.lossesOfConvergence)),
      .number(peer.distance), .number(peer.distanceSigma), .number(peer.positionInWorld?.x),
      .number(peer.positionInWorld?.y), .number(peer.positionInWorld?.z),
      .number(peer.positionSigma),
      .number(peer.errors?.rmseConverged), .number(peer.errors?.rmseSecondHalf),
      .number(peer.errors?.medianDistanceErrorSecondHalf),
      .number(peer.errors?.medianBearingErrorDegreesSecondHalf), .number(peer.errors?.finalError),
      .number(peer.errors?.percentile95Converged), .number(peer.errors?.meanNormalizedNEES),
      .number(peer.errors?.falselyConvergedShare), .number(normalizedInnovationSquared),
      .number(jitter), .number(odometryRMSE), .number(peer.smoothed?.positionInWorld?.x),
      .number(peer.smoothed?.positionInWorld?.y), .number(peer.smoothed?.positionInWorld?.z),
      .number(peer.smoothed?.errors?.rmseSecondHalf),
      .number(peer.smoothed?.errors?.meanNormalizedNEES),
      .number(peer.errors?.wronglyPublishedShare),
    ]
  }
}

/// A value of the table: text, or a number that may be missing.
enum BatchCell: Encodable {
  case text(String)
  case number(Double?)

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number?.finite)
    }
  }
}

extension OutputText {
  /// Appends the values of a row, separated by commas.
  mutating func append(_ cells: [BatchCell]) {
    for (index, cell) in cells.enumerated() {
      switch cell {
      case .number(let number): appendField(number)
      case .text(let text):
        if index > 0 { append(",") }
        append(name: text)
      }
    }
  }
}
