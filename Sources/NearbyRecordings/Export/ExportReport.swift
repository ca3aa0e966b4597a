// SPDX-License-Identifier: Apache-2.0

/// What an export wrote and what the format cannot hold.
public struct ExportReport: Hashable, Sendable {
  /// How many lines were written.
  public var lines = 0
  /// How often each kind of data was left out.
  public var leftOut: [String: Int] = [:]
}
