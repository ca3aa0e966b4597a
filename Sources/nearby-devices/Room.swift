// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyGeometry
import NearbyInteraction

/// A phone and the things around it, each with its own session.
final class Room: NSObject, NISessionDelegate {
  /// The state of a thing.
  private struct Thing {
    var name: String
    var session: NISession
    var other: NISession
    var object: NINearbyObject?
    var status = NIAlgorithmConvergenceStatus.unknown
    var hasPlace = false
  }

  private let world: SimulatedWorld
  private let phone: SimulatedDevice
  private let queue = DispatchQueue(label: "room")
  private var things: [Thing] = []
  private(set) var steering = Steering()

  init(count: Int, seed: UInt64) {
    var settings = SimulatedWorldSettings()
    settings.seed = seed
    world = SimulatedWorld(settings)
    phone = world.makeDevice(motion: .resting(at: Steering().pose))
    super.init()
    let places = [
      ("keys", Vector3(0.5, 1.1, -4)), ("bag", Vector3(-2, 0.6, 3)), ("bike", Vector3(3, -2, -2)),
      ("cat", Vector3(-4, 3.6, -1)),
    ]
    for index in 0..<count {
      let (name, place) = places[index % places.count]
      let round = Double(index / places.count)
      let device = world.makeDevice(
        motion: .resting(
          at: RigidTransform(standingAt: (1 + round / 2) * place, facing: Vector3(0, 1.4, 0))))
      things.append(
        Thing(
          name: round == 0 ? name : "\(name) \(Int(round) + 1)", session: NISession(on: phone),
          other: NISession(on: device)))
    }
    for thing in things {
      thing.session.delegate = self
      thing.session.delegateQueue = queue
      run(thing.session, with: thing.other, usesCamera: true)
      run(thing.other, with: thing.session, usesCamera: false)
    }
  }

  private func run(_ session: NISession, with peer: NISession, usesCamera: Bool) {
    guard let token = peer.discoveryToken else { return }
    let configuration = NINearbyPeerConfiguration(peerToken: token)
    configuration.isCameraAssistanceEnabled = usesCamera
    session.run(configuration)
  }

  func press(_ key: Character) { steering.press(key) }

  /// Advances the time.
  func advance(bySeconds step: Double) {
    steering.advance(bySeconds: step)
    phone.motion = .resting(at: steering.pose)
    world.advance(bySeconds: step)
    queue.sync {}
  }

  // MARK: What the sessions say

  func session(_ session: NISession, didUpdate nearbyObjects: [NINearbyObject]) {
    guard let index = things.firstIndex(where: { $0.session === session }),
      let object = nearbyObjects.first
    else { return }
    things[index].object = object
    things[index].hasPlace = session.worldTransform(for: object) != nil
  }

  func session(
    _ session: NISession, didUpdateAlgorithmConvergence convergence: NIAlgorithmConvergence,
    for object: NINearbyObject?
  ) {
    guard let index = things.firstIndex(where: { $0.session === session }) else { return }
    things[index].status = convergence.status
  }

  // MARK: The view

  /// One line for each thing.
  var lines: [String] {
    queue.sync { things.map(line) }
  }

  private func line(_ thing: Thing) -> String {
    let name = thing.name.padding(toLength: 8, withPad: " ", startingAt: 0)
    guard let object = thing.object, let distance = object.distance else {
      return "·  \(name)      –   out of reach"
    }
    let metres = String(format: "%5.1f m", distance)
    return
      "\(arrow(object.horizontalAngle))  \(name)\(metres)   \(floor(object))  \(coaching(thing))"
  }

  private func arrow(_ angle: Float?) -> String {
    // The angle is wrapped and must be finite, for any measured value.
    guard let angle = angle?.remainder(dividingBy: 2 * .pi), angle.isFinite else { return "?" }
    let arrows = ["↑", "↗", "→", "↘", "↓", "↙", "←", "↖"]
    let eighth = Int((angle / (.pi / 4)).rounded())
    return arrows[(eighth + 8) % 8]
  }

  private func floor(_ object: NINearbyObject) -> String {
    switch object.verticalDirectionEstimate {
    case .unknown: "          "
    case .same: "this level"
    case .above: "above     "
    case .below: "below     "
    case .aboveOrBelow: "other lvl."
    @unknown default: "          "
    }
  }

  private func coaching(_ thing: Thing) -> String {
    switch thing.status {
    case .converged: thing.hasPlace ? "found" : ""
    case .unknown: ""
    case .notConverged(let reasons): reasons.first?.localizedDescription ?? ""
    @unknown default: ""
    }
  }
}
