// SPDX-License-Identifier: Apache-2.0

/// Something for each component of a sample.
///
/// Named and not indexed where it is read for every sample: an array in line is copied as a whole
/// for each of its elements.
struct PerComponent<Element> {
  var range: Element
  var azimuth: Element
  var elevation: Element

  /// In the order of ``Component``.
  @inline(__always)
  subscript(index: Int) -> Element {
    get {
      switch index {
      case 0: range
      case 1: azimuth
      default: elevation
      }
    }
    set {
      switch index {
      case 0: range = newValue
      case 1: azimuth = newValue
      default: elevation = newValue
      }
    }
  }
}

extension PerComponent: Equatable where Element: Equatable {}
extension PerComponent: Hashable where Element: Hashable {}
extension PerComponent: Sendable where Element: Sendable {}
