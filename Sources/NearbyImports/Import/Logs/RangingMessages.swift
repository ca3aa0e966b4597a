// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// Takes samples from the messages of a log by a map of their fields.
///
/// A path with `[]` stands for each element of a list: `ranges[].distance` gives a sample for each.
struct RangingMessages {
  let map: FieldMap
  /// The peer of messages that name none.
  let peer: String?

  /// The samples of a message.
  func rows(
    of value: MessageValue, _ message: LogMessage
  ) throws(RecordingError) -> [RangingRow] {
    let repeated = map.fields.values.filter { $0.contains("[]") }
    guard let first = repeated.sorted().first else { return [try row(value, message, nil)] }
    let count =
      repeated.map { path in
        guard let bracket = path.firstRange(of: "[]"),
          case .list(let elements)? = value.value(at: String(path[..<bracket.lowerBound]))
        else { return 0 }
        return elements.count
      }.max() ?? 0
    guard count > 0 || value.value(at: Self.list(of: first)) != nil else {
      throw message.data.error(
        "a message of \(message.topic) has no list \(Self.list(of: first)),", code: .missingColumn,
        remedy: "its fields are \(value.fieldList)")
    }
    var rows: [RangingRow] = []
    for index in 0..<count {
      let row = try row(value, message, index)
      // An anchor out of reach has an element, too.
      let isMeasured = MeasurementKind.allCases.contains { row[$0].value != nil }
      if isMeasured { rows.append(row) }
    }
    return rows
  }

  private static func list(of path: String) -> String {
    path.firstRange(of: "[]").map { String(path[..<$0.lowerBound]) } ?? path
  }

  /// The path of a value, of one element where it stands for each.
  private func path(of key: String, _ index: Int?) -> String {
    let path = map.name(of: key)
    return index.map { path.replacing("[]", with: "[\($0)]") } ?? path
  }

  private func row(
    _ value: MessageValue, _ message: LogMessage, _ index: Int?
  ) throws(RecordingError) -> RangingRow {
    let times = map.fields["timestamp"].map { _ in [path(of: "timestamp", index)] }
    let unnamed = peer.map { name in index.map { "\(name)\($0)" } ?? name }
    var row = RangingRow(
      timestamp: try message.time(
        of: value, at: times ?? ["header.stamp", "timestamp"], map.timeUnit),
      peer: value.value(at: path(of: "peer", index))?.name ?? unnamed ?? "")
    guard !row.peer.isEmpty else {
      throw message.data.error(
        "a message of \(message.topic) names no peer,", code: .emptyPeer,
        remedy: "name the field with --map peer=FIELD, or the only peer with --peer")
    }
    try checkHasMeasurement(value, message)
    for column in RangingColumn.all {
      let value = try number(column.name, value, message, index)
      row.values[column] = column.unit == .flag ? value.map { $0 != 0 ? 1 : 0 } : value
    }
    return row
  }

  private func number(
    _ key: String, _ value: MessageValue, _ message: LogMessage, _ index: Int?
  ) throws(RecordingError) -> Double? {
    // An optional value is read only if it is mapped, since a field of the same name may mean
    // something else.
    guard map.fields[key] != nil || RangingColumn.requiredNames.contains(key) else { return nil }
    let path = path(of: key, index)
    guard let found = value.value(at: path) else {
      if map.fields[key] == nil || index != nil || value.isListEnd(path) { return nil }
      throw message.data.error(
        "a message of \(message.topic) has no field \(path),", code: .missingColumn,
        remedy: "see --map \(key); its fields are \(value.fieldList)")
    }
    guard let number = found.number else {
      throw message.data.error(
        "\(path) is not a number,", code: .wrongType, remedy: "map \(key) to a number")
    }
    return map.value(number, of: key)
  }

  /// Throws if no measurement is mapped and none has our own name: then each would be empty.
  private func checkHasMeasurement(
    _ value: MessageValue, _ message: LogMessage
  ) throws(RecordingError) {
    let keys = MeasurementKind.allCases.map(\.column.name)
    guard keys.allSatisfy({ map.fields[$0] == nil && value.value(at: $0) == nil }) else { return }
    throw message.data.error(
      "a message of \(message.topic) has none of the fields \(keys.joined(separator: ", ")),",
      code: .missingColumn,
      remedy: "name one with --map distance=FIELD; its fields are \(value.fieldList)")
  }
}

extension MessageValue {
  /// Whether a path ends in a list element that this message does not have.
  fileprivate func isListEnd(_ path: String) -> Bool {
    guard let bracket = path.lastIndex(of: "["), case .list = value(at: String(path[..<bracket]))
    else { return false }
    return true
  }
}
