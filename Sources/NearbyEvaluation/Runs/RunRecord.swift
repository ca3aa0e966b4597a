// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import NearbyFusion
package import NearbyGeometry

/// The sums over the moments of one peer of a seeded run.
///
/// They are small, so that ten thousand runs fit into memory.
package struct RunRecord: Sendable {
  /// The time of an event, and the device's path until then.
  package struct Arrival: Sendable {
    /// Seconds after the first sample.
    package var seconds: Double
    /// Metres travelled since the first sample.
    package var metres: Double
    /// The parallax swept: the largest angle between the first line of sight and one since, as seen
    /// from the peer, radians.
    package var sweptAngleRadians: Double
  }

  /// How many numbers, and their sum.
  package struct Sum: Sendable {
    /// How many.
    package private(set) var count = 0
    /// Their sum.
    package private(set) var total = 0.0

    /// The mean; `nil` without numbers.
    package var mean: Double? { count > 0 ? total / Double(count) : nil }

    mutating func add(_ value: Double) {
      count += 1
      total += value
    }
  }

  /// Sums over the moments at which the claims are evaluated: converged, and not within an event.
  ///
  /// In a run with a ``RunEvent``, the moments from the event until convergence is regained belong
  /// to ``recovery``.
  package struct Converged: Sendable {
    /// Squared errors, m².
    package var squaredError = Sum()
    /// Squared claims, m².
    package var squaredClaim = Sum()
    /// Squared bounds, m².
    package var squaredBound = Sum()
    /// Normalised errors squared; infinite where the claimed covariance has no inverse.
    package var normalizedErrorSquared = Sum()
    /// Normalised innovations squared of each kind of measurement.
    package var normalizedInnovationSquared = PerKind(repeating: Sum())
  }

  /// The published outputs and their errors.
  package struct Outputs: Sendable {
    /// Squared errors of the distance, m².
    package var squaredDistance = Sum()
    /// Squared errors of the direction, rad².
    package var squaredDirection = Sum()
    /// Squared errors of the horizontal angle, rad².
    package var squaredHorizontalAngle = Sum()
    /// Squared errors of the height, m².
    package var squaredHeight = Sum()
    /// How many vertical directions were published.
    package var verticalDirections = 0
    /// How many of them were wrong.
    package var wrongSides = 0
    /// How many world transforms were published.
    package var placements = 0
    /// After how many samples a published distance or horizontal angle was wrong.
    package var wrongSamples = 0
    /// Squared steps between successive published positions beyond the true motion, m².
    package var squaredJitter = Sum()
  }

  /// The seed.
  package let seed: UInt64
  /// The index of the peer.
  package let peer: Int
  /// How many samples there were.
  package private(set) var samples = 0
  /// The number of samples after which the engine was converged.
  package private(set) var convergedSamples = 0
  /// The number of samples after which the engine was falsely converged, without those that an
  /// event excuses.
  package private(set) var falseSamples = 0
  /// The claims while converged.
  package private(set) var converged = Converged()
  /// The outputs.
  package private(set) var outputs = Outputs()
  /// The first convergence.
  package private(set) var firstConvergence: Arrival?
  /// The first time at which the bound met the criterion of convergence.
  package private(set) var firstPossibleConvergence: Arrival?
  /// How often the peer was reported to have been moved, or to have come back.
  package private(set) var reportedMoves = 0
  /// How often convergence was lost again.
  package private(set) var losses = 0
  /// The recovery from the run's event; `nil` in a run without an event.
  package internal(set) var recovery: RecoveryRecord?
  /// The last moment.
  package private(set) var last: Moment?

  private var start: (seconds: Double, travelled: Double)?
  private var sweep = AngularSweep()

  /// Makes the record of a run before its first moment.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - peer: The index of the peer.
  ///   - event: The event from which the engine must recover; `nil` when there is none.
  package init(seed: UInt64, peer: Int = 0, event: RunEvent? = nil) {
    self.seed = seed
    self.peer = peer
    recovery = event.map { RecoveryRecord(span: $0.span) }
  }

  /// Adds the next moment.
  ///
  /// - Parameters:
  ///   - moment: What the engine said.
  ///   - lineOfSight: The true vector from the peer to the device, in a world that does not rotate.
  package mutating func add(_ moment: Moment, lineOfSight: Vector3) {
    let start = self.start ?? (moment.seconds, moment.travelled)
    self.start = start
    samples += 1
    switch moment.event {
    case .peerMoved, .peerReturned: reportedMoves += 1
    case .odometrySlipped, .slipMeasured, nil: break
    }
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
    for kind in MeasurementKind.allCases {
      if let square = moment.normalizedInnovationSquared[kind] {
        normalizedInnovationSquared[kind].add(square)
      }
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
    if errors.areWrong { wrongSamples += 1 }
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
