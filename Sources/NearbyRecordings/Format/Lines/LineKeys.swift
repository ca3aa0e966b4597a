// SPDX-License-Identifier: Apache-2.0

/// The keys of the values in JSON lines, by which foreign tables are mapped too.
package enum LineKeys {
  /// Those of a ranging sample: the columns of `ranging.csv`.
  package static let ranging = ["timestamp", "peer"] + RangingColumn.names
  /// Those of a pose: the columns of the TUM format, and a heading for poses in the plane.
  package static let pose = ["timestamp", "tx", "ty", "tz", "qx", "qy", "qz", "qw", "yaw"]
}
