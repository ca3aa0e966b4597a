// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Numbers as findings and messages write them.
package enum ShortNumber {
  /// A number with three significant digits at most, and no more than are needed.
  package static func number(_ value: Double) -> String {
    guard value.isFinite, value != 0 else { return value == 0 ? "0" : "\(value)" }
    if abs(value) >= 1e5 { return value.significant(digits: 3) }
    let decimals = min(max(2 - Int(log10(abs(value)).rounded(.down)), 0), 6)
    var text = value.fixed(decimals: decimals)
    while text.contains("."), text.hasSuffix("0") || text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// A moment or an offset in seconds, to the millisecond.
  package static func seconds(_ value: Double) -> String {
    var text = value.fixed(decimals: 3)
    while text.contains("."), text.hasSuffix("0") || text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// A share in percent; a share above zero is never written as zero.
  package static func percent(_ count: Int, of whole: Int) -> String {
    guard whole > 0 else { return "0 %" }
    let percent = 100 * Double(count) / Double(whole)
    return percent < 1 && count > 0 ? "less than 1 %" : "\(Int(percent.rounded())) %"
  }
}
