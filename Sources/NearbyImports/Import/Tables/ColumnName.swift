// SPDX-License-Identifier: Apache-2.0

/// What the name of a column says: `Distance (mm)`, `dist_cm` or `time [us]`.
struct ColumnName {
  /// The unit, as the options write it; `nil` when the name tells none.
  let unit: String?
  /// The name without the unit, in the form of our own names.
  let quantity: String

  /// The units that a name may end with after an underscore.
  ///
  /// Those of one letter are left out, as `tag_m` and `pos_s` are other things.
  private static let suffixes = ["cm", "mm", "ms", "us", "ns", "deg", "rad"]

  init(_ name: String) {
    var (quantity, unit) = (name[...], Substring?.none)
    if let last = name.last, let open = [Character(")"): Character("("), "]": "["][last],
      let start = name.lastIndex(of: open)
    {
      unit = name[name.index(after: start)...].dropLast()
      quantity = name[..<start]
    } else if let start = name.lastIndex(of: "_"),
      Self.suffixes.contains(name[name.index(after: start)...].lowercased())
    {
      unit = name[name.index(after: start)...]
      quantity = name[..<start]
    }
    self.unit = unit.map { text in
      let unit = text.lowercased()
      return ["µs": "us", "μs": "us", "°": "deg", "degrees": "deg", "radians": "rad"][unit] ?? unit
    }
    self.quantity = quantity.lowercased().split(separator: " ").joined(separator: "_")
  }
}
