// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// A row of `tdoa.csv`: how much farther one anchor is than another.
public struct DifferenceRow: Hashable, Sendable {
  /// When.
  public var timestamp: Timestamp
  /// The name of the anchor whose distance is taken off: `anchor_a`.
  public var from: String
  /// The name of the anchor whose distance it is taken off from: `anchor_b`.
  public var to: String
  /// Distance to ``to`` minus distance to ``from``, metres.
  public var metres: Double
  /// One standard deviation, metres; `nil` for that of the recording.
  public var sigma: Double?
  /// Its line in the file, from 1; 0 when it comes from none.
  public var line: Int

  /// Makes a row.
  public init(
    timestamp: Timestamp, from: String, to: String, metres: Double, sigma: Double? = nil,
    line: Int = 0
  ) {
    (self.timestamp, self.from, self.to) = (timestamp, from, to)
    (self.metres, self.sigma, self.line) = (metres, sigma, line)
  }
}
