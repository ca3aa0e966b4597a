// SPDX-License-Identifier: Apache-2.0

/// What a ranging row may say, each part optional: bytes to be copied, half as many as optionals take.
struct RangingValues: Hashable, Sendable {
  /// A part, by its place; parts come in the order of their columns in the recording format.
  struct Part: Equatable {
    let place: Int

    static let distance = Part(place: 0)
    static let azimuth = Part(place: 1)
    static let elevation = Part(place: 2)
    static let distanceSigma = Part(place: 3)
    static let azimuthSigma = Part(place: 4)
    static let elevationSigma = Part(place: 5)
    static let azimuthFigureOfMerit = Part(place: 6)
    static let elevationFigureOfMerit = Part(place: 7)
    static let rssi = Part(place: 8)
    /// Not zero when it is so.
    static let nonLineOfSight = Part(place: 9)

    static var all: some Sequence<Part> { (0...nonLineOfSight.place).lazy.map(Part.init) }
  }

  /// Zero where there is none.
  private var values = InlineArray<10, Double>(repeating: 0)
  /// A bit for each part that there is.
  private var present: UInt16 = 0

  @inline(__always)
  subscript(part: Part) -> Double? {
    get { present & part.bit == 0 ? nil : values[part.place] }
    set {
      values[part.place] = newValue ?? 0
      if newValue == nil { present &= ~part.bit } else { present |= part.bit }
    }
  }

  static func == (one: RangingValues, other: RangingValues) -> Bool {
    one.present == other.present && Part.all.allSatisfy { one[$0] == other[$0] }
  }

  func hash(into hasher: inout Hasher) {
    for part in Part.all { hasher.combine(self[part]) }
  }
}

extension RangingValues.Part {
  @inline(__always)
  fileprivate var bit: UInt16 { 1 &<< UInt16(truncatingIfNeeded: place) }
}
