// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport

@testable import NearbySmoothing

/// A walk through a room with peers in it, simulated without a clock: what the tests smooth.
struct SimulatedWalk {
  /// A peer of the walk.
  struct Peer {
    var place: Vector3
    var velocity = Vector3.zero
    var motion = PeerMotion.stationary
    var hasAngles = true

    func place(at seconds: Double) -> Vector3 { place + seconds * velocity }
  }

  var peers = [
    Peer(place: Vector3(2, 0.7, -3)), Peer(place: Vector3(-2.5, 1.9, 1), hasAngles: false),
    Peer(place: Vector3(4, -0.4, 2)),
  ]
  var duration = 20.0
  /// Standard deviations of ranges and angles.
  var rangeNoise = 0.0
  var angleNoise = 0.0
  /// The random walk of the odometry, per square root of a metre.
  var positionDrift = 0.0
  var yawDrift = 0.0
  /// From this moment on the odometry's world is displaced by so much.
  var jump: (seconds: Double, displacement: Vector3)?
  var isPlanar = false
  var seed: UInt64 = 1

  static func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 7_000_000_000).advanced(bySeconds: seconds)
  }

  /// Where the device truly is: a wide loop with height, looking about.
  func truth(_ t: Double) -> RigidTransform {
    RigidTransform(
      rotation: Rotation(angleRadians: 0.4 * t, about: Vector3(0, 1, 0))
        * Rotation(angleRadians: isPlanar ? 0 : 0.3 * sin(0.9 * t), about: Vector3(1, 0, 0)),
      translation: Vector3(
        1.6 * sin(0.5 * t), isPlanar ? 0 : 0.5 * sin(0.8 * t), 1.2 * sin(0.7 * t + 0.3)))
  }

  /// Where each peer truly is in the odometry's world, sample by sample.
  struct Run {
    var smoother: Smoother
    var peers: [PeerID]
    var truth: [[Vector3]]
    /// In the last world.
    var final: [Vector3]
  }

  /// Walks and hands everything to a smoother.
  func run(_ configuration: FusionConfiguration) throws -> Run {
    var smoother = try Smoother(configuration)
    let (ids, truth, final) = run(&smoother)
    return Run(smoother: smoother, peers: ids, truth: truth, final: final)
  }

  /// Walks and hands everything up to a moment to an estimator.
  @discardableResult
  func run<Estimator: SequentialEstimator>(
    _ estimator: inout Estimator, until end: Timestamp? = nil
  ) -> (peers: [PeerID], truth: [[Vector3]], final: [Vector3]) {
    let ids = peers.map { estimator.addPeer($0.motion) }
    var generator = SeededGenerator(seed: seed)
    var truths = [[Vector3]](repeating: [], count: peers.count)
    var yaw = 0.0
    var place = truth(0).translation
    var previous = truth(0)
    let up = Vector3(0, 1, 0)
    var worldFromTruth = RigidTransform.identity
    for step in 0...Int(duration * 20) {
      let t = Double(step) / 20
      if let end, Self.time(t) > end { break }
      let pose = truth(t)
      let increment = pose.translation - previous.translation
      let walk = increment.length.squareRoot()
      place += Rotation(angleRadians: yaw, about: up).act(increment)
      var drift = generator.normalVector(sigma: positionDrift * walk)
      if isPlanar { drift.y = 0 }
      place += drift
      yaw += generator.normal(sigma: yawDrift * walk)
      previous = pose
      var reported = place
      if let jump, t >= jump.seconds { reported += jump.displacement }
      let turn = Rotation(angleRadians: yaw, about: up)
      worldFromTruth = RigidTransform(
        rotation: turn, translation: reported - turn.act(pose.translation))
      estimator.add(
        DevicePose(
          timestamp: Self.time(t),
          worldFromDevice: RigidTransform(rotation: turn * pose.rotation, translation: reported)))
      for (index, peer) in peers.enumerated() where step % 4 == index % 4 {
        let fromDevice = pose.inverse.act(peer.place(at: t))
        let angles = ArrivalAngles(ofDirection: fromDevice)
        truths[index].append(worldFromTruth.act(peer.place(at: t)))
        estimator.add(
          RangingSample(
            peer: ids[index], timestamp: Self.time(t),
            distance: fromDevice.length + generator.normal(sigma: rangeNoise),
            azimuthRadians: peer.hasAngles
              ? (angles.azimuthRadians + generator.normal(sigma: angleNoise)).wrappedAngle : nil,
            elevationRadians: peer.hasAngles && !isPlanar
              ? angles.elevationRadians + generator.normal(sigma: angleNoise) : nil))
      }
    }
    return (ids, truths, peers.map { worldFromTruth.act($0.place(at: duration)) })
  }
}

/// A problem of a few knots with everything in it, at a random point.
enum SmallProblem {
  static func make(
    isMoving: [Bool], isPlanar: Bool, seed: UInt64, hasOutliers: Bool = false
  ) -> (problem: SmoothingProblem, state: SmoothingState) {
    var generator = SeededGenerator(seed: seed)
    var configuration = FusionConfiguration()
    configuration.odometry.isPlanar = isPlanar
    if !hasOutliers {
      configuration.faults.rangeOnset = 1e-6
      configuration.faults.angleOnset = 1e-6
      configuration.faults.heightOnset = 1e-6
    }
    var trajectoryPlaces: [DevicePose] = []
    var smoother = try? FusionEngine(configuration)
    var knots: [DriftKnot] = []
    for index in 0..<4 {
      let pose = DevicePose(
        timestamp: SimulatedWalk.time(0.3 * Double(index)),
        worldFromDevice: RigidTransform(
          rotation: generator.rotation(),
          translation: 0.4 * Double(index) * Vector3(1, isPlanar ? 0 : 0.2, -0.5)))
      trajectoryPlaces.append(pose)
      smoother?.add(pose)
      if let point = smoother?.newestDevicePoint { knots.append(DriftKnot(device: point)) }
    }
    func vector(_ sigma: Double) -> Vector3 {
      var v = generator.normalVector(sigma: sigma)
      if isPlanar { v.y = 0 }
      return v
    }
    var observations: [Observation] = []
    for knot in knots.indices.dropLast() {
      for peer in isMoving.indices {
        let pose = trajectoryPlaces[knot].worldFromDevice
        let values = PerKind<MeasuredValue?> { kind in
          let sigma = kind == .range || kind == .elevation ? 0.3 : 0.5
          return MeasuredValue(
            value: (kind == .range ? 3 : 0) + generator.normal(sigma: sigma), sigma: 0.1)
        }
        observations.append(
          Observation(
            cell: ChainProblem.Cell(
              pose: AntennaPose(pose, antennaInDevice: Vector3(0.1, 0.05, -0.02)), knot: knot,
              share: generator.uniform(in: 0...1), seconds: 0.07 * Double(peer + 1), peer: peer),
            measurements: values, poseVariance: (0, 0),
            noise: PerKind(repeating: MeasurementNoise(variance: 0.3, power: 0.7))))
      }
    }
    let problem = SmoothingProblem(
      knots: knots, observations: observations, isMoving: isMoving, configuration: configuration,
      priorCenter: Vector3(0.5, 0, 0.5), priorSigma: 12)
    let state = SmoothingState(
      devices: knots.map {
        KnotCorrection(place: $0.place + vector(0.2), yawRadians: generator.normal(sigma: 0.3))
      },
      peers: isMoving.map { _ in
        PeerParameters(
          position: vector(2), rangeBias: generator.normal(sigma: 0.1),
          rangeScale: generator.normal(sigma: 0.02))
      },
      motions: (0..<(problem.movingCount * knots.count)).map { _ in
        Kinematics(position: vector(2), velocity: vector(0.7))
      })
    return (problem, state)
  }
}
