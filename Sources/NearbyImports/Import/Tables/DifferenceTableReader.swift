// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
public import NearbyRecordings

/// A foreign table of range differences, and where their anchors are.
public struct DifferenceInput: Hashable, Sendable {
  /// The table's path.
  public var path: String
  /// A map of the anchors, as `nearby run --map` reads it; `nil` where none is known.
  public var anchors: String?
  /// How accurate differences are, and how the anchors' clocks err.
  public var model = RecordingManifest.Differences()

  /// Makes a description of a table.
  public init(path: String, anchors: String? = nil) { (self.path, self.anchors) = (path, anchors) }
}

/// Reads range differences of a table with a header: our own columns, those of UTIL's flights (`t_tdoa`,
/// `tdoa_idA`, `tdoa_idB`, `tdoa_meas`) or those of the Crazyflie's log (`timestamp`, `anchorA`, `anchorB`,
/// `distanceDiff`).
///
/// All three mean the distance to the second anchor minus that to the first. Other columns are left out, as
/// are rows without a difference: a table of several sensors is as long as the longest of them.
struct DifferenceTableReader: ~Copyable {
  private var rows: DelimitedReader
  private var clock: TableClock
  private let places: [Int]
  /// How many rows had no difference.
  private(set) var leftOut = 0

  /// The names that each column may have, without regard to case, our own first.
  static let names = [
    ["timestamp", "t_tdoa", "time"], ["anchor_a", "tdoa_ida", "anchora", "ida"],
    ["anchor_b", "tdoa_idb", "anchorb", "idb"],
    ["difference", "tdoa_meas", "distancediff"], ["sigma"],
  ]

  init(path: String) throws(RecordingError) {
    var rows = try DelimitedReader(path: path, delimiter: .comma)
    guard try rows.next(takesComment: true) else {
      throw RecordingError(
        .noSamples, "the file is empty", file: path, remedy: "the first line must name the columns")
    }
    let header = (0..<rows.count).map { rows.text($0).lowercased() }
    var places: [Int] = []
    for names in Self.names {
      // Our own name first: a table may have a second column of times.
      places.append(names.lazy.compactMap { header.firstIndex(of: $0) }.first ?? -1)
    }
    if let missing = Self.names.indices.first(where: { places[$0] < 0 && $0 < 4 }) {
      throw rows.lineError(
        .missingColumn,
        "the header has no column \"\(Self.names[missing].joined(separator: "\" or \""))\"",
        remedy: missing == 0
          ? "differences without times cannot be fused; log when each was measured"
          : "name the columns timestamp,anchor_a,anchor_b,difference")
    }
    clock = TableClock(unit: ColumnName(rows.text(places[0])).unit.flatMap(TimeUnit.init))
    self.places = places
    self.rows = rows
  }

  /// The next row.
  ///
  /// - Returns: `nil` after the last row.
  /// - Throws: The first fault, with its place.
  mutating func next() throws(RecordingError) -> DifferenceRow? {
    while try rows.next() {
      let metres = try rows.number(places[3], "difference")
      guard let metres, metres.isFinite else {
        leftOut += 1
        continue
      }
      let sigma = places[4] < 0 ? nil : try rows.number(places[4], "sigma")
      return DifferenceRow(
        timestamp: try clock.timestamp(rows, places[0]), from: try anchor(places[1], "anchor_a"),
        to: try anchor(places[2], "anchor_b"), metres: metres, sigma: sigma,
        line: rows.lines.line)
    }
    return nil
  }

  /// The name of an anchor; a number that a table of floating-point numbers holds is the whole one.
  private func anchor(_ place: Int, _ name: String) throws(RecordingError) -> String {
    let text = rows.text(place)
    guard !text.isEmpty else {
      throw rows.error(.emptyPeer, place, name, "is empty", remedy: "name both anchors of each row")
    }
    guard let number = Double(text), let whole = Int(exactly: number) else { return text }
    return "\(whole)"
  }
}
