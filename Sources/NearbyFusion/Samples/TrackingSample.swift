// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// How well the odometry tracks, from a moment on until the next such sample.
public struct TrackingSample: Hashable, Sendable, Codable {
  /// The quality that the odometry itself reports.
  public enum Quality: Hashable, Sendable {
    /// Poses are good.
    case normal
    /// Poses come, but drift faster.
    case limited(LimitationReason)
    /// Poses mean nothing.
    case notAvailable
  }

  /// Why tracking is limited.
  public enum LimitationReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// No reason was given.
    case unspecified
    /// The odometry has just started.
    case initializing
    /// The odometry tries to find its earlier world again; the next poses may be in another.
    case relocalizing
    /// The device moves too fast for the camera.
    case excessiveMotion
    /// The camera sees too little, often because it is dark.
    case insufficientFeatures
  }

  /// From when it holds.
  public var timestamp: Timestamp
  /// The quality.
  public var quality: Quality
  /// Light in the scene, in lumens (1000 is a well lit room), if measured.
  public var ambientIntensityLumens: Double?

  /// Makes a tracking sample.
  public init(timestamp: Timestamp, quality: Quality, ambientIntensityLumens: Double? = nil) {
    self.timestamp = timestamp
    self.quality = quality
    self.ambientIntensityLumens = ambientIntensityLumens
  }
}
