// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The ranges of one peer in the order of time, from which their noise and their unit are judged.
///
/// Where the peer is need not be known. Three neighbouring ranges differ from a straight line by
/// their noise and by the curvature of the device's path around the peer, which the poses bound. And
/// a distance to a resting peer cannot change by more than the device moves.
struct RangeSeries {
  struct Entry {
    var time: Timestamp
    var distance: Double
    /// The stated accuracy.
    var sigma: Double
    /// The device's position.
    var place: Vector3
  }

  /// Whether a distance equals the one before, which it hardly can when the device moved.
  enum Repetition {
    case repeated, changed, notComparable
  }

  /// Residuals from straight lines, of triples whose curvature is alike.
  private struct Residuals {
    /// Metres, and in units of the stated accuracy.
    var metres = LogHistogram()
    var stated = LogHistogram()
    /// The bounds of the curvature in them, metres.
    var curvatures = LogHistogram()

    mutating func merge(_ other: Residuals) {
      metres.merge(other.metres)
      stated.merge(other.stated)
      curvatures.merge(other.curvatures)
    }
  }

  /// Triples are sorted by the bound of their curvature, metres; those beyond the last are left out.
  private static let curvatureBounds = [0.01, 0.03, 0.1, 0.3, 1]
  /// Fewer triples do not tell the noise.
  private static let fewestTriples = 30
  /// The longest time over which a path is taken for nearly straight, seconds.
  private static let longestTriple = 4.0
  /// What a pair of ranges lies apart: by a metre of motion, or by this time, seconds.
  private static let longestPair = 3.0
  /// The median of the magnitude of a normal variable of unit variance.
  private static let normalMedian = 0.6745

  private var beforeLast: Entry?
  private var last: Entry?
  private var pairStart: Entry?
  private var classes = Self.curvatureBounds.map { _ in Residuals() }
  private var changes = LogHistogram()
  private var excesses = LogHistogram()

  /// Takes the next range.
  mutating func add(_ entry: Entry) -> Repetition {
    if let beforeLast, let last { addTriple(beforeLast, last, entry) }
    addPair(to: entry)
    defer {
      beforeLast = last
      last = entry
    }
    guard let last, (entry.place - last.place).length > 0.02 else { return .notComparable }
    return entry.distance == last.distance ? .repeated : .changed
  }

  private mutating func addTriple(_ a: Entry, _ b: Entry, _ c: Entry) {
    let whole = c.time.seconds(since: a.time)
    guard whole > 0, whole <= Self.longestTriple else { return }
    let share = c.time.seconds(since: b.time) / whole
    let rest = 1 - share
    let straight = a.distance * share + c.distance * rest
    let gain = (1 + share * share + rest * rest).squareRoot()
    let sigma =
      (b.sigma * b.sigma + share * share * a.sigma * a.sigma + rest * rest * c.sigma * c.sigma)
      .squareRoot()
    let chord = (c.place - a.place).length
    let bend = (b.place - a.place * share - c.place * rest).length
    let nearest = max(min(a.distance, b.distance, c.distance), 0.1)
    let curvature = chord * chord / (8 * nearest) + bend
    guard let place = Self.curvatureBounds.firstIndex(where: { curvature <= $0 }) else { return }
    let residual = abs(b.distance - straight)
    classes[place].metres.add(residual / gain)
    classes[place].stated.add(residual / sigma)
    classes[place].curvatures.add(curvature)
  }

  private mutating func addPair(to entry: Entry) {
    guard let start = pairStart else {
      pairStart = entry
      return
    }
    let moved = (entry.place - start.place).length
    guard moved >= 1 || entry.time.seconds(since: start.time) >= Self.longestPair else { return }
    let changed = abs(entry.distance - start.distance)
    if moved >= 1 { changes.add(changed / moved) }
    // The scale of ranges may be wrong by some percent.
    excesses.add(changed - 1.15 * moved)
    pairStart = entry
  }

  /// The figures of all ranges.
  ///
  /// - Parameter isStationary: Whether the peer is said to rest. The path of one that moves bends
  ///   by itself, so the scatter of its ranges is not known.
  /// - Returns: The figures; those for which there are too few ranges are `nil`.
  func figures(isStationary: Bool) -> RecordingSurvey.Peer {
    var peer = RecordingSurvey.Peer(
      pairs: changes.count, changePerMetre: changes.median, excess: excesses.quantile(0.75))
    if isStationary { peer.scatter = scatter }
    return peer
  }

  /// The scatter from as many triples as bend by less than a quarter of it.
  private var scatter: RecordingSurvey.Scatter? {
    var best: RecordingSurvey.Scatter?
    var residuals = Residuals()
    for addition in classes {
      residuals.merge(addition)
      guard residuals.metres.count >= Self.fewestTriples, let metres = residuals.metres.median,
        let stated = residuals.stated.median, let curvature = residuals.curvatures.median,
        curvature < metres / 4 || metres < 1e-3
      else { continue }
      best = RecordingSurvey.Scatter(
        count: residuals.metres.count, metres: metres / Self.normalMedian,
        perStatedSigma: stated / Self.normalMedian)
    }
    return best
  }
}
