// SPDX-License-Identifier: Apache-2.0
import ARKit
import Foundation
import NearbyInteraction

/// Records the sessions of an app as a recording of version 1.
///
/// It uses only Apple's names, so that an app may contain this file as it is. On a phone:
///
///     let recorder = try PhoneRecorder(in: folder, PhoneRecorder.Settings(name: "living-room"))
///     recorder.range(peerToken, as: "keys")
///     // … walk …
///     try recorder.finish()
///
/// Poses have the times of their frames, on the clock of `ProcessInfo.systemUptime`. Nearby
/// Interaction tells no times, so that ranges have the time of their callback on the same clock;
/// ``Settings/latency`` says how late that is. Poses are turned from the axes of the camera to those of
/// the device in portrait.
public final class PhoneRecorder: NSObject, ARSessionDelegate, NISessionDelegate,
  @unchecked Sendable
{
  // Unchecked: everything that changes is read and written on `queue` only.

  /// What the recording says of itself.
  public struct Settings {
    /// The recording's name.
    public var name: String
    /// Whether sessions run with camera assistance.
    ///
    /// Distances are then those of Apple's filter, and no angles are recorded, since Apple computes
    /// directions from the same poses.
    public var usesCameraAssistance = false
    /// The antenna in the axes of the device in portrait, metres: +x right, +y up, +z toward the user.
    public var antenna = simd_float3.zero
    /// How long after a measurement its callback comes, seconds; 0 when it is not known.
    public var latency: TimeInterval = 0

    /// Makes settings of defaults.
    public init(name: String) { self.name = name }
  }

  /// The AR session whose poses are recorded; it runs from the start.
  public let arSession: ARSession
  private let settings: Settings
  private let folder: URL
  private let clock: () -> TimeInterval
  private let queue: DispatchQueue
  private var files: [String: FileHandle] = [:]
  private var sessions: [NISession] = []
  private var names: [NIDiscoveryToken: String] = [:]
  private var newestPose: TimeInterval?
  private var tracking = ""
  private var firstError: (any Error)?

  /// Makes a folder for the recording and starts recording poses.
  ///
  /// - Parameters:
  ///   - folder: The folder, which must not exist yet.
  ///   - settings: What the recording says of itself.
  ///   - arSession: The AR session, which is run with world tracking.
  ///   - queue: A serial queue for the callbacks of all sessions.
  ///   - clock: The clock of the frames.
  /// - Throws: When the folder or a file cannot be made.
  public init(
    in folder: URL, _ settings: Settings, arSession: ARSession = ARSession(),
    queue: DispatchQueue = DispatchQueue(label: "phone-recorder"),
    clock: @escaping () -> TimeInterval = { ProcessInfo.processInfo.systemUptime }
  ) throws {
    self.folder = folder
    self.settings = settings
    self.arSession = arSession
    self.queue = queue
    self.clock = clock
    super.init()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    for (name, header) in [
      ("trajectory.txt", "# timestamp tx ty tz qx qy qz qw"),
      ("ranging.csv", "timestamp,peer,distance,azimuth,elevation"),
      ("tracking.csv", "timestamp,state,reason,ambient_intensity"),
    ] {
      let file = folder.appendingPathComponent(name)
      try Data((header + "\n").utf8).write(to: file)
      let handle = try FileHandle(forWritingTo: file)
      _ = try handle.seekToEnd()
      files[name] = handle
    }
    try writeManifest()
    arSession.delegate = self
    arSession.delegateQueue = queue
    arSession.run(ARWorldTrackingConfiguration())
  }

  /// Measures a peer.
  ///
  /// - Parameters:
  ///   - token: The peer's token.
  ///   - name: The peer's name in the recording: no comma, quote or line break.
  ///   - session: A session that was not run yet. The peer needs its token.
  public func range(
    _ token: NIDiscoveryToken, as name: String, on session: NISession = NISession()
  ) {
    session.delegate = self
    session.delegateQueue = queue
    let configuration = NINearbyPeerConfiguration(peerToken: token)
    configuration.isCameraAssistanceEnabled = settings.usesCameraAssistance
    // Sharing an AR session without camera assistance is an error.
    if settings.usesCameraAssistance { session.setARSession(arSession) }
    queue.sync {
      names[token] = name
      sessions.append(session)
    }
    session.run(configuration)
  }

  /// Ends all sessions and the recording.
  ///
  /// - Throws: The first error of a session or a file, if there was one. What was written stays.
  public func finish() throws {
    for session in queue.sync(execute: { sessions }) { session.invalidate() }
    arSession.pause()
    try queue.sync {
      try writeManifest()
      for file in files.values { try file.close() }
      files = [:]
      if let firstError { throw firstError }
    }
  }

  // MARK: - Writing

  private func writeManifest() throws {
    struct Manifest: Encodable {
      struct Device: Encodable {
        var axes = "arkit"
        var antenna: [Float]
      }
      struct Ranging: Encodable { var latency: Double }
      struct Peer: Encodable {
        var id: String
        var motion = "unknown"
      }
      var format = "nearby-recording"
      var version = 1
      var name: String
      var source = "Nearby Interaction and ARKit"
      var description: String
      var device: Device
      var ranging: Ranging
      var peers: [Peer]
    }
    let antenna = settings.antenna
    let manifest = Manifest(
      name: settings.name,
      description: settings.usesCameraAssistance
        ? "With camera assistance: distances are filtered." : "Without camera assistance.",
      device: .init(antenna: [antenna.x, antenna.y, antenna.z]),
      ranging: .init(latency: settings.latency),
      peers: Set(names.values).sorted().map { Manifest.Peer(id: $0) })
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(manifest).write(to: folder.appendingPathComponent("recording.json"))
  }

  private func write(_ line: String, to file: String) {
    guard firstError == nil, let handle = files[file] else { return }
    do { try handle.write(contentsOf: Data((line + "\n").utf8)) } catch { firstError = error }
  }

  // MARK: - ARSessionDelegate

  /// Records a pose.
  public func session(_ session: ARSession, didUpdate frame: ARFrame) {
    if case .notAvailable = frame.camera.trackingState { return noteTracking(frame) }
    noteTracking(frame)
    guard frame.timestamp > newestPose ?? -.infinity else { return }
    newestPose = frame.timestamp
    // The view of portrait has the axes of the device.
    let worldFromDevice = frame.camera.viewMatrix(for: .portrait).inverse
    let (place, turn) = (worldFromDevice.columns.3, simd_quatf(worldFromDevice).normalized.vector)
    let numbers = [place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w].map { "\($0)" }
    write("\(frame.timestamp) \(numbers.joined(separator: " "))", to: "trajectory.txt")
  }

  /// Writes a row where the tracking or the light has changed.
  private func noteTracking(_ frame: ARFrame) {
    let state: String
    switch frame.camera.trackingState {
    case .normal: state = "normal,"
    case .notAvailable: state = "notAvailable,"
    case .limited(let reason):
      switch reason {
      case .initializing: state = "limited,initializing"
      case .relocalizing: state = "limited,relocalizing"
      case .excessiveMotion: state = "limited,excessiveMotion"
      case .insufficientFeatures: state = "limited,insufficientFeatures"
      @unknown default: state = "limited,"
      }
    }
    // To the nearest hundred, since the estimate changes with every frame.
    let light = frame.lightEstimate.map { "\(Int(($0.ambientIntensity / 100).rounded()) * 100)" }
    let row = "\(state),\(light ?? "")"
    guard row != tracking else { return }
    tracking = row
    write("\(frame.timestamp),\(row)", to: "tracking.csv")
  }

  /// Keeps the error for the end.
  public func session(_ session: ARSession, didFailWithError error: any Error) {
    firstError = firstError ?? error
  }

  /// Always false, as Nearby Interaction demands.
  public func sessionShouldAttemptRelocalization(_ session: ARSession) -> Bool { false }

  // MARK: - NISessionDelegate

  /// Records ranges and angles.
  public func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    let time = clock()
    for object in nearbyObjects {
      guard let name = names[object.discoveryToken] else { continue }
      let distance = object.distance.map { "\($0)" } ?? ""
      var angles = ","
      if !settings.usesCameraAssistance, let direction = object.direction {
        let azimuth = atan2(direction.x, -direction.z)
        angles = "\(azimuth),\(asin(max(-1, min(1, direction.y))))"
      }
      guard !distance.isEmpty || angles != "," else { continue }
      write("\(time),\(name),\(distance),\(angles)", to: "ranging.csv")
    }
  }

  /// Runs the session again after a timeout.
  public func session(
    _ session: NISession, didRemove nearbyObjects: [NINearbyObject],
    reason: NINearbyObject.RemovalReason
  ) {
    if reason == .timeout, let configuration = session.configuration { session.run(configuration) }
  }

  /// Runs the session again.
  public func sessionSuspensionEnded(_ session: NISession) {
    if let configuration = session.configuration { session.run(configuration) }
  }

  /// Keeps the error for the end.
  public func session(_ session: NISession, didInvalidateWith error: any Error) {
    firstError = firstError ?? error
  }
}
