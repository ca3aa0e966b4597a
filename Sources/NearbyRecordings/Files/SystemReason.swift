// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc

extension Error {
  /// Why the system refused something to do with a file, in its own words where it gave any.
  package var systemReason: String {
    if let error = self as? CocoaError, let reason = error.underlying as? POSIXError {
      return unsafe String(cString: strerror(reason.code.rawValue))
    }
    return "\(self)"
  }
}
