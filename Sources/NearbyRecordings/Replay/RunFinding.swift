// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a recording, as `nearby info` says it: in `summary.json`, when a peer was not found.
public struct RunFinding: Hashable, Sendable, Codable {
  /// How much it matters: `warning` or `error`.
  public var severity: String
  /// What kind of finding it is, such as `straightLine`.
  public var kind: String
  /// What was seen, a sentence without its full stop.
  public var message: String
  /// What to do about it; `nil` when there is nothing to do.
  @OrNull public var remedy: String?

  /// Makes a finding.
  public init(severity: String, kind: String, message: String, remedy: String?) {
    self.severity = severity
    self.kind = kind
    self.message = message
    self.remedy = remedy
  }
}
