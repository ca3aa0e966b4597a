// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Foundation
public import NearbyFusion
public import NearbyGeometry
public import NearbyRecordings

/// An environment that replays a recording, with its device and its peers.
///
/// ``peerToken(_:)`` gives the token of a peer by its name. Of other tokens, the n-th with which a
/// session is run stands for the n-th peer, in the order of the recording's list and then of their
/// first measurements. The replay starts with the first session that runs.
public final class ReplayEnvironment: NearbyEnvironment, RosterDevice, @unchecked Sendable {
  // Unchecked: everything that changes is read and written under `lock` only, which is never held
  // while a receiver is called.

  /// The clock of a replay.
  public enum Clock: Hashable, Sendable {
    /// Time passes with ``ReplayEnvironment/advance(bySeconds:)``.
    case stepped
    /// Real time, or a multiple of it.
    case machine(speed: Double)
  }

  /// The recording.
  public let recording: RecordingReader
  /// The capabilities of the device.
  public let capabilities: DeviceCapabilities
  /// The limits of its sessions.
  public let limits: SessionLimits
  /// The accuracy of the sensors that the recording declares.
  public let fusion: FusionConfiguration

  private let clock: Clock
  private let lock = NSLock()
  private var stream: StreamBox
  private var next: RecordingEvent?
  private var time: Timestamp
  private var roster = DeviceRoster()
  /// Tokens that are not named, in the order of the peers for which they stand.
  private var peers: [SessionToken] = []
  private var tokenOfName: [String: SessionToken] = [:]
  private var timer: (any DispatchSourceTimer)?
  private var failureUnderLock: RecordingError?

  /// Holds the noncopyable stream.
  private final class StreamBox {
    var stream: RecordingEventStream
    init(_ stream: consuming RecordingEventStream) { self.stream = stream }
  }

  /// Prepares a replay.
  ///
  /// - Parameters:
  ///   - recording: The recording.
  ///   - clock: The clock of a replay.
  ///   - capabilities: The capabilities of the device.
  ///   - limits: The limits of its sessions.
  /// - Throws: When a file cannot be opened, or its beginning cannot be read.
  public init(
    _ recording: RecordingReader, clock: Clock = .stepped,
    capabilities: DeviceCapabilities = .phoneWithAntennaArray,
    limits: SessionLimits = SessionLimits()
  ) throws(RecordingError) {
    self.recording = recording
    self.clock = clock
    self.capabilities = capabilities
    self.limits = limits
    fusion = recording.manifest.fusionConfiguration()
    var events = try recording.events()
    next = try events.next()
    stream = StreamBox(events)
    time = next.map(Self.time) ?? Timestamp(nanoseconds: 0)
  }

  deinit { timer?.cancel() }

  /// This object, since a recording has one device.
  public func defaultDevice() -> any NearbyDevice { self }
  /// The capabilities of the device.
  public var defaultCapabilities: DeviceCapabilities { capabilities }
  /// The newest time of the replay.
  public var now: Timestamp { lock.withLock { time } }
  /// Always allowed.
  public var authorization: MeasurementAuthorization { .allowed }
  /// The error at which the replay ended, if the recording could not be read completely.
  public var failure: RecordingError? { lock.withLock { failureUnderLock } }
  /// Whether all of the recording has been replayed.
  public var hasEnded: Bool { lock.withLock { next == nil } }

  /// The token of a peer, with which a session is run to get its measurements.
  ///
  /// - Parameter id: The peer's name in the recording. One that the recording does not have is never
  ///   measured.
  /// - Returns: The same token for the same name.
  public func peerToken(_ id: String) -> SessionToken {
    lock.withLock {
      if let token = tokenOfName[id] { return token }
      let token = SessionToken.random(on: capabilities)
      tokenOfName[id] = token
      return token
    }
  }

  // MARK: Time

  /// Advances the time of a stepped replay.
  ///
  /// All events are delivered before it returns.
  ///
  /// - Parameter seconds: The time to advance.
  public func advance(bySeconds seconds: Double) {
    let end = lock.withLock { time.advanced(bySeconds: seconds) }
    // Time advances in steps of at most a tenth of a second, because sessions measure silence on
    // this clock.
    while lock.withLock({ time < end }) {
      let messages = lock.withLock {
        play(until: min(end, time.advanced(bySeconds: 0.1)))
      }
      for message in messages { message.deliver() }
    }
  }

  /// Replays the rest of the recording.
  public func advanceToEnd() { while !hasEnded { advance(bySeconds: 1) } }

  private func startTimer() {
    guard case .machine(let speed) = clock, timer == nil else { return }
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "nearby.replay"))
    let period = 1.0 / 60
    timer.schedule(deadline: .now(), repeating: period)
    timer.setEventHandler { [weak self] in self?.advance(bySeconds: speed * period) }
    timer.resume()
    self.timer = timer
  }

  // MARK: Under the lock

  private func play(until end: Timestamp) -> [DeviceRoster.Message] {
    var messages: [DeviceRoster.Message] = []
    while let event = next, Self.time(event) <= end {
      switch event {
      case .pose(let pose): messages += roster.toFollowers(.pose(pose))
      case .tracking(let sample): messages += roster.toFollowers(.tracking(sample))
      case .ranging(let row):
        let byOrder = row.peerIndex < peers.count ? peers[row.peerIndex] : nil
        for token in [tokenOfName[row.peer], byOrder].compactMap(\.self) {
          messages += roster.toSessions(with: token, .measurement(RadioMeasurement(row)))
        }
      }
      do throws(RecordingError) {
        next = try stream.stream.next()
      } catch {
        failureUnderLock = error
        next = nil
      }
    }
    time = end
    return messages + roster.toSessions(.time(end))
  }

  private static func time(_ event: RecordingEvent) -> Timestamp {
    switch event {
    case .pose(let pose): pose.timestamp
    case .tracking(let sample): sample.timestamp
    case .ranging(let row): row.timestamp
    }
  }

  // MARK: NearbyDevice

  /// Starts delivering the measurements of a peer.
  ///
  /// The first call starts the replay.
  public func range(_ token: SessionToken, with peer: SessionToken, isExtended: Bool) {
    lock.withLock {
      roster.range(token, with: peer, isExtended: isExtended)
      if !peers.contains(peer), !tokenOfName.values.contains(peer) { peers.append(peer) }
      startTimer()
    }
  }

  /// The declared motion of the peer for which a token stands, or will stand when it is run.
  public func motion(of peer: SessionToken) -> PeerMotion? {
    let listed = recording.manifest.peers
    let name = lock.withLock { tokenOfName.first { $0.value == peer }?.key }
    if let name { return listed.first { $0.id == name }?.motion ?? .stationary }
    let index = lock.withLock { peers.firstIndex(of: peer) ?? peers.count }
    return index < listed.count ? listed[index].motion : .stationary
  }

  func withRoster<Value>(_ body: (inout DeviceRoster) -> Value) -> Value {
    lock.withLock { body(&roster) }
  }
}

extension RadioMeasurement {
  init(_ row: RangingRow) {
    self.init(
      timestamp: row.timestamp, isNonLineOfSight: row.isNonLineOfSight, peerAddress: row.peer,
      signalStrength: row.rssi)
    for kind in MeasurementKind.allCases { self[kind] = row[kind] }
  }
}
