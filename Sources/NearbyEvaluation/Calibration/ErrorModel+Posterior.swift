// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyFusion
internal import NearbyGeometry

/// What an ``ErrorModel`` says at its mode.
extension ErrorModel {
  /// The logarithm of the evidence at the mode, with the priors of the sizes, up to a constant.
  var logEvidence: Double {
    let slipped = slips.indices.reduce(0.0) { sum, index in
      sum + (slips[index]?.logOdds(isFrozen: path.areFrozen[index]) ?? 0)
    }
    return -found.cost - chain.faultCost
      + 0.5 * (chain.logPriorInformation - found.logDeterminant) + slipped + sizes.ranges.logPrior
  }

  /// Whether the estimated variance of the drift's innovations exceeds the stated one by
  /// ``RecordingCalibration/leastFactor``.
  var suggestsDrift: Bool {
    let least = RecordingCalibration.leastFactor
    return stated.odometry.positionDrift > 0 && driftFactors.position > least
      || stated.odometry.yawDriftRadians > 0 && driftFactors.yaw > least
  }

  // MARK: Constants

  /// A constant that is unknown.
  struct Constant: Sendable {
    var mean: Double
    var sigma: Double
    fileprivate var priorSigma: Double

    /// The logarithm of the odds against a value, the prior's mean: of its density in the prior to that in the
    /// posterior (Savage and Dickey).
    func logOdds(against value: Double) -> Double {
      let away = (mean - value) / sigma
      return 0.5 * away * away - log(priorSigma / sigma)
    }
  }

  /// The offset of the radio's clock, seconds.
  var clockOffset: Constant {
    var constant = combined([.clockOffset], offset: 0)
    constant.mean += posedOffset
    return constant
  }

  /// The odometry's steady turn, rad/s; `nil` where it is taken for free of drift.
  var turnRate: Constant? { driftsAtAll ? combined([.odometryErrors], offset: 0) : nil }

  /// By how much ranges are longer than the odometry says: of first order the sum of the scale errors of both.
  var scale: Constant {
    combined(driftsAtAll ? [.odometryErrors, .rangeScale] : [.rangeScale], offset: 1)
  }

  /// The sum of constants of the device; of those of the odometry the one that is asked for.
  private func combined(_ constants: [ChainLayout.Constants], offset: Int) -> Constant {
    let indices = constants.compactMap { constant in
      layout.constants.first(of: constant).map {
        layout.blockSize + $0 + (constant == .odometryErrors ? offset : 0)
      }
    }
    let first = layout.blockSize * (path.times.count - 1)
    let variance = indices.reduce(0) { sum, row in
      indices.reduce(sum) { $0 + covariance(row, $1) }
    }
    return Constant(
      mean: indices.reduce(0) { $0 + state[first + $1] },
      sigma: max(variance, 1e-18).squareRoot(),
      priorSigma: indices.reduce(0) { $0 + priorVariance($1) }.squareRoot())
  }

  /// The constant errors of the ranges to the peers, each with one standard deviation, metres.
  var rangeBiases: [(mean: Double, sigma: Double)] {
    peers.indices.map { number in
      let own = layout.peer(number, knots: 1) + 3
      return (state[index(ofPeer: number) + 3], max(covariance(own, own), 1e-18).squareRoot())
    }
  }

  /// The posterior of the antenna's place, and the odds against what is stated.
  var antenna: (mean: Vector3, sigmas: [Double], logOdds: Double) {
    let stated = stated.ranging.antennaInDevice
    guard let lever = index(of: .leverArm), let constant = layout.constants.first(of: .leverArm)
    else { return (stated, [0, 0, 0], 0) }
    let first = layout.blockSize + constant
    func element(_ row: Int, _ column: Int) -> Double { covariance(first + row, first + column) }
    let posterior = SymmetricMatrix3(
      xx: element(0, 0), xy: element(0, 1), xz: element(0, 2), yy: element(1, 1),
      yz: element(1, 2), zz: element(2, 2))
    let away = Vector3(state[lever], state[lever + 1], state[lever + 2])
    let sigmas = (0..<3).map { max(element($0, $0), 1e-18).squareRoot() }
    guard let information = posterior.positiveDefiniteInverse else {
      return (stated + away, sigmas, 0)
    }
    // Independent sigmas would be a bound: the determinant is less than their product.
    let logOdds =
      0.5 * information.quadraticForm(away) - 3 * log(Self.antennaSigma)
      + 0.5 * log(max(posterior.determinant, 1e-30))
    return (stated + away, sigmas, logOdds)
  }

  // MARK: Trust

  /// The log odds that the clock's offset or the scale differs between the first and the second half of the recording.
  var logOddsOfChange: Double {
    guard samples.count >= 2 * Self.leastSamplesOfHalves else { return 0 }
    let middle = samples.map(\.cell.knot).sorted()[samples.count / 2]
    guard let first = part(clockSigma: Self.wideClockSigma, { $0 < middle }),
      let second = part(clockSigma: Self.wideClockSigma, { $0 >= middle })
    else { return 0 }
    return [(first.clockOffset, second.clockOffset), (first.scale, second.scale)].map { a, b in
      let variance = a.sigma * a.sigma + b.sigma * b.sigma
      let away = a.mean - b.mean
      return 0.5 * away * away / variance - 0.5 * log(2 * a.priorSigma * a.priorSigma / variance)
    }.max() ?? 0
  }

  private static let leastSamplesOfHalves = 60
  private static let wideClockSigma = 1.0

  /// Whether the noise of ranges is white: its sigma is at most 1.5 times that of the differences of successive
  /// residuals of a peer.
  var hasWhiteNoise: Bool {
    guard kinds.contains(.range) else { return true }
    var last = [Int: (residual: Double, seconds: Double)]()
    var steps: [Double] = []
    for (index, cell) in samples.lazy.map(\.cell).enumerated() {
      guard let residual = outcome(of: .range, index)?.residual else { continue }
      let seconds = path.times[cell.knot] + cell.seconds
      if let before = last[cell.peer], seconds - before.seconds < Self.nextSeconds {
        steps.append(abs(residual - before.residual))
      }
      last[cell.peer] = (residual, seconds)
    }
    guard steps.count >= Self.leastSamples else { return true }
    steps.sort()
    // The median of the difference of two normal values is 0.954 of their sigma.
    return sizes.noise.range < Self.mostColour * steps[steps.count / 2] / 0.954
  }

  private static let mostColour = 1.5
  private static let nextSeconds = 3.0

  /// The peers whose ranges contradict the model, by how much, metres, and along how much of the walk, metres.
  ///
  /// What contradicts it are outliers, and errors by place of more than twice the white noise.
  var misfits: [(peer: Int, metres: Double, along: Double)] {
    guard kinds.contains(.range) else { return [] }
    return peers.indices.compactMap { number in
      var (squares, count) = (0.0, 0.0)
      var intervals: Set<Int> = []
      for (index, cell) in samples.lazy.map(\.cell).enumerated() where cell.peer == number {
        guard let found = outcome(of: .range, index) else { continue }
        let error = layout.blockSize * cell.knot + layout.placeError(number)
        let lasting =
          (1 - cell.share) * state[error] + cell.share * state[error + layout.blockSize]
        let off = abs(found.residual + lasting)
        guard found.inlier < 0.5 || abs(lasting) > 2 * sizes.noise.range else { continue }
        squares += off * off
        count += 1
        intervals.insert(cell.knot)
      }
      let along = intervals.reduce(0) { $0 + path.lengths[$1] }
      guard along > Self.leastMisfit, count > 0 else { return nil }
      return (peers[number], (squares / count).squareRoot(), along)
    }
  }

  /// A contradiction along less of the walk is one of the outliers that a model allows for, metres.
  private static let leastMisfit = 20.0
}
