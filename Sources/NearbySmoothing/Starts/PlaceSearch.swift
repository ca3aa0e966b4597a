// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyFusion
import NearbyGeometry

/// Every place that explains one peer's samples, the device's path taken as known.
///
/// Starts all around are fitted by the engine's own kernel, four at a time: mirror images and whatever
/// else ranges from a short or straight path leave open come out as modes of their own.
struct PlaceSearch: Sendable {
  /// A place, and the logarithm of the evidence for it up to a constant.
  struct Place: Sendable {
    var parameters: PeerParameters
    var logEvidence: Double
  }

  private let keyframes: [nearby_keyframe]
  private let model: nearby_fit_model
  private let lattice: [Vector3]

  /// So many samples are used at most, evenly spread.
  private static let mostSamples = 400
  private static let directions = 24
  /// Fits nearer to each other than this many metres or sigmas are one.
  private static let sameMetres = 0.05
  private static let sameSigmas = 1.0

  init?(_ problem: SmoothingProblem, peer: Int, path state: SmoothingState) {
    let own = problem.observations.filter { $0.peer == peer }
    guard !own.isEmpty else { return nil }
    let every = (own.count + Self.mostSamples - 1) / Self.mostSamples
    var keyframes: [nearby_keyframe] = []
    var lattice: [Vector3] = []
    for index in stride(from: 0, to: own.count, by: every) {
      let keyframe = Self.keyframe(own[index], in: problem, state, standsFor: every)
      if lattice.isEmpty, own[index].has(0) {
        let antenna = Vector3(
          keyframe.antenna_in_world.0, keyframe.antenna_in_world.1, keyframe.antenna_in_world.2)
        lattice = Self.unitDirections(isPlanar: problem.isPlanar).map {
          antenna + own[index].value(0) * $0
        }
      }
      keyframes.append(keyframe)
    }
    self.keyframes = keyframes
    self.lattice = lattice
    let information = 1 / (problem.priorSigma * problem.priorSigma)
    // A planar world has no heights to be found.
    let vertical = problem.isPlanar ? 1e8 : information
    let center = problem.priorCenter
    model = nearby_fit_model(
      center: (center.x, problem.isPlanar ? state.devices[0].place.y : center.y, center.z),
      information: (information, 0, 0, vertical, 0, information),
      range_scale_sigma: problem.ranging.rangeScaleSigma,
      bias_variance: (problem.ranging.rangeBiasSigma * problem.ranging.rangeBiasSigma, 0, 0),
      wander_variance: (0, 0, 0),
      outlier_share: 0.1, range_excess: problem.rangeExcess,
      field_of_view: problem.ranging.fieldOfViewRadians, is_mirrored: 0, may_move: 0,
      speed_variance: (0, 0, 0))
  }

  /// An observation as the kernel wants it, with the device where the drift has it.
  private static func keyframe(
    _ observation: Observation, in problem: SmoothingProblem, _ state: SmoothingState,
    standsFor count: Int
  ) -> nearby_keyframe {
    let device = state.devices[observation.knot]
    let turn = YawTurn(device.yawRadians)
    let from = observation.measurement
    let antenna =
      device.place
      + turn.act(
        Vector3(from.antenna_in_world.0, from.antenna_in_world.1, from.antenna_in_world.2)
          - problem.knots[observation.knot].place)
    let r = from.device_from_world
    let x = turn.act(Vector3(r.0, r.1, r.2))
    let y = turn.act(Vector3(r.3, r.4, r.5))
    let z = turn.act(Vector3(r.6, r.7, r.8))
    func variance(_ component: Int) -> Double {
      let noise = observation.noise[component]
      return noise.variance / min(1, max(noise.power, 1e-9) * Double(count))
    }
    return nearby_keyframe(
      antenna_in_world: (antenna.x, antenna.y, antenna.z),
      device_from_world: (x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z), present: from.present,
      value: from.value, variance: (variance(0), variance(1), variance(2)), memory: (0, 0, 0),
      horizontal_drift: 0, vertical_drift: 0, yaw_drift: 0,
      pivot: (antenna.x, antenna.y, antenna.z), velocity_reach: 0, lasting: 0)
  }

  /// Directions all around, on a Fibonacci lattice or a circle.
  private static func unitDirections(isPlanar: Bool) -> [Vector3] {
    let golden = Double.pi * (3 - 5.0.squareRoot())
    return (0..<directions).map { index in
      let height = isPlanar ? 0 : 1 - (2 * Double(index) + 1) / Double(directions)
      let flat = (1 - height * height).squareRoot()
      let angle =
        isPlanar ? 2 * .pi * Double(index) / Double(directions) : golden * Double(index)
      return Vector3(flat * cos(angle), height, flat * sin(angle))
    }
  }

  /// The places found from all around and from given starts, the best first.
  func places(from starts: [Vector3]) -> [Place] {
    var found: [Place] = []
    let starts = starts + lattice
    for first in stride(from: 0, to: starts.count, by: FitsSideBySide.capacity) {
      let together = starts[first..<min(first + FitsSideBySide.capacity, starts.count)]
      for (place, covariance) in fit(together, widest: 400) {
        let isKnown = found.contains { other in
          let away = place.parameters.position - other.parameters.position
          let along = away.normalized
          let sigma = max(0, covariance.quadraticForm(along)).squareRoot()
          return away.length < max(Self.sameMetres, Self.sameSigmas * sigma)
        }
        if !isKnown { found.append(place) }
      }
    }
    return found.sorted { $0.logEvidence > $1.logEvidence }
  }

  /// The places downhill from some starts, as many as are fitted side by side; without those that could not be fitted.
  private func fit(
    _ starts: ArraySlice<Vector3>, widest: Double
  ) -> [(place: Place, covariance: SymmetricMatrix3)] {
    let size = Int(NEARBY_STATE_SIZE)
    let triangle = Int(NEARBY_COVARIANCE_SIZE)
    var fits = FitsSideBySide()
    for (lane, start) in starts.enumerated() {
      fits.models[lane] = model
      fits.states[lane * size] = start.x
      fits.states[lane * size + 1] = start.y
      fits.states[lane * size + 2] = start.z
    }
    fits.fit(starts.count, to: keyframes, widest: widest)
    let (states, covariances) = (fits.states, fits.covariances)
    return (0..<starts.count).compactMap { lane in
      let (x, p) = (lane * size, lane * triangle)
      let position = Vector3(states[x], states[x + 1], states[x + 2])
      guard fits.logEvidences[lane].isFinite, position.isFinite else { return nil }
      return (
        Place(
          parameters: PeerParameters(
            position: position, rangeBias: states[x + Int(NEARBY_STATE_RANGE_BIAS)],
            rangeScale: states[x + Int(NEARBY_STATE_RANGE_SCALE)]),
          logEvidence: fits.logEvidences[lane]),
        SymmetricMatrix3(
          xx: covariances[p], xy: covariances[p + 1], xz: covariances[p + 3],
          yy: covariances[p + 2], yz: covariances[p + 4], zz: covariances[p + 5])
      )
    }
  }
}
