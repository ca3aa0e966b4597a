// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// The file of this program.
enum ProgramFile {
  /// Its path without links; `nil` where the system does not tell it.
  static var path: String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: link)
  }

  /// A path by which this program can be started again.
  ///
  /// `/proc/self/exe` works even after the program's file was replaced. Without `/proc`, as in some
  /// containers, it is the path by which the program was started.
  static var startable: String {
    path == nil ? started(CommandLine.arguments[0]) : link
  }

  private static let link = "/proc/self/exe"

  /// The file of a program that was started by a name: a path as it is, any other name by the search path.
  static func started(_ name: String, searchPath: String? = nil) -> String {
    guard !name.contains("/") else { return name }
    let folders = searchPath ?? ProcessInfo.processInfo.environment["PATH"] ?? ""
    return folders.split(separator: ":").map { "\($0)/\(name)" }
      .first(where: FileManager.default.isExecutableFile(atPath:)) ?? name
  }
}
