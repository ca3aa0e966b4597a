// SPDX-License-Identifier: Apache-2.0
import ARKit
import NearbyEnvironment
import NearbyFusion
import NearbyGeometry

/// Turns poses and measurements into the objects that the app gets.
///
/// Without camera assistance an object contains only the radio's measurement. With it, the engine's
/// estimate is published through these gates, according to Apple's pages on the reasons:
///
/// | | distance | direction, horizontalAngle | vertical | worldTransform |
/// | --- | --- | --- | --- | --- |
/// | out of reach for ``freshness`` | nil | nil | unknown | nil |
/// | insufficientMovement, -HorizontalSweep | | nil | unknown | nil |
/// | insufficientVerticalSweep | | | | nil |
/// | insufficientLighting, limitedTracking | | nil | unknown | nil |
///
/// Where a field is empty, only the engine's own gate applies, the width of the posterior. There is
/// no direction without an angle; there is an angle without a direction while the height is not
/// known. A reason counts while the engine gives it and while the ``ConvergenceCoach`` tells it.
/// Poses that are missing for ``longestSilence`` count as limitedTracking, also for the session as a
/// whole; the distance is then that of the ranges alone.
struct SessionEstimator {
  /// The changes that an event caused.
  struct Change {
    /// The new state of the peer.
    var object: NINearbyObject?
    /// The convergence of the peer, if it has changed.
    var convergence: NIAlgorithmConvergenceStatus?
    /// The convergence of the session as a whole, if it has changed.
    var sessionConvergence: NIAlgorithmConvergenceStatus?
    /// Whether convergence was lost.
    var hasLostConvergence = false
  }

  /// How long after the last measurement of the peer the engine's track of it is valid, seconds.
  static let freshness = 2.0
  /// How long measurements may come without poses before the session reports missing poses,
  /// seconds.
  static let longestSilence = 1.0

  let peer: NIDiscoveryToken
  let usesCamera: Bool
  private(set) var options: NearbySessionOptions

  private let measuresAngles: Bool
  private let configuration: FusionConfiguration
  private let validatedRange: Double
  private var ranges: RangeTracker
  private var engine: FusionEngine?
  private var handle: PeerID?
  /// The newest pose that the engine accepted.
  private var newestPose: Timestamp?
  private var newestMeasurement: Timestamp?
  /// The first measurement since ranging started.
  ///
  /// Before it, no poses are expected.
  private var firstMeasurement: Timestamp?
  /// Whether measurements arrive without poses.
  private var lacksPoses = false
  private var lastHeard: Timestamp?
  private var hasSeenAngles = false
  private var isDark = false
  private var isTrackingLimited = false
  /// What the engine says of convergence, which decides what is published.
  private var verdict = NIAlgorithmConvergenceStatus.unknown
  /// What the app is told of it.
  private var coach = ConvergenceCoach()
  private var sessionStatus = NIAlgorithmConvergenceStatus.unknown
  private(set) var newest: NINearbyObject

  init(
    peer: NIDiscoveryToken, isAccessory: Bool, usesCamera: Bool, options: NearbySessionOptions,
    device: any NearbyDevice
  ) throws(FusionConfigurationError) {
    self.peer = peer
    self.usesCamera = usesCamera
    self.options = options
    configuration = device.fusion
    measuresAngles = device.capabilities.contains(.direction)
    validatedRange = device.limits.validatedRange
    ranges = RangeTracker(configuration)
    newest = NINearbyObject(discoveryToken: peer)
    guard usesCamera else { return }
    var engine = try FusionEngine(configuration)
    handle = engine.addPeer(
      options.peerMotion ?? device.motion(of: peer.token) ?? (isAccessory ? .stationary : .unknown))
    self.engine = engine
  }

  // MARK: In

  /// Changes how the peer may move, with its next measurement.
  mutating func setMotion(_ motion: PeerMotion) {
    options.peerMotion = motion
    if let handle { engine?.setMotion(motion, of: handle) }
  }

  /// Starts ranging, for the first time or after a pause without poses.
  mutating func begin() { firstMeasurement = nil }

  mutating func add(_ pose: DevicePose) -> Change {
    switch engine?.add(pose) {
    case .accepted, .acceptedInstead:
      newestPose = pose.timestamp
      coach.add(pose.worldFromDevice.translation)
    case .acceptedAfterJump:
      newestPose = pose.timestamp
      coach.restartSweeps()
    case .rejectedNotFinite, .rejectedNotLater, nil: break
    }
    return Change(sessionConvergence: sessionStatus == .unknown ? nil : sessionChange())
  }

  mutating func add(_ tracking: TrackingSample) -> Change {
    engine?.add(tracking)
    let lumens = tracking.ambientIntensityLumens ?? .infinity
    isTrackingLimited = tracking.quality != .normal
    isDark = lumens < configuration.convergence.darkBelowLumens
    return Change(sessionConvergence: sessionChange())
  }

  mutating func add(_ given: RadioMeasurement) -> Change {
    var measurement = given
    if !measuresAngles {
      measurement.azimuthRadians = nil
      measurement.elevationRadians = nil
    }
    let time = measurement.timestamp
    newestMeasurement = max(newestMeasurement ?? time, time)
    if firstMeasurement == nil { firstMeasurement = time }
    // The engine itself rejects and reports impossible measurements.
    let report = handle.flatMap { handle in
      measurement.isEmpty ? nil : engine?.add(measurement.sample(of: handle))
    }
    measurement.removeImplausible(configuration.ranging)
    if !measurement.isEmpty { lastHeard = max(lastHeard ?? time, time) }
    if measurement.azimuthRadians != nil { hasSeenAngles = true }
    if let distance = measurement.distance {
      ranges.add(
        distance, sigma: measurement.distanceSigma,
        isNonLineOfSight: measurement.isNonLineOfSight ?? false, at: measurement.timestamp)
    }
    guard engine != nil else { return measured(measurement) }
    let sessionConvergence = sessionChange()
    var change = estimated(measurement, report)
    change.sessionConvergence = sessionConvergence
    return change
  }

  /// The convergence of the session as a whole, if it has changed.
  private mutating func sessionChange() -> NIAlgorithmConvergenceStatus? {
    guard usesCamera else { return nil }
    lacksPoses = isOdometrySilent
    // Once light and poses are back, the session as a whole has no state beyond that of the peer.
    let reasons = visionReasons
    let status: NIAlgorithmConvergenceStatus =
      reasons.isEmpty ? .unknown : NIAlgorithmConvergenceStatus(.notConverged(reasons))
    if status == sessionStatus { return nil }
    sessionStatus = status
    return status
  }

  /// What limits the camera's odometry.
  private var visionReasons: ConvergenceReasons {
    var reasons: ConvergenceReasons = isDark ? .insufficientLighting : []
    if isTrackingLimited || lacksPoses { reasons.insert(.limitedTracking) }
    return reasons
  }

  /// Whether poses are too old relative to the measurements, or have never come, so that no
  /// position may be published.
  private var isOdometrySilent: Bool {
    guard let engine, let newestMeasurement, let firstMeasurement else { return lacksPoses }
    if let newestPose, newestMeasurement <= newestPose { return false }
    return newestMeasurement.seconds(since: firstMeasurement) > Self.longestSilence
      && engine.isOdometrySilent(at: newestMeasurement)
  }

  // MARK: Out

  /// An object without camera assistance.
  private mutating func measured(_ measurement: RadioMeasurement) -> Change {
    var direction: simd_float3?
    if let azimuth = measurement.azimuthRadians, let elevation = measurement.elevationRadians {
      direction = simd_float3(
        finite: ArrivalAngles(azimuthRadians: azimuth, elevationRadians: elevation).direction)
    }
    newest = NINearbyObject(
      discoveryToken: peer, distance: measurement.distance.flatMap(Float.init(finite:)),
      direction: direction, knowledge: knowledge(measurement))
    return Change(object: newest)
  }

  /// An object with camera assistance.
  private mutating func estimated(
    _ measurement: RadioMeasurement, _ report: SampleReport?
  ) -> Change {
    guard let handle, let engine else { return Change() }
    let estimate = engine.estimate(of: handle, at: measurement.timestamp)
    var knowledge = knowledge(measurement)
    knowledge.estimate = estimate
    knowledge.report = report
    let before = coach.told
    verdict = status(of: estimate, isFresh: knowledge.isFresh)
    let told = coach.advise(verdict, at: newestMeasurement ?? measurement.timestamp)
    let distance = estimate.distance.value ?? measurement.distance
    let mayPointAnywhere = hasSeenAngles || !options.isStrictlyCompatible || !measuresAngles
    let allowsAngle =
      knowledge.isFresh && verdict.allowsHorizontalAngle
      && (coach.told == .unknown || coach.told.allowsHorizontalAngle)
    let angle =
      allowsAngle ? estimate.horizontalAngleRadians.value.flatMap(Float.init(finite:)) : nil
    newest = NINearbyObject(
      discoveryToken: peer,
      distance: knowledge.isFresh ? distance.flatMap(Float.init(finite:)) : nil,
      direction: angle != nil && mayPointAnywhere
        ? estimate.direction.value.flatMap(simd_float3.init(finite:)) : nil,
      horizontalAngle: angle,
      verticalDirectionEstimate: allowsAngle
        ? NINearbyObject.VerticalDirectionEstimate(estimate.verticalDirection) : .unknown,
      knowledge: knowledge)
    return Change(
      object: newest, convergence: told,
      hasLostConvergence: before == .converged && coach.told != .converged)
  }

  /// The peer's position in the odometry's world; `nil` unless converged.
  ///
  /// - Parameter time: The newest time of the session's clock, if it is set. A pose or a
  ///   measurement may be newer.
  /// - Returns: The position at the newest time of all three. At the newest pose, an odometry that
  ///   has stopped would not be noticed.
  func worldTransform(at time: Timestamp?) -> simd_float4x4? {
    guard verdict == .converged, let engine, let handle, let lastHeard,
      let now = [time, newestPose, newestMeasurement].compactMap({ $0 }).max(),
      now.seconds(since: lastHeard) <= Self.freshness
    else { return nil }
    return engine.estimate(of: handle, at: now).worldTransform.value.map { simd_float4x4($0) }
  }

  private func knowledge(_ measurement: RadioMeasurement) -> PeerKnowledge {
    let silence = lastHeard.map { measurement.timestamp.seconds(since: $0) } ?? .infinity
    let isFresh = silence <= Self.freshness
    return PeerKnowledge(
      measurement: measurement,
      smoothedRange: isFresh ? ranges.estimate(at: measurement.timestamp) : nil,
      isFresh: isFresh, measuresAngles: measuresAngles,
      ranging: configuration.ranging, validatedRange: validatedRange)
  }

  private func status(
    of estimate: PeerEstimate, isFresh: Bool
  ) -> NIAlgorithmConvergenceStatus {
    var reasons = visionReasons
    if !isFresh { reasons.insert(.insufficientSignalStrength) }
    if case .notConverged(let given) = estimate.convergence {
      reasons.formUnion(given)
    } else if reasons.isEmpty {
      return NIAlgorithmConvergenceStatus(estimate.convergence)
    }
    return NIAlgorithmConvergenceStatus(.notConverged(reasons))
  }
}

extension NIAlgorithmConvergenceStatus {
  /// Whether no reason prevents the angle and the vertical direction.
  fileprivate var allowsHorizontalAngle: Bool {
    switch self {
    case .unknown: false
    case .converged: true
    case .notConverged(let reasons):
      !reasons.contains {
        [
          .insufficientMovement, .insufficientHorizontalSweep, .insufficientLighting,
          .limitedTracking,
        ].contains($0)
      }
    }
  }
}

extension RadioMeasurement {
  /// Removes impossible values, which are never passed to the app.
  fileprivate mutating func removeImplausible(_ ranging: RangingConfiguration) {
    for kind in MeasurementKind.allCases {
      let (value, sigma) = self[kind]
      if let value, !ranging.accepts(value, as: kind, sigma: sigma) { self[kind] = (nil, sigma) }
    }
  }
}

// MARK: - From the engine's types

// An app may count on numbers: whatever a sensor hands in, what is not finite is withheld.

extension Float {
  init?(finite value: Double) {
    self.init(value)
    if !isFinite { return nil }
  }
}

extension simd_float3 {
  init?(finite vector: Vector3) {
    guard let x = Float(finite: vector.x), let y = Float(finite: vector.y),
      let z = Float(finite: vector.z)
    else { return nil }
    self.init(x, y, z)
  }
}

extension NINearbyObject.VerticalDirectionEstimate {
  init(_ estimate: NearbyFusion.VerticalDirectionEstimate) {
    switch estimate {
    case .unknown: self = .unknown
    case .same: self = .same
    case .above: self = .above
    case .below: self = .below
    case .aboveOrBelow: self = .aboveOrBelow
    }
  }
}
