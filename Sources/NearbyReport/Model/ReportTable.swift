// SPDX-License-Identifier: Apache-2.0

/// The columns of a ``ReportTable``; the raw values count from zero, a case's name is its key in the JSON.
public protocol ReportColumn: RawRepresentable<Int>, CaseIterable, Hashable, Sendable {
  /// How pages store it; `nil` for one that they do without.
  var encoding: ColumnEncoding? { get }
}

/// How a page stores the numbers of a column.
public enum ColumnEncoding: Sendable {
  /// Numbers of 32 bits, IEEE 754.
  case single
  /// Numbers of 16 bits, IEEE 754: three digits of small and large numbers alike.
  case half
  /// Steps of equal size between the least and the greatest number, 65 534 of them.
  case steps
  /// Whole numbers from 0 to 254.
  case small
}

/// A table stored by column.
///
/// A missing number is `nan`, and `null` in the JSON.
public struct ReportTable<Column: ReportColumn>: Sendable {
  /// One row of the table, at first empty.
  public struct Row: Sendable {
    fileprivate var values = [Double](repeating: .nan, count: Column.allCases.count)

    /// Makes an empty row.
    public init() {}

    /// The number in a column; `nan` when it is missing.
    public subscript(column: Column) -> Double {
      get { values[column.rawValue] }
      set { values[column.rawValue] = newValue }
    }
  }

  /// How many rows there are.
  public private(set) var count = 0
  private var columns = [[Double]](repeating: [], count: Column.allCases.count)

  /// Makes an empty table.
  public init() {}

  /// A column, as long as the table.
  public subscript(column: Column) -> [Double] { columns[column.rawValue] }

  /// A row.
  func row(_ index: Int) -> Row {
    var row = Row()
    for column in columns.indices { row.values[column] = columns[column][index] }
    return row
  }

  /// Appends a row.
  public mutating func append(_ row: Row) {
    for index in columns.indices { columns[index].append(row.values[index]) }
    count += 1
  }

  /// Changes one number.
  mutating func set(_ column: Column, _ row: Int, to value: Double) {
    columns[column.rawValue][row] = value
  }

  /// The table of some rows only.
  ///
  /// - Parameter rows: Which, in their order.
  /// - Returns: The smaller table.
  public func selecting(_ rows: [Int]) -> ReportTable {
    var table = ReportTable()
    table.count = rows.count
    table.columns = columns.map { column in rows.map { column[$0] } }
    return table
  }

  /// The table thinned to a number of rows, with the extremes of some columns kept.
  ///
  /// - Parameters:
  ///   - budget: The largest number of rows, at least two.
  ///   - extremes: The columns whose extremes are kept.
  /// - Returns: The table itself when it is small enough.
  func thinned(to budget: Int, keepingExtremesOf extremes: [Column]) -> ReportTable {
    guard count > budget else { return self }
    let thinning = RowThinning(count: count, series: extremes.map { self[$0] })
    return selecting(thinning.rows(atMost: budget))
  }
}
