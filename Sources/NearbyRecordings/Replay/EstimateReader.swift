// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion
public import NearbyGeometry

/// A row of `estimates.csv` or `smoothed.csv`, in the recording's own frames.
public struct EstimateRow: Hashable, Sendable {
  /// The sample's time.
  public var timestamp: Timestamp
  /// The peer's name.
  public var peer: String
  /// The status after the sample; `nil` in a smoothed row, which has none.
  public var status: ConvergenceStatus?
  /// The reasons that prevented convergence.
  public var reasons: ConvergenceReasons
  /// The distance, metres; `nil` when there was none.
  public var distance: Double?
  /// Its standard deviation, metres.
  public var distanceSigma: Double?
  /// Whether there was a direction.
  public var hasDirection: Bool
  /// The horizontal angle, positive to the right; `nil` when there was none.
  public var horizontalAngleRadians: Double?
  /// Its standard deviation.
  public var horizontalAngleSigmaRadians: Double?
  /// Whether the vertical direction was known.
  public var hasVerticalDirection: Bool
  /// Whether there was a world transform.
  public var hasWorldTransform: Bool
  /// The mean of the peer's position in the recording's world, metres; `nil` when there was none.
  public var positionInWorld: Vector3?
  /// Its covariance, m².
  public var covarianceInWorld: SymmetricMatrix3
  /// The normalised innovation squared; `nil` when there was none.
  public var normalizedInnovationSquared: Double?
  /// How many hypotheses the filter held; `nil` in a smoothed row.
  public var hypotheses: Int?
  /// The probability of the mode that the mean is in; `nil` in a row of estimates.
  public var modeProbability: Double?
  /// How much of the sample was used; `nil` in a smoothed row.
  public var use: SampleReport.Use?
  /// The row's line in its file.
  public var line: Int

  /// Whether there was a distance.
  public var hasDistance: Bool { distance != nil }
  /// Whether there was a horizontal angle.
  public var hasHorizontalAngle: Bool { horizontalAngleRadians != nil }
  /// Whether all measured components were used.
  public var isUsedWhole: Bool { use == .all }
}

/// Reads `estimates.csv` or `smoothed.csv` of a run, row by row.
///
/// The reader cannot be copied, since two readers of one file would take each other's lines.
public struct EstimateReader: ~Copyable, Sendable {
  /// The kinds of files that estimators write.
  public enum Kind: Sendable {
    /// `estimates.csv`: the engine's estimate after each sample.
    case estimates
    /// `smoothed.csv`: estimates from the whole recording, without status.
    case smoothed
  }

  private var csv: CSVReader
  private let file: String
  /// Performance: the sets of reasons by their text.
  ///
  /// There are few, and each is repeated often.
  private var reasonsOfText: [String: ConvergenceReasons] = [:]

  private static let reasonOfName = Dictionary(
    uniqueKeysWithValues: ConvergenceReasons.all.map { ($0.description, $0) })

  /// Opens a file and reads its header.
  ///
  /// - Parameters:
  ///   - path: The file's path, under which errors name it, too.
  ///   - kind: What it is.
  /// - Throws: When the file cannot be read, or its header lacks a required column.
  public init(path: String, kind: Kind) throws(RecordingError) {
    let isWhole = kind == .estimates
    file = path
    csv = try CSVReader.open(
      TextFile(path: path, name: path),
      columns: Column.names.map { name in
        CSVColumn(
          name: name,
          isRequired: Column.always.contains(name) || isWhole && Column.engine.contains(name))
      })
  }

  /// The next row.
  ///
  /// - Returns: `nil` after the last row.
  /// - Throws: The first fault: text where a number belongs, an unknown status, half a position, a
  ///   wrong number of fields.
  public mutating func next() throws(RecordingError) -> EstimateRow? {
    guard try csv.nextRow() else { return nil }
    let mean = try vector(Column.mean)
    return EstimateRow(
      timestamp: try csv.timestamp(Column.timestamp), peer: try csv.peer(Column.peer),
      status: try status(), reasons: try reasons(), distance: try csv.number(Column.distance),
      distanceSigma: try csv.number(Column.distanceSigma),
      hasDirection: !csv.isEmpty(Column.direction),
      horizontalAngleRadians: try csv.number(Column.horizontalAngle),
      horizontalAngleSigmaRadians: try csv.number(Column.horizontalAngleSigma),
      hasVerticalDirection: !csv.isEmpty(Column.vertical)
        && csv.text(Column.vertical) != "unknown",
      hasWorldTransform: !csv.isEmpty(Column.world), positionInWorld: mean,
      covarianceInWorld: mean == nil ? .zero : try covariance(),
      normalizedInnovationSquared: try csv.number(Column.nis),
      hypotheses: try csv.number(Column.hypotheses).flatMap { Int(exactly: $0) },
      modeProbability: try csv.number(Column.modeProbability), use: try use(),
      line: csv.lines.line)
  }

  /// The error of a row that does not belong to the recording.
  package func unexpectedRow(_ row: EstimateRow, recording: String) -> RecordingError {
    RecordingError(
      .malformedField,
      "no sample of the recording \(recording) has this time and peer, in this order", file: file,
      line: row.line, remedy: "name the recording that the result is of, or run it again")
  }

  private func status() throws(RecordingError) -> ConvergenceStatus? {
    if csv.isEmpty(Column.status) { return nil }
    if let status = ConvergenceStatus(rawValue: csv.text(Column.status)) { return status }
    throw csv.error(
      .malformedField, Column.status, "is no status",
      remedy: "a status is unknown, notConverged or converged")
  }

  private mutating func reasons() throws(RecordingError) -> ConvergenceReasons {
    if csv.isEmpty(Column.reasons) { return [] }
    let text = csv.text(Column.reasons)
    if let known = reasonsOfText[text] { return known }
    var reasons: ConvergenceReasons = []
    for name in text.split(separator: ";") {
      guard let reason = Self.reasonOfName[String(name)] else {
        throw csv.error(
          .malformedField, Column.reasons, "names no reason",
          remedy: "reasons are \(Self.reasonOfName.keys.sorted().joined(separator: ", "))")
      }
      reasons.formUnion(reason)
    }
    reasonsOfText[text] = reasons
    return reasons
  }

  private func use() throws(RecordingError) -> SampleReport.Use? {
    if csv.isEmpty(Column.used) { return nil }
    if let use = SampleReport.Use(rawValue: csv.text(Column.used)) { return use }
    throw csv.error(
      .malformedField, Column.used, "does not say what was used",
      remedy: "used is all, partial or rejected")
  }

  /// A vector whose components are all there or all empty.
  private mutating func vector(_ first: Int) throws(RecordingError) -> Vector3? {
    if csv.isEmpty(first), csv.isEmpty(first + 1), csv.isEmpty(first + 2) { return nil }
    return Vector3(
      try csv.coordinate(first), try csv.coordinate(first + 1), try csv.coordinate(first + 2))
  }

  private mutating func covariance() throws(RecordingError) -> SymmetricMatrix3 {
    func element(_ index: Int) throws(RecordingError) -> Double {
      guard let value = try csv.number(Column.covariance + index) else {
        throw csv.error(
          .missingValue, Column.covariance + index, "is empty",
          remedy: "a row with a mean needs its covariance")
      }
      return value
    }
    return SymmetricMatrix3(
      xx: try element(0), xy: try element(1), xz: try element(2), yy: try element(3),
      yz: try element(4), zz: try element(5))
  }

  private enum Column {
    static let timestamp = 0
    static let peer = 1
    static let mean = 2
    static let covariance = 5
    static let status = 11
    static let distance = 12
    static let direction = 13
    static let horizontalAngle = 16
    static let vertical = 17
    static let world = 18
    static let nis = 21
    static let used = 22
    static let reasons = 23
    static let distanceSigma = 24
    static let horizontalAngleSigma = 25
    static let hypotheses = 26
    static let modeProbability = 27

    static let always = [
      "timestamp", "peer", "mean_x", "mean_y", "mean_z", "cov_xx", "cov_xy", "cov_xz", "cov_yy",
      "cov_yz", "cov_zz",
    ]
    static let engine = [
      "status", "distance", "direction_x", "direction_y", "direction_z", "horizontal_angle",
      "vertical", "world_x", "world_y", "world_z", "nis", "used",
    ]
    static let others = [
      "reasons", "distance_sigma", "horizontal_angle_sigma", "hypotheses", "mode_probability",
    ]
    static let names = always + engine + others
  }
}
