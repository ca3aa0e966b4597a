// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// What a person is told of convergence: the engine's reasons, at a pace that a person can follow.
///
/// The engine judges its covariance with every sample, so that its reasons may alternate several times a second.
/// A person moves the device for seconds. The coach therefore
/// - tells when convergence is won or lost at once, and anything else at most every ``leastInterval``;
/// - asks for movement before a sweep from side to side, and for that before a sweep up and down;
/// - withdraws a request when the device has been moved as requested, whatever the covariance is by then. If the
///   engine still lacks something when all requests are fulfilled, a new round begins, which asks for more
///   movement.
struct ConvergenceCoach: Sendable {
  typealias Status = NIAlgorithmConvergenceStatus
  typealias Reason = NIAlgorithmConvergenceStatus.Reason

  /// The least time between two changes of the reasons, seconds.
  static let leastInterval = 2.0
  /// How long the engine must keep to a new reason before it is told, seconds.
  static let persistence = 1.0

  /// The status that was told last.
  private(set) var told = Status.unknown
  private var toldAt: Timestamp?
  /// The time of the first judgement since convergence was lost or the session began.
  private var beganAt: Timestamp?
  /// Since when the engine has given each of its reasons.
  private var givenSince: [Reason: Timestamp] = [:]
  private var sweeps = SweepTracker()
  /// How often all requests were fulfilled without convergence.
  private var round = 0

  // MARK: In

  /// Adds a position of the device in the odometry's world, metres.
  mutating func add(_ place: Vector3) { sweeps.add(place) }

  /// Begins to measure the device's movement anew, as the odometry's world is another one.
  mutating func restartSweeps() { sweeps.restart() }

  /// Judges what to tell.
  ///
  /// - Parameters:
  ///   - verdict: The engine's status.
  ///   - time: The time of the sample that it is for.
  /// - Returns: The status to tell, if it is another one than before.
  mutating func advise(_ verdict: Status, at time: Timestamp) -> Status? {
    switch verdict {
    case .unknown:
      return told == .converged ? tell(.unknown, at: time) : nil
    case .converged:
      round = 0
      givenSince = [:]
      beganAt = nil
      return told == .converged ? nil : tell(.converged, at: time)
    case .notConverged(let reasons):
      let isLost = told == .converged
      if isLost { sweeps.restart() }
      let began = beganAt ?? time
      beganAt = began
      givenSince = givenSince.filter { reasons.contains($0.key) }
      for reason in reasons where givenSince[reason] == nil { givenSince[reason] = time }
      // The first samples tell little: nothing is asked for by them.
      let isDue =
        toldAt.map { time.seconds(since: $0) >= Self.leastInterval }
        ?? (time.seconds(since: began) >= Self.persistence)
      guard isLost || isDue else { return nil }
      let requests = requests(reasons, isFirst: isLost || toldAt == nil, at: time)
      let status = Status.notConverged(requests)
      return requests.isEmpty || status == told ? nil : tell(status, at: time)
    }
  }

  private mutating func tell(_ status: Status, at time: Timestamp) -> Status {
    told = status
    toldAt = time
    return status
  }

  // MARK: Requests

  /// What to ask for, the most useful first.
  private mutating func requests(
    _ reasons: [Reason], isFirst: Bool, at time: Timestamp
  ) -> [Reason] {
    let before: [Reason] = if case .notConverged(let reasons) = told { reasons } else { [] }
    let lasting = reasons.filter { reason in
      isFirst || before.contains(reason)
        || givenSince[reason].map { time.seconds(since: $0) >= Self.persistence } ?? false
    }
    let others = lasting.filter { !Self.movements.contains($0) }
    var missing = Self.movements.filter(lasting.contains)
    guard !missing.isEmpty else { return others }
    // A walk is what helps when the sweeps of an arm did not.
    if round > 0, missing.contains(.insufficientHorizontalSweep),
      !missing.contains(.insufficientMovement)
    {
      missing.insert(.insufficientMovement, at: 0)
    }
    var open = missing.filter { !isFulfilled($0) }
    if open.isEmpty {
      round += 1
      sweeps.restart()
      open = [
        missing == [.insufficientVerticalSweep] ? .insufficientVerticalSweep : .insufficientMovement
      ]
    }
    return others + open
  }

  /// The requests that a movement of the device fulfils, in the order in which they help.
  private static let movements: [Reason] = [
    .insufficientMovement, .insufficientHorizontalSweep, .insufficientVerticalSweep,
  ]

  /// Whether the device was moved as a request asks: a step, and the reach of an arm; farther in later rounds.
  private func isFulfilled(_ request: Reason) -> Bool {
    let factor = 1 + 0.5 * Double(round)
    return switch request {
    case .insufficientMovement: sweeps.horizontalExtent >= 0.8 * factor
    case .insufficientHorizontalSweep: sweeps.horizontalExtent >= 0.35 * factor
    case .insufficientVerticalSweep: sweeps.verticalExtent >= 0.3 * factor
    default: false
    }
  }
}
