// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The sizes of the errors of ranges that last, learnt from the data that a chain fits.
///
/// Three errors are the same for samples that follow each other: of each peer one that depends on the
/// device's place, one that all ranges share and that changes with time, and one that depends on the peer's
/// direction in the device. Each can explain a residual, and so can the odometry's drift. The most probable
/// sizes share the residuals out between them. They are found by the fixed point of the evidence (MacKay
/// 1992): with innovations w of prior variance θ² q and posterior variance v,
///
///     θ² ← θ² Σ w²/(θ² q) / (Σ (1 - v/(θ² q)) + r θ),
///
/// with the exponential prior e^(-r θ) of θ, of mean 1/r: where the data say nothing the errors are small. A search
/// begins with large sizes (``wake()``), since one that begins small would leave its residuals to another explanation.
package struct RangeErrorSizes: Hashable, Sendable, Codable {
  /// Of the errors that depend on the place, m.
  package var place = Self.awake.place
  /// Of the walk of the error that all ranges share, m/√min.
  package var common = Self.awake.common
  /// Of the error that depends on the direction, m.
  package var direction = Self.awake.direction

  package init() {}

  private static let awake = (place: 0.08, common: 0.15, direction: 0.1)
  /// The rates of the priors: 1/m, √min/m, 1/m.
  private static let rates = (place: 50.0, common: 50.0, direction: 25.0)
  /// So large a share of the prior's mean is as good as nothing.
  private static let least = 0.1
  /// One sigma of a step of the error that all ranges share, metres, and the log odds of one in an interval: as of a
  /// large slip.
  private static let stepSigma = 0.5
  package static let logOddsOfStep = OdometrySlip.large.logOdds()
  /// The path over which errors by place are alike, metres.
  package static let placeLength = 3.0
  /// By how much obstacles that add to the errors by place add to the scale error: 1/m beyond what an
  /// unobstructed radio has.
  private static let scalePerPlace = 0.5
  private static let placeOfRadio = 0.02
  /// 1 + 1/4 + 1/9 + 1/16: a direction error of size one has variance one half from cosine and sine each.
  private static let harmonicSum = 1.42

  /// Errors that are as good as none.
  package static var none: RangeErrorSizes {
    var sizes = RangeErrorSizes()
    (sizes.place, sizes.common) = (least / rates.place, least / rates.common)
    sizes.direction = least / rates.direction
    return sizes
  }

  /// The logarithm of the prior density, up to a constant.
  package var logPrior: Double {
    -Self.rates.place * place - Self.rates.common * common - Self.rates.direction * direction
  }

  /// Makes each as large as it is before anything is learnt, unless it is larger.
  package mutating func wake() {
    place = max(place, Self.awake.place)
    common = max(common, Self.awake.common)
    direction = max(direction, Self.awake.direction)
  }

  /// The largest number of steps of the fixed point in a search.
  package static let learningRounds = 9

  /// Whether no size differs from another one's by more than a quarter.
  package func isNear(_ other: RangeErrorSizes) -> Bool {
    let near = 0.8...1.25
    return near.contains(place / other.place) && near.contains(common / other.common)
      && near.contains(direction / other.direction)
  }

  /// How the errors change over an interval.
  ///
  /// - Parameters:
  ///   - length: The path, metres.
  ///   - seconds: The time.
  ///   - isBroken: Whether the error that all ranges share steps.
  /// - Returns: Correlation and variances.
  package func step(
    length: Double, seconds: Double, isBroken: Bool = false
  ) -> ChainProblem.RangeErrorStep {
    let correlation = exp(-length / Self.placeLength)
    return ChainProblem.RangeErrorStep(
      placeCorrelation: correlation,
      placeInnovation: place * place * (1 - correlation * correlation),
      commonInnovation: common * common * seconds / 60
        + (isBroken ? Self.stepSigma * Self.stepSigma : 0))
  }

  /// Finds the prior variances of the constants of the device that a chain has.
  ///
  /// - Parameters:
  ///   - variances: Become the variances, in the order of the border.
  ///   - constants: Which are unknown.
  ///   - odometry: The odometry.
  ///   - ranging: The radio.
  package func findConstantVariances(
    _ variances: inout [Double], _ constants: ChainLayout.Constants,
    _ odometry: OdometryConfiguration, _ ranging: RangingConfiguration
  ) {
    variances.removeAll(keepingCapacity: true)
    for _ in 0..<constants.count { variances.append(0) }
    if let first = constants.first(of: .odometryErrors) {
      let (turn, scale) = (
        max(odometry.priorTurnRateSigma, Self.leastTurnRateSigma),
        max(odometry.scaleSigma, Self.leastOdometryScaleSigma)
      )
      (variances[first], variances[first + 1]) = (turn * turn, scale * scale)
    }
    if let index = constants.first(of: .rangeScale) {
      let excess = Self.scalePerPlace * max(0, place - Self.placeOfRadio)
      variances[index] = Self.radioScaleVariance(ranging) + excess * excess
    }
    if let first = constants.first(of: .directionError) {
      for index in 0..<ChainLayout.directionSize {
        let order = Double(index / 2 + 1)
        variances[first + index] = direction * direction / (order * order * Self.harmonicSum)
      }
    }
  }

  /// The variance of the scale error of the radio itself.
  private static func radioScaleVariance(_ ranging: RangingConfiguration) -> Double {
    let stated = ranging.rangeScaleSigma * ranging.rangeScaleSigma
    let own = min(stated, peerScaleSigma * peerScaleSigma)
    return max(stated - obstacleScaleSigma * obstacleScaleSigma, own, leastScaleVariance)
  }

  private static let leastTurnRateSigma = 1e-6
  private static let leastOdometryScaleSigma = 1e-4
  /// The part of the stated scale error of ranges that is due to obstacles.
  ///
  /// They add to ranges in proportion to the distance, which the chain has from the errors by place. Of the default of
  /// 0.03 the radio itself has 0.026.
  private static let obstacleScaleSigma = 0.015
  /// What has no variance would be free.
  private static let leastScaleVariance = 1e-12
  /// The scale error of the ranges of a single peer, beside the one that all ranges share.
  package static let peerScaleSigma = 0.002
  /// Knots of a fit of these errors are at most so far apart, metres, as errors by place decorrelate over it; and the
  /// metres for which a second counts.
  package static let knotSpacing = 2.0
  package static let metresPerSecond = 0.5
  /// Knots are nearer to each other only where the odometry's world is lost, metres.
  package static let leastKnotSpacing = 0.3
  /// With more peers the fit of these errors takes too long: a knot has an unknown for each, and the time grows with the
  /// third power of the unknowns of a knot.
  package static let mostPeers = 24

  /// By how much an error by place strays from a straight line between two knots, m².
  ///
  /// - Parameters:
  ///   - length: The path between them, metres.
  ///   - share: The share of it.
  /// - Returns: The variance, of a Brownian bridge.
  package func bridgeVariance(length: Double, share: Double) -> Double {
    2 * place * place / Self.placeLength * length * share * (1 - share)
  }

  /// The variance of a range's wandering error that the errors by place do not explain.
  ///
  /// Of the wandering variance ω² the share `½ e` is taken off that the errors by place, of variance θ², explain:
  /// e = min(1, θ² / ½ω²) of the half that is correlated over metres (``CorrelatedNoise``). Of the correlations with
  /// other ranges e is taken off where these are not near, too.
  ///
  /// - Parameters:
  ///   - wandering: ω², m².
  ///   - placeErrors: θ², and the variance of what strays from the errors' interpolation, m².
  ///   - neighbours: The sum of the correlations of the wandering error with those of all ranges, itself included.
  ///   - near: The same for the part that errors by place do not explain: one, if no other is near.
  /// - Returns: The remaining variance, and the variance of an independent error of equal information, m².
  package static func unexplained(
    of wandering: Double, placeErrors: (variance: Double, bridge: Double), neighbours: Double,
    near: Double = 1
  ) -> (variance: Double, effectiveVariance: Double) {
    let room = CorrelatedNoise.roomShare * wandering
    let explained = room > 0 ? min(1, placeErrors.variance / room) : 0
    let left = placeErrors.bridge + wandering - explained * room
    return (left, left * (near + (1 - explained) * (neighbours - near)))
  }

  /// One step of the fixed point.
  ///
  /// - Parameters:
  ///   - found: The posterior of the innovations.
  ///   - state: The state at which it was found.
  ///   - problem: The chain.
  ///   - isBroken: Whether the error that all ranges share steps after a knot.
  package mutating func learn(
    _ found: ChainProblem.Innovations, at state: [Double], of problem: ChainProblem,
    isBroken: (Int) -> Bool
  ) {
    let layout = problem.layout
    let members = layout.errorCount - 1
    let count = ChainLayout.driftSize + layout.errorCount
    var (places, commons, directions) = (Sums(), Sums(), Sums())
    for knot in 0..<problem.knotCount - 1 {
      let step = problem.errorStep(at: knot)
      let first = knot * count + ChainLayout.driftSize
      if !isBroken(knot) { commons.add(found.moments[first], step.commonInnovation) }
      for member in 0..<members {
        places.add(found.moments[first + 1 + member], step.placeInnovation)
      }
    }
    for member in 0..<members {
      let variance = problem.firstErrorVariances[member]
      guard variance > 0 else { continue }
      places.add(
        ChainProblem.Moment(
          mean: state[layout.placeError(member)], variance: found.first[member]), variance)
    }
    if let first = layout.constants.first(of: .directionError) {
      let size = problem.denseCount
      let constants = state.count - size + layout.blockSize
      for index in first..<first + ChainLayout.directionSize {
        let own = layout.blockSize + index
        directions.add(
          ChainProblem.Moment(
            mean: state[constants + index], variance: found.dense[own * size + own]),
          problem.constantVariances[index])
      }
    }
    place = places.size(after: place, rate: Self.rates.place)
    common = commons.size(after: common, rate: Self.rates.common)
    direction = directions.size(after: direction, rate: Self.rates.direction)
  }

  /// The sums of the fixed point for one size.
  private struct Sums {
    private var squares = 0.0
    /// How many innovations the measurements determine.
    private var degrees = 0.0

    mutating func add(_ moment: ChainProblem.Moment, _ variance: Double) {
      squares += moment.mean * moment.mean / variance
      degrees += max(1 - moment.variance / variance, 0)
    }

    /// The next size.
    ///
    /// The fixed point overshoots, so a step is limited.
    func size(after size: Double, rate: Double) -> Double {
      let factor = squares / (degrees + rate * size)
      return max(size * min(max(factor, 0.2), 6).squareRoot(), RangeErrorSizes.least / rate)
    }
  }
}
