// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyGeometry

/// The report of an import of a Plaza run.
public struct PlazaReport: Hashable, Sendable, Codable {
  /// The recording's name, `plaza1` or `plaza2`.
  public let name: String
  /// Seconds from the first pose to the last.
  public let durationSeconds: Double
  /// Metres travelled, by the odometry.
  public let pathLength: Double
  /// Ranging samples, all of which were written.
  public let samples: Int
  /// Peers.
  public let peers: Int
  /// Poses that were read.
  public let posesRead: Int
  /// Odometry poses that were written.
  public let posesWritten: Int
  /// True poses that were written.
  public let truePosesWritten: Int
  /// The odometry's drift against the truth.
  public let drift: Drift
  /// The ranges' errors against the truth.
  public let rangeErrors: RangeErrors
  /// What to look at before the recording is run, the worst first.
  public internal(set) var findings: [RecordingFinding] = []

  /// How an odometry drifts from the truth, the truth's own noise included.
  ///
  /// The two densities are those of a random walk. A drift that is not a random walk, such as the
  /// constant bias of Plaza2's gyroscope, has a different density over each length. The figure is
  /// the larger of the densities over 25 and 50 m of path, over which the mower sees a beacon from
  /// new directions.
  public struct Drift: Hashable, Sendable, Codable {
    /// Metres for each axis per square root of a metre travelled, errors of heading not included.
    public let positionDensity: Double
    /// Degrees per square root of a metre travelled.
    public let yawDensityDegrees: Double
    /// The heading's change of error from the start to the end, degrees.
    public let finalYawDegrees: Double
    /// The largest distance from the truth when both start with the same position and heading,
    /// metres.
    public let largestPositionError: Double
  }

  /// How measured ranges differ from true ones.
  public struct RangeErrors: Hashable, Sendable, Codable {
    /// The root mean square of the raw errors, metres.
    public let rootMeanSquare: Double
    /// The best factor, less one: 0.07 when ranges are 7 % of the true distance too long.
    public let scaleError: Double
    /// The root mean square of the errors after correcting the scale, metres.
    public let rootMeanSquareAfterScale: Double
  }
}

extension PlazaReport.Drift {
  /// Compares two paths pose by pose.
  init(odometry: [PlanarPose], truth: [PlanarPose], distances: [Double]) {
    // For each pose, accumulated: the length, the heading's error, and the error of the distances,
    // which is the error of the position if the steps go along the true heading.
    var lengths = [0.0]
    var places = [SIMD2<Double>.zero]
    for index in distances.indices {
      let heading = (truth[index].heading + truth[index + 1].heading) / 2
      let step = distances[index] * PlazaRun.unitVector(heading)
      lengths.append(lengths[index] + abs(distances[index]))
      places.append(
        places[index] + step - (truth[index + 1].position - truth[index].position))
    }
    let yaws = zip(odometry, truth).map { $0.heading - $1.heading }
    var (position, yaw) = (0.0, 0.0)
    for span in [25.0, 50] {
      var (positionSum, yawSum, count) = (0.0, 0.0, 0.0)
      var to = 0
      for from in lengths.indices {
        while to < lengths.count, lengths[to] < lengths[from] + span { to += 1 }
        guard to < lengths.count else { break }
        positionSum += pow(PlazaRun.length(places[to] - places[from]), 2)
        yawSum += pow(yaws[to] - yaws[from], 2)
        count += 1
      }
      guard count > 0 else { break }
      position = max(position, (positionSum / count / 2 / span).squareRoot())
      yaw = max(yaw, (yawSum / count / span).squareRoot())
    }
    positionDensity = position
    yawDensityDegrees = yaw.radiansAsDegrees
    finalYawDegrees = ((yaws.last ?? 0) - (yaws.first ?? 0)).radiansAsDegrees
    let turn = PlazaRun.unitVector(truth[0].heading - odometry[0].heading)
    largestPositionError =
      zip(odometry, truth).map { reckoned, actual in
        let moved = PlazaRun.product(turn, reckoned.position - odometry[0].position)
        return PlazaRun.length(truth[0].position + moved - actual.position)
      }.max() ?? 0
  }
}

extension PlazaReport.RangeErrors {
  /// Compares the ranges to beacons of known position with the distances from the true path.
  init(_ run: PlazaRun) {
    let places = Dictionary(run.beacons.map { ($0.id, $0.position) }) { first, _ in first }
    var pairs: [(measured: Double, actual: Double)] = []
    var next = 1
    for range in run.ranges {
      guard let place = places[range.beacon], range.time >= 0 else { continue }
      while next < run.times.count, run.times[next] < range.time { next += 1 }
      guard next < run.times.count else { break }
      let (before, after) = (run.times[next - 1], run.times[next])
      let fraction = (range.time - before) / (after - before)
      let step = run.truePositions[next] - run.truePositions[next - 1]
      let position = run.truePositions[next - 1] + fraction * step
      pairs.append((range.distance, PlazaRun.length(place - position)))
    }
    let count = Double(max(pairs.count, 1))
    let square = pairs.reduce(0) { $0 + $1.actual * $1.actual }
    let product = pairs.reduce(0) { $0 + $1.actual * $1.measured }
    let scale = square > 0 ? product / square : 1
    scaleError = scale - 1
    rootMeanSquare =
      (pairs.reduce(0) { $0 + pow($1.measured - $1.actual, 2) } / count).squareRoot()
    rootMeanSquareAfterScale =
      (pairs.reduce(0) { $0 + pow($1.measured - scale * $1.actual, 2) } / count).squareRoot()
  }
}
