// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyRecordings

/// A setting of the engine from the command line: `faults.rangeOnset=0.1`.
struct SettingOption: Sendable {
  private let option: String
  private let json: [UInt8]

  /// Takes the option apart.
  ///
  /// - Parameter option: A path of names joined by points, `=`, and a number, `true` or `false`.
  /// - Throws: When there is no `=`, or nothing on one of its sides.
  init(_ option: String) throws {
    let parts = option.split(separator: "=", maxSplits: 1)
    guard parts.count == 2 else {
      throw CommandFailure(
        .usage, "--set \(option): write key=value, such as faults.rangeOnset=0.1")
    }
    self.option = option
    let keys = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    let opening = keys.map { "{\"\($0)\":" }.joined()
    json = Array((opening + parts[1] + String(repeating: "}", count: keys.count)).utf8)
  }

  /// Sets it.
  func apply(to configuration: inout FusionConfiguration) throws {
    do {
      configuration = try ConfigurationFile.apply(
        json: json, file: "--set \(option)", over: configuration)
    } catch {
      throw CommandFailure(.usage, "--set \(option): \(error.message); \(error.remedy)")
    }
  }
}
