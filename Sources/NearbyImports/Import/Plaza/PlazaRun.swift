// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyGeometry
internal import NearbyRecordings

/// One of the two runs as read from its file, checked, with times that start at the first true
/// pose.
///
/// All headings are in radians, counterclockwise from +x, as in the file.
struct PlazaRun {
  /// Seconds since the first true pose, one for each pose.
  let times: [Double]
  /// `GT`: the GPS positions, metres.
  let truePositions: [SIMD2<Double>]
  /// `GT`: the heading that was recorded with them.
  let recordedHeadings: [Double]
  /// `DR`: metres travelled from each pose to the next.
  let distances: [Double]
  /// `DR`: the change of heading from each pose to the next.
  let turns: [Double]
  /// `DRp`: the dead-reckoned path, one position for each pose, metres.
  let reckonedPositions: [SIMD2<Double>]
  /// `TD`: the ranges in the order of time.
  let ranges: [RangeSample]
  /// `TL`: where the beacons stood, metres.
  let beacons: [(id: Int, position: SIMD2<Double>)]

  /// A range measurement.
  struct RangeSample {
    /// Seconds since the first true pose.
    let time: Double
    /// The beacon's number.
    let beacon: Int
    /// Metres, as measured.
    let distance: Double
  }

  init(_ bytes: [UInt8], file: String) throws(RecordingError) {
    let contents = try MatlabFile(bytes, file: file)
    let truth = try contents.matrix("GT", columns: 4, file: file)
    let steps = try contents.matrix("DR", columns: 3, file: file)
    let path = try contents.matrix("DRp", columns: 4, file: file)
    let tags = try contents.matrix("TD", columns: 4, file: file)
    let places = try contents.matrix("TL", columns: 3, file: file)
    for (name, matrix) in [
      ("GT", truth), ("DR", steps), ("DRp", path), ("TD", tags), ("TL", places),
    ] {
      try Self.checkMagnitudes(of: matrix, name, file)
    }
    guard steps.rows == truth.rows - 1, path.rows == truth.rows else {
      throw RecordingError(
        .wrongFieldCount,
        "GT, DRp and DR have \(truth.rows), \(path.rows) and \(steps.rows) rows, not n, n and n - 1",
        file: file, remedy: "check that it is the file it is named for")
    }
    let start = truth[0, 0]
    let times = (0..<truth.rows).map { truth[$0, 0] - start }
    if let row = times.indices.dropFirst().first(where: { times[$0] <= times[$0 - 1] }) {
      throw RecordingError(
        .timeWentBack, "the time of GT does not grow in row \(row + 1)", file: file,
        remedy: "check that it is the file it is named for")
    }
    guard (0..<steps.rows).allSatisfy({ abs(steps[$0, 0] - start - times[$0 + 1]) < 0.001 }) else {
      throw RecordingError(
        .valueOutOfRange, "the times of DR are not those of GT", file: file,
        remedy: "check that it is the file it is named for")
    }
    self.times = times
    truePositions = (0..<truth.rows).map { SIMD2(truth[$0, 1], truth[$0, 2]) }
    recordedHeadings = (0..<truth.rows).map { truth[$0, 3] }
    distances = (0..<steps.rows).map { steps[$0, 1] }
    turns = (0..<steps.rows).map { steps[$0, 2] }
    reckonedPositions = (0..<path.rows).map { SIMD2(path[$0, 1], path[$0, 2]) }

    var ranges: [RangeSample] = []
    for row in 0..<tags.rows {
      ranges.append(
        RangeSample(
          time: tags[row, 0] - start, beacon: try Self.beacon(tags[row, 2], "TD", row, file),
          distance: tags[row, 3]))
    }
    // Plaza1's ranges come in three blocks that overlap by a minute. Equal times keep their order.
    self.ranges = ranges.enumerated()
      .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    var beacons: [(id: Int, position: SIMD2<Double>)] = []
    for row in 0..<places.rows {
      beacons.append(
        (try Self.beacon(places[row, 0], "TL", row, file), SIMD2(places[row, 1], places[row, 2])))
    }
    self.beacons = beacons.sorted { $0.id < $1.id }
  }

  /// The largest accepted magnitude, metres or seconds, so that sums and squares stay finite.
  private static let largestMagnitude = 1e10

  private static func checkMagnitudes(
    of matrix: MatlabFile.Matrix, _ name: String, _ file: String
  ) throws(RecordingError) {
    guard let index = matrix.values.firstIndex(where: { abs($0) > largestMagnitude }) else {
      return
    }
    throw RecordingError(
      .valueOutOfRange,
      "\"\(name)\" holds \(matrix.values[index]) in row \(index % matrix.rows + 1)",
      file: file, remedy: "numbers are metres, seconds and radians, none beyond \(largestMagnitude)"
    )
  }

  private static func beacon(
    _ value: Double, _ table: String, _ row: Int, _ file: String
  ) throws(RecordingError) -> Int {
    guard let id = Int(exactly: value), (0...9999).contains(id) else {
      throw RecordingError(
        .malformedField, "\(value) in row \(row + 1) of \(table) is not a beacon's number",
        file: file, remedy: "check that it is the file it is named for")
    }
    return id
  }
}

/// A position and a heading in the plane.
struct PlanarPose: Hashable {
  /// Metres.
  var position: SIMD2<Double>
  /// Radians, counterclockwise from +x; not wrapped, so that it can be interpolated.
  var heading: Double
}

extension PlazaRun {
  /// The odometry integrated from its increments, starting at the origin with heading zero.
  ///
  /// Each step goes along the heading half way through its turn: the chord of the arc.
  var summedIncrements: [PlanarPose] {
    var pose = PlanarPose(position: .zero, heading: 0)
    var poses = [pose]
    for (distance, turn) in zip(distances, turns) {
      pose.position += distance * Self.unitVector(pose.heading + turn / 2)
      pose.heading += turn
      poses.append(pose)
    }
    return poses
  }

  /// The dead-reckoned path of the file, moved to start in the origin with heading zero.
  ///
  /// The heading is the path's own direction, between those of the steps before and after; a step of
  /// length zero has the direction of the step before it.
  var reckonedPath: [PlanarPose] {
    var directions: [Double] = []
    for index in distances.indices {
      let step = reckonedPositions[index + 1] - reckonedPositions[index]
      let latest = directions.last ?? 0
      directions.append(
        step == .zero ? latest : latest + (atan2(step.y, step.x) - latest).wrappedAngle)
    }
    guard let first = directions.first, let last = directions.last else {
      return [PlanarPose(position: .zero, heading: 0)]
    }
    let before = [first] + directions
    let after = directions + [last]
    let turn = Self.unitVector(-first)
    return reckonedPositions.indices.map { index in
      PlanarPose(
        position: Self.product(turn, reckonedPositions[index] - reckonedPositions[0]),
        heading: (before[index] + after[index]) / 2 - first)
    }
  }

  /// The true poses: the GPS positions, and a heading from the course of their path.
  ///
  /// The course of a short piece of a GPS path is noisy, and it is undefined at rest. So the
  /// recorded heading gives the detail, and the path gives the mean over twenty metres: the offset
  /// between the two is averaged over the ten metres of path before and after, each step weighted
  /// by its length. This also corrects the recorded heading of Plaza2, which points backward.
  var truePoses: [PlanarPose] {
    var headings: [Double] = []
    for heading in recordedHeadings {
      let latest = headings.last ?? heading
      headings.append(latest + (heading - latest).wrappedAngle)
    }
    // Sums up to each pose: the path's length, and its steps rotated by the heading. The direction
    // of the latter is the offset.
    var lengths = [0.0]
    var sums = [SIMD2<Double>.zero]
    for index in distances.indices {
      let step = truePositions[index + 1] - truePositions[index]
      let heading = (headings[index] + headings[index + 1]) / 2
      lengths.append(lengths[index] + Self.length(step))
      sums.append(sums[index] + Self.product(step, Self.unitVector(-heading)))
    }
    var poses: [PlanarPose] = []
    var (low, high) = (0, 0)
    var offset = 0.0
    for index in headings.indices {
      while lengths[low] < lengths[index] - 10 { low += 1 }
      while high + 1 < lengths.count, lengths[high] < lengths[index] + 10 { high += 1 }
      let sum = sums[high] - sums[low]
      if sum != .zero { offset += (atan2(sum.y, sum.x) - offset).wrappedAngle }
      poses.append(
        PlanarPose(position: truePositions[index], heading: headings[index] + offset))
    }
    return poses
  }

  /// `(cos, sin)` of an angle.
  static func unitVector(_ angle: Double) -> SIMD2<Double> { SIMD2(cos(angle), sin(angle)) }

  /// The Euclidean length.
  static func length(_ vector: SIMD2<Double>) -> Double { (vector * vector).sum().squareRoot() }

  /// The complex product, which rotates one vector by the angle of the other.
  static func product(_ a: SIMD2<Double>, _ b: SIMD2<Double>) -> SIMD2<Double> {
    SIMD2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x)
  }
}
