// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The files of workloads, all below the project's folder, which `NEARBY_ROOT` names.
enum Places {
  /// The recording for benchmarks, with poses and ranging only.
  static var recording: String { "\(root)/out/bench/recording" }
  /// The same recording with every file that a recording may have.
  static var fullRecording: String { recording + "-full" }
  /// The engine's estimates of it.
  static var estimates: String { recording + "-estimates.csv" }
  /// The command line.
  static var command: String { "\(root)/.build/release/nearby" }

  /// A recording that comes with the project.
  static func dataset(_ name: String) -> String { "\(root)/Datasets/\(name)" }

  private static var root: String { ProcessInfo.processInfo.environment["NEARBY_ROOT"] ?? "." }
}
