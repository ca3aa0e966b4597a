// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// The name of a variable of a factor graph: a robot or a kind, and a number.
struct PyfgKey: Hashable, Sendable {
  var prefix: String
  var number: Int

  /// `nil` unless the text is letters and then digits.
  init?(_ text: String) {
    guard let digit = text.firstIndex(where: \.isNumber), digit != text.startIndex,
      let number = Int(text[digit...]), number >= 0, number < 1 << 40
    else { return nil }
    prefix = String(text[..<digit])
    self.number = number
  }

  init(prefix: String, number: Int) {
    self.prefix = prefix
    self.number = number
  }

  var text: String { "\(prefix)\(number)" }
}

/// The parts of a factor graph in the PyFG format that a recording can hold.
///
/// The graph is held in memory, since its edges may come in any order.
struct PyfgGraph: Sendable {
  struct Vertex {
    var time: Timestamp
    /// The true pose; `nil` for a variable that only an edge names.
    var truth: RigidTransform?
  }

  struct Odometry {
    var to: PyfgKey
    var fromTo: RigidTransform
    /// The mean variance of the translation along an axis, m².
    var positionVariance: Double
    /// The covariance of the rotation in device axes, rad²; of a step in the plane only `zz`.
    var rotation: SymmetricMatrix3
    var line: Int
  }

  struct Range {
    var keys: (PyfgKey, PyfgKey)
    var distance: Double
    var variance: Double
    var line: Int
  }

  struct Bearing {
    var pose: PyfgKey
    var landmark: PyfgKey
    /// The landmark in device axes.
    var place: Vector3
    var covariance: SymmetricMatrix3
    var line: Int
  }

  private(set) var isPlanar = false
  /// The prefix of the first pose.
  private(set) var firstPrefix: String?
  private(set) var poses: [PyfgKey: Vertex] = [:]
  /// Landmarks and their true positions, in the order of the file.
  private(set) var landmarks: [(key: PyfgKey, place: Vector3)] = []
  /// Steps from a pose to the one with the next number.
  private(set) var odometry: [PyfgKey: Odometry] = [:]
  private(set) var ranges: [Range] = []
  private(set) var bearings: [Bearing] = []
  private(set) var leftOut: [String: Int] = [:]

  private enum Dimension { case planar, spatial }

  /// The number of fields after the type, and the dimension, of each type of line.
  private static let lines: [String: (count: Int, dimension: Dimension?)] = [
    "VERTEX_SE2": (5, .planar), "VERTEX_SE3:QUAT": (9, .spatial), "VERTEX_XY": (3, .planar),
    "VERTEX_XYZ": (4, .spatial), "VERTEX_SE2:PRIOR": (11, .planar),
    "VERTEX_SE3:QUAT:PRIOR": (30, .spatial), "VERTEX_XY:PRIOR": (7, .planar),
    "VERTEX_XYZ:PRIOR": (11, .spatial), "EDGE_SE2": (12, .planar),
    "EDGE_SE3:QUAT": (31, .spatial), "EDGE_SE2_XY": (8, .planar), "EDGE_SE3_XYZ": (12, .spatial),
    "EDGE_RANGE": (5, nil),
  ]

  /// Reads a whole file.
  init(path: String) throws(RecordingError) {
    var rows = try DelimitedReader(path: path, delimiter: nil)
    var dimension: Dimension?
    var knownLandmarks: Set<PyfgKey> = []
    while try rows.next() {
      let type = rows.text(0)
      guard let expected = Self.lines[type] else {
        throw rows.error(
          .malformedField, 0, "type", "is none of the format PyFG",
          remedy: "types are \(Self.lines.keys.sorted().joined(separator: ", "))")
      }
      guard rows.count == expected.count + 1 else {
        throw rows.lineError(
          .wrongFieldCount, "\(type) has \(rows.count - 1) fields, not \(expected.count)",
          remedy: "complete the line, or remove it if the file was cut off")
      }
      guard dimension == nil || expected.dimension == nil || dimension == expected.dimension else {
        throw rows.lineError(
          .malformedField, "\(type) is of another dimension than the lines before it",
          remedy: "write a graph in two dimensions or in three")
      }
      dimension = dimension ?? expected.dimension
      switch type {
      case "VERTEX_SE2", "VERTEX_SE3:QUAT":
        let key = try rows.key(2)
        firstPrefix = firstPrefix ?? key.prefix
        poses[key] = Vertex(
          time: try rows.timestamp(1, .seconds),
          truth: type == "VERTEX_SE2" ? try rows.planarPose(3) : try rows.spatialPose(3))
      case "VERTEX_XY", "VERTEX_XYZ":
        let key = try rows.key(1)
        guard knownLandmarks.insert(key).inserted else {
          throw rows.error(.malformedField, 1, "key", "was there before", remedy: "keep one")
        }
        landmarks.append((key, type == "VERTEX_XY" ? try rows.planarPlace(2) : try rows.spot(2)))
      case "EDGE_SE2", "EDGE_SE3:QUAT":
        try add(isPlanar: type == "EDGE_SE2", time: try rows.timestamp(1, .seconds), rows)
      case "EDGE_SE2_XY", "EDGE_SE3_XYZ": try addBearing(isPlanar: type == "EDGE_SE2_XY", rows)
      case "EDGE_RANGE": try addRange(rows)
      default: leftOut["priors", default: 0] += 1
      }
    }
    isPlanar = dimension == .planar
  }

  private mutating func add(
    isPlanar: Bool, time: Timestamp, _ rows: borrowing DelimitedReader
  ) throws(RecordingError) {
    let step = isPlanar ? try rows.planarPose(4) : try rows.spatialPose(4)
    let (from, to) = (try rows.key(2), try rows.key(3))
    firstPrefix = firstPrefix ?? from.prefix
    guard from.prefix == to.prefix, to.number == from.number + 1 else {
      leftOut["loop closures", default: 0] += 1
      return
    }
    if poses[from] == nil { poses[from] = Vertex(time: time) }
    if poses[to] == nil { poses[to] = Vertex(time: time) }
    guard odometry[from] == nil else {
      throw rows.error(
        .malformedField, 2, "key", "has a step to the next pose already", remedy: "keep one")
    }
    let (position, rotation) = try Self.covariance(isPlanar: isPlanar, rows)
    odometry[from] = Odometry(
      to: to, fromTo: step, positionVariance: position, rotation: rotation, line: rows.lines.line)
  }

  /// The covariance of a step: the upper triangle row by row, translation first.
  private static func covariance(
    isPlanar: Bool, _ rows: borrowing DelimitedReader
  ) throws(RecordingError) -> (position: Double, rotation: SymmetricMatrix3) {
    let first = isPlanar ? 7 : 11
    func entry(_ index: Int) throws(RecordingError) -> Double {
      try rows.finite(first + index, "covariance")
    }
    func variance(_ index: Int) throws(RecordingError) -> Double {
      let variance = try entry(index)
      guard variance >= 0 else {
        throw rows.error(
          .valueOutOfRange, first + index, "covariance", "is a variance below zero",
          remedy: "write the upper triangle row by row, translation first")
      }
      return variance
    }
    if isPlanar {
      return (
        (try variance(0) + variance(3)) / 2,
        SymmetricMatrix3(xx: 0, xy: 0, xz: 0, yy: 0, yz: 0, zz: try variance(5))
      )
    }
    return (
      (try variance(0) + variance(6) + variance(11)) / 3,
      SymmetricMatrix3(
        xx: try variance(15), xy: try entry(16), xz: try entry(17), yy: try variance(18),
        yz: try entry(19), zz: try variance(20))
    )
  }

  private mutating func addRange(_ rows: borrowing DelimitedReader) throws(RecordingError) {
    _ = try rows.timestamp(1, .seconds)
    let variance = try rows.finite(5, "variance")
    guard variance > 0 else {
      throw rows.error(.valueOutOfRange, 5, "variance", "is not above zero", remedy: "write m²")
    }
    ranges.append(
      Range(
        keys: (try rows.key(2), try rows.key(3)), distance: try rows.finite(4, "range"),
        variance: variance, line: rows.lines.line))
  }

  private mutating func addBearing(
    isPlanar: Bool, _ rows: borrowing DelimitedReader
  ) throws(RecordingError) {
    _ = try rows.timestamp(1, .seconds)
    let place = isPlanar ? try rows.planarPlace(4) : try rows.spot(4)
    func covariance(_ index: Int) throws(RecordingError) -> Double {
      try rows.finite((isPlanar ? 6 : 7) + index, "covariance")
    }
    let (a, b, c) = (try covariance(0), try covariance(1), try covariance(2))
    let matrix =
      isPlanar
      ? SymmetricMatrix3(xx: a, xy: b, xz: 0, yy: c, yz: 0, zz: 0)
      : SymmetricMatrix3(
        xx: a, xy: b, xz: c, yy: try covariance(3), yz: try covariance(4), zz: try covariance(5))
    bearings.append(
      Bearing(
        pose: try rows.key(2), landmark: try rows.key(3), place: place, covariance: matrix,
        line: rows.lines.line))
  }
}

extension DelimitedReader {
  fileprivate func key(_ field: Int) throws(RecordingError) -> PyfgKey {
    guard let key = PyfgKey(text(field)) else {
      throw error(
        .malformedField, field, "key", "is no name of a variable",
        remedy: "write a letter and a number, such as A0")
    }
    return key
  }

  fileprivate func spot(_ first: Int) throws(RecordingError) -> Vector3 {
    try place(first, ["x", "y", "z"])
  }

  fileprivate func planarPlace(_ first: Int) throws(RecordingError) -> Vector3 {
    let place = Vector3(try finite(first, "x"), try finite(first + 1, "y"), 0)
    guard max(abs(place.x), abs(place.y)) <= TrajectoryReader.farthest else {
      throw error(
        .valueOutOfRange, first, "x", "begins a place that is too far away",
        remedy: "positions are metres, at most 1e7")
    }
    return place
  }

  fileprivate func planarPose(_ first: Int) throws(RecordingError) -> RigidTransform {
    let angle = try finite(first + 2, "theta")
    return RigidTransform(
      rotation: Rotation(angleRadians: angle.wrappedAngle, about: Vector3(0, 0, 1)),
      translation: try planarPlace(first))
  }

  fileprivate func spatialPose(_ first: Int) throws(RecordingError) -> RigidTransform {
    let (x, y) = (try finite(first + 3, "qx"), try finite(first + 4, "qy"))
    let (z, w) = (try finite(first + 5, "qz"), try finite(first + 6, "qw"))
    return RigidTransform(rotation: try rotation(x, y, z, w), translation: try spot(first))
  }
}
