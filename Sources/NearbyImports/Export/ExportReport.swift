// SPDX-License-Identifier: Apache-2.0

/// The report of an export, with the data that the format cannot hold.
public struct ExportReport: Hashable, Sendable {
  /// How many lines, or messages, were written.
  public var lines = 0
  /// How often each kind of data was left out.
  public var leftOut: [String: Int] = [:]
  /// What else there is to know of the file, a sentence each.
  public var notes: [String] = []
}
