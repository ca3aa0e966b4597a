// SPDX-License-Identifier: Apache-2.0
public import NearbyFusion

/// One row of `tracking.csv`: the quality that the odometry reports, valid until the next row.
public struct TrackingRow: Hashable, Sendable {
  /// The row's values.
  public var sample: TrackingSample
  /// The line in its file, from 1; 0 when it comes from no file.
  public var line: Int

  /// Makes a row.
  public init(sample: TrackingSample, line: Int = 0) {
    self.sample = sample
    self.line = line
  }
}
