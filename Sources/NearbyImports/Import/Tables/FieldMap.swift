// SPDX-License-Identifier: Apache-2.0
internal import NearbyGeometry
public import NearbyRecordings

/// Maps the fields of a foreign table or message to our values, with their units.
///
/// A value that is not mapped is looked up under our own name. Entries are written as `KEY=VALUE`,
/// as on the command line:
///
/// ```swift
/// let map = try FieldMap(
///   keys: FieldMap.rangingKeys, fields: ["timestamp=time_ms", "distance=dist_cm"],
///   units: ["timestamp=ms", "distance=cm"], missing: ["distance=65535"])
/// ```
public struct FieldMap: Hashable, Sendable {
  /// Our names of the values of a ranging sample: the columns of `ranging.csv`.
  public static let rangingKeys = LineKeys.ranging
  /// Our names of the values of a pose: the columns of the TUM format, a heading for poses in the plane,
  /// and a rotation vector.
  public static let poseKeys = LineKeys.pose + ["rx", "ry", "rz"]

  /// An error in a map.
  public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault and what to do, in one line.
    public var description: String
  }

  /// The foreign name of each of our values that is mapped.
  public private(set) var fields: [String: String] = [:]
  /// The unit of the time.
  public private(set) var timeUnit = TimeUnit.seconds
  /// Whether the unit of the time was named; if not, a time that is too large for seconds tells it.
  public private(set) var statesTimeUnit = false
  private var scales: [String: Double] = [:]
  private var missing: [String: [Double]] = [:]
  /// The values that are variances, whose root is taken.
  private var variances: Set<String> = []

  /// Makes an empty map: all values have our own names and units.
  public init() {}

  /// Makes a map from assignments.
  ///
  /// - Parameters:
  ///   - keys: Our names that may be mapped.
  ///   - fields: `KEY=FIELD`: the foreign name of a value.
  ///   - units: `KEY=UNIT`: s, ms, us, ns for the time; m, cm, mm for lengths; rad, deg for angles.
  ///     An angle or a height difference whose sign is opposite to ours has a minus before its unit.
  ///   - missing: `KEY=NUMBER`: the number, in the foreign unit, that stands for no measurement.
  /// - Throws: The first invalid assignment.
  public init(
    keys: [String], fields: [String] = [], units: [String] = [], missing: [String] = []
  ) throws(Fault) {
    for text in fields {
      let (key, name) = try Self.parts(text, of: "--map", keys)
      guard self.fields.updateValue(name, forKey: key) == nil else {
        throw Fault(description: "--map \(text): \(key) is mapped twice; keep one of the two")
      }
    }
    for text in units {
      let (key, unit) = try Self.parts(text, of: "--unit", keys)
      let allowed = Self.units(of: key)
      if key == "timestamp", let unit = TimeUnit(rawValue: unit) {
        timeUnit = unit
        statesTimeUnit = true
      } else if key == "distance_sigma", unit == Self.variance {
        variances.insert(key)
      } else if let scale = allowed[unit] {
        scales[key] = scale
      } else {
        let names = key == "timestamp" ? TimeUnit.allCases.map(\.rawValue) : allowed.keys.sorted()
        throw Fault(
          description: names.isEmpty
            ? "--unit \(text): \(key) has no unit; leave it out"
            : "--unit \(text): unknown unit \"\(unit)\"; \(key) is in \(names.joined(separator: ", "))"
        )
      }
    }
    for text in missing {
      let (key, value) = try Self.parts(text, of: "--missing", keys)
      guard let number = Double(value) else {
        throw Fault(description: "--missing \(text): \"\(value)\" is not a number; write one")
      }
      self.missing[key, default: []].append(number)
    }
  }

  private static func parts(
    _ text: String, of option: String, _ keys: [String]
  ) throws(Fault) -> (key: String, value: String) {
    guard let equals = text.firstIndex(of: "=") else {
      throw Fault(description: "\(option) \(text): there is no \"=\"; write KEY=VALUE")
    }
    let (key, value) = (String(text[..<equals]), String(text[text.index(after: equals)...]))
    guard keys.contains(key) else {
      let likely = keys.likeliest(for: key).map { "did you mean \($0)? " } ?? ""
      throw Fault(
        description:
          "\(option) \(text): unknown key \"\(key)\"; \(likely)keys: \(keys.joined(separator: ", "))"
      )
    }
    guard !value.isEmpty else {
      throw Fault(description: "\(option) \(text): nothing follows \"=\"; write KEY=VALUE")
    }
    return (key, value)
  }

  private static let lengths: [String: Double] = ["m": 1, "cm": 0.01, "mm": 0.001]
  private static let angles = ["rad": 1, "deg": 1.0.degreesAsRadians]

  fileprivate static func units(of key: String) -> [String: Double] {
    if ["tx", "ty", "tz"].contains(key) { return lengths }
    if ["rx", "ry", "rz"].contains(key) { return angles }
    if key == "yaw" { return angles.merging(angles.map { ("-" + $0.key, -$0.value) }) { $1 } }
    guard let column = RangingColumn(named: key) else { return [:] }
    let units: [String: Double] =
      switch column.unit {
      case .metres: lengths
      case .radians: angles
      case .figureOfMerit, .decibelMilliwatts, .flag: [:]
      }
    guard column.isSigned else { return units }
    return units.merging(units.map { ("-" + $0.key, -$0.value) }) { first, _ in first }
  }

  /// The foreign name of one of our values.
  func name(of key: String) -> String { fields[key] ?? key }

  /// A number of a foreign field in our unit; `nil` when it stands for no measurement.
  func value(_ number: Double?, of key: String) -> Double? {
    guard let number, !number.isNaN, missing[key]?.contains(number) != true else { return nil }
    if variances.contains(key) { return number < 0 ? nil : number.squareRoot() }
    guard let scale = scales[key] else { return number }
    // Divides by 100 instead of multiplying by 0.01, which has no exact double.
    return switch abs(scale) {
    case 0.01: number / (scale < 0 ? -100 : 100)
    case 0.001: number / (scale < 0 ? -1000 : 1000)
    default: number * scale
    }
  }

  /// The number in a field of a table, in our unit; `nil` when it is empty or stands for no measurement.
  ///
  /// A unit behind the number counts instead of the stated one.
  func value(
    _ rows: borrowing DelimitedReader, _ place: Int, of key: String
  ) throws(RecordingError) -> Double? {
    guard let found = try rows.foreignNumber(place, name(of: key)) else { return nil }
    guard let unit = found.unit else { return value(found.number, of: key) }
    guard missing[key]?.contains(found.number) != true else { return nil }
    let units = Self.units(of: key)
    guard units.isEmpty || units[unit] != nil else {
      throw rows.error(
        .malformedNumber, place, name(of: key), "has an unknown unit",
        remedy: "it may be \(units.keys.sorted().joined(separator: ", "))")
    }
    var map = FieldMap()
    map.scales[key] = units[unit]
    return map.value(found.number, of: key)
  }

  /// Takes the unit of a value from the name of its column, unless it was stated.
  ///
  /// - Parameters:
  ///   - key: Our name of the value.
  ///   - column: The column's name.
  /// - Returns: Whether the name tells a unit that is another one than ours.
  mutating func takeUnit(of key: String, fromColumn column: String) -> Bool {
    guard let unit = ColumnName(column).unit else { return false }
    if key == "timestamp" {
      guard !statesTimeUnit, let known = TimeUnit(rawValue: unit) else { return false }
      (timeUnit, statesTimeUnit) = (known, true)
      return known != .seconds
    }
    guard scales[key] == nil, !variances.contains(key), let scale = Self.units(of: key)[unit] else {
      return false
    }
    scales[key] = scale
    return scale != 1
  }

  /// The unit of a value, as it was stated.
  func unit(of key: String) -> String? {
    guard let scale = scales[key] else { return nil }
    return Self.units(of: key).first { $0.value == scale }?.key
  }

  /// The numbers that stand for no measurement.
  func missingValues(of key: String) -> [Double] { missing[key] ?? [] }

  /// The conversion of a value of a layout.
  init(_ value: TableLayout.Value, of key: String) {
    if let unit = value.unit {
      if unit == Self.variance { variances.insert(key) }
      scales[key] = Self.units(of: key)[unit]
    }
    missing[key] = value.missing
  }

  /// The unit of a variance, whose root is a length.
  fileprivate static let variance = "m2"
}

extension TableLayout {
  /// Whether a value can have a unit.
  static func allows(_ unit: String, for key: String) -> Bool {
    if key == "timestamp" { return TimeUnit(rawValue: unit) != nil }
    return FieldMap.units(of: key)[unit] != nil
      || key == "distance_sigma" && unit == FieldMap.variance
  }
}
