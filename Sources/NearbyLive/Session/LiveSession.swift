// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry
package import NearbyRecordings
internal import NearbyReport

/// A live run with what a page shows of it.
///
/// Lines go in, of a file, a pipe or a ``LiveWorld``; ``state()`` tells how things stand, as JSON.
///
/// Performance: noncopyable, since copying the state of all peers takes longer than processing a line.
package struct LiveSession: ~Copyable {
  /// How the engine is set up.
  package struct Options: Sendable {
    /// The names of the peers to be located; all when empty.
    package var selection: Set<String> = []
    /// The path of the settings, if there are any.
    package var configurationPath: String?
    /// What errors call the input.
    package var inputName = "-"

    /// Makes the default choices.
    package init() {}
  }

  /// What a page shows besides the state.
  package struct Setting: Sendable {
    /// The title of the page.
    package var title = "nearby live"
    /// What the user is asked to do.
    package var steps: [LiveScene.Step] = []
    /// Whether a world is simulated, in which one can walk.
    package var isWorld = false
    /// The walls.
    package var walls: [LiveWall] = []
    /// Those who stand about.
    package var people: [LivePerson] = []
    /// Whether the input has ended.
    package var hasEnded = false

    /// Makes the setting of lines that come from elsewhere.
    package init() {}
  }

  /// What came in, for saving.
  package private(set) var log: LiveLog
  /// What a page shows besides; a change makes it be sent again.
  package var setting = Setting() {
    didSet { version += 1 }
  }
  /// Changes with all that ``setup()`` holds.
  package private(set) var version = 1

  private let options: Options
  private var manifest: RecordingManifest
  /// Made with the first valid line, since a manifest must be the first line.
  private var run: LiveRun?
  private var newestPose: DevicePose?
  private var newestTruth: DevicePose?
  private var begin: Timestamp?
  /// From the odometry's world to that of the truth; the identity while no true pose has come.
  private var shownFromWorld = RigidTransform.identity
  private var hasTruth = false
  private var peers: [Peer] = []
  private var number = 0

  /// The name, the truth and the latest range of a peer, which the engine does not keep.
  private struct Peer {
    var name: String
    var newestRange: Double?
    var isObstructed = false
    var truth: Vector3?
  }

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - manifest: The frames and accuracies of the sensors, unless a line states them.
  ///   - options: How the engine is set up.
  package init(
    manifest: RecordingManifest = RecordingManifest(name: "live"), _ options: Options = Options()
  ) {
    self.manifest = manifest
    self.options = options
    log = LiveLog(manifest: manifest)
  }

  // MARK: Lines

  /// Processes a line.
  ///
  /// - Parameters:
  ///   - line: The line.
  ///   - number: Its number in the input.
  /// - Throws: ``RecordingError`` of the line or of the settings' file, ``FusionConfigurationError`` of the
  ///   settings.
  package mutating func add(_ line: RecordingLine, at number: Int = 0) throws {
    if case .manifest(let found) = line { manifest = found }
    if run == nil { run = try start() }
    switch line {
    case .manifest: break
    case .tracking(let row): run?.add(row)
    case .truePose(let row):
      newestTruth = row.devicePose(from: manifest.frames)
      alignWithTruth()
    case .truePeer(let row):
      if let index = peers.firstIndex(where: { $0.name == row.peer }) {
        peers[index].truth = row.positionInEngineWorld(from: manifest.frames)
      }
    case .pose(let row):
      if run?.add(row) == .rejectedNotLater {
        throw RecordingError(
          .timeWentBack, "the pose is not after the pose before it", file: options.inputName,
          line: number, remedy: "send poses in the order of time")
      }
      newestPose = row.devicePose(from: manifest.frames)
      if begin == nil { begin = row.timestamp }
      alignWithTruth()
    case .range(let row):
      _ = run?.add(row)
      takeNamesOfPeers()
      if let index = peers.firstIndex(where: { $0.name == row.peer }) {
        peers[index].newestRange = row.distance
        peers[index].isObstructed = row.isNonLineOfSight ?? false
      }
    }
    log.add(line)
  }

  /// The time of the newest pose, seconds since the first.
  package var seconds: Double? {
    guard let begin, let newestPose else { return nil }
    return newestPose.timestamp.seconds(since: begin)
  }

  private mutating func start() throws -> LiveRun {
    var configuration = manifest.fusionConfiguration()
    if let path = options.configurationPath {
      configuration = try ConfigurationFile.read(path: path, over: configuration)
    }
    log.manifest = manifest
    let run = try LiveRun(
      manifest: manifest, configuration: configuration, selection: options.selection)
    peers = run.peers.map { Peer(name: $0) }
    version += 1
    return run
  }

  private mutating func takeNamesOfPeers() {
    guard let count = run?.peers.count, count > peers.count else { return }
    for index in peers.count..<count { peers.append(Peer(name: run?.peers[index] ?? "")) }
    version += 1
  }

  /// Shows all in the world of the truth, if the newest pose has a true one.
  private mutating func alignWithTruth() {
    guard let pose = newestPose, let truth = newestTruth,
      abs(truth.timestamp.seconds(since: pose.timestamp)) < 0.002
    else { return }
    shownFromWorld = truth.worldFromDevice * pose.worldFromDevice.inverse
    hasTruth = true
  }

  // MARK: JSON

  /// What changes seldom, as JSON: `{"version", "title", "isWorld", "hasEnded", "steps", "peers", "walls",
  /// "people"}`.
  package func setup() -> [UInt8] {
    var json = JSONText()
    json.object { json in
      json.member("version", Double(version))
      json.member("engine", NearbyVersion.current)
      json.member("title", setting.title)
      json.member("isWorld", setting.isWorld)
      json.member("hasEnded", setting.hasEnded)
      json.array("steps", setting.steps) { json, step in
        json.object { json in
          json.member("text", step.text)
          json.member("goal", step.goal.rawValue)
        }
      }
      json.array("peers", peers) { $0.value($1.name) }
      json.array("walls", setting.walls) { json, wall in
        json.array([wall.x1, wall.y1, wall.x2, wall.y2]) { $0.value($1, decimals: 3) }
      }
      json.array("people", setting.people) { json, person in
        json.array([person.x, person.y]) { $0.value($1, decimals: 3) }
      }
    }
    return json.text.bytes
  }

  /// How things stand at the newest pose, as JSON; `nil` before the first.
  ///
  /// Keys: `n` number of the state, `v` version of the setup, `t` seconds since the first pose, `d` the device's x, y,
  /// z and heading in degrees, `p` an object for each peer: `s` status, `r` reasons, `say` what to do, `m` mean, `c`
  /// covariance, `o` modes (weight, mean, covariance), `d` and `ds` distance and its sigma, `a` horizontal angle in
  /// radians, `h` vertical direction, `w` total sigma and `q` what convergence needs, `x` the newest range, `b`
  /// whether it was obstructed, `k` the true place. Lengths are in metres, places in the map's frame.
  package mutating func state() -> [UInt8]? {
    guard let newestPose, let seconds, run != nil else { return nil }
    number += 1
    var json = JSONText()
    json.object { json in
      json.member("n", Double(number))
      json.member("v", Double(version))
      json.member("t", seconds, decimals: 3)
      let shown = shownFromWorld * newestPose.worldFromDevice
      let place = MapFrame.vector(fromEngine: shown.translation)
      json.array(
        "d", [place.x, place.y, place.z, MapPlace.headingDegrees(of: shown.rotation)]
      ) { $0.value($1, decimals: 3) }
      json.array("p", peers.indices) { json, index in
        let (name, time) = (peers[index].name, newestPose.timestamp)
        guard let estimate = run?.estimate(of: name, at: time) else { return }
        let modes = estimate.hypothesisCount > 1 ? run?.modes(of: name, at: time) ?? [] : []
        write(peers[index], estimate, modes, at: newestPose, to: &json)
      }
    }
    return json.text.bytes
  }

  private func write(
    _ peer: Peer, _ estimate: PeerEstimate, _ modes: [PositionMode], at pose: DevicePose,
    to json: inout JSONText
  ) {
    let coach = LiveCoach(
      name: peer.name, estimate: estimate, spots: LiveSpots.spots(modes),
      isObstructed: peer.isObstructed, device: pose.worldFromDevice)
    json.object { json in
      json.member("s", ConvergenceStatus(estimate.convergence).rawValue)
      if case .notConverged(let reasons) = estimate.convergence {
        json.array("r", reasons.names) { $0.value($1) }
      }
      json.member("say", coach.sentence)
      if let mean = estimate.positionInWorld {
        json.array("m", numbers(of: mean)) { $0.value($1, decimals: 3) }
        json.array("c", numbers(of: estimate.covarianceInWorld)) { $0.value($1, decimals: 5) }
      }
      if modes.count > 1 {
        json.member("spots", Double(coach.spots.count))
        json.array("o", modes.prefix(Self.mostModes)) { json, place in
          json.object { json in
            json.member("w", place.probability, decimals: 3)
            json.array("m", numbers(of: place.positionInWorld)) { $0.value($1, decimals: 2) }
            json.array("c", numbers(of: place.covarianceInWorld)) { $0.value($1, decimals: 3) }
          }
        }
      }
      json.member("d", estimate.distance.value, decimals: 3)
      json.member("ds", estimate.distance.sigma, decimals: 3)
      json.member("a", estimate.horizontalAngleRadians.value, decimals: 3)
      json.member("h", estimate.verticalDirection.rawValue)
      json.member("w", estimate.progress.totalSigma, decimals: 3)
      json.member("q", estimate.progress.requiredSigma, decimals: 3)
      json.member("x", peer.newestRange, decimals: 3)
      json.member("b", peer.isObstructed)
      if hasTruth, let truth = peer.truth {
        let place = MapFrame.vector(fromEngine: truth)
        json.array("k", [place.x, place.y, place.z]) { $0.value($1, decimals: 3) }
      }
    }
  }

  /// The largest number of modes of a peer that are drawn.
  private static let mostModes = 48

  private func numbers(of place: Vector3) -> [Double] {
    let place = MapFrame.vector(fromEngine: shownFromWorld.act(place))
    return [place.x, place.y, place.z]
  }

  private func numbers(of covariance: SymmetricMatrix3) -> [Double] {
    let p = MapFrame.covariance(fromEngine: covariance.rotated(by: shownFromWorld.rotation))
    return [p.xx, p.xy, p.xz, p.yy, p.yz, p.zz]
  }
}
