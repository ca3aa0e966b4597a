// SPDX-License-Identifier: Apache-2.0

/// The optional values of a ranging row.
///
/// Performance: trivially copyable, and half the size of optionals.
struct RangingValues: Hashable, Sendable {
  /// One of the values, by its index; they are in the order of their columns in the recording
  /// format.
  struct Part: Equatable {
    let index: Int

    static let distance = Part(index: 0)
    static let azimuth = Part(index: 1)
    static let elevation = Part(index: 2)
    static let distanceSigma = Part(index: 3)
    static let azimuthSigma = Part(index: 4)
    static let elevationSigma = Part(index: 5)
    static let azimuthFigureOfMerit = Part(index: 6)
    static let elevationFigureOfMerit = Part(index: 7)
    static let rssi = Part(index: 8)
    /// A flag: any value but zero means that the line of sight is obstructed.
    static let nonLineOfSight = Part(index: 9)

    static var all: some Sequence<Part> { (0...nonLineOfSight.index).lazy.map(Part.init) }
  }

  /// Zero where there is none.
  private var values = InlineArray<10, Double>(repeating: 0)
  /// A bit for each value that is present.
  private var present: UInt16 = 0

  @inline(__always)
  subscript(part: Part) -> Double? {
    get { present & part.bit == 0 ? nil : values[part.index] }
    set {
      values[part.index] = newValue ?? 0
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
  fileprivate var bit: UInt16 { 1 &<< UInt16(truncatingIfNeeded: index) }
}
