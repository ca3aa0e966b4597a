// SPDX-License-Identifier: Apache-2.0
import Glibc
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

  private let keyframes: [FitKeyframe]
  private let model: FitModel
  private let lattice: [Vector3]

  /// So many samples are used at most, evenly spread.
  private static let mostSamples = 400
  private static let directions = 24
  /// Fits nearer to each other than this many metres or sigmas are one.
  private static let sameMetres = 0.05
  private static let sameSigmas = 1.0

  init?(_ problem: SmoothingProblem, peer: Int, path state: SmoothingState) {
    let own = problem.observations.filter { $0.cell.peer == peer }
    guard !own.isEmpty else { return nil }
    let every = (own.count + Self.mostSamples - 1) / Self.mostSamples
    var keyframes: [FitKeyframe] = []
    var lattice: [Vector3] = []
    for index in stride(from: 0, to: own.count, by: every) {
      let keyframe = Self.keyframe(own[index], in: problem, state, standsFor: every)
      if lattice.isEmpty, let range = own[index][.range] {
        lattice = Self.unitDirections(isPlanar: problem.isPlanar).map {
          keyframe.antenna + range.value * $0
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
    let bias = problem.ranging.rangeBiasSigma
    model = FitModel(
      center: Vector3(
        center.x, problem.isPlanar ? state.devices[0].place.y : center.y, center.z),
      information: SymmetricMatrix3(
        xx: information, xy: 0, xz: 0, yy: vertical, yz: 0, zz: information),
      FitModel.Errors(
        rangeScaleSigma: problem.ranging.rangeScaleSigma,
        constant: PerKind { $0 == .range ? bias * bias : 0 },
        wandering: PerKind(repeating: 0)),
      problem.faults, problem.ranging)
  }

  /// An observation as the kernel wants it, with the device where the drift has it.
  private static func keyframe(
    _ observation: Observation, in problem: SmoothingProblem, _ state: SmoothingState,
    standsFor count: Int
  ) -> FitKeyframe {
    var keyframe = FitKeyframe(from: problem.correctedPose(of: observation, at: state))
    for kind in MeasurementKind.allCases {
      guard let measurement = observation[kind] else { continue }
      let noise = observation.noise[kind]
      // What the peers share is known with the path, but not what depends on the place.
      let isRange = kind == .range
      let shared = isRange ? problem.commonError(of: observation, at: state) : 0
      let byPlace = isRange ? problem.placeErrors(at: observation)?.variance ?? 0 : 0
      keyframe[kind] = FitKeyframe.Value(
        value: measurement.value - shared,
        variance: byPlace + noise.variance / min(1, max(noise.power, 1e-9) * Double(count)))
    }
    return keyframe
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
    for first in stride(from: 0, to: starts.count, by: KernelFit.capacity) {
      let together = starts[first..<min(first + KernelFit.capacity, starts.count)]
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
    var fits = KernelFit()
    for (lane, start) in starts.enumerated() { fits.setStart(lane, model, at: start) }
    fits.fit(starts.count, to: keyframes, widest: widest)
    let logEvidence = fits.logEvidence
    return (0..<starts.count).compactMap { lane in
      let found = fits.place(lane)
      guard logEvidence[lane].isFinite, found.position.isFinite else { return nil }
      return (
        Place(
          parameters: PeerParameters(
            position: found.position, rangeBias: found.rangeBias, rangeScale: found.rangeScale),
          logEvidence: logEvidence[lane]),
        found.covariance
      )
    }
  }
}
