// SPDX-License-Identifier: Apache-2.0

/// The components of one sample that may be used.
struct Components: Sendable {
  /// A value and its stated sigma.
  struct Measured {
    var value = 0.0
    var sigma = 1.0
  }

  /// Bit `1 << component` is set for each that is there.
  private(set) var present: Int32 = 0
  /// Zero, with a sigma of one, for what is not there.
  private(set) var measured = PerComponent(
    range: Measured(), azimuth: Measured(), elevation: Measured())

  /// None.
  @inline(__always)
  init() {}

  /// Whether there is none.
  @inline(__always)
  var isEmpty: Bool { present == 0 }

  /// Whether one is there, in the order of ``Component``.
  @inline(__always)
  func has(_ index: Int) -> Bool { present & 1 << Int32(index) != 0 }

  @inline(__always)
  subscript(index: Int) -> MeasuredComponent? {
    get {
      guard has(index) else { return nil }
      let measured = measured[index]
      return MeasuredComponent(value: measured.value, sigma: measured.sigma)
    }
    set {
      guard let newValue else {
        present &= ~(1 << Int32(index))
        return
      }
      present |= 1 << Int32(index)
      measured[index] = Measured(value: newValue.value, sigma: newValue.sigma)
    }
  }
}
