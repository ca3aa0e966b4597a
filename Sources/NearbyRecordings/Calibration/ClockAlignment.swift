// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
package import NearbyGeometry

/// By how much the radio's clock differs from that of the poses, from the ranges alone.
///
/// A range that is stamped late belongs to where the device was before. The offset is the one at which
/// ranges to resting peers fit the path best.
///
/// The recording is cut into stretches of one peer's ranges over half a minute each. In a stretch a range to
/// a resting peer at x from the device at p obeys an equation that is linear in x and `c = |x|²`,
///
///     r² - |p|² = -2 pᵀx + c
///
/// which is solved at each offset of a grid with Cauchy's robust weights. From the best of these,
/// Gauss and Newton's method finds the place, a bias and the offset of each stretch. The offset of the
/// recording is their weighted mean; its sigma follows from their scatter.
public struct ClockAlignment: Hashable, Sendable, Codable {
  /// What is to be added to the ranging's times, seconds; negative where the radio's clock is ahead.
  public var offset: Double
  /// One standard deviation of it, seconds.
  public var sigma: Double
  /// The number of stretches of which it is the mean.
  public var stretchCount: Int
  /// The ratio of the residuals' scale at the offset to that without one.
  public var residualRatio: Double

  /// Whether there is an offset: one that differs from zero by five sigmas and matters.
  public var isSignificant: Bool {
    abs(offset) > max(Self.leastOffset, 5 * sigma) && stretchCount >= Self.fewestStretches
      && residualRatio < Self.largestRatio
  }

  /// Whether the offset is known to a tenth of a second, be it zero or not.
  package var isSure: Bool { stretchCount > 1 && sigma < 0.1 && residualRatio < 1.05 }

  /// The offset as a sentence, without its full stop.
  package var text: String {
    let amount =
      abs(offset) < 100 ? ShortNumber.number(abs(offset)) : ShortNumber.seconds(abs(offset))
    return "the radio's clock is \(amount) s "
      + "\(offset < 0 ? "ahead of" : "behind") that of the poses, ± \(ShortNumber.number(sigma)) s"
  }

  /// Smaller offsets move a walking device by less than a range's noise, seconds.
  static let leastOffset = 0.02
  private static let fewestStretches = 3
  private static let largestRatio = 0.97
}

/// Finds a ``ClockAlignment`` of poses and ranges.
///
/// Memory grows with the number of poses, one in 50 ms, and of ranges.
package struct ClockAligner: Hashable, Sendable {
  /// A pose of the path.
  private struct Pose: Hashable {
    var seconds: Double
    var place: Vector3
  }

  private struct Range: Hashable {
    var seconds: Double
    var metres: Double
  }

  /// Ranges of one peer over some time.
  private typealias Stretch = ArraySlice<Range>

  private var poses: [Pose] = []
  private var ranges: [[Range]] = []
  private var start: Timestamp?

  private static let poseSpacing = 0.05
  private static let stretchSeconds = 30.0
  private static let fewestRanges = 24
  private static let mostRanges = 120
  private static let mostStretches = 32
  /// The device must move so far in a stretch, metres.
  private static let leastExtent = 1.5
  /// The offsets that are tried, and the steps between them, seconds.
  private static let searched = 2.0
  private static let step = 0.1
  private static let wideStep = 0.25
  private static let mostSolved = 16_000
  /// Clocks are not compared over more offsets than this, which is a recording of two hours and a half.
  private static let mostOffsets = 36_000.0
  private static let fewestTried = 6
  /// The least share of the ranges that must lie within the time of the poses at an offset.
  private static let leastShareWithin = 0.6
  private static let iterations = 3
  private static let fitIterations = 10
  /// The prior sigmas of a place about the path and of the bias, metres.
  private static let placeSigma = 50.0
  private static let biasSigma = 0.3
  /// The prior sigma of the offset about the best one of the grid, seconds.
  private static let offsetSigma = 0.3
  /// How far a place moves with an iteration, one sigma, metres.
  private static let stepSigma = 0.5
  /// A path that is lower is level, metres.
  private static let levelHeight = 0.3

  package init() {}

  package mutating func add(_ time: Timestamp, _ place: Vector3) {
    let start = start ?? time
    self.start = start
    let seconds = time.seconds(since: start)
    if let last = poses.last, seconds - last.seconds < Self.poseSpacing { return }
    poses.append(Pose(seconds: seconds, place: place))
  }

  package mutating func add(_ time: Timestamp, range metres: Double, of peer: Int) {
    guard metres > 0, metres.isFinite, metres < 1000 else { return }
    let start = start ?? time
    self.start = start
    while ranges.count <= peer { ranges.append([]) }
    ranges[peer].append(Range(seconds: time.seconds(since: start), metres: metres))
  }

  // MARK: - The offset

  /// The alignment of clocks that agree to two seconds; `nil` when there are too few ranges of a device that
  /// moves.
  package func alignment() -> ClockAlignment? {
    alignment(in: stretches(), from: -Self.searched, through: Self.searched, step: Self.step)
  }

  /// The alignment of clocks that are apart: all offsets at which most ranges are within the time of the
  /// poses.
  package func wideAlignment() -> ClockAlignment? {
    let stretches = stretches()
    guard let firstPose = poses.first?.seconds, let lastPose = poses.last?.seconds,
      let first = stretches.compactMap({ $0.first?.seconds }).min(),
      let last = stretches.compactMap({ $0.last?.seconds }).max()
    else { return nil }
    let middle = 0.5 * (firstPose + lastPose - first - last)
    let reach = 0.5 * max(lastPose - firstPose, last - first)
    return alignment(
      in: stretches, from: middle - reach, through: middle + reach, step: Self.wideStep)
  }

  private func alignment(
    in stretches: [Stretch], from low: Double, through high: Double, step: Double
  ) -> ClockAlignment? {
    guard poses.count > 1, !stretches.isEmpty, (high - low) / step <= Self.mostOffsets else {
      return nil
    }
    var best = (offset: 0.0, cost: Double.infinity)
    // Performance: where there are many offsets, fewer stretches choose among them.
    let offsetCount = Int((high - low) / step) + 1
    let wanted = max(Self.fewestTried, Self.mostSolved / offsetCount)
    let every = max(1, stretches.count / wanted)
    let tried = stride(from: 0, to: stretches.count, by: every).map { stretches[$0] }
    for offset in stride(from: low, through: high, by: step) {
      guard let cost = cost(of: tried, at: offset) else { continue }
      if cost < best.cost { best = (offset, cost) }
    }
    guard best.cost.isFinite else { return nil }
    let fits = stretches.compactMap { fit($0, from: best.offset) }
    guard let (offset, sigma) = Self.mean(of: fits), let after = cost(of: stretches, at: offset)
    else { return nil }
    let before = cost(of: stretches, at: 0) ?? .infinity
    return ClockAlignment(
      offset: offset, sigma: sigma, stretchCount: fits.count, residualRatio: exp(after - before))
  }

  /// The mean of the logarithms of the residuals' scales; `nil` where too few ranges are within the time of
  /// the poses.
  private func cost(of stretches: [Stretch], at offset: Double) -> Double? {
    var (sum, count) = (0.0, 0)
    for stretch in stretches {
      let inside = within(stretch, at: offset)
      guard inside.count >= Self.fewestRanges / 2,
        Double(inside.count) >= Self.leastShareWithin * Double(stretch.count)
      else { continue }
      sum += log(solve(inside, at: offset).scale)
      count += 1
    }
    return Double(count) >= max(1, Self.leastShareWithin * Double(stretches.count))
      ? sum / Double(count) : nil
  }

  /// The ranges of a stretch that are within the time of the poses.
  private func within(_ stretch: Stretch, at offset: Double) -> Stretch {
    let (first, last) = (poses[0].seconds, poses[poses.count - 1].seconds)
    guard let start = stretch.first, let end = stretch.last else { return stretch }
    if start.seconds + offset >= first, end.seconds + offset <= last { return stretch }
    return stretch.filter { first...last ~= $0.seconds + offset }[...]
  }

  /// The mean of the stretches' offsets, weighted by their information, and its sigma; outliers by over
  /// four sigmas are left out.
  private static func mean(
    of fits: [(offset: Double, variance: Double)]
  ) -> (offset: Double, sigma: Double)? {
    guard fits.count > 1 else { return nil }
    let sorted = fits.map(\.offset).sorted()
    let median = sorted[sorted.count / 2]
    let spread = fits.map { abs($0.offset - median) }.sorted()[fits.count / 2] / 0.6745
    let kept = fits.filter { abs($0.offset - median) <= 4 * max(spread, $0.variance.squareRoot()) }
    guard kept.count > 1 else { return nil }
    // What a stretch's own variance does not say: errors that are alike over metres.
    let floor = spread * spread
    let weights = kept.map { 1 / ($0.variance + floor) }
    let total = weights.reduce(0, +)
    let mean = zip(weights, kept).reduce(0) { $0 + $1.0 * $1.1.offset } / total
    let chi = zip(weights, kept).reduce(0.0) {
      $0 + $1.0 * ($1.1.offset - mean) * ($1.1.offset - mean)
    }
    let factor = max(1, chi / Double(kept.count - 1))
    return (mean, (factor / total).squareRoot())
  }

  /// The recording in stretches, at most ``mostStretches``.
  private func stretches() -> [Stretch] {
    var stretches: [Stretch] = []
    for ranges in ranges {
      var begin = 0
      while begin < ranges.count {
        let limit = ranges[begin].seconds + Self.stretchSeconds
        let end = ranges[begin...].firstIndex { $0.seconds > limit } ?? ranges.count
        let every = max(1, (end - begin) / Self.mostRanges)
        let stretch = stride(from: begin, to: end, by: every).map { ranges[$0] }
        if stretch.count >= Self.fewestRanges { stretches.append(stretch[...]) }
        begin = end
      }
    }
    let every = max(1, (stretches.count + Self.mostStretches - 1) / Self.mostStretches)
    return stride(from: 0, to: stretches.count, by: every).map { stretches[$0] }
  }

  /// The device's place and velocity at a time.
  private func place(at seconds: Double) -> (place: Vector3, velocity: Vector3) {
    var (low, high) = (0, poses.count - 1)
    while high - low > 1 {
      let middle = (low + high) / 2
      if poses[middle].seconds > seconds { high = middle } else { low = middle }
    }
    let (a, b) = (poses[low], poses[high])
    guard b.seconds > a.seconds else { return (a.place, .zero) }
    let velocity = (b.place - a.place) / (b.seconds - a.seconds)
    let inside = min(max(seconds, a.seconds), b.seconds)
    return (a.place + (inside - a.seconds) * velocity, velocity)
  }

  // MARK: - A stretch

  /// How far the device gets from the middle of its path, metres.
  private func extent(of stretch: Stretch, at offset: Double) -> Double {
    let places = stretch.map { place(at: $0.seconds + offset).place }
    let mean = places.reduce(.zero, +) / Double(places.count)
    return places.map { ($0 - mean).length }.max() ?? 0
  }

  /// The place that fits a stretch best at an offset, and the scale of the residuals.
  private func solve(
    _ stretch: Stretch, at offset: Double
  ) -> (place: Vector3, scale: Double) {
    let places = stretch.map { place(at: $0.seconds + offset).place }
    let mean = places.reduce(.zero, +) / Double(places.count)
    var residuals = [Double](repeating: 0, count: places.count)
    var scale = Double.infinity
    var found = Vector3.zero
    var square = 0.0
    for _ in 0..<Self.iterations {
      var normal = NormalEquations(size: 4)
      for axis in 0..<3 { normal.addPrior(axis, sigma: Self.placeSigma) }
      for (index, range) in stretch.enumerated() {
        let p = places[index] - mean
        // By 2 r, the equation is one of metres.
        let scaleOfRow = 0.5 / max(range.metres, 0.3)
        let value = (range.metres * range.metres - p.dot(p)) * scaleOfRow
        let relative = residuals[index] / scale
        normal.add(
          [-2 * p.x * scaleOfRow, -2 * p.y * scaleOfRow, -2 * p.z * scaleOfRow, scaleOfRow],
          value, weight: 1 / (1 + relative * relative))
      }
      guard let solution = normal.solution() else { return (mean, 1e6) }
      found = Vector3(solution[0], solution[1], solution[2])
      square = solution[3]
      for (index, range) in stretch.enumerated() {
        let p = places[index] - mean
        let value = range.metres * range.metres - p.dot(p) + 2 * p.dot(found) - solution[3]
        residuals[index] = value * 0.5 / max(range.metres, 0.3)
      }
      scale = Self.scale(of: residuals)
    }
    // From a level path the height follows from the square alone.
    let heights = places.map { abs($0.y - mean.y) }
    if heights.max() ?? 0 < Self.levelHeight {
      found.y = max(0, square - found.x * found.x - found.z * found.z).squareRoot()
    }
    return (found + mean, scale)
  }

  /// One sigma, by the median of the magnitudes; 1 mm at least.
  private static func scale(of residuals: [Double]) -> Double {
    max(1e-3, residuals.map(abs).sorted()[residuals.count / 2] / 0.6745)
  }

  /// The offset of a stretch and its variance, with place and bias as unknowns.
  private func fit(
    _ stretch: Stretch, from offset: Double
  ) -> (offset: Double, variance: Double)? {
    let stretch = within(stretch, at: offset)
    guard stretch.count >= Self.fewestRanges / 2, extent(of: stretch, at: offset) > Self.leastExtent
    else { return nil }
    var (place, scale) = solve(stretch, at: offset)
    var (bias, offset) = (0.0, offset)
    let first = offset
    var variance = Double.infinity
    for iteration in 0...Self.fitIterations {
      // The last one is for the variance.
      let isLast = iteration == Self.fitIterations
      var normal = NormalEquations(size: 5)
      for axis in 0..<3 {
        normal.addPrior(axis, sigma: (isLast ? Self.placeSigma : Self.stepSigma) / scale)
      }
      normal.addPrior(3, sigma: Self.biasSigma / scale, value: -bias)
      normal.addPrior(4, sigma: Self.offsetSigma / scale, value: first - offset)
      var residuals: [Double] = []
      for range in stretch {
        let (p, velocity) = self.place(at: range.seconds + offset)
        let away = place - p
        let distance = max(away.length, 0.1)
        let sight = away / distance
        let residual = range.metres - distance - bias
        residuals.append(residual)
        let relative = residual / (2 * scale)
        normal.add(
          [sight.x, sight.y, sight.z, 1, -sight.dot(velocity)], residual,
          weight: 1 / (1 + relative * relative))
      }
      scale = Self.scale(of: residuals)
      guard let step = normal.solution(), let information = normal.informationOfLast else {
        return nil
      }
      variance = scale * scale / information
      if isLast { break }
      place = place + Vector3(step[0], step[1], step[2])
      bias += step[3]
      offset += step[4]
    }
    guard offset.isFinite, abs(offset - first) < 1, variance.isFinite, variance < 0.04 else {
      return nil
    }
    return (offset, variance)
  }
}

/// Normal equations of a few unknowns.
private struct NormalEquations {
  private let size: Int
  private var matrix: [Double]
  private var right: [Double]

  init(size: Int) {
    self.size = size
    matrix = [Double](repeating: 0, count: size * size)
    right = [Double](repeating: 0, count: size)
  }

  /// Adds that an unknown has a value, with a sigma.
  mutating func addPrior(_ unknown: Int, sigma: Double, value: Double = 0) {
    matrix[unknown * size + unknown] += 1 / (sigma * sigma)
    right[unknown] += value / (sigma * sigma)
  }

  mutating func add(_ row: [Double], _ value: Double, weight: Double) {
    for first in 0..<size {
      right[first] += weight * row[first] * value
      for second in 0...first {
        matrix[first * size + second] += weight * row[first] * row[second]
      }
    }
  }

  /// The lower factor of Cholesky; `nil` where the matrix is singular.
  private func factor() -> [Double]? {
    var factor = matrix
    for column in 0..<size {
      for row in column..<size {
        var sum = factor[row * size + column]
        for before in 0..<column {
          sum -= factor[row * size + before] * factor[column * size + before]
        }
        if row == column {
          guard sum > 1e-14 else { return nil }
          factor[row * size + column] = sum.squareRoot()
        } else {
          factor[row * size + column] = sum / factor[column * size + column]
        }
      }
    }
    return factor
  }

  func solution() -> [Double]? {
    guard let factor = factor() else { return nil }
    var values = right
    for row in 0..<size {
      for before in 0..<row { values[row] -= factor[row * size + before] * values[before] }
      values[row] /= factor[row * size + row]
    }
    for row in (0..<size).reversed() {
      for after in row + 1..<size { values[row] -= factor[after * size + row] * values[after] }
      values[row] /= factor[row * size + row]
    }
    return values
  }

  /// The information of the last unknown, all others unknown: the square of the factor's last element.
  var informationOfLast: Double? {
    factor().map { $0[size * size - 1] * $0[size * size - 1] }
  }
}

extension RecordingReader {
  /// By how much the radio's clock differs from that of the poses.
  ///
  /// - Returns: The alignment; `nil` when the ranges do not tell it.
  /// - Throws: The first fault in any of the files.
  public func clockAlignment() throws(RecordingError) -> ClockAlignment? {
    var stream = try events()
    var aligner = ClockAligner()
    while let event = try stream.next() {
      switch event {
      case .pose(let pose): aligner.add(pose.timestamp, pose.worldFromDevice.translation)
      case .ranging(let row):
        guard let metres = row.distance, stream.peer(at: row.peerIndex).motion == .stationary else {
          continue
        }
        aligner.add(row.timestamp, range: metres, of: row.peerIndex)
      case .tracking: continue
      }
    }
    return aligner.alignment()
  }
}
