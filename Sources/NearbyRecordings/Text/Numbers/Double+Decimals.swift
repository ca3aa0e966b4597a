// SPDX-License-Identifier: Apache-2.0
internal import Glibc

extension Double {
  /// The number with a fixed count of decimals, as C's `%.3f` writes it.
  package func fixed(decimals: Int) -> String { printed("%.*f", decimals) }

  /// The number with a count of significant digits at most, as C's `%.3g` writes it.
  package func significant(digits: Int) -> String { printed("%.*g", digits) }

  private func printed(_ format: String, _ digits: Int) -> String {
    let digits = max(0, min(digits, 99))
    // The largest number has 309 digits before its point; a sign, the point and an end are added.
    let room = 312 + digits
    let text = unsafe [CChar](unsafeUninitializedCapacity: room) { bytes, count in
      let written = unsafe withVaList([CInt(digits), self]) {
        unsafe vsnprintf(bytes.baseAddress, room, format, $0)
      }
      count = max(0, Int(written))
    }
    return String(decoding: text.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
