// SPDX-License-Identifier: Apache-2.0

/// The state of one peer after one sample: the columns of ``ReportTrack/moments``.
///
/// Positions are in the map's frame (x right, y ahead, z up), metres; angles are degrees. Where a run has corrected
/// the device's path they are laid beside that: a peer at rest stays where it is while the odometry drifts.
public enum MomentColumn: Int, ReportColumn {
  /// Seconds since the recording's first event.
  case time
  /// 1 in the first row after a gap, across which no curve should be drawn.
  case gap
  /// The posterior mean of the peer's position.
  case x, y, z
  /// The one-sigma ellipse seen from above: half axes, metres, and the long one's angle from x to y.
  case aboveMajor, aboveMinor, aboveAngle
  /// The one-sigma ellipse seen from the side: half axes, metres, and the long one's angle from x to z.
  case sideMajor, sideMinor, sideAngle
  /// The covariance of the position, m².
  case xx, xy, xz, yy, yz, zz
  /// The root of the covariance's trace; of its horizontal part where the recording is planar.
  case sigma
  /// The peer's true position, transformed to the odometry's world through the device's two poses.
  case trueX, trueY, trueZ
  /// 0 unknown, 1 not converged, 2 converged.
  case status
  /// How many hypotheses the filter holds.
  case hypotheses
  /// The measured distance, the published distance and its sigma, and the true distance.
  case measuredDistance, distance, distanceSigma, trueDistance
  /// The horizontal angle: the published one, its sigma, and the true one; degrees, positive to the
  /// right.
  case angle, angleSigma, trueAngle
  /// NIS of a completely used sample over its components, the moving mean up to this sample, and
  /// the band that holds such a mean with 95 % probability.
  case nis, nisMean, nisLow, nisHigh
  /// NEES over its degrees of freedom.
  case nees

  /// How pages store it; the ellipses are left to them, which have the covariance.
  public var encoding: ColumnEncoding? {
    switch self {
    case .time: .single
    case .gap, .status, .hypotheses: .small
    case .x, .y, .z, .trueX, .trueY, .trueZ, .measuredDistance, .distance, .trueDistance, .angle,
      .trueAngle:
      .steps
    case .aboveMajor, .aboveMinor, .aboveAngle, .sideMajor, .sideMinor, .sideAngle: nil
    default: .half
    }
  }
}

extension ReportTable<MomentColumn> {
  /// The table with an additional row before each row that follows a gap, which holds only a time.
  func brokenAtGaps() -> ReportTable {
    var table = ReportTable()
    for row in 0..<count {
      if self[.gap][row] == 1 {
        var empty = Row()
        empty[.time] = self[.time][row]
        table.append(empty)
      }
      table.append(self.row(row))
    }
    return table
  }
}

/// The device along its path: the columns of ``ReportRecording/device``.
public enum DeviceColumn: Int, ReportColumn {
  /// Seconds since the recording's first event.
  case time
  /// The device's position in the map's frame, metres.
  case x, y, z
  /// The direction of its camera: degrees from the map's y towards x.
  case heading

  /// How pages store it.
  public var encoding: ColumnEncoding? { self == .time ? .single : .steps }
}

/// A path of the device in the map's frame: the columns of ``ReportRun/correctedPath`` and ``ReportRun/truePath``.
public enum PathColumn: Int, ReportColumn {
  /// Seconds since the recording's first event.
  case time
  /// The position, metres.
  case x, y, z

  /// How pages store it.
  public var encoding: ColumnEncoding? { self == .time ? .single : .steps }
}

/// The places where a peer may be, several rows for each moment: the columns of ``ReportTrack/modes``.
public enum ModeColumn: Int, ReportColumn {
  /// The moment, seconds since the recording's first event.
  case time
  /// The probability of the place.
  case weight
  /// Its mean in the map's frame, metres.
  case x, y, z
  /// Its covariance, m².
  case xx, xy, xz, yy, yz, zz

  /// How pages store it.
  public var encoding: ColumnEncoding? {
    switch self {
    case .time: .single
    case .x, .y, .z: .steps
    default: .half
    }
  }
}

/// Intervals of one status, each until the next begins: the columns of ``ReportTrack/timeline``.
public enum TimelineColumn: Int, ReportColumn {
  /// When it begins, seconds since the recording's first event.
  case time
  /// 0 unknown, 1 not converged, 2 converged.
  case status
  /// The reasons, a bit for each in the order of ``Report/reasonNames``.
  case reasons

  /// How pages store it.
  public var encoding: ColumnEncoding? { self == .time ? .single : .small }
}

/// How many samples were used, by time bin: the columns of ``ReportTrack/outcomes``.
public enum OutcomeColumn: Int, ReportColumn {
  /// When the bin begins, seconds since the recording's first event.
  case time
  /// How many samples were used completely, partly, and not at all.
  case all, partial, rejected

  /// How pages store it.
  public var encoding: ColumnEncoding? { .single }
}
