// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyEnvironment
import NearbyGeometry

/// The motion that the keys control: a position, a heading, and the pending movements.
struct Steering {
  private(set) var place = Vector3(0, 1.4, 0)
  private(set) var headingRadians = 0.0
  private var speed = Vector3.zero
  private var turnRate = 0.0
  private var seconds = 0.0

  /// What the keys do, as parts that stay on one line.
  static let helpParts = [
    "w s a d, arrows: walk", "j l: turn", "r f: up, down", "x: stop", "q: quit",
  ]
  static var help: String { helpParts.joined(separator: "   ") }

  /// Handles a key, which is effective until the next one of its kind.
  mutating func press(_ key: Character) {
    switch key {
    case "w": speed = Vector3(0, 0, -1)
    case "s": speed = Vector3(0, 0, 1)
    case "a": speed = Vector3(-1, 0, 0)
    case "d": speed = Vector3(1, 0, 0)
    case "r": speed = Vector3(0, 0.5, 0)
    case "f": speed = Vector3(0, -0.5, 0)
    case "j": turnRate = 0.8
    case "l": turnRate = -0.8
    case "x": (speed, turnRate) = (.zero, 0)
    default: break
    }
  }

  mutating func advance(bySeconds step: Double) {
    seconds += step
    headingRadians += turnRate * step
    place += Rotation(angleRadians: headingRadians, about: Vector3(0, 1, 0)).act(step * speed)
  }

  /// The device's pose, with the sway of a hand.
  var pose: RigidTransform {
    let sway = Vector3(0.15 * sin(1.9 * seconds), 0.12 * sin(2.6 * seconds), 0)
    let turn = Rotation(angleRadians: headingRadians, about: Vector3(0, 1, 0))
    return RigidTransform(rotation: turn, translation: place + turn.act(sway))
  }
}
