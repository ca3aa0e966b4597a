// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// A column of `ranging.csv` that holds a value: the one list of them, in the order of the file.
///
/// Readers, writers, importers and exporters take names, order and units from here. JSON lines have
/// the same names as keys.
package struct RangingColumn: Hashable, Sendable {
  package let index: Int

  package static let distance = RangingColumn(index: 0)
  package static let azimuth = RangingColumn(index: 1)
  package static let elevation = RangingColumn(index: 2)
  package static let distanceSigma = RangingColumn(index: 3)
  package static let azimuthSigma = RangingColumn(index: 4)
  package static let elevationSigma = RangingColumn(index: 5)
  package static let azimuthFigureOfMerit = RangingColumn(index: 6)
  package static let elevationFigureOfMerit = RangingColumn(index: 7)
  package static let rssi = RangingColumn(index: 8)
  package static let heightDifference = RangingColumn(index: 9)
  package static let heightDifferenceSigma = RangingColumn(index: 10)
  /// A flag: any value but zero means that the line of sight is obstructed.
  ///
  /// It comes last because ``RangingValues`` holds it as a bit.
  package static let nonLineOfSight = RangingColumn(index: 11)

  /// The names in the header of `ranging.csv`: the columns that every file has come first.
  package static let names = requiredNames + RecordingWriter.OptionalColumn.allCases.map(\.rawValue)
  /// The columns that every file has.
  package static let requiredNames = ["distance", "azimuth", "elevation"]
  /// All columns.
  package static let all = names.indices.map(RangingColumn.init(index:))

  /// The column as one that a file may lack; `nil` when every file has it.
  package var optional: RecordingWriter.OptionalColumn? {
    let place = index - Self.requiredNames.count
    return place < 0 ? nil : RecordingWriter.OptionalColumn.allCases[place]
  }

  /// The column's name in the header, and its key in JSON lines.
  package var name: String { Self.names[index] }

  /// What a column's numbers are.
  package enum Unit {
    case metres, radians, figureOfMerit, decibelMilliwatts, flag
  }

  /// What the column's numbers are.
  package var unit: Unit {
    switch self {
    case .azimuth, .elevation, .azimuthSigma, .elevationSigma: .radians
    case .azimuthFigureOfMerit, .elevationFigureOfMerit: .figureOfMerit
    case .rssi: .decibelMilliwatts
    case .nonLineOfSight: .flag
    default: .metres
    }
  }

  /// Whether a number and its negative are both possible, so that other software may count them in
  /// the opposite direction.
  package var isSigned: Bool { [.azimuth, .elevation, .heightDifference].contains(self) }
}

extension RangingColumn {
  /// The column of a name; `nil` when there is none.
  package init?(named name: String) {
    guard let index = Self.names.firstIndex(of: name) else { return nil }
    self.init(index: index)
  }
}

extension RecordingWriter {
  /// A column of `ranging.csv` that may be left out; in the order of the file.
  public enum OptionalColumn: String, Hashable, Sendable, CaseIterable {
    /// ``RangingRow/distanceSigma``.
    case distanceSigma = "distance_sigma"
    /// ``RangingRow/azimuthSigmaRadians``.
    case azimuthSigma = "azimuth_sigma"
    /// ``RangingRow/elevationSigmaRadians``.
    case elevationSigma = "elevation_sigma"
    /// ``RangingRow/azimuthFigureOfMerit``.
    case azimuthFigureOfMerit = "azimuth_fom"
    /// ``RangingRow/elevationFigureOfMerit``.
    case elevationFigureOfMerit = "elevation_fom"
    /// ``RangingRow/rssi``.
    case rssi
    /// ``RangingRow/heightDifference``.
    case heightDifference = "height_difference"
    /// ``RangingRow/heightDifferenceSigma``.
    case heightDifferenceSigma = "height_difference_sigma"
    /// ``RangingRow/isNonLineOfSight``.
    case nonLineOfSight = "nlos"

    /// The columns of a kind's values and sigmas, if a file may lack the kind; otherwise none.
    package static func columns(of kind: MeasurementKind) -> [Self] {
      kind.column.optional == nil
        ? [] : [kind.column, kind.sigmaColumn].compactMap(\.optional)
    }
  }
}

/// What files and tables call the kinds of measurement: the one list of their names.
extension MeasurementKind {
  /// The column of its values.
  package var column: RangingColumn {
    switch self {
    case .range: .distance
    case .azimuth: .azimuth
    case .elevation: .elevation
    case .heightDifference: .heightDifference
    }
  }

  /// The column of the values' standard deviations.
  package var sigmaColumn: RangingColumn {
    switch self {
    case .range: .distanceSigma
    case .azimuth: .azimuthSigma
    case .elevation: .elevationSigma
    case .heightDifference: .heightDifferenceSigma
    }
  }

  /// What one measurement is called.
  package var name: String {
    switch self {
    case .range: "range"
    case .azimuth: "azimuth"
    case .elevation: "elevation"
    case .heightDifference: "height difference"
    }
  }

  /// What several are called as the title of a column.
  package var pluralName: String {
    switch self {
    case .range: "distances"
    case .azimuth: "azimuths"
    case .elevation: "elevations"
    case .heightDifference: "heights"
    }
  }
}

// MARK: Kinds of a row

extension RangingRow {
  /// Metres from the antenna to the peer.
  public var distance: Double? {
    get { values[.distance] }
    set { values[.distance] = newValue }
  }

  /// The azimuth in engine axes whatever the recording's axes, radians, positive to the right.
  public var azimuthRadians: Double? {
    get { values[.azimuth] }
    set { values[.azimuth] = newValue }
  }

  /// The elevation, radians, positive up.
  public var elevationRadians: Double? {
    get { values[.elevation] }
    set { values[.elevation] = newValue }
  }

  /// One standard deviation of the distance, metres.
  public var distanceSigma: Double? {
    get { values[.distanceSigma] }
    set { values[.distanceSigma] = newValue }
  }

  /// One standard deviation of the azimuth, radians.
  public var azimuthSigmaRadians: Double? {
    get { values[.azimuthSigma] }
    set { values[.azimuthSigma] = newValue }
  }

  /// One standard deviation of the elevation, radians.
  public var elevationSigmaRadians: Double? {
    get { values[.elevationSigma] }
    set { values[.elevationSigma] = newValue }
  }

  /// Metres that the peer is above the device, along gravity.
  public var heightDifference: Double? {
    get { values[.heightDifference] }
    set { values[.heightDifference] = newValue }
  }

  /// One standard deviation of the height difference's white noise, metres.
  public var heightDifferenceSigma: Double? {
    get { values[.heightDifferenceSigma] }
    set { values[.heightDifferenceSigma] = newValue }
  }

  /// The row as the engine takes it.
  ///
  /// - Parameter id: The handle that the engine gave for this row's peer.
  /// - Returns: The sample, values unchanged.
  public func sample(of id: PeerID) -> RangingSample {
    RangingSample(
      peer: id, timestamp: timestamp, distance: distance, azimuthRadians: azimuthRadians,
      elevationRadians: elevationRadians, heightDifference: heightDifference,
      distanceSigma: distanceSigma, azimuthSigmaRadians: azimuthSigmaRadians,
      elevationSigmaRadians: elevationSigmaRadians, heightDifferenceSigma: heightDifferenceSigma,
      isNonLineOfSight: isNonLineOfSight)
  }
}

extension RangingRow {
  /// The value of a kind and its stated standard deviation, each `nil` when not given.
  package subscript(kind: MeasurementKind) -> (value: Double?, sigma: Double?) {
    get { (values[kind.column], values[kind.sigmaColumn]) }
    set { (values[kind.column], values[kind.sigmaColumn]) = newValue }
  }

  /// How many kinds were measured.
  package var measuredCount: Int {
    MeasurementKind.allCases.count { values[$0.column] != nil }
  }
}

/// The values of a ranging row, each of them optional.
///
/// Performance: trivially copyable, and half the size of optionals. The flag is a bit, so that a row
/// is at most 128 bytes; larger values are copied by calls.
package struct RangingValues: Hashable, Sendable {
  /// The columns of numbers: all of ``RangingColumn`` but the flag.
  ///
  /// Zero where there is none.
  private var numbers = InlineArray<11, Double>(repeating: 0)
  /// A bit for each value that is present, and the flag.
  private var bits: UInt16 = 0

  private static let flag: UInt16 = 0x8000

  /// The value in a column; `nil` when there is none.
  @inline(__always)
  package subscript(column: RangingColumn) -> Double? {
    get {
      if bits & column.bit == 0 { return nil }
      if column == .nonLineOfSight { return bits & Self.flag == 0 ? 0 : 1 }
      return numbers[column.index]
    }
    set {
      if newValue == nil { bits &= ~column.bit } else { bits |= column.bit }
      if column == .nonLineOfSight {
        if newValue ?? 0 == 0 { bits &= ~Self.flag } else { bits |= Self.flag }
      } else {
        numbers[column.index] = newValue ?? 0
      }
    }
  }

  /// Sets the value in a column of numbers.
  ///
  /// Performance: without the question whether the column is the flag, which the caller has asked.
  @inline(__always)
  package mutating func setNumber(_ value: Double, in column: RangingColumn) {
    bits |= column.bit
    numbers[column.index] = value
  }

  package static func == (one: RangingValues, other: RangingValues) -> Bool {
    one.bits == other.bits && RangingColumn.all.allSatisfy { one[$0] == other[$0] }
  }

  package func hash(into hasher: inout Hasher) {
    for column in RangingColumn.all { hasher.combine(self[column]) }
  }
}

extension RangingColumn {
  @inline(__always)
  fileprivate var bit: UInt16 { 1 &<< UInt16(truncatingIfNeeded: index) }
}
