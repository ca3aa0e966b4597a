// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry
package import NearbyRecordings
package import NearbySimulation

/// What a simulated live run begins with: sensors, peers, walls, and where the phone stands.
///
/// Places are in the map's frame: x to the right, y ahead, z up, metres; the floor is at height 0.
package struct LiveScene: Sendable {
  /// A peer of a scene.
  package struct Peer: Sendable {
    /// What it is called.
    package var name: String
    /// Where it is, in the engine's world (y up) and seconds after the start.
    package var path: PeerPath

    /// Makes a peer.
    package init(name: String, path: PeerPath) {
      self.name = name
      self.path = path
    }
  }

  /// A step of what a scene asks its user to do.
  package struct Step: Sendable {
    /// When a step is done.
    package enum Goal: String, Sendable {
      /// The phone has walked two metres.
      case walked
      /// The first peer has at most two possible places.
      case narrowed
      /// The first peer has converged.
      case converged
      /// The phone is within 0.7 m of the first peer, and it has converged.
      case reached
    }

    /// What is to be done.
    package var text: String
    /// When it is done.
    package var goal: Goal
  }

  /// The title.
  package var title: String
  /// What the user is asked to do, step by step.
  package var steps: [Step] = []
  /// The frames and accuracies of the sensors, which a saved recording states.
  package var manifest: RecordingManifest
  /// The radio.
  package var radio: ScenarioRadio
  /// The odometry.
  package var odometry: ScenarioOdometry
  /// The peers.
  package var peers: [Peer]
  /// The walls.
  package var walls: [LiveWall] = []
  /// Where the phone begins.
  package var start = Vector3(0, 0, 1.4)
  /// Where it looks at first: degrees from the map's y towards x.
  package var headingDegrees = 0.0
  /// The seed of all random numbers.
  package var seed: UInt64 = 1

  /// Makes a scene without walls.
  package init(
    title: String, manifest: RecordingManifest, radio: ScenarioRadio, odometry: ScenarioOdometry,
    peers: [Peer]
  ) {
    self.title = title
    self.manifest = manifest
    self.radio = radio
    self.odometry = odometry
    self.peers = peers
  }

  /// Makes the scene of a scenario: its sensors and its peers, round the phone's start.
  ///
  /// The walk is the user's, and what depends on it (jumps, slips, losses of the odometry) is left out.
  ///
  /// - Parameters:
  ///   - scenario: The scenario, which is valid.
  ///   - seed: The seed, which draws the peers' places.
  ///   - manifest: The frames and accuracies of the sensors; its peers give the names.
  package init(_ scenario: Scenario, seed: UInt64, manifest: RecordingManifest) {
    let run = scenario.simulated(seed: seed, peerCount: manifest.peers.count)
    self.init(
      title: scenario.summary.isEmpty ? scenario.name : "\(scenario.name): \(scenario.summary)",
      manifest: manifest, radio: scenario.radio, odometry: scenario.odometry,
      peers: zip(manifest.peers, run.peers).map { Peer(name: $0.id, path: $1.path) })
    self.seed = seed
    if case .drawn(let motion) = run.device {
      let first = motion.pose(at: 0)
      start = MapPlace.map(fromEngine: first.translation)
      headingDegrees = MapPlace.headingDegrees(of: first.rotation)
    }
  }
}

/// Find my keys: a flat, three peers, and a phone that measures ranges only.
package enum KeysScene {
  /// The scene's name on the command line.
  package static let name = "keys"

  /// The scene's sensors: those of `find`, without angles.
  package static var scenario: Scenario {
    var scenario = Scenario(.sweepThenWalk)
    scenario.name = name
    scenario.summary = "find my keys: a flat with walls, ranges only"
    scenario.radio.measuresAngles = false
    scenario.radio.rangeBiasSigma = 0.05
    scenario.radio.reach = 0...30
    // Partition walls, through which most of the first path still comes.
    scenario.radio.rangeExcess = 0.25
    scenario.peer.count = 3
    return scenario
  }

  /// The names of the peers.
  package static let peers = ["keys", "bag", "remote"]

  /// The scene.
  ///
  /// - Parameters:
  ///   - seed: The seed of the sensors' errors.
  ///   - manifest: The frames and accuracies of the sensors.
  /// - Returns: The scene, the same for every seed but for its errors.
  package static func scene(seed: UInt64, manifest: RecordingManifest) -> LiveScene {
    let scenario = scenario
    let places = [Vector3(3.4, 4.6, 0.45), Vector3(-3.3, 2.2, 0.3), Vector3(3.2, -1.6, 0.8)]
    var scene = LiveScene(
      title: "Find my keys", manifest: manifest, radio: scenario.radio,
      odometry: scenario.odometry,
      peers: zip(peers, places).map { name, place in
        .init(name: name, path: PeerPath(restingAt: MapPlace.engine(fromMap: place)))
      })
    scene.seed = seed
    scene.start = Vector3(-1.2, -2.2, 1.35)
    scene.walls = [
      // The outside of the flat, then the wall with a door between the two rooms, then the bathroom.
      LiveWall(-4.5, -3.2, 4.5, -3.2), LiveWall(4.5, -3.2, 4.5, 5.6),
      LiveWall(4.5, 5.6, -4.5, 5.6), LiveWall(-4.5, 5.6, -4.5, -3.2),
      LiveWall(-4.5, 1.2, -0.6, 1.2), LiveWall(0.6, 1.2, 4.5, 1.2), LiveWall(-1.8, 3.2, -1.8, 5.6),
    ]
    scene.steps = [
      .init(text: "Walk: arrow keys or WASD, or hold the mouse button on the map.", goal: .walked),
      .init(
        text: "A range says how far, not where: the keys are somewhere on a ring. "
          + "Each metre that you walk leaves fewer places.", goal: .narrowed),
      .init(
        text:
          "Two places mirror each other while you walk straight or at one height: turn a corner, "
          + "and raise and lower the phone (E and Q).", goal: .converged),
      .init(text: "Go there: within reach they are found.", goal: .reached),
    ]
    return scene
  }
}
