// SPDX-License-Identifier: Apache-2.0
import Glibc

extension Double {
  /// The number rounded up to two significant digits; what is not positive gives zero.
  package var roundedUpToTwoDigits: Double {
    guard self > 0, isFinite else { return 0 }
    let unit = pow(10, 1 - log10(self).rounded(.down))
    return (self * unit).rounded(.up) / unit
  }
}
