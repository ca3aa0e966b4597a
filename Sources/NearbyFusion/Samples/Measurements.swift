// SPDX-License-Identifier: Apache-2.0

/// The measurements of one sample that may be used.
struct Measurements: Sendable, Codable {
  /// A value and its stated sigma.
  struct Value: Codable {
    var value = 0.0
    var sigma = 1.0
  }

  /// The ``MeasurementKind/bit`` of each that is there.
  private(set) var present: Int32 = 0
  /// Zero, with a sigma of one, for a kind that is not there.
  private(set) var values = PerKind(repeating: Value())

  /// None.
  @inline(__always)
  init() {}

  /// Whether all that is there are kinds.
  var isConsistent: Bool { present & ~MeasurementKind.allBits == 0 }

  /// Whether there is none.
  @inline(__always)
  var isEmpty: Bool { present == 0 }

  /// Whether one of a kind is there.
  @inline(__always)
  func has(_ kind: MeasurementKind) -> Bool { present & kind.bit != 0 }

  @inline(__always)
  subscript(kind: MeasurementKind) -> MeasuredValue? {
    get {
      guard has(kind) else { return nil }
      let value = values[kind]
      return MeasuredValue(value: value.value, sigma: value.sigma)
    }
    set {
      guard let newValue else {
        present &= ~(kind.bit)
        return
      }
      present |= kind.bit
      values[kind] = Value(value: newValue.value, sigma: newValue.sigma)
    }
  }
}
