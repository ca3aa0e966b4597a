// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import NearbyGeometry
import Testing

@testable import NearbyFusion

/// Each kind of measurement has a place wherever kinds are told apart: what the compiler cannot ask of
/// one that is added.
@Suite("Measurement kinds")
struct MeasurementKindTests {
  private static let settings = Settings(FusionConfiguration())
  private static let peer = Vector3(1, 0.7, -5)
  private static let pose = AntennaPose(.identity, antennaInDevice: .zero)

  private static func device(at place: Vector3 = .zero, seconds: Double = 0) -> TrajectoryPoint {
    TrajectoryPoint(
      worldFromDevice: RigidTransform(rotation: .identity, translation: place),
      timestamp: Timestamp(nanoseconds: Int64(seconds * 1e9)))
  }

  /// What is measured of the peer without an error.
  private static func value(_ kind: MeasurementKind, from pose: AntennaPose = pose) -> Double {
    PredictedMeasurement(kind, from: pose, peer: peer, rangeBias: 0, rangeScale: 0).value
  }

  private static func measurements(of kinds: some Sequence<MeasurementKind>) -> Measurements {
    var measurements = Measurements()
    for kind in kinds {
      measurements[kind] = MeasuredValue(
        value: value(kind), sigma: settings.configuration.ranging.sigma(of: kind))
    }
    return measurements
  }

  // MARK: Lists

  @Test("all are listed, in the kernels' order")
  func list() {
    #expect(MeasurementKind(rawValue: MeasurementKind.allCases.count) == nil)
    #expect(MeasurementKind.allCases.count == Int(NEARBY_COMPONENTS))
    let numbers = PerKind { $0.rawValue }
    var each: [MeasurementKind] = []
    MeasurementKind.each { each.append($0) }
    #expect(each == Array(MeasurementKind.allCases))
    for (index, kind) in MeasurementKind.allCases.enumerated() {
      #expect(kind.rawValue == index && kind.component == index && numbers[kind] == index)
    }
    #expect(PerKind(numbers.tuple) == numbers)
    let inKernels = unsafe withUnsafeBytes(of: PerKind { UInt8($0.rawValue) }.tuple) {
      unsafe Array($0)
    }
    #expect(inKernels.map(Int.init) == MeasurementKind.allCases.map(\.rawValue))
  }

  @Test("the errors of each have states of their own")
  func states() {
    var taken = Set([0, 1, 2, StateIndex.rangeScale] + (0..<3).map(StateIndex.velocity))
    for kind in MeasurementKind.allCases {
      for state in [StateIndex.bias(kind), StateIndex.wander(kind)].compactMap(\.self) {
        #expect(taken.insert(state).inserted, "\(kind): \(state)")
        #expect(state < StateIndex.movingCount)
      }
    }
    #expect(taken.count == StateIndex.movingCount)
  }

  @Test("a sample holds each beside all others")
  func samples() {
    for kind in MeasurementKind.allCases {
      var sample = RangingSample(peer: PeerID(index: 0), timestamp: Timestamp(nanoseconds: 0))
      sample[kind] = (0.5, 0.25)
      for other in MeasurementKind.allCases {
        #expect(sample[other].value == (other == kind ? 0.5 : nil))
        #expect(sample[other].sigma == (other == kind ? 0.25 : nil))
      }
      #expect(sample.hasRadio == kind.isOfRadio)
    }
  }

  // MARK: The engine

  @Test("the engine screens, uses and reports each, and learns from it")
  func engine() throws {
    var configuration = FusionConfiguration()
    configuration.features.remove(.jointFit)
    let settings = Settings(configuration)
    var filter = PeerFilter(motion: .stationary, configuration.ranging)
    let begun = filter.noise
    var event: SampleEvent?
    var reports = PerKind(repeating: ComponentReport.absent)
    for step in 0..<200 {
      let seconds = 0.1 * Double(step)
      var device = Self.device(
        at: Vector3(0.02 * Double(step), 0.3 * Double(step % 7), 0), seconds: seconds)
      device.path = 0.1 * Double(step)
      let pose = AntennaPose(device.worldFromDevice, antennaInDevice: .zero)
      var sample = RangingSample(peer: PeerID(index: 0), timestamp: device.timestamp)
      for kind in MeasurementKind.allCases {
        let noise = 0.3 * configuration.ranging.sigma(of: kind) * (step % 2 == 0 ? 1 : -1)
        sample[kind] = (Self.value(kind, from: pose) + noise, nil)
      }
      reports = PerKind(repeating: .absent)
      let used = filter.add(
        sample, at: device, hasPose: true, newestSampleTime: nil,
        OdometryState(
          limits: [], isSilent: false, isSlipping: false, resumedAt: nil), settings,
        isAlone: true, packsHypotheses: false, into: &reports, &event)
      for kind in MeasurementKind.allCases { #expect(used.has(kind), "\(kind)") }
    }
    for kind in MeasurementKind.allCases {
      #expect(reports[kind].isUsed, "\(kind)")
      #expect(reports[kind].variance > 0 && reports[kind].innovationVariance.isFinite, "\(kind)")
      #expect(filter.noise[kind] != begun[kind], "\(kind)")
    }
  }

  @Test("the wandering error of each decorrelates to its own variance")
  func wandering() {
    var bank = HypothesisBank(mayMove: true)
    bank.replace(with: [Self.wide])
    let errors = PerKind {
      ErrorVariances(white: 1, wandering: 0.1 * Double($0.rawValue + 1))
    }
    var motion = KernelMotion(device: .zero, seconds: 1, drift: nil, Self.settings.motion)
    var travel = KernelTravel((range: 50, angle: 50), heights: 50, faults: 50, errors)
    var measurement = Self.kernel(Measurements())
    _ = bank.advance(&motion, &travel, to: &measurement)
    for kind in MeasurementKind.allCases {
      let state = StateIndex.wander(kind)
      let variance = bank[.covariance(StateIndex.packed(state, state)), 0]
      #expect(abs(variance - errors[kind].wandering) < 1e-12, "\(kind)")
    }
  }

  /// A hypothesis about the peer that knows little of it; that it moves, so that it holds all states.
  private static var wide: HypothesisBank.Seed {
    var seed = HypothesisBank.Seed(
      mean: StateVector(repeating: 0), covariance: StateCovariance(repeating: 0), weight: 1,
      moves: true)
    (seed.mean[0], seed.mean[1], seed.mean[2]) = (peer.x, peer.y, peer.z)
    for state in 0..<StateIndex.movingCount {
      seed.covariance[StateIndex.packed(state, state)] = state < 3 ? 0.04 : 1e-4
    }
    return seed
  }

  private static func kernel(_ measurements: Measurements) -> KernelMeasurement {
    KernelMeasurement(
      measurements, antenna: .zero, rotation: .identity, variance: PerKind(repeating: 1e-4),
      previous: PerKind(repeating: .nan), onset: PerKind { settings.faults.onset(of: $0) },
      rangeExcess: 1, lastingExcessVariance: 0.04, fieldOfViewRadians: 2)
  }

  @Test("each tells the filter where the peer is, alone and beside others", arguments: [1, 3])
  func filter(count: Int) {
    for kind in MeasurementKind.allCases {
      for kinds in [[kind], Array(MeasurementKind.allCases)] {
        var bank = HypothesisBank(mayMove: true)
        bank.replace(with: [HypothesisBank.Seed](repeating: Self.wide, count: count))
        var measurement = Self.kernel(Self.measurements(of: kinds))
        bank.update(&measurement)
        #expect(bank.positionMoments().covariance.trace < 0.119, "\(kind)")
        #expect(bank[.inlier(kind), 0] > 0.9 && bank[.inlier(kind), 0] < 1, "\(kind)")
        #expect(bank[.innovationVariance(kind), 0] > 1e-4, "\(kind)")
      }
    }
  }

  // MARK: Fits

  @Test("each tells the fit of a window where the peer is")
  func windowFit() {
    for kind in MeasurementKind.allCases {
      var keyframe = FitKeyframe(from: Self.pose)
      keyframe[kind] = FitKeyframe.Value(value: Self.value(kind), variance: 1e-4)
      for other in MeasurementKind.allCases {
        #expect((keyframe[other] != nil) == (other == kind))
      }
      let information = SymmetricMatrix3(xx: 25, xy: 0, xz: 0, yy: 25, yz: 0, zz: 25)
      var fits = KernelFit()
      fits.setStart(
        0,
        FitModel(
          center: Self.peer, information: information,
          FitModel.Errors(
            rangeScaleSigma: 0.01, constant: PerKind(repeating: 1e-4),
            wandering: PerKind(repeating: 1e-4)),
          Self.settings.faults, Self.settings.configuration.ranging, hasHeights: true),
        at: Self.peer)
      fits.fit(1, to: [keyframe], widest: 1)
      #expect(fits.place(0).covariance.trace < 0.119, "\(kind)")
    }
  }

  @Test("a window keeps each, and gives it to the fit")
  func window() throws {
    for kind in MeasurementKind.allCases {
      var window = ObservationWindow()
      for step in 0..<2 {
        _ = window.add(
          Self.measurements(of: [kind]), at: Self.device(seconds: 0.1 * Double(step)),
          noise: NoiseLevels(Self.settings.configuration.ranging), expecting: nil)
      }
      let keyframes = window.fitKeyframes(
        now: Self.device(seconds: 1), mayMove: false, Self.settings)
      #expect(keyframes.count == 1)
      let value = try #require(keyframes.first?[kind], "\(kind)")
      #expect(abs(value.value - Self.value(kind)) < 1e-12 && value.variance > 0, "\(kind)")
    }
  }

  @Test("a cell keeps each, and its value moves the chain's cost")
  func chain() throws {
    let noise = NoiseLevels(Self.settings.configuration.ranging)
    for kind in MeasurementKind.allCases {
      var cell = JointCell(
        Self.measurements(of: [kind]), at: Self.device(), isObstructed: false, of: Self.peer)
      var later = JointCell(
        Self.measurements(of: [kind]), at: Self.device(seconds: 0.1), isObstructed: false,
        of: Self.peer)
      later.meet(&cell, Self.settings.heightOffset)
      #expect(cell.neighbours[kind] > 1.5 && later.neighbours[kind] > 1.5, "\(kind)")
      func fitted(errorsByPlace variance: Double) -> PerKind<ChainProblem.Value?> {
        cell.fitValues(
          noise, placeVariance: 0, yawVariance: 0, placeErrors: (variance, bridge: 0), widening: 1,
          Self.settings)
      }
      let values = fitted(errorsByPlace: 0)
      let value = try #require(values[kind], "\(kind)")
      #expect(value.effectiveVariance > value.variance, "\(kind)")
      // What unknown errors by place explain of a range's errors is no noise of the cell.
      let explained = try #require(fitted(errorsByPlace: 1)[kind], "\(kind)")
      #expect((explained.variance < value.variance) == (kind == .range), "\(kind)")
      #expect((explained.effectiveVariance == explained.variance) == (kind == .range), "\(kind)")
      let costs = [0, 1].map { Self.cost(values, of: kind, error: $0) }
      #expect(costs[1] > costs[0] + 0.1, "\(kind)")
    }
  }

  /// The cost of a chain in which a cell is off by so many sigmas.
  private static func cost(
    _ values: PerKind<ChainProblem.Value?>, of kind: MeasurementKind, error sigmas: Double
  ) -> Double {
    var prior = MarginalPrior(holding: .zero)
    prior.append(mean: [peer.x, peer.y, peer.z, 0, 0], variances: [1, 1, 1, 1, 1])
    var problem = ChainProblem(
      prior, ChainLayout(), settings.faults, settings.configuration.ranging)
    for knot in 0..<2 {
      problem.addKnot(
        at: Vector3(Double(knot), 0, 0), step: Vector3(1, 0, 0), horizontal: 1e-4, vertical: 1e-4,
        yaw: 1e-4, seconds: 1)
    }
    var values = values
    if let value = values[kind] {
      values[kind] = ChainProblem.Value(
        value: value.value + sigmas * value.variance.squareRoot(), variance: value.variance,
        effectiveVariance: value.effectiveVariance)
    }
    problem.addCell(ChainProblem.Cell(pose: pose, knot: 0, share: 0, peer: 0), values)
    var workspace = ChainWorkspace()
    return problem.cost(
      at: [0, 0, 0, 0, 1, 0, 0, 0, peer.x, peer.y, peer.z, 0, 0], workspace: &workspace
    ).cost
  }
}
