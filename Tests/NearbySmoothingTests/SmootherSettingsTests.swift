// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyFusion
@testable import NearbySmoothing

/// Every setting that says something about sensors, odometry or motion changes what is smoothed.
@Suite("Smoother settings")
struct SmootherSettingsTests {
  /// Settings that only concern what the filter does or publishes as it goes.
  private static let filterOnly: Set<String> = [
    "faults.doubtAfter", "hypotheses.pruningWeight", "hypotheses.mergingLoss",
    "convergence.sigmaFloor", "convergence.sigmaPerDistance", "convergence.dominantModeWeight",
    "convergence.lossFactor", "convergence.movementParallaxRadians",
    "convergence.darkBelowLumens", "outputs.distanceSigmaPerDistance",
    "outputs.distanceSigmaFloor", "outputs.horizontalAngleSigmaRadians",
    "outputs.directionSigmaRadians", "outputs.sameLevelWithin", "outputs.verticalProbability",
    "outputs.verticalHysteresis",
  ]

  /// Settings that only decide whether a peer of unknown motion moves.
  private static let motionOdds: Set<String> = ["motion.restingSeconds", "motion.movingSeconds"]

  /// The tracks of a walk with a gap between poses, a late sample from it, one after the last pose, long
  /// ranges, and peers of all motions.
  private static func positions(_ configuration: FusionConfiguration) throws -> [Vector3] {
    var generator = SeededGenerator(seed: 3)
    var smoother = try Smoother(configuration)
    let places = [Vector3(2, 0.7, -3), Vector3(-2.5, 1.9, 1), Vector3(4, -0.4, 2)]
    let motions: [PeerMotion] = [.stationary, .moving, .stationary]
    let velocity = Vector3(0.4, 0.05, 0.2)
    let peers = motions.map { smoother.addPeer($0) }
    var late: RangingSample?
    func truth(_ t: Double) -> RigidTransform {
      RigidTransform(
        rotation: Rotation(angleRadians: 0.4 * t, about: Vector3(0, 1, 0)),
        translation: Vector3(1.6 * sin(0.9 * t), 0.5 * sin(1.3 * t), 1.2 * sin(1.1 * t)))
    }
    for step in 0...160 {
      let t = Double(step) / 20
      let time = SimulatedWalk.time(t)
      if !(60..<84).contains(step), step < 160 {
        smoother.add(DevicePose(timestamp: time, worldFromDevice: truth(t)))
      }
      for (index, peer) in peers.enumerated() where step % 4 == index {
        let place = places[index] + (motions[index] == .moving ? t : 0) * velocity
        let fromDevice = truth(t).inverse.act(place)
        let angles = ArrivalAngles(ofDirection: fromDevice)
        let excess = step % 28 == 0 ? 1.1 : 0
        let sample = RangingSample(
          peer: peer, timestamp: time,
          distance: fromDevice.length + generator.normal(sigma: 0.1) + excess,
          azimuthRadians: index == 0
            ? (angles.azimuthRadians + generator.normal(sigma: 0.06)).wrappedAngle : nil,
          elevationRadians: index == 0
            ? angles.elevationRadians + generator.normal(sigma: 0.09) : nil,
          heightDifference: index == 2
            ? place.y - truth(t).translation.y + 0.2 + generator.normal(sigma: 0.1) : nil)
        if step == 80 {
          late = sample
        } else {
          smoother.add(sample)
        }
      }
      if step == 86, let late { smoother.add(late) }
    }
    return smoother.solve().tracks.flatMap { $0.positions.map(\.positionInWorld) }
  }

  /// A configuration with one setting changed.
  private static func changed(_ limit: FusionConfiguration.Limit) -> FusionConfiguration {
    var configuration = FusionConfiguration()
    let before = configuration[keyPath: limit.path]
    let after: Double =
      switch limit.setting {
      case "ranging.maximumRange": 3.5
      case "ranging.maximumLateness": 0.2
      case "odometry.maximumPoseGap": 0.5
      case "odometry.maximumExtrapolation": 0
      default: before == 0 ? 0.1 : 0.6 * before
      }
    configuration[keyPath: limit.path] = max(after, limit.interval.lowerBound)
    return configuration
  }

  @Test("each setting changes the smoothed tracks, or is known to concern the filter alone")
  func everySetting() throws {
    let before = try Self.positions(FusionConfiguration())
    #expect(before.count > 60)
    var unknown = Self.filterOnly.union(Self.motionOdds)
    for limit in FusionConfiguration.limits {
      if unknown.remove(limit.setting) != nil { continue }
      let after = try Self.positions(Self.changed(limit))
      #expect(after != before, "\(limit.setting) changes nothing")
    }
    #expect(unknown.isEmpty, "no such settings: \(unknown)")
  }

  @Test("so do those that are no numbers")
  func otherSettings() throws {
    let before = try Self.positions(FusionConfiguration())
    var lever = FusionConfiguration()
    lever.ranging.antennaInDevice = Vector3(0.05, 0, 0)
    var known = FusionConfiguration()
    known.ranging.whiteSharesAreKnown = true
    var planar = FusionConfiguration()
    planar.odometry.isPlanar = true
    for configuration in [lever, known, planar] {
      #expect(try Self.positions(configuration) != before)
    }
  }

  @Test("how long peers rest and move changes the odds that one moves", arguments: motionOdds)
  func odds(setting: String) throws {
    let limit = try #require(FusionConfiguration.limits.first { $0.setting == setting })
    let before = MotionModel(FusionConfiguration()).logOddsOfMotion(within: 30)
    let after = MotionModel(Self.changed(limit)).logOddsOfMotion(within: 30)
    #expect(abs(after - before) > 0.01)
    // Over a long time a peer that rests for two minutes on average has moved.
    #expect(MotionModel(FusionConfiguration()).logOddsOfMotion(within: 3600) > 5)
  }
}
