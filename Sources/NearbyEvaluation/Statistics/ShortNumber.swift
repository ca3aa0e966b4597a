// SPDX-License-Identifier: Apache-2.0
internal import NearbyRecordings

extension Double {
  /// At most three decimals.
  var short: String {
    guard isFinite else { return isNaN ? "undefined" : "infinite" }
    var text = fixed(decimals: 3)
    while text.contains("."), text.last == "0" || text.last == "." {
      let isPoint = text.last == "."
      text.removeLast()
      if isPoint { break }
    }
    return text
  }
}
