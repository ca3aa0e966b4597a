// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How the wandering errors of measurements decorrelate.
///
/// Those of a radio depend on the pose: a range's on where the device is (multipath) and how it is held
/// (the antenna's phase centre), an angle's on the direction under which the peer is seen. A range's
/// changes with time too, since people move. The offset of height differences depends on time alone
/// (``HeightOffset``).
///
/// The model has two forms. The filter, and the fit of a window whose last state it becomes, have
/// first-order Gauss-Markov processes along the path, with the correlation factor φ = exp(-travelled). The
/// joint fit and the smoother have the correlation ρ between any two viewpoints: a device that comes back
/// to a pose meets the same error again. Multipath changes within decimetres; what walls and furniture do
/// to a range, within metres. So ρ of a range has two lengths, and the filter the shorter one.
package enum CorrelatedNoise {
  /// Correlation lengths of a range's error, and of an angle's.
  package static let rangeSeconds = 3.0
  package static let rangeMetres = 0.4
  package static let rangeRadians = 0.7
  package static let angleRadians = 1.5
  /// The longer correlation length of a range's error between viewpoints, and the share of its variance
  /// that has it.
  ///
  /// With the shorter length alone a fit takes errors that are alike over metres for many independent ones,
  /// and their pattern for the height of a peer beside a level walk.
  package static let roomMetres = 2.5
  package static let roomShare = 0.5

  /// The share of the variance of an angle's pose-dependent error that is the same in all directions.
  ///
  /// A smooth function of the direction does not average out as one that wanders would: a device that
  /// looks to and fro meets the same errors again, and one that is held level stays on one circle.
  static let constantAngleShare = 0.35

  /// Inverse correlation lengths.
  ///
  /// Performance: avoids dependent divisions.
  private static let rangePerSecond = 1 / rangeSeconds
  private static let rangePerMetre = 1 / rangeMetres
  private static let rangePerRadian = 1 / rangeRadians
  private static let rangePerRoom = 1 / roomMetres
  private static let anglePerRadian = 1 / angleRadians

  // MARK: Along a path

  /// Correlation factors of the errors between two device points, for a peer at a distance.
  static func correlation(
    from a: TrajectoryPoint, to b: TrajectoryPoint, distance: Double, _ offset: HeightOffset
  ) -> PerKind<Double> {
    let travelled = travelled(from: a, to: b, distance: distance)
    let (place, direction) = (exp(-travelled.range), exp(-travelled.angle))
    let seconds = abs(b.timestamp.seconds(since: a.timestamp))
    return PerKind { kind in
      switch kind.wandering {
      case .withPlace: place
      case .withDirection: direction
      case .withTime: offset.correlation(seconds: seconds)
      }
    }
  }

  /// The length of the path between two device points, in correlation lengths of the errors.
  @inline(__always)
  static func travelled(
    from a: TrajectoryPoint, to b: TrajectoryPoint, distance: Double
  ) -> (range: Double, angle: Double) {
    let seconds = abs(b.timestamp.seconds(since: a.timestamp))
    let path = abs(b.path - a.path)
    let turn = abs(b.turn - a.turn)
    return (
      seconds * rangePerSecond + path * rangePerMetre + turn * rangePerRadian,
      (turn + path / distance) * anglePerRadian
    )
  }

  // MARK: Between viewpoints

  /// The correlation ρ of a kind's wandering errors between two viewpoints.
  ///
  /// With the distance d between the places and the turn θ between the attitudes it is
  /// `(exp(-d/0.4 m) + exp(-d/2.5 m))/2 · exp(-θ/0.7)` for ranges; with the chord c between the directions
  /// to the peer, `exp(-c/1.5)` for angles; and that of ``HeightOffset`` for height differences. Time is not
  /// in the first two.
  ///
  /// - Parameters:
  ///   - kind: The kind.
  ///   - a: One viewpoint.
  ///   - b: Another one.
  ///   - offset: The process of the offset of height differences.
  /// - Returns: The correlation, 0 to 1.
  package static func correlation(
    of kind: MeasurementKind, between a: Viewpoint, _ b: Viewpoint, _ offset: HeightOffset
  ) -> Double {
    switch kind.wandering {
    case .withPlace:
      let away = (a.place - b.place).length
      let turn = a.turn(to: b) * rangePerRadian
      let room = roomShare * exp(-(away * rangePerRoom + turn))
      // Performance: most places are farther apart than multipath reaches.
      guard away < multipathReach * rangeMetres else { return room }
      return room + (1 - roomShare) * exp(-(away * rangePerMetre + turn))
    case .withDirection: return exp(-(a.direction - b.direction).length / angleRadians)
    case .withTime:
      return offset.correlation(seconds: abs(a.timestamp.seconds(since: b.timestamp)))
    }
  }

  /// The correlation of the part of a range's wandering error that decorrelates within decimetres.
  package static func multipathCorrelation(between a: Viewpoint, _ b: Viewpoint) -> Double {
    exp(-((a.place - b.place).length * rangePerMetre + a.turn(to: b) * rangePerRadian))
  }

  /// The distance beyond which a correlation is neglected, in the longer correlation lengths: e⁻³/2 is
  /// 2.5 %.
  ///
  /// With two lengths 2 of 320 peers of a simulated trolley are claimed at a wrong place, with three none.
  private static let reach = 3.0
  /// The same for the part with the shorter one, in its lengths: e⁻¹⁰/2.
  private static let multipathReach = 10.0

  /// Whether errors that wander with the place have anything in common at two places.
  ///
  /// Performance: what has not need not be counted.
  package static func mayShareErrors(ofPlaces a: Vector3, _ b: Vector3) -> Bool {
    (a - b).length < reach * roomMetres
  }
}

/// From where and when something was measured, and where the peer was seen: what the wandering errors
/// are functions of.
package struct Viewpoint: Sendable {
  package var timestamp: Timestamp
  /// The antenna, or the device, in a world that does not drift within the errors' reach.
  package var place: Vector3
  /// Two device axes in that world, which fix the attitude.
  package var up: Vector3
  package var back: Vector3
  /// The peer's direction in device axes, a unit vector.
  package var direction: Vector3

  /// Makes one of its parts.
  package init(
    timestamp: Timestamp, place: Vector3, up: Vector3, back: Vector3, direction: Vector3
  ) {
    (self.timestamp, self.place) = (timestamp, place)
    (self.up, self.back, self.direction) = (up, back, direction)
  }

  /// By what angle the attitudes differ, about, radians: the chords of two axes, which a turn by θ about
  /// any axis moves by 1 to √2 times `2 sin(θ/2)` together, over the middle of these factors.
  ///
  /// Performance: no angle has to be computed.
  fileprivate func turn(to other: Viewpoint) -> Double {
    let (a, b) = (up - other.up, back - other.back)
    return (a.dot(a) + b.dot(b)).squareRoot() / 1.2
  }
}
