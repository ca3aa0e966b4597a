// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import NearbyFusion
public import NearbyGeometry

/// The sums of one seeded run, taken moment by moment: small, so that ten thousand runs fit.
public struct RunRecord: Sendable {
  /// When something came about, and what it had taken the device.
  public struct Arrival: Sendable {
    /// Seconds after the first sample.
    public var seconds: Double
    /// Metres travelled since the first sample.
    public var metres: Double
    /// The parallax swept: the largest angle between the first line of sight and one since, as seen
    /// from the peer, radians.
    public var sweptAngleRadians: Double
  }

  /// How many numbers, and their sum.
  public struct Sum: Sendable {
    /// How many.
    public private(set) var count = 0
    /// Their sum.
    public private(set) var total = 0.0

    /// The mean; `nil` of nothing.
    public var mean: Double? { count > 0 ? total / Double(count) : nil }

    mutating func add(_ value: Double) {
      count += 1
      total += value
    }
  }

  /// Sums over the moments at which the claims are judged: converged, and not within an event.
  ///
  /// In a run with a ``RunEvent`` the moments from the event until convergence is regained are left to
  /// ``recovery``.
  public struct Converged: Sendable {
    /// Squared errors, m².
    public var squaredError = Sum()
    /// Squared claims, m².
    public var squaredClaim = Sum()
    /// Squared bounds, m².
    public var squaredBound = Sum()
    /// Normalised errors squared; infinite where the claimed covariance has no inverse.
    public var normalizedErrorSquared = Sum()
    /// Normalised innovations squared of range, azimuth and elevation.
    public var normalizedInnovationSquared: InlineArray<3, Sum> = [Sum(), Sum(), Sum()]
  }

  /// What was published, and how far it was from the truth.
  public struct Outputs: Sendable {
    /// Squared errors of the distance, m².
    public var squaredDistance = Sum()
    /// Squared errors of the direction, rad².
    public var squaredDirection = Sum()
    /// Squared errors of the horizontal angle, rad².
    public var squaredHorizontalAngle = Sum()
    /// Squared errors of the height, m².
    public var squaredHeight = Sum()
    /// How many words on above and below were published.
    public var verticalDirections = 0
    /// How many of them named the wrong side.
    public var wrongSides = 0
    /// How many world transforms were published.
    public var placements = 0
    /// Squared steps between successive placements beyond what the truth moved, m².
    public var squaredJitter = Sum()
  }

  /// The seed.
  public let seed: UInt64
  /// How many samples there were.
  public private(set) var samples = 0
  /// After how many of them it was converged.
  public private(set) var convergedSamples = 0
  /// After how many of them it was falsely converged, the time that an event allows left out.
  public private(set) var falseSamples = 0
  /// The claims while converged.
  public private(set) var converged = Converged()
  /// The outputs.
  public private(set) var outputs = Outputs()
  /// When it converged for the first time.
  public private(set) var firstConvergence: Arrival?
  /// When the bound met the criterion of convergence for the first time.
  public private(set) var firstPossibleConvergence: Arrival?
  /// How often convergence was lost again.
  public private(set) var losses = 0
  /// How it came through the run's event; `nil` in a run without one.
  public internal(set) var recovery: RecoveryRecord?
  /// The last moment.
  public private(set) var last: Moment?

  private var start: (seconds: Double, travelled: Double)?
  private var sweep = AngularSweep()

  /// Makes the record of a run that has not begun.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - event: What happens from which the engine must recover; `nil` when nothing does.
  public init(seed: UInt64, event: RunEvent? = nil) {
    self.seed = seed
    recovery = event.map { RecoveryRecord(span: $0.span) }
  }

  /// Takes note of the next moment.
  ///
  /// - Parameters:
  ///   - moment: What the engine said.
  ///   - lineOfSight: The true vector from the peer to the device in a world that does not turn.
  public mutating func add(_ moment: Moment, lineOfSight: Vector3) {
    let start = self.start ?? (moment.seconds, moment.travelled)
    self.start = start
    samples += 1
    sweep.add(lineOfSight)
    let now = Arrival(
      seconds: moment.seconds - start.seconds, metres: moment.travelled - start.travelled,
      sweptAngleRadians: sweep.largest)
    if firstPossibleConvergence == nil, moment.isConvergencePossible {
      firstPossibleConvergence = now
    }
    recovery?.add(moment)
    if moment.isConverged {
      if firstConvergence == nil { firstConvergence = now }
      convergedSamples += 1
      if recovery?.isGrace(at: moment.seconds) != true {
        if moment.isFalselyConverged { falseSamples += 1 }
      }
      if recovery?.isUnderWay != true { converged.add(moment) }
    } else if last?.isConverged == true {
      losses += 1
    }
    outputs.add(moment, after: last)
    last = moment
  }
}

extension RunRecord.Converged {
  fileprivate mutating func add(_ moment: Moment) {
    squaredError.add(moment.error * moment.error)
    squaredClaim.add(moment.claimedSigma * moment.claimedSigma)
    squaredBound.add(moment.bound * moment.bound)
    normalizedErrorSquared.add(moment.normalizedErrorSquared ?? .infinity)
    for component in 0..<3 {
      guard let square = moment.normalizedInnovationSquared[component] else { continue }
      normalizedInnovationSquared[component].add(square)
    }
  }
}

extension RunRecord.Outputs {
  fileprivate mutating func add(_ moment: Moment, after previous: Moment?) {
    let errors = moment.outputs
    if let error = errors.distance { squaredDistance.add(error * error) }
    if let error = errors.directionRadians { squaredDirection.add(error * error) }
    if let error = errors.horizontalAngleRadians { squaredHorizontalAngle.add(error * error) }
    if let error = errors.height { squaredHeight.add(error * error) }
    if errors.verticalDirection != .unknown { verticalDirections += 1 }
    if moment.isOnWrongSide { wrongSides += 1 }
    guard errors.isPlaced else { return }
    placements += 1
    guard let previous, previous.outputs.isPlaced, let before = previous.errorInOdometry,
      let now = moment.errorInOdometry
    else { return }
    let step = now - before
    squaredJitter.add(step.dot(step))
  }
}

/// The largest angle between the first of many directions and a later one.
struct AngularSweep: Sendable {
  /// The angle so far, radians.
  private(set) var largest = 0.0
  private var first: Vector3?

  mutating func add(_ direction: Vector3) {
    guard let first else {
      first = direction
      return
    }
    largest = max(largest, atan2(first.cross(direction).length, first.dot(direction)))
  }
}
