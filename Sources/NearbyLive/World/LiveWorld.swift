// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyEnvironment
internal import NearbyFusion
package import NearbyGeometry
package import NearbyRecordings
internal import NearbySimulation

/// A simulated world whose phone is walked by hand: a step gives the lines that its sensors report.
///
/// Radio and odometry are those of ``SimulatedWorld``. The same scene and the same inputs at the same steps give
/// the same lines.
package struct LiveWorld {
  /// Steps per second: one for each pose.
  package static let rate = 60.0

  /// The walls, the newest last.
  package private(set) var walls: [LiveWall]
  /// Those who stand about, the newest last.
  package private(set) var people: [LivePerson] = []
  /// Changes with walls and people.
  package private(set) var version = 0
  /// The phone's place in the map, without the hand's sway.
  package private(set) var place: Vector3
  /// Seconds since the start.
  package private(set) var seconds = 0.0

  private let scene: LiveScene
  private var paths: [PeerPath]
  private var radio: SimulatedRadio
  private var odometry: SimulatedOdometry
  private var step = 0
  private var exchange: Int64 = 0
  private var nextSamples: [Double]
  private var nextTruth = 0.0

  private var heading: Double
  private var velocity = (x: 0.0, y: 0.0, up: 0.0)
  /// How far the phone has walked, metres: its phase is that of the walker's gait.
  private var walked = 0.0
  private var wish = Wish.stand

  private enum Wish {
    case stand
    case walk(x: Double, y: Double, up: Double, speed: Double, until: Double)
    case go(x: Double, y: Double, until: Double)
  }

  private static let speed = 1.3
  private static let slowSpeed = 0.4
  private static let lift = 0.6
  /// How far the phone may be raised and lowered from where it begins, metres.
  private static let heights = -1.0...0.9
  /// How long a key counts as held after the page has said so; it says so again several times within that time.
  private static let heldSeconds = 0.7
  private static let truthSpacing = 0.5
  /// So many walls and people at most.
  private static let capacity = 200

  /// Makes the world of a scene.
  package init(_ scene: LiveScene) {
    self.scene = scene
    walls = scene.walls
    place = scene.start
    heading = scene.headingDegrees.degreesAsRadians
    paths = scene.peers.map(\.path)
    odometry = SimulatedOdometry(scene.odometry, seed: scene.seed, device: 0)
    radio = Self.radio(of: scene, scene.walls)
    // Spread over the period, so that no step has all the work.
    let period = 1 / scene.radio.rate
    let count = scene.peers.count
    nextSamples = (0..<count).map { period * (0.1 + Double($0) / Double(count)) }
  }

  private static func radio(of scene: LiveScene, _ walls: [LiveWall]) -> SimulatedRadio {
    var settings = SimulatedWorldSettings()
    settings.seed = scene.seed
    settings.radio = scene.radio
    settings.odometry = scene.odometry
    settings.obstacles = walls.map(\.obstacle)
    return SimulatedRadio(settings)
  }

  // MARK: Inputs

  /// Does what the page asks.
  package mutating func apply(_ input: LiveInput) {
    switch input {
    case .walk(let x, let y, let up, let isSlow):
      wish =
        x == 0 && y == 0 && up == 0
        ? .stand
        : .walk(
          x: x, y: y, up: up, speed: isSlow ? Self.slowSpeed : Self.speed,
          until: seconds + Self.heldSeconds)
    case .go(let x, let y): wish = .go(x: x, y: y, until: seconds + 60)
    case .movePeer(let peer, let x, let y):
      guard paths.indices.contains(peer) else { return }
      let height = paths[peer].position(at: seconds).y
      paths[peer] = PeerPath(
        restingAt: MapPlace.engine(fromMap: Vector3(x, y, height)))
      nextTruth = seconds
    case .wall(let wall):
      guard walls.count < Self.capacity else { return }
      walls.append(wall)
      obstruct()
    case .person(let person):
      guard people.count < Self.capacity else { return }
      people.append(person)
      version += 1
    case .erase(let x, let y): erase(x, y)
    }
  }

  private mutating func erase(_ x: Double, _ y: Double) {
    let reach = 0.4
    if let index = people.lastIndex(where: { hypot($0.x - x, $0.y - y) < reach }) {
      people.remove(at: index)
      version += 1
    } else if let index = walls.lastIndex(where: { $0.distance(toX: x, y: y) < reach }) {
      walls.remove(at: index)
      obstruct()
    }
  }

  private mutating func obstruct() {
    radio = Self.radio(of: scene, walls)
    version += 1
  }

  // MARK: Time

  /// Advances by one step.
  ///
  /// - Returns: What the sensors report, and the truth before it.
  package mutating func advance() -> [RecordingLine] {
    if step > 0 { move(1 / Self.rate) }
    seconds = Double(step) / Self.rate
    step += 1
    let time = SimulatedRun.timestamp(at: seconds)
    let pose = pose
    var lines: [RecordingLine] = [
      .truePose(PoseRow(timestamp: time, worldFromDevice: pose)),
      .pose(PoseRow(timestamp: time, worldFromDevice: odometry.report(pose))),
    ]
    if seconds >= nextTruth {
      nextTruth = seconds + Self.truthSpacing
      for (peer, path) in zip(scene.peers, paths) {
        lines.append(
          .truePeer(
            TruthPeerRow(
              timestamp: time, peer: peer.name, positionInWorld: path.position(at: seconds))))
      }
    }
    for peer in paths.indices where seconds >= nextSamples[peer] {
      nextSamples[peer] += 1 / scene.radio.rate
      if let row = sample(of: peer, at: time, from: pose) { lines.append(.range(row)) }
    }
    return lines
  }

  private mutating func move(_ interval: Double) {
    var target = (x: 0.0, y: 0.0, up: 0.0)
    switch wish {
    case .stand: break
    case .walk(let x, let y, let up, let speed, let until):
      let length = max(1, hypot(x, y))
      target = (speed * x / length, speed * y / length, Self.lift * up)
      if seconds > until { wish = .stand }
    case .go(let x, let y, let until):
      let (dx, dy) = (x - place.x, y - place.y)
      let distance = hypot(dx, dy)
      if distance < 0.1 || seconds > until {
        wish = .stand
      } else {
        let speed = min(Self.speed, 2 * distance)
        target = (speed * dx / distance, speed * dy / distance, 0)
      }
    }
    let response = min(1, interval / 0.15)
    velocity.x += response * (target.x - velocity.x)
    velocity.y += response * (target.y - velocity.y)
    velocity.up += response * (target.up - velocity.up)
    let (dx, dy) = (velocity.x * interval, velocity.y * interval)
    // One axis after the other, so that a walker slides along a wall.
    if !isStopped(byX: dx, y: 0) { place.x += dx } else { velocity.x = 0 }
    if !isStopped(byX: 0, y: dy) { place.y += dy } else { velocity.y = 0 }
    place.z = min(
      max(place.z + velocity.up * interval, scene.start.z + Self.heights.lowerBound),
      scene.start.z + Self.heights.upperBound)
    let speed = hypot(velocity.x, velocity.y)
    walked += speed * interval
    if speed > 0.2 {
      let turn = (atan2(velocity.x, velocity.y) - heading).wrappedAngle
      heading = (heading + min(1, interval / 0.25) * turn).wrappedAngle
    }
  }

  private func isStopped(byX dx: Double, y dy: Double) -> Bool {
    let margin = 0.15
    let (toX, toY) = (
      place.x + dx + (dx == 0 ? 0 : dx < 0 ? -margin : margin),
      place.y + dy + (dy == 0 ? 0 : dy < 0 ? -margin : margin)
    )
    return walls.contains { $0.stops(fromX: place.x, fromY: place.y, toX: toX, toY: toY) }
  }

  /// The phone's true pose: held upright, with the sway of a hand and the gait of a walker.
  private var pose: RigidTransform {
    let sway = Vector3(
      0.012 * sin(2.1 * seconds) + 0.006 * sin(5.3 * seconds),
      0.010 * sin(1.7 * seconds + 1) + 0.005 * sin(6.1 * seconds),
      0.012 * sin(1.3 * seconds + 2) + 0.02 * sin(2 * .pi * walked / 0.75))
    let yaw = heading + 0.04 * sin(1.1 * seconds)
    let back = MapPlace.engine(fromMap: Vector3(-sin(yaw), -cos(yaw), 0))
    let up = Vector3(0, 1, 0)
    return RigidTransform(
      rotation: Rotation(xAxis: up.cross(back), yAxis: up, zAxis: back),
      translation: MapPlace.engine(fromMap: place + sway))
  }

  private mutating func sample(
    of peer: Int, at time: Timestamp, from pose: RigidTransform
  ) -> RangingRow? {
    exchange += 1
    let position = paths[peer].position(at: seconds)
    let measurement = radio.measure(
      exchange: exchange, at: time, from: .init(number: 0, pose: pose),
      // The peer's place is that of its antenna.
      to: .init(
        number: UInt64(peer) + 1,
        pose: RigidTransform(
          rotation: .identity, translation: position - scene.radio.antennaInDevice)),
      measuresAngles: scene.radio.measuresAngles, reachFactor: 1)
    guard !measurement.isEmpty else { return nil }
    var row = RangingRow(timestamp: time, peer: scene.peers[peer].name)
    if scene.radio.measuresRange {
      let isThroughBody = people.contains { $0.obstacle.blocks(pose.translation, position) }
      row.distance = measurement.distance.map { $0 + (isThroughBody ? LivePerson.excess : 0) }
      row.distanceSigma = measurement.distanceSigma
      row.isNonLineOfSight = measurement.isNonLineOfSight
    }
    if scene.radio.measuresAzimuth { row.azimuthRadians = measurement.azimuthRadians }
    if scene.radio.measuresElevation { row.elevationRadians = measurement.elevationRadians }
    return row.measuredCount > 0 ? row : nil
  }
}
