// SPDX-License-Identifier: Apache-2.0

/// The components of one sample that may be used, in the order of ``Component``.
///
/// Side by side, as the kernels want them.
struct Components: Sendable {
  /// Bit `1 << component` is set for each that is there.
  private(set) var present: Int32 = 0
  /// Zero for what is not there.
  private(set) var values = InlineArray<3, Double>(repeating: 0)
  private(set) var sigmas = InlineArray<3, Double>(repeating: 1)

  /// None.
  @inline(__always)
  init() {}

  /// Whether there is none.
  @inline(__always)
  var isEmpty: Bool { present == 0 }

  /// Whether one is there.
  @inline(__always)
  func has(_ index: Int) -> Bool { present & 1 << Int32(index) != 0 }

  @inline(__always)
  subscript(index: Int) -> MeasuredComponent? {
    get { has(index) ? MeasuredComponent(value: values[index], sigma: sigmas[index]) : nil }
    set {
      guard let newValue else {
        present &= ~(1 << Int32(index))
        return
      }
      present |= 1 << Int32(index)
      values[index] = newValue.value
      sigmas[index] = newValue.sigma
    }
  }
}
