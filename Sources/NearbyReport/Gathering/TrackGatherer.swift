// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry
internal import NearbyRecordings

/// Gathers the rows of one result for one peer.
struct TrackGatherer {
  /// The columns whose extremes are kept by thinning: every curve that the page draws.
  private static let extremes: [MomentColumn] = [
    .x, .y, .z, .sigma, .measuredDistance, .distance, .angle, .nis, .nees,
  ]

  let peer: String
  private let isPlanar: Bool
  private var facts = TrackFacts()
  private var moments = ReportTable<MomentColumn>()
  private var timeline = ReportTable<TimelineColumn>()
  /// The places of each moment with several.
  private var modes: [(time: Double, places: [PositionMode])] = []
  /// The time of each sample, and how much of it was used.
  private var uses: [(time: Double, use: SampleReport.Use)] = []
  private var squares = MovingChiSquare()
  private var countOfComponents = [Int](
    repeating: 0, count: MeasurementKind.allCases.count + 1)
  private var wasConverged = false
  private var distanceErrors: [Double] = []
  private var angleErrors: [Double] = []

  init(peer: String, isPlanar: Bool) {
    self.peer = peer
    self.isPlanar = isPlanar
    facts.positionComponents = isPlanar ? 2 : 3
  }

  /// Adds a row.
  ///
  /// - Parameters:
  ///   - row: The result's row.
  ///   - sample: The sample that it belongs to.
  ///   - time: Seconds since the recording's first event.
  ///   - frames: The recording's frames.
  ///   - place: The truth at the sample, if it is known.
  ///   - comparison: The comparison, which gives the degrees of freedom of an error.
  ///   - mapFromWorld: From the odometry's world to the map, in the engine's frames.
  mutating func add(
    _ row: EstimateRow, _ sample: RangingRow, at time: Double, frames: FrameConvention,
    place: TruthSampler.Sample?, comparison: TruthComparison, mapFromWorld: RigidTransform
  ) {
    var moment = ReportTable<MomentColumn>.Row()
    moment[.time] = time
    if let status = row.status {
      moment[.status] = Double(status.number)
      note(status, reasons: row.reasons, at: time)
    }
    moment[.hypotheses] = row.hypotheses.map(Double.init) ?? .nan
    moment[.measuredDistance] = sample.distance?.finite ?? .nan
    moment[.distance] = row.distance ?? .nan
    moment[.distanceSigma] = row.distanceSigma ?? .nan
    moment[.angle] = row.horizontalAngleRadians?.radiansAsDegrees ?? .nan
    moment[.angleSigma] = row.horizontalAngleSigmaRadians?.radiansAsDegrees ?? .nan
    noteInnovation(row, sample, in: &moment)

    let turn = frames.engineWorldFromWorld
    let covariance = row.covarianceInWorld.rotated(by: turn)
    let mean = row.positionInWorld.map(turn.act)
    if let mean {
      Self.describe(
        mapFromWorld.act(mean), covariance.rotated(by: mapFromWorld.rotation), isPlanar,
        in: &moment)
    }
    if let place {
      describe(place, estimated: mean, covariance, comparison, mapFromWorld, in: &moment)
    }
    moments.append(moment)
    distanceErrors.append(moment[.distance] - moment[.trueDistance])
    angleErrors.append(
      (moment[.angle] - moment[.trueAngle]).degreesAsRadians.wrappedAngle.radiansAsDegrees)
    if let use = row.use {
      uses.append((time, use))
      facts.partial += use == .partial ? 1 : 0
      facts.rejected += use == .rejected ? 1 : 0
    }
    facts.samples += 1
  }

  /// Adds the places where the peer may be at a moment, in the engine's frames.
  mutating func add(_ places: [PositionMode], at time: Double, mapFromWorld: RigidTransform) {
    modes.append(
      (
        time,
        places.map { place in
          PositionMode(
            probability: place.probability,
            positionInWorld: MapFrame.vector(
              fromEngine: mapFromWorld.act(place.positionInWorld)),
            covarianceInWorld: MapFrame.covariance(
              fromEngine: place.covarianceInWorld.rotated(by: mapFromWorld.rotation)))
        }
      ))
  }

  private mutating func note(
    _ status: ConvergenceStatus, reasons: ConvergenceReasons, at time: Double
  ) {
    let isConverged = status == .converged
    if isConverged, facts.secondsToConverge == nil {
      facts.secondsToConverge = time - (timeline[.time].first ?? time)
    }
    if wasConverged, !isConverged { facts.losses += 1 }
    wasConverged = isConverged
    let (number, bits) = (Double(status.number), Double(reasons.rawValue))
    if timeline[.status].last == number, timeline[.reasons].last == bits { return }
    var stretch = ReportTable<TimelineColumn>.Row()
    stretch[.time] = time
    stretch[.status] = number
    stretch[.reasons] = bits
    timeline.append(stretch)
  }

  private mutating func noteInnovation(
    _ row: EstimateRow, _ sample: RangingRow, in moment: inout ReportTable<MomentColumn>.Row
  ) {
    guard row.isUsedWhole, let square = row.normalizedInnovationSquared else { return }
    let components = sample.measuredCount
    guard components > 0 else { return }
    countOfComponents[components] += 1
    moment[.nis] = square / Double(components)
    if let mean = squares.add(square, degreesOfFreedom: components) {
      moment[.nisMean] = mean.mean
      moment[.nisLow] = mean.low
      moment[.nisHigh] = mean.high
    }
  }

  /// The estimate on the map; vector and covariance in the engine's world.
  private static func describe(
    _ mean: Vector3, _ covariance: SymmetricMatrix3, _ isPlanar: Bool,
    in moment: inout ReportTable<MomentColumn>.Row
  ) {
    let place = MapFrame.vector(fromEngine: mean)
    (moment[.x], moment[.y], moment[.z]) = (place.x, place.y, place.z)
    let p = MapFrame.covariance(fromEngine: covariance)
    (moment[.xx], moment[.xy], moment[.xz]) = (p.xx, p.xy, p.xz)
    (moment[.yy], moment[.yz], moment[.zz]) = (p.yy, p.yz, p.zz)
    let above = CovarianceEllipse(xx: p.xx, xy: p.xy, yy: p.yy)
    moment[.aboveMajor] = above.major
    moment[.aboveMinor] = above.minor
    moment[.aboveAngle] = above.angleRadians.radiansAsDegrees
    let side = CovarianceEllipse(xx: p.xx, xy: p.xz, yy: p.zz)
    moment[.sideMajor] = side.major
    moment[.sideMinor] = side.minor
    moment[.sideAngle] = side.angleRadians.radiansAsDegrees
    moment[.sigma] = max(0, isPlanar ? p.xx + p.yy : p.trace).squareRoot()
  }

  /// The truth relative to the device: `p = T_odometry T_true⁻¹ p_true`, so that the worlds need no
  /// alignment.
  private func describe(
    _ place: TruthSampler.Sample, estimated: Vector3?, _ covariance: SymmetricMatrix3,
    _ comparison: TruthComparison, _ mapFromWorld: RigidTransform,
    in moment: inout ReportTable<MomentColumn>.Row
  ) {
    let inDevice = place.truePose.inverse.act(place.truePosition)
    let inOdometry = place.odometryPose.act(inDevice)
    let onMap = MapFrame.vector(fromEngine: mapFromWorld.act(inOdometry))
    (moment[.trueX], moment[.trueY], moment[.trueZ]) = (onMap.x, onMap.y, onMap.z)
    moment[.trueDistance] = inDevice.length
    moment[.trueAngle] =
      Heading(place.truePose.rotation)
      .bearing(of: place.truePose.rotation.act(inDevice)).radiansAsDegrees
    if let estimated {
      moment[.nees] = comparison.normalizedNEES(of: estimated - inOdometry, covariance: covariance)
    }
  }

  /// The gathered track, thinned.
  ///
  /// - Parameters:
  ///   - budget: The largest number of rows.
  ///   - duration: Of the recording, seconds.
  /// - Returns: The track, without figures.
  func track(budget: Int, duration: Double) -> ReportTrack {
    var facts = facts
    var moments = moments
    let gaps = Self.gaps(in: moments[.time])
    for row in gaps { moments.set(.gap, row, to: 1) }
    facts.components =
      countOfComponents.indices.max { countOfComponents[$0] < countOfComponents[$1] } ?? 0
    let thinning = RowThinning(
      count: moments.count,
      series: Self.extremes.map { moments[$0] } + [distanceErrors, angleErrors],
      keeping: gaps.flatMap { [$0 - 1, $0] })
    return ReportTrack(
      peer: peer, facts: facts, modes: modesTable,
      moments: moments.selecting(thinning.rows(atMost: budget)),
      timeline: timeline, outcomes: outcomes(duration: duration))
  }

  /// The moments for which modes are kept, evenly.
  private static let mostModeMoments = 200

  private var modesTable: ReportTable<ModeColumn> {
    var table = ReportTable<ModeColumn>()
    let every = max(1, (modes.count + Self.mostModeMoments - 1) / Self.mostModeMoments)
    for index in modes.indices where (modes.count - 1 - index).isMultiple(of: every) {
      for place in modes[index].places {
        let p = place.covarianceInWorld
        var row = ReportTable<ModeColumn>.Row()
        (row[.time], row[.weight]) = (modes[index].time, place.probability)
        let mean = place.positionInWorld
        (row[.x], row[.y], row[.z]) = (mean.x, mean.y, mean.z)
        (row[.xx], row[.xy], row[.xz]) = (p.xx, p.xy, p.xz)
        (row[.yy], row[.yz], row[.zz]) = (p.yy, p.yz, p.zz)
        table.append(row)
      }
    }
    return table
  }

  /// The rows after gaps of at least five seconds and five times the usual interval.
  private static func gaps(in times: [Double]) -> [Int] {
    let steps = zip(times.dropFirst(), times).map { $0 - $1 }
    let usual = steps.sorted().dropFirst(steps.count / 2).first ?? 0
    return steps.indices.filter { steps[$0] >= max(5, 5 * usual) }.map { $0 + 1 }
  }

  private func outcomes(duration: Double) -> ReportTable<OutcomeColumn> {
    var table = ReportTable<OutcomeColumn>()
    guard !uses.isEmpty else { return table }
    // About as many bars as a panel can show, with a round width.
    let width = NiceNumbers.atLeast(max(duration, 1e-3) / 80)
    var counts = [[Double]](repeating: [0, 0, 0], count: Int(duration / width) + 1)
    for (time, use) in uses {
      let bin = min(counts.count - 1, max(0, Int(time / width)))
      counts[bin][use == .all ? 0 : use == .partial ? 1 : 2] += 1
    }
    for (index, count) in counts.enumerated() {
      var row = ReportTable<OutcomeColumn>.Row()
      row[.time] = Double(index) * width
      (row[.all], row[.partial], row[.rejected]) = (count[0], count[1], count[2])
      table.append(row)
    }
    return table
  }
}

extension ConvergenceStatus {
  /// The number that represents it in tables.
  fileprivate var number: Int {
    switch self {
    case .unknown: 0
    case .notConverged: 1
    case .converged: 2
    }
  }
}
