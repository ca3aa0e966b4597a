// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// Where a run has located the device by range differences: `located` in `summary.json`.
///
/// Places are in the map's frame along the recording's world axes, metres.
public struct LocatedSummary: Hashable, Sendable, Codable {
  /// An anchor.
  public struct Anchor: Hashable, Sendable, Codable {
    /// Its name.
    public var id: String
    /// Whether the map has its place.
    public var isInMap: Bool
    /// Its place; `nil` when it was not located.
    @OrNull public var position: Vector3?
    /// The root of the trace of that place's covariance, metres; `nil` without a fix.
    @OrNull public var positionSigma: Double?
    /// The error of its clock against the first anchor's at the end, metres.
    public var clockError: Double
    /// The rate of that error, metres per second.
    public var clockRate: Double
  }

  /// The errors of the located places against the truth.
  public struct Errors: Hashable, Sendable, Codable {
    /// How many places.
    public var count: Int
    /// What took the truth to the map: `anchors`, whose true places are known, or the `path` itself, which is
    /// then turned and shifted onto the truth.
    public var alignment: String
    /// How far that alignment moves the path, metres, and by how much it turns it, degrees: nearly nothing where the
    /// truth is in the anchors' frame and the places are right.
    public var alignmentMetres: Double
    /// See ``alignmentMetres``.
    public var alignmentDegrees: Double
    /// The root of the mean square, metres.
    public var rmse: Double
    /// The median, metres.
    public var median: Double
    /// The largest, metres.
    public var largest: Double
    /// The mean normalised squared error over its three dimensions: one of an honest covariance.
    public var consistency: Double
  }

  /// The anchors, in the order of the map, then as the file names them.
  public var anchors: [Anchor] = []
  /// What the differences say of the places that the map has; `nil` without one.
  public var survey: SurveySummary?
  /// How many differences were read, and how many of them were used.
  public var differences = 0
  /// See ``differences``.
  public var differencesUsed = 0
  /// At how many moments the device was looked for, and at how many it was located.
  public var moments = 0
  /// See ``moments``.
  public var located = 0
  /// From the first difference to the first fix, seconds; `nil` when there was none.
  @OrNull public var secondsToFirstFix: Double?
  /// The last place; `nil` when there was no fix at the end.
  @OrNull public var position: Vector3?
  /// The root of the trace of its covariance, metres.
  @OrNull public var positionSigma: Double?
  /// The errors; `nil` without a true trajectory or without a fix.
  @OrNull public var errors: Errors?
}
