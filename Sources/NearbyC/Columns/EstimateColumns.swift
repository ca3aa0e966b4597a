// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// The columns of `estimates.csv`, and the time in nanoseconds beside that in seconds.
struct EstimateColumns {
  private let frames: FrameConvention
  private let clockOffset: Double
  private let timestamp = ArrowColumn("timestamp", .float64, unit: "s")
  private let nanoseconds = ArrowColumn("time_ns", .int64, unit: "ns")
  private let peer: ArrowColumn
  private let status = ArrowColumn(
    "status", .words, words: ["unknown", "notConverged", "converged"])
  /// The index of each set of reasons is its bits.
  private let reasons = ArrowColumn(
    "reasons", .words,
    words: (0..<32).map { ConvergenceReasons(rawValue: UInt8($0)).description })
  private let distance = ArrowColumn("distance", .float64, unit: "m")
  private let direction = VectorColumns("direction", unit: "1")
  private let horizontalAngle = ArrowColumn("horizontal_angle", .float64, unit: "rad")
  private let vertical = ArrowColumn(
    "vertical", .words, words: VerticalDirectionEstimate.allCases.map(\.rawValue))
  private let world = VectorColumns("world", unit: "m")
  private let mean = VectorColumns("mean", unit: "m")
  private let covariance = CovarianceColumns()
  private let distanceSigma = ArrowColumn("distance_sigma", .float64, unit: "m")
  private let horizontalAngleSigma = ArrowColumn("horizontal_angle_sigma", .float64, unit: "rad")
  private let hypotheses = ArrowColumn("hypotheses", .int32)
  private let nis = ArrowColumn("nis", .float64, unit: "1")
  private let used = ArrowColumn("used", .words, words: ["all", "partial", "rejected"])

  /// Columns for peers of these names, with times by the clock of the samples.
  init(peers: [String], frames: FrameConvention, _ configuration: FusionConfiguration) {
    self.frames = frames
    clockOffset = configuration.ranging.clockOffset
    peer = ArrowColumn("peer", .words, words: peers)
  }

  /// All columns, in the file's order.
  var all: [ArrowColumn] {
    [timestamp, nanoseconds, peer, status, reasons, distance] + direction.all
      + [horizontalAngle, vertical] + world.all + mean.all + covariance.all
      + [distanceSigma, horizontalAngleSigma, hypotheses, nis, used]
  }

  /// The peers' names: of a recording they are known only at the end.
  func name(peers: [String]) { peer.words = peers }

  /// Appends the state after a sample.
  func append(peer index: Int, _ report: SampleReport, _ estimate: PeerEstimate) {
    let time = report.timestamp.advanced(bySeconds: clockOffset)
    timestamp.append(time.seconds)
    nanoseconds.append(time.nanoseconds)
    peer.append(index: index)
    switch estimate.convergence {
    case .unknown: appendStatus(0, [])
    case .notConverged(let reasons): appendStatus(1, reasons)
    case .converged: appendStatus(2, [])
    }
    distance.append(estimate.distance.value)
    let turns = frames != .engine
    direction.append(
      turns
        ? estimate.direction.value.map(frames.deviceVector(fromEngine:))
        : estimate.direction.value)
    horizontalAngle.append(estimate.horizontalAngleRadians.value)
    vertical.append(index: estimate.verticalDirection.number)
    let place = estimate.worldTransform.value?.translation
    world.append(turns ? place.map(frames.worldVector(fromEngine:)) : place)
    mean.append(
      turns
        ? estimate.positionInWorld.map(frames.worldVector(fromEngine:)) : estimate.positionInWorld)
    let spread = estimate.positionInWorld == nil ? nil : estimate.covarianceInWorld
    covariance.append(turns ? spread.map(frames.worldCovariance(fromEngine:)) : spread)
    distanceSigma.append(estimate.distance.sigma)
    horizontalAngleSigma.append(estimate.horizontalAngleRadians.sigma)
    hypotheses.append(index: estimate.hypothesisCount)
    nis.append(report.normalizedInnovationSquared)
    used.append(index: report.use.number)
  }

  private func appendStatus(_ index: Int, _ reasons: ConvergenceReasons) {
    status.append(index: index)
    self.reasons.append(index: Int(reasons.rawValue & 31))
  }
}

extension VerticalDirectionEstimate {
  /// The value of `nearby_vertical`, and the place in `allCases`.
  var number: Int {
    switch self {
    case .unknown: 0
    case .same: 1
    case .above: 2
    case .below: 3
    case .aboveOrBelow: 4
    }
  }
}

extension SampleReport.Use {
  /// The value of `nearby_use`.
  var number: Int {
    switch self {
    case .all: 0
    case .partial: 1
    case .rejected: 2
    }
  }
}

/// Three columns of a vector.
struct VectorColumns {
  private let x, y, z: ArrowColumn

  init(_ name: String, unit: String) {
    x = ArrowColumn("\(name)_x", .float64, unit: unit)
    y = ArrowColumn("\(name)_y", .float64, unit: unit)
    z = ArrowColumn("\(name)_z", .float64, unit: unit)
  }

  var all: [ArrowColumn] { [x, y, z] }

  @inline(__always)
  func append(_ vector: Vector3?) {
    x.append(vector?.x)
    y.append(vector?.y)
    z.append(vector?.z)
  }
}

/// Six columns of a covariance, the upper triangle row by row.
struct CovarianceColumns {
  private let xx = ArrowColumn("cov_xx", .float64, unit: "m2")
  private let xy = ArrowColumn("cov_xy", .float64, unit: "m2")
  private let xz = ArrowColumn("cov_xz", .float64, unit: "m2")
  private let yy = ArrowColumn("cov_yy", .float64, unit: "m2")
  private let yz = ArrowColumn("cov_yz", .float64, unit: "m2")
  private let zz = ArrowColumn("cov_zz", .float64, unit: "m2")

  var all: [ArrowColumn] { [xx, xy, xz, yy, yz, zz] }

  @inline(__always)
  func append(_ matrix: SymmetricMatrix3?) {
    xx.append(matrix?.xx)
    xy.append(matrix?.xy)
    xz.append(matrix?.xz)
    yy.append(matrix?.yy)
    yz.append(matrix?.yz)
    zz.append(matrix?.zz)
  }
}
