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
  subscript(index: Int) -> Element {
    switch index {
    case 0: range
    case 1: azimuth
    default: elevation
    }
  }
}

extension PerComponent: Equatable where Element: Equatable {}
extension PerComponent: Hashable where Element: Hashable {}
extension PerComponent: Sendable where Element: Sendable {}
