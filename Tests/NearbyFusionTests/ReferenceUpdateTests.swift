// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion

/// The kernels' updates against the textbook's, faults and curvature included.
@Suite("Reference update")
struct ReferenceUpdateTests {
  /// A sample with some of the kinds, some of them faulty, and the same as the kernels have it.
  private struct Drawn {
    var reference: ReferenceUpdate.Sample
    var kernel: nearby_measurement

    init(_ generator: inout SeededGenerator, of peer: Vector3, present: Int32) {
      let turn = generator.rotation()
      let antenna = generator.normalVector()
      kernel = nearby_measurement(antenna: antenna, worldFromDevice: turn)
      kernel.present = present
      let ray = turn.inverse.act(peer - antenna)
      let angles = ArrivalAngles(ofDirection: ray)
      let isFault = generator.uniform() < 0.3
      let values = [
        ray.length + generator.normal(sigma: 0.1) + (isFault ? generator.exponential(mean: 2) : 0),
        (angles.azimuthRadians + generator.normal(sigma: isFault ? 1 : 0.06)).wrappedAngle,
        angles.elevationRadians + generator.normal(sigma: isFault ? 0.5 : 0.09),
        peer.y - antenna.y + generator.normal(sigma: isFault ? 5 : 0.5),
      ]
      kernel.value = (values[0], values[1], values[2], values[3])
      // A value may stick at its value.
      if generator.uniform() < 0.5 {
        let isStuck = generator.uniform() < 0.5
        kernel.previous = (
          values[0] + 0.1, isStuck ? values[1] : values[1] - 0.3, isStuck ? values[2] : 0.1,
          isStuck ? values[3] : values[3] + 0.4
        )
      }
      kernel.fault_onset = (0.03, 0.04, 0.05, 0.02)
      let (kernel, mask) = (kernel, present)
      func value(_ kind: MeasurementKind) -> Double? {
        mask & 1 << Int32(kind.rawValue) != 0 ? values[kind.rawValue] : nil
      }
      reference = ReferenceUpdate.Sample(
        pose: AntennaPose(
          antenna: antenna, right: turn.xAxis, up: turn.yAxis, back: turn.zAxis),
        value: PerKind { value($0) },
        variance: PerKind(
          range: kernel.variance.0, azimuth: kernel.variance.1, elevation: kernel.variance.2,
          heightDifference: kernel.variance.3),
        previous: PerKind(
          range: kernel.previous.0, azimuth: kernel.previous.1, elevation: kernel.previous.2,
          heightDifference: kernel.previous.3),
        onset: PerKind(range: 0.03, azimuth: 0.04, elevation: 0.05, heightDifference: 0.02),
        faultCorrelation: 0.8,
        rangeExcess: kernel.range_excess, lastingExcessVariance: kernel.lasting_range_variance,
        fieldOfViewRadians: kernel.field_of_view)
    }
  }

  private func expectEqual(
    _ reference: ReferenceUpdate, _ bank: KernelBank, tolerance: Double, weighs: Bool,
    _ comment: Comment
  ) {
    let n = reference.mean.count
    let (mean, covariance) = (bank.mean(0), bank.covariance(0))
    for row in 0..<n {
      let sigma = reference.covariance[row * (n + 1)].squareRoot()
      #expect(abs(mean[row] - reference.mean[row]) <= tolerance * sigma, comment)
      for column in 0..<n {
        let scale = sigma * reference.covariance[column * (n + 1)].squareRoot()
        let difference = covariance[row * n + column] - reference.covariance[row * n + column]
        #expect(abs(difference) <= tolerance * scale, comment)
      }
    }
    for kind in MeasurementKind.allCases {
      let inlier = bank[Int(NEARBY_FIELD_INLIER) + kind.rawValue, 0]
      let fault = bank[Int(NEARBY_FIELD_FAULT) + kind.rawValue, 0]
      if reference.innovationVariance[kind].isFinite {
        #expect(abs(inlier - reference.inlierProbability[kind]) <= tolerance, comment)
        let variance = bank[Int(NEARBY_FIELD_INNOVATION_VARIANCE) + kind.rawValue, 0]
        #expect(abs(variance / reference.innovationVariance[kind] - 1) <= tolerance, comment)
      }
      #expect(abs(fault - reference.faultProbability[kind]) <= tolerance, comment)
    }
    guard weighs else { return }
    let logWeight = bank[Int(NEARBY_FIELD_LOG_WEIGHT), 0]
    #expect(abs(logWeight - reference.logLikelihood) <= 100 * tolerance, comment)
  }

  @Test(
    "the kernel is the textbook's update, sample after sample", arguments: 0..<48 as Range<UInt64>,
    [true, false])
  func againstKernel(seed: UInt64, isCurved: Bool) {
    expectKernelAgrees(seed: seed, isCurved: isCurved, order: KernelBank.restingOrder)
  }

  @Test(
    "so it is with height differences", arguments: 0..<48 as Range<UInt64>, [true, false])
  func heights(seed: UInt64, isCurved: Bool) {
    expectKernelAgrees(seed: seed, isCurved: isCurved, order: KernelBank.heightOrder)
  }

  private func expectKernelAgrees(seed: UInt64, isCurved: Bool, order: Int) {
    var generator = SeededGenerator(seed: seed)
    let peer = generator.normalVector(sigma: 4) + Vector3(3, 0, -3)
    // Wide in lanes, which are curved whatever they hold; narrow alone, which is flat.
    let hypothesis = KernelBank.Hypothesis(
      &generator, position: peer, sigma: isCurved ? 0.3 : 0.003, order: order)
    var bank = KernelBank([hypothesis], stride: isCurved ? 8 : 1)
    var reference = ReferenceUpdate(mean: hypothesis.mean, covariance: hypothesis.covariance)
    for step in 0..<6 {
      let kinds = order == KernelBank.heightOrder ? 15 : 7
      let present = Int32(1 + (Int(seed) + step) % kinds)
      let drawn = Drawn(&generator, of: peer, present: present)
      reference.update(drawn.reference, isCurved: isCurved)
      bank.update(drawn.kernel, faultCorrelation: 0.8)
      // The densities' exponentials are exact to 2e-14.
      expectEqual(
        reference, bank, tolerance: 1e-8, weighs: isCurved,
        "seed \(seed), step \(step), present \(present)")
    }
  }
}
