// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// One sensor model: the densities and correlation factors of the filter, the fit and the smoother are
/// the same numbers.
@Suite("Sensor model")
struct SensorModelTests {
  private static func configuration(
    _ generator: inout SeededGenerator
  ) -> FusionConfiguration {
    var configuration = FusionConfiguration()
    configuration.faults.rangeExcess = generator.uniform(in: 0.3...4)
    configuration.faults.rangeOnset = generator.uniform(in: 0.005...0.2)
    configuration.faults.angleOnset = generator.uniform(in: 0.005...0.2)
    configuration.faults.lastingSeconds = generator.uniform(in: 0.2...5)
    configuration.ranging.fieldOfViewRadians = generator.uniform(in: 1...3)
    configuration.ranging.rangeSigma = generator.uniform(in: 0.03...0.5)
    return configuration
  }

  /// A device at the origin that looks at a peer ahead, slightly above and to the right.
  private static let peer = Vector3(1, 0.7, -5)
  private static let predicted: [Double] = {
    let angles = ArrivalAngles(ofDirection: peer)
    return [peer.length, angles.azimuthRadians, angles.elevationRadians, peer.y]
  }()

  /// An innovation of so many sigmas.
  private static func innovation(
    _ kind: MeasurementKind, sigmas: ClosedRange<Double>, sigma: Double,
    _ generator: inout SeededGenerator
  ) -> Double {
    let size = generator.uniform(in: sigmas) * sigma
    return generator.uniform() < 0.5 ? size : -size
  }

  @Test("the fit of a window has the model's outliers", arguments: 0..<40 as Range<UInt64>)
  func fit(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let configuration = Self.configuration(&generator)
    let model = FaultModel(configuration)
    for kind in MeasurementKind.allCases {
      let sigma = 0.05
      let innovation = Self.innovation(kind, sigmas: 2...6, sigma: sigma, &generator)
      var keyframe = FitKeyframe(
        from: AntennaPose(.identity, antennaInDevice: .zero))
      keyframe[kind] = FitKeyframe.Value(
        value: Self.predicted[kind.rawValue] + innovation, variance: sigma * sigma)
      // All else is known, so that the innovation is what it is.
      let certain = SymmetricMatrix3(xx: 1e12, xy: 0, xz: 0, yy: 1e12, yz: 0, zz: 1e12)
      var fits = KernelFit()
      fits.setStart(
        0,
        FitModel(
          center: Self.peer, information: certain,
          FitModel.Errors(
            rangeScaleSigma: 0, constant: PerKind(repeating: 0),
            wandering: PerKind(repeating: 0)), model,
          configuration.ranging, hasHeights: true), at: Self.peer)
      fits.fit(1, to: [keyframe], widest: 1)
      let share = model.outlierShare(of: kind)
      let outlier =
        share
        * model.outlierDensity(
          of: kind, innovation: innovation,
          excess: model.rangeExcess(sigma: configuration.ranging.rangeSigma))
      let inlier =
        (1 - share) * exp(-0.5 * innovation * innovation / (sigma * sigma))
        / (sigma * (2 * Double.pi).squareRoot())
      let found = fits.inlierShare(0, of: kind)
      #expect(abs(found - inlier / (inlier + outlier)) < 1e-6, "\(kind), seed \(seed)")
    }
  }

  @Test(
    "the filter's faults that begin have the model's densities", arguments: 0..<40 as Range<UInt64>)
  func filter(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let configuration = Self.configuration(&generator)
    let model = FaultModel(configuration)
    for kind in MeasurementKind.allCases {
      let sigma = 0.05
      let innovation = Self.innovation(kind, sigmas: 9...11, sigma: sigma, &generator)
      let excess = model.rangeExcess(sigma: configuration.ranging.rangeSigma)
      let n = StateIndex.heightCount
      var update = ReferenceUpdate(
        mean: [Self.peer.x, Self.peer.y, Self.peer.z] + [Double](repeating: 0, count: n - 3),
        covariance: [Double](repeating: 0, count: n * n))
      let value = Self.predicted[kind.rawValue] + innovation
      update.update(
        ReferenceUpdate.Sample(
          pose: AntennaPose(.identity, antennaInDevice: .zero),
          value: PerKind { $0 == kind ? value : nil },
          variance: PerKind(repeating: sigma * sigma), previous: PerKind(repeating: .nan),
          onset: PerKind { model.onset(of: $0) }, faultCorrelation: 0.9, rangeExcess: excess,
          lastingExcessVariance: 0,
          fieldOfViewRadians: configuration.ranging.fieldOfViewRadians), isCurved: false)
      let onset = model.onset(of: kind)
      let normal =
        exp(-0.5 * innovation * innovation / (sigma * sigma))
        / (sigma * (2 * Double.pi).squareRoot())
      // What the filter calls mirrored is a hypothesis of its own in a fit.
      let share = kind == .azimuth ? FaultModel.angleAnythingShare : 1
      let outlier =
        share * model.outlierDensity(of: kind, innovation: innovation, excess: excess)
      let expected = (1 - onset) * normal / ((1 - onset) * normal + onset * outlier)
      let found = update.inlierProbability[kind]
      // The edge of the filter's one-sided density is soft: 1/(1 + exp(-1.7 · 9)) is 1e-7 off, which
      // counts 90 times as much as a share of anything.
      #expect(abs(found / expected - 1) < 1e-4, "\(kind), seed \(seed)")
    }
  }

  @Test("shares of a density sum to one")
  func shares() {
    #expect(FaultModel.rangeExcessShare + FaultModel.rangeAnythingShare == 1)
    #expect(FaultModel.angleMirroredShare + FaultModel.angleAnythingShare == 1)
    #expect(FaultModel.rangeRepeatedShare + FaultModel.rangeRedrawnShare == 1)
    #expect(FaultModel.stuckShare + FaultModel.redrawnShare == 1)
    // By default one in ten; barometers fail less often.
    let model = FaultModel(FusionConfiguration())
    for kind in MeasurementKind.allCases where kind != .heightDifference {
      #expect(model.outlierShare(of: kind) == 0.1)
    }
    #expect(model.outlierShare(of: .heightDifference) == 1 / 28.0)
  }

  @Test(
    "a kernel's step has the correlation factors of the noise", arguments: 0..<40 as Range<UInt64>)
  func correlations(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    func point(_ seconds: Double, path: Double, turn: Double) -> TrajectoryPoint {
      var point = TrajectoryPoint(
        worldFromDevice: .identity,
        timestamp: Timestamp(nanoseconds: 0).advanced(bySeconds: seconds))
      (point.path, point.turn) = (path, turn)
      return point
    }
    let a = point(1, path: 2, turn: 3)
    let (seconds, path, turn) = (
      generator.uniform(in: 0...4), generator.uniform(in: 0...2), generator.uniform(in: 0...2)
    )
    let b = point(1 + seconds, path: 2 + path, turn: 3 + turn)
    let distance = generator.uniform(in: 1...9)
    let travelled = CorrelatedNoise.travelled(from: a, to: b, distance: distance)
    let faults = seconds / FaultConfiguration().lastingSeconds
    let offset = HeightOffset(RangingConfiguration())
    var travel = nearby_travel(
      range: travelled.range, range_variance: 0.4, angle: travelled.angle, azimuth_variance: 0.3,
      fault: faults, elevation_variance: 0.2, height: offset.rate * seconds,
      height_variance: offset.variance)
    let step = unsafe nearby_error_step_over(&travel)
    let expected = CorrelatedNoise.correlation(from: a, to: b, distance: distance, offset)
    #expect(abs(step.range - expected.range) < 1e-12)
    #expect(abs(step.azimuth - expected.azimuth) < 1e-12)
    #expect(abs(step.elevation - expected.azimuth) < 1e-12)
    let lasting = FaultModel(FusionConfiguration()).correlation(seconds: seconds)
    #expect(abs(step.fault - lasting) < 1e-12)
    #expect(abs(step.range_added - (1 - expected.range * expected.range) * 0.4) < 1e-12)
    #expect(abs(step.elevation_added - (1 - expected.azimuth * expected.azimuth) * 0.2) < 1e-12)
    #expect(expected.elevation == expected.azimuth)
    let height = expected.heightDifference
    #expect(abs(step.height - height) < 1e-12)
    #expect(abs(step.height_added - (1 - height * height) * offset.variance) < 1e-12)
  }

  @Test(
    "between viewpoints a range's errors have two lengths, and all others one",
    arguments: [0.01, 0.1, 1])
  func viewpoints(size: Double) {
    let offset = HeightOffset(RangingConfiguration())
    let axis = Vector3(0.3, 1, 0.2).normalized
    let across = Vector3(1, 0, 0).cross(axis).normalized
    let turn = Rotation(angleRadians: size, about: axis)
    func correlations(
      seconds: Double, metres: Double, _ attitude: Rotation, _ direction: Vector3
    ) -> PerKind<Double> {
      let start = Timestamp(nanoseconds: 0)
      let a = Viewpoint(
        timestamp: start, place: .zero, up: Vector3(0, 1, 0), back: Vector3(0, 0, 1),
        direction: across)
      let b = Viewpoint(
        timestamp: start.advanced(bySeconds: seconds), place: Vector3(metres, 0, 0),
        up: attitude.yAxis, back: attitude.zAxis, direction: direction)
      return PerKind { CorrelatedNoise.correlation(of: $0, between: a, b, offset) }
    }
    let path = correlations(seconds: 0, metres: size, .identity, across)
    // Half of the variance decorrelates within decimetres, half within metres.
    #expect(abs(path.range - 0.5 * (exp(-size / 0.4) + exp(-size / 2.5))) < 1e-9)
    #expect(path.azimuth == 1 && path.elevation == 1 && path.heightDifference == 1)
    // Attitudes go by the chords of two axes, directions by their own.
    let turned = correlations(seconds: 0, metres: 0, turn, turn.act(across))
    let chord = 2 * sin(size / 2)
    let angle = -log(turned.range) * CorrelatedNoise.rangeRadians
    #expect(1.2 * angle > chord - 1e-9 && 1.2 * angle < 2.0.squareRoot() * chord + 1e-9)
    for kind in MeasurementKind.allCases where kind.isAngle {
      #expect(abs(turned[kind] - exp(-chord / CorrelatedNoise.angleRadians)) < 1e-9)
    }
    let later = correlations(seconds: 100 * size, metres: 0, .identity, across)
    #expect(later.heightDifference == offset.correlation(seconds: 100 * size))
    #expect(later.range == 1 && later.azimuth == 1)
  }

  @Test("what wanders is a part of a radio's accuracy, and the offset of height differences")
  func wanderingVariance() {
    var configuration = FusionConfiguration()
    configuration.ranging.heightOffsetSigma = 0.7
    configuration.features.remove(.constantAngleErrors)
    let offset = HeightOffset(configuration.ranging)
    let noise = NoiseLevels(configuration.ranging)
    for kind in MeasurementKind.allCases {
      #expect(
        kind.wanderingVariance(part: 0.3, offset) == (kind.isOfRadio ? 0.3 : offset.variance))
      // The filter's is that of the configured accuracy, whatever a value states.
      let configured = noise[kind].wanderVariance(stated: configuration.ranging.sigma(of: kind))
      let variances = configuration.errorVariances(of: kind, noise[kind], stated: 5)
      #expect(variances.wandering == kind.wanderingVariance(part: configured, offset))
    }
  }
}
