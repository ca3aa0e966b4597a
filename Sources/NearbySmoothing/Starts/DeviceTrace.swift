// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry

/// Where a peer was last located: a start for it, in the odometry's world at a knot.
struct PeerStart: Sendable {
  var knot: Int
  var position: Vector3
  var covariance: SymmetricMatrix3
}

/// Starts for the drift: none at all, or traced back from the end.
///
/// Over a long way the odometry of a wheeled robot turns by whole revolutions, and no method that goes
/// downhill finds back from there. The filter's last estimates of the peers are a map; from the end
/// of the recording, where the fixed world is the odometry's, the device is located in it step by step
/// backwards, by an extended Kalman filter over its place and yaw.
struct DeviceTrace: Sendable {
  let problem: SmoothingProblem
  /// For each peer; `nil` for one that moves or was never located.
  let starts: [PeerStart?]

  /// The state with the odometry taken at its word.
  func straight() -> SmoothingState { traced(isMeasuring: false) }

  /// The state with the device located among the peers.
  func traced() -> SmoothingState { traced(isMeasuring: true) }

  private func traced(isMeasuring: Bool) -> SmoothingState {
    let count = problem.knots.count
    let end = KnotCorrection(place: problem.knots[count - 1].place, yawRadians: 0)
    var state = SmoothingState(
      devices: Array(repeating: end, count: count),
      peers: Array(
        repeating: PeerParameters(position: problem.priorCenter), count: problem.peerCount),
      motions: [])
    var device = TracedDevice(correction: end)
    var covariances = [SymmetricMatrix3?](repeating: nil, count: problem.peerCount)
    var newest = problem.observations.count
    for knot in (0..<count).reversed() {
      if knot < count - 1 { device.stepBack(problem.steps[knot]) }
      for (peer, start) in starts.enumerated() {
        guard let start, start.knot == knot else { continue }
        let turn = YawTurn(device.correction.yawRadians)
        state.peers[peer].position =
          device.correction.place + turn.act(start.position - problem.knots[knot].place)
        covariances[peer] = start.covariance
      }
      while newest > 0, problem.observations[newest - 1].cell.knot == knot {
        newest -= 1
        let observation = problem.observations[newest]
        guard isMeasuring, problem.drifts, let covariance = covariances[observation.cell.peer]
        else {
          continue
        }
        device.update(
          observation, in: problem, peerAt: state.peers[observation.cell.peer].position,
          covariance: covariance)
      }
      state.devices[knot] = device.correction
    }
    return state.agreeing(withOdometryAt: problem.knots[0].place)
  }
}

/// The device at one knot while it is traced, with the covariance of place and yaw.
private struct TracedDevice {
  var correction: KnotCorrection
  /// Row by row, 4 × 4.
  private var covariance = [Double](repeating: 0, count: 16)

  init(correction: KnotCorrection) { self.correction = correction }

  /// Goes from a knot to the one before it.
  mutating func stepBack(_ step: DriftStep) {
    let moved = YawTurn(correction.yawRadians).act(step.displacement)
    correction.place -= moved
    // c' = c - R(ψ) Δ: the derivative by ψ is -(up × R Δ).
    let swung = OdometryDrift.swing(of: moved)
    let swing = [-swung.x, -swung.y, -swung.z]
    for row in 0..<3 {
      for column in 0..<4 { covariance[row * 4 + column] += swing[row] * covariance[12 + column] }
    }
    for column in 0..<3 {
      for row in 0..<4 { covariance[row * 4 + column] += swing[column] * covariance[row * 4 + 3] }
    }
    for axis in 0..<3 {
      covariance[axis * 5] += axis == 1 ? step.drift.vertical : step.drift.horizontal
    }
    covariance[15] += step.drift.yaw
  }

  /// Uses what was measured to a peer whose place is roughly known.
  mutating func update(
    _ observation: Observation, in problem: SmoothingProblem, peerAt x: Vector3,
    covariance peerCovariance: SymmetricMatrix3
  ) {
    for kind in MeasurementKind.allCases {
      guard let measurement = observation[kind] else { continue }
      let turn = YawTurn(correction.yawRadians)
      let u = turn.actBack(x - correction.place)
      let (predicted, innovation) = SmoothingProblem.predict(
        kind, measurement, from: observation.cell.pose,
        peerAt: problem.knots[observation.cell.knot].place + u, PeerParameters(position: x))
      let inWorld = turn.act(predicted.gradient)
      let gradient = [
        -inWorld.x, -inWorld.y, -inWorld.z,
        predicted.gradient.z * u.x - predicted.gradient.x * u.z,
      ]
      let noise = observation.noise[kind]
      var variance = noise.variance / noise.power + peerCovariance.quadraticForm(inWorld)
      if kind == .range {
        let scale = predicted.scaleDerivative * problem.ranging.rangeScaleSigma
        let bias = problem.ranging.rangeBiasSigma
        variance += bias * bias + scale * scale
      }
      var product = [0.0, 0, 0, 0]
      for row in 0..<4 {
        for column in 0..<4 { product[row] += covariance[row * 4 + column] * gradient[column] }
      }
      for row in 0..<4 { variance += gradient[row] * product[row] }
      let inlier = problem.inlierProbability(
        kind, of: observation, innovation: innovation, variance: variance)
      let gain = inlier / variance
      correction.place +=
        gain * innovation * Vector3(product[0], product[1], product[2])
      correction.yawRadians += gain * innovation * product[3]
      for row in 0..<4 {
        for column in 0..<4 {
          covariance[row * 4 + column] -= gain * product[row] * product[column]
        }
      }
    }
  }
}
