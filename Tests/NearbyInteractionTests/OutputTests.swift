// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import Testing

@testable import NearbyInteraction

/// The values of the outputs, and when each is nil.
struct OutputTests {
  /// The true distance and direction of another device's antenna.
  private func truth(_ pair: SessionPair, from: Int, to: Int) -> (distance: Double, unit: Vector3) {
    let (here, there) = (pair.devices[from].truePose, pair.devices[to].truePose)
    let target = there.act(pair.world.settings.radio.antennaInDevice)
    let offset = here.rotation.inverse.act(target - here.translation)
    return (offset.length, offset.normalized)
  }

  // MARK: Without camera assistance

  @Test func withoutCameraAssistanceThereIsRangeAndDirection() throws {
    let pair = SessionPair(motions: SessionPair.finderAndTag)
    pair.run()
    pair.advance(2)
    for recorder in pair.recorders {
      for object in recorder.objects {
        #expect(abs(try #require(object.distance) - 3.1) < 1)
        let direction = try #require(object.direction)
        #expect(abs(simd_length(direction) - 1) < 1e-5)
        #expect(direction.z < -0.8)
        #expect(object.horizontalAngle == nil && object.verticalDirectionEstimate == .unknown)
        #expect(object.horizontalAngleAbsence == .withoutCameraAssistance)
        // White noise of 0.1 m, a constant error of 0.15 m, and 3 % of the distance.
        let metres = Double(try #require(object.distance))
        let sigma = (0.1 * 0.1 + 0.15 * 0.15 + pow(0.03 * metres, 2)).squareRoot()
        #expect(abs(try #require(object.distanceSigma) - sigma) < 1e-6)
        #expect(object.directionSigmaRadians != nil)
        #expect(object.estimate == nil && object.report == nil)
      }
      #expect(recorder.convergences.isEmpty)
      #expect(recorder.transforms.allSatisfy { $0 == nil })
    }
  }

  @Test(arguments: [DeviceCapabilities.watch, .phoneWithoutAntennaArray])
  func withoutAntennaArrayThereIsNoDirection(_ capabilities: DeviceCapabilities) {
    let pair = SessionPair(motions: SessionPair.finderAndTag, capabilities: capabilities)
    pair.run()
    pair.advance(1)
    #expect(pair.recorders[0].objects.allSatisfy { $0.distance != nil && $0.direction == nil })
    #expect(pair.recorders[0].objects.allSatisfy { $0.directionAbsence == .noAntennaArray })
  }

  /// The peer's position, and which outputs are nil for it (S-39).
  enum Place: String, CaseIterable, Sendable {
    case ahead, behind, blocked, tooFar

    var motion: SimulatedMotion {
      switch self {
      case .ahead, .blocked: .resting(at: .init(standingAt: Vector3(0, 1.4, -4), facing: .zero))
      case .behind: .resting(at: .init(standingAt: Vector3(0, 1.4, 4), facing: .zero))
      case .tooFar: .resting(at: .init(standingAt: Vector3(0, 1.4, -40), facing: .zero))
      }
    }
  }

  @Test(arguments: Place.allCases)
  func outOfReachBothAreNilAndOutOfSightTheDirection(_ place: Place) throws {
    var settings = SimulatedWorldSettings()
    if place == .blocked {
      settings.obstacles = [SimulatedObstacle(Vector3(-1, 0, -2.2), Vector3(1, 3, -2))]
    }
    let here = SimulatedMotion.resting(
      at: .init(standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 1.4, -1)))
    let pair = SessionPair(settings, motions: [here, place.motion])
    pair.run()
    pair.advance(1)
    let objects = pair.recorders[0].objects
    #expect(objects.count == 10)
    for object in objects {
      #expect((object.distance != nil) == (place != .tooFar))
      #expect((object.direction != nil) == (place == .ahead))
      switch place {
      case .ahead: #expect(object.directionAbsence == nil && object.advice == [])
      case .behind:
        #expect(object.directionAbsence == .outsideFieldOfView && object.advice == [.facePeer])
      case .blocked: #expect(object.advice == [.clearTheView, .facePeer])
      case .tooFar:
        #expect(object.distanceAbsence == .outOfReach && object.directionAbsence == .outOfReach)
        #expect(object.advice == [.comeCloser])
      }
    }
  }

  @Test func extendedDistancesReachFarther() throws {
    let pair = SessionPair(
      motions: [
        .resting(at: .init(standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 0, -1))),
        Place.tooFar.motion,
      ])
    pair.run { $0.isExtendedDistanceMeasurementEnabled = true }
    pair.advance(1)
    #expect(abs(try #require(pair.recorders[0].objects.last?.distance) - 40) < 1)
    let token = try #require(NISession(on: pair.devices[1]).discoveryToken)
    let second = NISession(on: pair.devices[0])
    let recorder = SessionRecorder()
    recorder.attach(to: second)
    let configuration = NINearbyPeerConfiguration(peerToken: token)
    configuration.isExtendedDistanceMeasurementEnabled = true
    second.run(configuration)
    withExtendedLifetime(second) { recorder.drain() }
    #expect(
      (recorder.errors.first as? NIError)?.code == .activeExtendedDistanceSessionsLimitExceeded)
  }

  @Test func portraitAndLandscapeHearLittleOfEachOther() {
    func share(_ roll: Double) -> Double {
      let there = RigidTransform(standingAt: Vector3(0, 1.4, -4), facing: .zero)
      let rolled = RigidTransform(
        rotation: there.rotation * Rotation(angleRadians: roll, about: Vector3(0, 0, 1)),
        translation: there.translation)
      let here = RigidTransform(standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 0, -1))
      let pair = SessionPair(motions: [.resting(at: here), .resting(at: rolled)])
      pair.run()
      pair.advance(10)
      let objects = pair.recorders[0].objects
      return Double(objects.count { $0.direction != nil }) / Double(objects.count)
    }
    #expect(share(0) == 1)
    #expect(share(.pi / 2) < 0.2)
  }

  // MARK: With camera assistance

  @Test(arguments: [DeviceCapabilities.phoneWithAntennaArray, .phoneWithoutAntennaArray])
  func theOutputsComeInTheirOrderAndAreRight(_ capabilities: DeviceCapabilities) throws {
    // Ranges alone need more movement than an arm allows.
    var motions = SessionPair.finderAndTag
    if !capabilities.contains(.direction) {
      motions[0] = .carried(ScenarioMotion(.wanderingWalk, seed: 4))
    }
    let pair = SessionPair(motions: motions, capabilities: capabilities)
    pair.run(usesCamera: true)
    var hasPlace = false
    for _ in 0..<250 {
      pair.advance(0.1)
      let object = try #require(pair.recorders[0].objects.last)
      let estimate = try #require(object.estimate)
      #expect(object.distance != nil)
      // Which reason blocks which output (section 2.3).
      let status = NIAlgorithmConvergenceStatus(estimate.convergence)
      let transform = try #require(pair.recorders[0].transforms.last)
      switch status {
      case .unknown: #expect(object.horizontalAngle == nil && transform == nil)
      case .notConverged(let reasons):
        #expect(transform == nil)
        if reasons.contains(.insufficientMovement) || reasons.contains(.insufficientHorizontalSweep)
        {
          #expect(object.horizontalAngle == nil && object.verticalDirectionEstimate == .unknown)
        }
      case .converged: #expect(transform != nil && object.horizontalAngle != nil)
      }
      guard let transform else { continue }
      hasPlace = true
      // Rotation keeps y up; the peer is as far from the device as the distance says.
      #expect(transform.columns.0 == simd_float4(1, 0, 0, 0))
      #expect(transform.columns.1 == simd_float4(0, 1, 0, 0))
      #expect(transform.columns.3.w == 1)
      let truth = truth(pair, from: 0, to: 1)
      let distance = Double(try #require(object.distance))
      #expect(abs(distance - truth.distance) < 5 * (try #require(object.distanceSigma)) + 0.05)
      let unit = try #require(object.direction)
      let angle = acos(
        min(
          1,
          Double(unit.x) * truth.unit.x + Double(unit.y) * truth.unit.y
            + Double(unit.z) * truth.unit.z))
      #expect(angle < 5 * (try #require(object.directionSigmaRadians)) + 0.02)
    }
    #expect(hasPlace)
    #expect(pair.recorders[0].convergences.map(\.status).contains(.converged))
    #expect(pair.recorders[0].convergences.allSatisfy { $0.object != nil })
    let last = try #require(pair.recorders[0].objects.last)
    #expect(last.verticalDirectionEstimate == .same)
    #expect(last.pointing != nil)
    #expect(try #require(last.progress).totalSigma < 0.35)
    #expect(try #require(last.covarianceInWorld).trace > 0)
    #expect(last.horizontalAngleSigmaRadians != nil)
  }

  @Test func darknessConcernsTheSession() throws {
    let pair = SessionPair(motions: SessionPair.finderAndTag)
    pair.run(usesCamera: true)
    pair.advance(15)
    pair.devices[0].setTracking(.normal, lumens: 20)
    pair.advance(1)
    let dark = NIAlgorithmConvergenceStatus.notConverged([.insufficientLighting])
    #expect(pair.recorders[0].convergences.contains { $0.object == nil && $0.status == dark })
    #expect(pair.recorders[0].convergences.last?.status == dark)
    #expect(pair.recorders[0].objects.last?.horizontalAngle == nil)
    #expect(pair.recorders[0].objects.last?.verticalDirectionEstimate == .unknown)
    #expect(pair.recorders[0].objects.last?.distance != nil)
    #expect(pair.recorders[0].transforms.last.flatMap { $0 } == nil)
    pair.devices[0].setTracking(.normal, lumens: 1000)
    pair.advance(1)
    let ofPeer = pair.recorders[0].convergences.filter { $0.object != nil }
    #expect(ofPeer.last?.status == .converged)
    #expect(pair.recorders[0].transforms.last.flatMap { $0 } != nil)
  }

  @Test func aPeerThatIsLostIsCoastedForAMomentAndThenNil() throws {
    let pair = SessionPair(motions: SessionPair.finderAndTag)
    pair.run(usesCamera: true)
    pair.advance(15)
    pair.devices[1].motion = Place.tooFar.motion
    pair.advance(1)
    #expect(pair.recorders[0].objects.last?.measurement?.isEmpty == true)
    #expect(pair.recorders[0].objects.last?.horizontalAngle != nil)
    pair.advance(2)
    let object = try #require(pair.recorders[0].objects.last)
    #expect(object.distance == nil && object.direction == nil && object.horizontalAngle == nil)
    #expect(object.horizontalAngleAbsence == .outOfReach)
    #expect(pair.recorders[0].transforms.last.flatMap { $0 } == nil)
  }

  @Test func strictCompatibilityWaitsForTheCone() {
    func directions(_ isStrict: Bool) -> Int {
      // The peer is beside the finder and never in the cone.
      let pair = SessionPair(
        motions: [
          .sweeping(
            about: .init(standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 1.4, -3)), seed: 5),
          .resting(at: .init(standingAt: Vector3(0, 1.2, 3), facing: .zero)),
        ])
      pair.sessions[0].options.isStrictlyCompatible = isStrict
      pair.run(usesCamera: true)
      pair.advance(30)
      return pair.recorders[0].objects.count { $0.direction != nil }
    }
    #expect(directions(true) == 0)
    #expect(directions(false) > 20)
  }

  @Test func aMovingPeerIsFollowed() throws {
    let here = Vector3(0, 1.4, 0)
    let walker = SimulatedMotion { seconds in
      RigidTransform(
        standingAt: Vector3(2 * sin(0.4 * seconds), 1.2, -3 - sin(0.3 * seconds)), facing: here)
    }
    let finder = SimulatedMotion.sweeping(
      about: .init(standingAt: here, facing: Vector3(0, 0, -3)), seed: 3)
    let pair = SessionPair(motions: [finder, walker])
    pair.sessions[0].options.peerMotion = .moving
    pair.run(usesCamera: true)
    var misses: [Double] = []
    for _ in 0..<200 {
      pair.advance(0.1)
      guard let object = pair.recorders[0].objects.last, let unit = object.direction else {
        continue
      }
      let truth = truth(pair, from: 0, to: 1)
      let cosine =
        Double(unit.x) * truth.unit.x + Double(unit.y) * truth.unit.y + Double(unit.z)
        * truth.unit.z
      misses.append(acos(min(1, cosine)))
    }
    #expect(misses.count > 100)
    #expect(misses.sorted()[misses.count / 2] < 0.12)
  }

  @Test(arguments: [false, true])
  func impossibleMeasurementsAreNotReported(usesCamera: Bool) throws {
    let device = LiveDevice()
    let peer = SessionToken(high: 1, low: 2, capabilities: .phoneWithAntennaArray)
    let session = NISession(on: device)
    let recorder = SessionRecorder()
    recorder.attach(to: session)
    let configuration = NINearbyPeerConfiguration(peerToken: NIDiscoveryToken(peer))
    configuration.isCameraAssistanceEnabled = usesCamera
    session.run(configuration)
    device.add(DevicePose(timestamp: Timestamp(nanoseconds: 0), worldFromDevice: .identity))
    var steps: Int64 = 0
    func told(_ change: (inout RadioMeasurement) -> Void) throws -> NINearbyObject {
      steps += 1
      var measurement = RadioMeasurement(
        timestamp: Timestamp(nanoseconds: steps * 1_000_000), distance: 3, azimuthRadians: 0.1,
        elevationRadians: 0.2)
      change(&measurement)
      device.add(measurement)
      recorder.drain()
      return try #require(recorder.objects.last)
    }
    for distance in [.nan, .infinity, -.infinity, -1, 0, 1e9] as [Double] {
      let object = try told {
        ($0.distance, $0.azimuthRadians, $0.elevationRadians) = (distance, nil, nil)
      }
      #expect(object.distance == nil && object.distanceSigma == nil, "\(distance)")
      #expect(object.smoothedRange == nil && object.measurement?.isEmpty == true, "\(distance)")
      #expect(object.report?.range.isUsed != true && (object.report == nil) == !usesCamera)
    }
    for angle in [.nan, .infinity, -4, 60] as [Double] {
      let object = try told { $0.azimuthRadians = angle }
      #expect(object.measurement?.azimuthRadians == nil && object.distance != nil, "\(angle)")
      #expect(usesCamera || object.direction == nil)
      let other = try told { $0.elevationRadians = angle }
      #expect(other.measurement?.elevationRadians == nil && other.distance != nil, "\(angle)")
    }
    let object = try told { $0.distanceSigma = .nan }
    #expect(object.measurement?.distance == nil)
    #expect(object.distanceSigma?.isNaN != true)
    let sound = try told { _ in }
    #expect(sound.distance != nil && sound.measurement?.azimuthRadians == 0.1)
    withExtendedLifetime(session) {}
  }

  @Test func theDevicePointsAtOneOfMany() throws {
    let world = SimulatedWorld()
    let phone = world.makeDevice(
      motion: .resting(at: .init(standingAt: Vector3(0, 1.4, 0), facing: Vector3(0, 0, -1))))
    let places = [Vector3(-2, 1.4, -2), Vector3(0.2, 1.4, -3), Vector3(2.5, 1.4, -2)]
    let pairs = try places.map { place in
      let device = world.makeDevice(motion: .resting(at: .init(standingAt: place, facing: .zero)))
      let (session, other) = (NISession(on: phone), NISession(on: device))
      let recorder = SessionRecorder()
      recorder.attach(to: session)
      session.run(NINearbyPeerConfiguration(peerToken: try #require(other.discoveryToken)))
      other.run(NINearbyPeerConfiguration(peerToken: try #require(session.discoveryToken)))
      return (session, other, recorder)
    }
    world.advance(bySeconds: 1)
    let pointing = try pairs.map { pair in
      pair.2.drain()
      return try #require(pair.2.objects.last?.pointing)
    }
    #expect(pointing[1] > 0.95 && pointing[1] > pointing[0] && pointing[1] > pointing[2])
    withExtendedLifetime(pairs) {}
  }

  @Test func theSameSeedGivesTheSameNumbers() {
    func distances(_ seed: UInt64) -> [Float?] {
      var settings = SimulatedWorldSettings()
      settings.seed = seed
      let pair = SessionPair(settings)
      pair.run(usesCamera: true)
      pair.advance(5)
      return pair.recorders[0].objects.map(\.distance)
    }
    #expect(distances(7) == distances(7))
    #expect(distances(7) != distances(8))
  }
}
