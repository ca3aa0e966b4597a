// SPDX-License-Identifier: Apache-2.0

/// Something for each kind of measurement.
///
/// Performance: three named properties instead of an inline array, which is copied as a whole for each
/// element that is read.
struct PerKind<Element> {
  var range: Element
  var azimuth: Element
  var elevation: Element

  @inline(__always)
  init(range: Element, azimuth: Element, elevation: Element) {
    self.range = range
    self.azimuth = azimuth
    self.elevation = elevation
  }

  /// Makes one for each kind.
  @inline(__always)
  init(_ make: (MeasurementKind) throws -> Element) rethrows {
    range = try make(.range)
    azimuth = try make(.azimuth)
    elevation = try make(.elevation)
  }

  /// The same for all kinds.
  @inline(__always)
  init(repeating element: Element) { self.init { _ in element } }

  @inline(__always)
  subscript(kind: MeasurementKind) -> Element {
    get {
      switch kind {
      case .range: range
      case .azimuth: azimuth
      case .elevation: elevation
      }
    }
    set {
      switch kind {
      case .range: range = newValue
      case .azimuth: azimuth = newValue
      case .elevation: elevation = newValue
      }
    }
  }
}

extension PerKind: Equatable where Element: Equatable {}
extension PerKind: Hashable where Element: Hashable {}
extension PerKind: Sendable where Element: Sendable {}
