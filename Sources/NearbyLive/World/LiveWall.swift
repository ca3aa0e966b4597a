// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import NearbyEnvironment
internal import NearbyGeometry

/// A wall along one of the map's axes: it delays ranges, and nobody walks through it.
package struct LiveWall: Hashable, Sendable {
  /// One end, metres.
  package var x1: Double
  /// One end, metres.
  package var y1: Double
  /// The other end, metres.
  package var x2: Double
  /// The other end, metres.
  package var y2: Double

  /// Makes a wall; the shorter of its two extents becomes zero.
  package init(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
    let isAlongX = abs(x2 - x1) >= abs(y2 - y1)
    (self.x1, self.y1) = (x1, y1)
    (self.x2, self.y2) = isAlongX ? (x2, y1) : (x1, y2)
  }

  /// Its length, metres.
  package var length: Double { hypot(x2 - x1, y2 - y1) }

  private static let thickness = 0.12
  /// Walls and people obstruct on all floors, metres.
  static let heights = (-20.0, 20.0)

  /// The wall as an obstacle of the radio, in the engine's world.
  var obstacle: SimulatedObstacle {
    let half = Self.thickness / 2
    return SimulatedObstacle(
      MapPlace.engine(fromMap: Vector3(min(x1, x2) - half, min(y1, y2) - half, Self.heights.0)),
      MapPlace.engine(fromMap: Vector3(max(x1, x2) + half, max(y1, y2) + half, Self.heights.1)))
  }

  /// Whether a step from one place to another crosses it.
  func stops(fromX: Double, fromY: Double, toX: Double, toY: Double) -> Bool {
    let margin = 0.1
    if y1 == y2 {
      return (fromY - y1) * (toY - y1) <= 0 && fromY != toY && toX > min(x1, x2) - margin
        && toX < max(x1, x2) + margin
    }
    return (fromX - x1) * (toX - x1) <= 0 && fromX != toX && toY > min(y1, y2) - margin
      && toY < max(y1, y2) + margin
  }

  /// How far a place is from it, metres.
  func distance(toX x: Double, y: Double) -> Double {
    let (nearX, nearY) = (
      min(max(x, min(x1, x2)), max(x1, x2)), min(max(y, min(y1, y2)), max(y1, y2))
    )
    return hypot(x - nearX, y - nearY)
  }
}

/// Somebody who stands in the way: a range through a body is too long by a third of a metre, and the radio
/// does not notice.
package struct LivePerson: Hashable, Sendable {
  /// Where the person stands, metres.
  package var x: Double
  /// Where the person stands, metres.
  package var y: Double

  /// Makes a person.
  package init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  /// By how much a range through a body is too long, metres.
  package static let excess = 0.35
  /// The radius of a body, metres.
  package static let radius = 0.22

  var obstacle: SimulatedObstacle {
    SimulatedObstacle(
      MapPlace.engine(fromMap: Vector3(x - Self.radius, y - Self.radius, LiveWall.heights.0)),
      MapPlace.engine(fromMap: Vector3(x + Self.radius, y + Self.radius, LiveWall.heights.1)))
  }
}
