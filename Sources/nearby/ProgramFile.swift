// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// The file of this program.
enum ProgramFile {
  /// Its path without links; `nil` where the system does not tell it.
  static var path: String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  }
}
