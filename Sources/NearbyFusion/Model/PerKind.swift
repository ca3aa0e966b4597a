// SPDX-License-Identifier: Apache-2.0

/// Something for each kind of measurement.
///
/// Performance: named properties instead of an inline array, which is copied as a whole for each
/// element that is read.
package struct PerKind<Element> {
  package var range: Element
  package var azimuth: Element
  package var elevation: Element
  package var heightDifference: Element

  @inline(__always)
  package init(
    range: Element, azimuth: Element, elevation: Element, heightDifference: Element
  ) {
    self.range = range
    self.azimuth = azimuth
    self.elevation = elevation
    self.heightDifference = heightDifference
  }

  /// Makes one for each kind.
  @inline(__always)
  package init(_ make: (MeasurementKind) throws -> Element) rethrows {
    range = try make(.range)
    azimuth = try make(.azimuth)
    elevation = try make(.elevation)
    heightDifference = try make(.heightDifference)
  }

  /// All of them in order, as the kernels have them.
  @inline(__always)
  package var tuple: (Element, Element, Element, Element) {
    (range, azimuth, elevation, heightDifference)
  }

  /// The same for all kinds.
  @inline(__always)
  package init(repeating element: Element) { self.init { _ in element } }

  @inline(__always)
  package subscript(kind: MeasurementKind) -> Element {
    get {
      switch kind {
      case .range: range
      case .azimuth: azimuth
      case .elevation: elevation
      case .heightDifference: heightDifference
      }
    }
    set {
      switch kind {
      case .range: range = newValue
      case .azimuth: azimuth = newValue
      case .elevation: elevation = newValue
      case .heightDifference: heightDifference = newValue
      }
    }
  }
}

extension PerKind: Equatable where Element: Equatable {}
extension PerKind: Hashable where Element: Hashable {}
extension PerKind: Sendable where Element: Sendable {}
