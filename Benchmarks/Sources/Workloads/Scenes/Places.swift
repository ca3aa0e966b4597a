// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Where workloads find files: all under the project's folder, which `NEARBY_ROOT` names.
enum Places {
  /// The recording to measure with: poses and ranging, nothing else.
  static var recording: String { "\(root)/out/bench/recording" }
  /// The same with every file that a recording may have.
  static var fullRecording: String { recording + "-full" }
  /// What the engine estimates of it.
  static var estimates: String { recording + "-estimates.csv" }
  /// The command line.
  static var command: String { "\(root)/.build/release/nearby" }

  /// A recording that comes with the project.
  static func dataset(_ name: String) -> String { "\(root)/Datasets/\(name)" }

  private static var root: String { ProcessInfo.processInfo.environment["NEARBY_ROOT"] ?? "." }
}
