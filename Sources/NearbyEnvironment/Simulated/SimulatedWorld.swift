// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import NearbyFusion
public import NearbyGeometry
internal import NearbySimulation

/// A world of devices with radios and odometry, in this process or shared with others.
///
/// Time advances in ticks, one for each pose. A tick moves every device, and every few ticks all
/// pairs of sessions that name each other exchange once. With a stepped clock the same calls give
/// the same numbers, bit for bit, without waiting. With the machine's clock a separate thread makes
/// the ticks.
///
/// ```swift
/// let world = SimulatedWorld()
/// let phone = world.makeDevice()
/// let tag = world.makeDevice(motion: .resting(at: RigidTransform(standingAt: …, facing: …)))
/// // … sessions on both run with each other's tokens …
/// world.advance(bySeconds: 20)
/// ```
public final class SimulatedWorld: NearbyEnvironment, @unchecked Sendable {
  // Unchecked: everything that changes is read and written under `lock` only, which is never held
  // while a receiver or the link is called.

  /// The clock of a world.
  public enum Clock: Hashable, Sendable {
    /// Time passes with ``SimulatedWorld/advance(bySeconds:)``. It starts at 1000 s.
    case stepped
    /// The machine's monotonic clock, which all processes share.
    case machine
  }

  /// The settings of the world.
  public let settings: SimulatedWorldSettings
  /// The clock of a world.
  public let clock: Clock

  private let radio: SimulatedRadio
  private let speed: Double
  /// The machine's time when the world began, seconds.
  private let machineStart: Double
  /// Ticks in a second.
  private let tickRate: Double
  /// Ticks from one exchange to the next.
  private let stride: Int64
  private let lock = NSLock()
  private var tick: Int64
  private var devices: [DeviceState] = []
  /// The index of the device of each session of this process.
  private var owners: [SessionToken: Int] = [:]
  private var farewells: [(token: SessionToken, until: Int64)] = []
  /// The sessions whose end was heard of.
  private var ended: Set<SessionToken> = []
  /// The accessories that are not connected over Bluetooth.
  private var disconnected: Set<SessionToken> = []
  private var prompt: PermissionPrompt
  private var player: ScriptPlayer?
  private var anchors: SimulatedAnchors
  /// The indices of the devices in the order of their first uses.
  private var order: [Int] = []
  /// The device of all sessions that are made without one, if they share it.
  private weak var commonDevice: SimulatedDevice?
  private var remotes: [UInt64: RemoteDevice] = [:]
  private var waiting: [WorldBeacon] = []
  private var messages: [DeviceRoster.Message] = []
  private var timer: (any DispatchSourceTimer)?
  private var link: (any WorldLink)?
  /// The index of this process among those that share the world.
  private var slot = 0
  /// How many devices got their position from the settings.
  private var placed = 0
  private var farewellDice: SeededGenerator

  /// A device of this process.
  struct DeviceState {
    let number: UInt64
    let capabilities: DeviceCapabilities
    var firstTick: Int64
    /// Its motion; `nil` until it is first used, which is when it gets its position.
    var motion: SimulatedMotion?
    var odometry: SimulatedOdometry
    var truePose: RigidTransform
    var authorization = MeasurementAuthorization.allowed
    /// Whether it is no phone, and stays where it is.
    var isAccessory = false
    /// The pose of its first use.
    var firstPose = RigidTransform.identity
    /// Whether a wall stands between it and all others.
    var isBehindWall = false
    /// Whether the others are in its reach.
    var isInReach = true
    var tracking: TrackingSample?
    var roster = DeviceRoster()
    /// New followers that did not get the tracking quality yet.
    var newcomers: [DeviceRoster.Receiver] = []
    /// The true poses at the last exchanges, the oldest first.
    var history: [(exchange: Int64, pose: RigidTransform)] = []

    mutating func follow(_ receive: @escaping DeviceRoster.Receiver) -> TrajectoryFollower {
      newcomers.append(receive)
      return roster.follow(receive)
    }
  }

  /// A device of another process.
  private struct RemoteDevice {
    /// The exchanges that were received, up to ``SimulatedWorld/memory`` of them.
    var heard: [Int64] = []
  }

  /// The size of the interval of device numbers of one process.
  private static let numbersPerProcess = 1 << 20
  /// The number of exchanges that are remembered: six seconds at 10 Hz.
  private static let memory = 60
  /// The largest number of ended sessions that are remembered.
  private static let mostEnded = 1 << 16
  /// The largest number of devices of other processes, and of beacons that wait for their exchange.
  static let mostRemotes = 1024
  /// The start time of a stepped world, seconds.
  private static let steppedStart = 1000.0

  /// Makes a world without devices.
  ///
  /// - Parameters:
  ///   - settings: The settings.
  ///   - clock: The clock of a world.
  ///   - speed: How much faster than the machine's its clock is; a world of several processes has a speed of 1.
  public init(
    _ settings: SimulatedWorldSettings = SimulatedWorldSettings(), clock: Clock = .stepped,
    speed: Double = 1
  ) {
    self.settings = settings
    self.clock = clock
    self.speed = speed
    machineStart = Self.machineSeconds
    radio = SimulatedRadio(settings)
    prompt = PermissionPrompt(settings)
    anchors = SimulatedAnchors(settings)
    farewellDice = SeededGenerator(seed: settings.seed, stream: 0x6661_7265)
    let start = clock == .stepped ? Self.steppedStart : machineStart
    tickRate = settings.tickRate
    stride = settings.ticksPerExchange
    tick = Int64(start * tickRate)
  }

  deinit { timer?.cancel() }

  // MARK: Devices

  /// The capabilities of a session's default device.
  public var defaultCapabilities: DeviceCapabilities { hearing(settings.capabilities) }

  /// Capabilities with that of hearing anchors, if there are anchors.
  private func hearing(_ capabilities: DeviceCapabilities) -> DeviceCapabilities {
    settings.anchors.isEmpty ? capabilities : capabilities.union(.downlink)
  }

  /// The device of a session that is made without one.
  ///
  /// A new one, so that two sessions of one program can measure each other; or always the same one
  /// (``SimulatedWorldSettings/sharesDefaultDevice``).
  public func defaultDevice() -> any NearbyDevice {
    guard settings.sharesDefaultDevice else { return makeDevice() }
    if let device = lock.withLock({ commonDevice }) { return device }
    let device = makeDevice()
    return lock.withLock {
      if let other = commonDevice { return other }
      commonDevice = device
      return device
    }
  }

  /// Makes a device.
  ///
  /// - Parameters:
  ///   - motion: Its motion. By default it is hand-held and swept, at a position that it gets when
  ///     it is first used, opposite the previous device (``SimulatedWorldSettings``).
  ///   - capabilities: Its capabilities; those of the settings by default.
  /// - Returns: The device.
  public func makeDevice(
    motion: SimulatedMotion? = nil, capabilities: DeviceCapabilities? = nil
  ) -> SimulatedDevice {
    lock.withLock {
      let number = UInt64(slot * Self.numbersPerProcess + devices.count)
      let capabilities = hearing(capabilities ?? settings.capabilities)
      let device = SimulatedDevice(
        world: self, number: number, capabilities: capabilities, isPlacedByWorld: motion == nil)
      devices.append(
        DeviceState(
          number: number, capabilities: capabilities, firstTick: tick,
          motion: motion,
          odometry: SimulatedOdometry(settings.odometry, seed: settings.seed, device: number),
          truePose: motion?.pose(at: 0) ?? .identity, authorization: prompt.authorization))
      startTimer()
      return device
    }
  }

  /// The current time.
  public var now: Timestamp { lock.withLock { time(of: tick) } }

  func state<Value>(of device: SimulatedDevice, _ read: (DeviceState) -> Value) -> Value {
    lock.withLock { read(devices[index(of: device)]) }
  }

  func change<Value>(_ device: SimulatedDevice, _ body: (inout DeviceState) -> Value) -> Value {
    lock.withLock { body(&devices[index(of: device)]) }
  }

  /// Delivers an event to all sessions of a device and to the followers of its trajectory.
  func tell(
    _ device: SimulatedDevice, _ event: DeviceEvent,
    after body: (inout DeviceState) -> Void = { _ in }
  ) {
    let messages = lock.withLock {
      let index = index(of: device)
      body(&devices[index])
      let roster = devices[index].roster
      if case .tracking = event { return roster.toFollowers(event) }
      return roster.toFollowers(event) + roster.toSessions(event)
    }
    for message in messages { message.deliver() }
  }

  /// Gives a device its position, when it is first used.
  func place(_ device: SimulatedDevice) {
    lock.withLock {
      let index = index(of: device)
      guard !order.contains(index) else { return }
      order.append(index)
      devices[index].firstPose = devices[index].truePose
      guard devices[index].motion == nil else { return }
      // In a shared world the next slots belong to devices of other processes, so that the devices
      // of this process share one slot.
      let isAlone = link == nil
      let motion = settings.motion(
        isAlone ? slot + placed : slot, roommate: isAlone ? 0 : placed,
        beginningAt: Double(tick) / tickRate, isAccessory: devices[index].isAccessory)
      placed += 1
      devices[index].motion = motion
      devices[index].firstTick = tick
      devices[index].truePose = motion.pose(at: 0)
      devices[index].firstPose = devices[index].truePose
    }
  }

  func join(
    _ token: SessionToken, on device: SimulatedDevice, receive: @escaping DeviceRoster.Receiver
  ) {
    lock.withLock {
      let index = index(of: device)
      devices[index].roster.join(token, receive: receive)
      owners[token] = index
    }
  }

  func leave(_ token: SessionToken, on device: SimulatedDevice, tellsPeer: Bool) {
    lock.withLock {
      devices[index(of: device)].roster.leave(token)
      owners[token] = nil
      guard tellsPeer, farewellDice.uniform() >= settings.lostFarewellShare else { return }
      farewells.append((token, exchange + Int64(Self.memory)))
      // Delivered with the next tick: "some time after".
      hear(endOf: token)
    }
  }

  /// Whether the end of a session was heard of.
  func hasEnded(_ token: SessionToken) -> Bool { lock.withLock { ended.contains(token) } }

  private func hear(endOf token: SessionToken) {
    // A flood of ended sessions must not fill the memory.
    if ended.count >= Self.mostEnded { ended.removeAll() }
    ended.insert(token)
    for device in devices where !device.roster.isEmpty {
      messages += device.roster.toSessions(endOf: token)
    }
  }

  // MARK: Bluetooth

  /// Whether an accessory is connected over Bluetooth; true for one that was never heard of.
  ///
  /// - Parameter accessory: The accessory's session.
  /// - Returns: Whether it is.
  public func isConnected(_ accessory: SessionToken) -> Bool {
    lock.withLock { !disconnected.contains(accessory) }
  }

  /// Connects an accessory over Bluetooth, or disconnects it.
  ///
  /// A session that names its accessory's Bluetooth connection cannot be run without it.
  ///
  /// - Parameters:
  ///   - accessory: The accessory's session.
  ///   - isConnected: Whether it is connected.
  public func setConnected(_ accessory: SessionToken, _ isConnected: Bool) {
    lock.withLock {
      if isConnected { disconnected.remove(accessory) } else { disconnected.insert(accessory) }
    }
  }

  // MARK: Scripts

  /// Plays a script from now on.
  ///
  /// - Parameter script: The script; it replaces one that is played.
  public func play(_ script: WorldScript) {
    lock.withLock { player = ScriptPlayer(script, at: Double(tick) / tickRate) }
  }

  /// Performs an event of a script; one for a device that there is not yet is left out.
  private func perform(_ event: WorldScript.Event) {
    if case .permission(let isAllowed) = event.action {
      messages += answer(isAllowed)
      return
    }
    let index: Int? =
      switch event.subject {
      case .device(let number):
        order.filter { !devices[$0].isAccessory }.dropFirst(number).first
      case .accessory:
        order.first { devices[$0].isAccessory } ?? devices.firstIndex(where: \.isAccessory)
      }
    guard let index else { return }
    let seconds = Double(tick - devices[index].firstTick) / tickRate
    if let motion = SimulatedMotion.scripted(
      event.action, from: devices[index].truePose, first: devices[index].firstPose, at: seconds)
    {
      devices[index].motion = motion
      return
    }
    switch event.action {
    case .lifecycle(let change):
      messages += devices[index].roster.toFollowers(.lifecycle(change))
      messages += devices[index].roster.toSessions(.lifecycle(change))
    case .light(let isLight): track(index) { $0.ambientIntensityLumens = isLight ? 1000 : 10 }
    case .tracking(let tracking):
      track(index) {
        $0.quality =
          switch tracking {
          case .lost: .notAvailable
          case .limited: .limited(.insufficientFeatures)
          case .normal: .normal
          }
      }
    case .wall(let stands): devices[index].isBehindWall = stands
    case .reach(let isInReach): devices[index].isInReach = isInReach
    case .end:
      for (token, _) in devices[index].roster.ordered {
        devices[index].roster.rest(token)
        farewells.append((token, exchange + Int64(Self.memory)))
        hear(endOf: token)
      }
    case .connection(let isConnected):
      for (token, _) in devices[index].roster.ordered {
        if isConnected { disconnected.remove(token) } else { disconnected.insert(token) }
      }
    case .hold, .walk, .turn, .sweep, .permission: break
    }
  }

  private func track(_ index: Int, _ change: (inout TrackingSample) -> Void) {
    var sample =
      devices[index].tracking ?? TrackingSample(timestamp: time(of: tick), quality: .normal)
    sample.timestamp = time(of: tick)
    change(&sample)
    devices[index].tracking = sample
    messages += devices[index].roster.toFollowers(.tracking(sample))
  }

  // MARK: Permission

  /// Shows the prompt, unless the user has answered.
  func askForPermission() { lock.withLock { prompt.ask(at: tick, tickRate: tickRate) } }

  /// Answers the prompt for all devices of this process.
  ///
  /// - Parameter isAllowed: Whether the user allows measurements.
  public func answerPermissionPrompt(_ isAllowed: Bool) {
    let messages = lock.withLock { answer(isAllowed) }
    for message in messages { message.deliver() }
  }

  private func answer(_ isAllowed: Bool) -> [DeviceRoster.Message] {
    prompt.answer(isAllowed)
    return devices.indices.flatMap { index in
      devices[index].authorization = prompt.authorization
      return devices[index].roster.toSessions(.authorization(isAllowed: isAllowed))
    }
  }

  private func index(of device: SimulatedDevice) -> Int {
    Int(device.number) - slot * Self.numbersPerProcess
  }

  // MARK: Time

  /// Advances the time of a stepped world.
  ///
  /// All events are delivered before it returns.
  ///
  /// - Parameter seconds: The time to advance, rounded to a tick; ignored unless it is finite and
  ///   positive.
  public func advance(bySeconds seconds: Double) {
    for _ in 0..<max(0, Int64(exactly: (seconds * tickRate).rounded()) ?? 0) { step() }
  }

  static var machineSeconds: Double {
    Double(DispatchTime.now().uptimeNanoseconds) * 1e-9
  }

  private func time(of tick: Int64) -> Timestamp {
    Timestamp(nanoseconds: 0).advanced(bySeconds: Double(tick) / tickRate)
  }

  /// The number of the exchange to which the newest tick belongs.
  private var exchange: Int64 { tick / stride }

  private func startTimer() {
    guard clock == .machine, timer == nil else { return }
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "nearby.world"))
    timer.schedule(deadline: .now(), repeating: 1 / min(tickRate * max(1, speed), 1000))
    timer.setEventHandler { [weak self] in self?.catchUp() }
    timer.resume()
    self.timer = timer
  }

  /// Makes the ticks that are due; after a long sleep only those of the last second.
  private func catchUp() {
    let seconds = machineStart + speed * (Self.machineSeconds - machineStart)
    let due = Int64(seconds * tickRate)
    lock.withLock { tick = max(tick, due - Int64(max(1, speed) * tickRate)) }
    while lock.withLock({ tick < due }) { step() }
  }

  /// One tick: poses first, then what the radios measured, then the time.
  private func step() {
    let (messages, beacons, link) = lock.withLock {
      tick += 1
      if let isAllowed = prompt.answer(dueAt: tick) { self.messages += answer(isAllowed) }
      for event in player?.due(at: Double(tick) / tickRate) ?? [] { perform(event) }
      move()
      var beacons: [WorldBeacon] = []
      if tick % stride == 0 {
        for index in devices.indices where !devices[index].roster.isEmpty { rangeLocally(index) }
        hearAnchors()
        hearBeacons()
        farewells.removeAll { $0.until < exchange }
        if self.link != nil { beacons = devices.compactMap(beacon) }
        let time = time(of: tick)
        for device in devices { self.messages += device.roster.toSessions(.time(time)) }
      }
      defer { self.messages = [] }
      return (self.messages, beacons, self.link)
    }
    for beacon in beacons { link?.send(beacon.line) }
    for message in messages { message.deliver() }
  }

  // MARK: Under the lock

  private func move() {
    let time = time(of: tick)
    for index in devices.indices {
      // Performance: without sessions and followers the device is not observed.
      if devices[index].roster.isEmpty { continue }
      guard let motion = devices[index].motion else { continue }
      let seconds = Double(tick - devices[index].firstTick) / tickRate
      let pose = motion.pose(at: seconds)
      devices[index].truePose = pose
      if let tracking = devices[index].tracking {
        for receive in devices[index].newcomers {
          messages.append(DeviceRoster.Message(receiver: receive, event: .tracking(tracking)))
        }
      }
      devices[index].newcomers = []
      if tick % stride == 0 {
        devices[index].history.append((exchange, pose))
        if devices[index].history.count > Self.memory { devices[index].history.removeFirst() }
      }
      let reported = devices[index].odometry.report(pose)
      if devices[index].tracking?.quality == .notAvailable { continue }
      messages += devices[index].roster.toFollowers(
        .pose(DevicePose(timestamp: time, worldFromDevice: reported)))
    }
  }

  /// The sessions of one device measure those of the others in this process.
  private func rangeLocally(_ index: Int) {
    let here = devices[index]
    for (token, session) in here.roster.ordered {
      guard let peer = session.peer, let owner = owners[peer], owner != index,
        let other = devices[owner].roster.sessions[peer], other.peer == token
      else { continue }
      measure(
        session, on: here, at: (exchange, here.truePose),
        there: SimulatedRadio.End(
          number: devices[owner].number, pose: devices[owner].truePose,
          isBehindWall: devices[owner].isBehindWall, isInReach: devices[owner].isInReach),
        isExtended: other.isExtended)
    }
  }

  /// The sessions that listen hear a round of the anchors.
  private func hearAnchors() {
    guard !settings.anchors.isEmpty else { return }
    anchors.advance(seconds: Double(stride) / tickRate)
    let time = time(of: tick)
    for device in devices where device.isInReach {
      let listeners = device.roster.ordered.filter { $0.session.isListening }
      guard !listeners.isEmpty else { continue }
      let round = anchors.round(
        heardAt: device.truePose, clockRate: radio.clockRate(of: device.number),
        isBehindWall: device.isBehindWall)
      guard !round.isEmpty else { continue }
      for listener in listeners {
        messages.append(
          DeviceRoster.Message(
            receiver: listener.session.receive, event: .anchors(round, at: time)))
      }
    }
  }

  /// Processes the beacons whose exchange has been reached in this process, too.
  private func hearBeacons() {
    let due = waiting.filter { $0.exchange <= exchange }.sorted { $0.exchange < $1.exchange }
    waiting.removeAll { $0.exchange <= exchange }
    for beacon in due {
      // A beacon repeats the ends of the last seconds.
      for token in beacon.ended where !ended.contains(token) { hear(endOf: token) }
      var remote = remotes[beacon.device] ?? RemoteDevice()
      guard !remote.heard.contains(beacon.exchange), beacon.exchange > oldestExchange,
        remotes.count < Self.mostRemotes || remotes[beacon.device] != nil,
        let pose = beacon.worldFromDevice
      else { continue }
      remote.heard = remote.heard.suffix(Self.memory - 1) + [beacon.exchange]
      remotes[beacon.device] = remote
      for device in devices { hear(beacon, pose, on: device) }
    }
    // Silent devices are forgotten. Beacons of such old exchanges are ignored, so that none of them
    // is processed twice.
    let oldest = oldestExchange
    remotes = remotes.filter { $0.value.heard.contains { $0 > oldest } }
  }

  /// Beacons of exchanges up to this one are ignored.
  private var oldestExchange: Int64 { exchange - Int64(Self.memory) }

  private func hear(_ beacon: WorldBeacon, _ pose: RigidTransform, on device: DeviceState) {
    guard let here = device.history.first(where: { $0.exchange == beacon.exchange }) else { return }
    for (token, session) in device.roster.ordered {
      let isMutual = { (other: WorldBeacon.Session) in
        other.token == session.peer && other.peer == token
      }
      guard let other = beacon.sessions.first(where: isMutual) else { continue }
      measure(
        session, on: device, at: here,
        there: SimulatedRadio.End(number: beacon.device, pose: pose), isExtended: other.isExtended)
    }
  }

  private func measure(
    _ session: DeviceRoster.Session, on device: DeviceState,
    at here: (exchange: Int64, pose: RigidTransform), there: SimulatedRadio.End, isExtended: Bool
  ) {
    let measurement = radio.measure(
      exchange: here.exchange, at: time(of: here.exchange * stride),
      from: SimulatedRadio.End(
        number: device.number, pose: here.pose, isBehindWall: device.isBehindWall,
        isInReach: device.isInReach), to: there,
      measuresAngles: device.capabilities.contains(.direction),
      reachFactor: session.isExtended && isExtended ? settings.extendedReachFactor : 1)
    messages.append(
      DeviceRoster.Message(receiver: session.receive, event: .measurement(measurement)))
  }

  private func beacon(of device: DeviceState) -> WorldBeacon? {
    let sessions = device.roster.ordered.compactMap { token, session in
      session.peer.map {
        WorldBeacon.Session(token: token, peer: $0, isExtended: session.isExtended)
      }
    }
    if sessions.isEmpty, farewells.isEmpty { return nil }
    return WorldBeacon(
      device: device.number, exchange: exchange, pose: device.truePose, sessions: sessions,
      ended: farewells.map(\.token))
  }

  // MARK: Other processes

  /// Joins this world to those of other processes, before it has devices.
  ///
  /// - Parameters:
  ///   - link: The link that transports beacons.
  ///   - slot: The unique index of this process among them.
  func connect(_ link: any WorldLink, slot: Int) {
    lock.withLock {
      self.link = link
      self.slot = slot
    }
  }

  /// How many devices of other processes were received recently.
  var remoteCount: Int { lock.withLock { remotes.count } }

  /// Processes a line from another process; anything but a beacon is ignored.
  func receive(_ line: [UInt8]) {
    guard let beacon = WorldBeacon(line: line) else { return }
    lock.withLock {
      // Beacons from the future and floods of beacons are ignored. The beacon's number may be any
      // integer, so arithmetic uses only our own number.
      let memory = Int64(Self.memory)
      guard (exchange - memory...exchange + memory).contains(beacon.exchange),
        waiting.count < Self.mostRemotes
      else { return }
      waiting.append(beacon)
    }
  }
}
