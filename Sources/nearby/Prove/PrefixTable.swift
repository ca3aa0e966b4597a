// SPDX-License-Identifier: Apache-2.0
import NearbyEvaluation

/// The comparison with the smoother on prefixes as readable text.
struct PrefixTable {
  private static let columns: [(title: String, width: Int)] = [
    ("moments", 7), ("claimable %", 11), ("wrong", 5), ("claimed %", 9), ("wrong", 5),
    ("beyond", 6), ("wrong", 5), ("late s", 6), ("late m", 6), ("never", 7), ("RMSE m", 7),
    ("smoother", 8), ("ratio", 5), ("| RMSE m", 8), ("smoother", 8), ("ratio", 5), ("took s", 7),
  ]

  private let nameWidth: Int

  /// Makes a table whose first column holds these names.
  init(names: [String]) { nameWidth = max(11, names.map(\.count).max() ?? 0) }

  /// The titles.
  var header: String { line("scenario", Self.columns.map(\.title)) }

  /// A row: the claims, how late they come, the errors at all moments, those at the claimable ones.
  ///
  /// - Parameters:
  ///   - name: The name of the row.
  ///   - row: The figures over its moments.
  ///   - delay: The delay of the first claims; `nil` leaves it out.
  ///   - seconds: How long it took; `nil` leaves it out.
  /// - Returns: The line.
  func row(
    _ name: String, _ row: PrefixFigures.Row, _ delay: PrefixFigures.Delay?, _ seconds: Double?
  ) -> String {
    func text(_ value: Double?, _ decimals: Int) -> String {
      value.map { $0.text(decimals: decimals) } ?? "-"
    }
    func errors(_ errors: PrefixFigures.Errors?) -> [String] {
      [text(errors?.engine, 3), text(errors?.smoother, 3), text(errors?.ratio, 2)]
    }
    var fields = [
      "\(row.count)", text(row.claimableShare.map { 100 * $0 }, 0), "\(row.falselyClaimable)",
      text(row.claimedShare.map { 100 * $0 }, 0), "\(row.falselyClaimed)",
      "\(row.claimedBeyond)", "\(row.falselyClaimedBeyond)",
    ]
    fields += [text(delay?.seconds?.median, 1), text(delay?.metres?.median, 1)]
    fields.append(delay.map { "\($0.neverClaimed)/\($0.peers)" } ?? "-")
    fields += errors(row.errors)
    fields += errors(row.claimableErrors)
    return line(name, fields + [text(seconds, 1)])
  }

  private func line(_ name: String, _ fields: [String]) -> String {
    var line = name + String(repeating: " ", count: max(0, nameWidth - name.count))
    for (field, column) in zip(fields, Self.columns) {
      line += String(repeating: " ", count: max(1, column.width + 1 - field.count)) + field
    }
    return line
  }
}
