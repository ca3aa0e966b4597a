// SPDX-License-Identifier: Apache-2.0

/// The version of this package.
public enum NearbyVersion {
  /// The version as text, after the rules of semantic versioning.
  public static let current = "0.2.0"
}
