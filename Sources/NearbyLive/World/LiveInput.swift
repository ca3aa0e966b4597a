// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import NearbyRecordings

/// What the page asks of a simulated world.
package enum LiveInput: Hashable, Sendable {
  /// Walk along the map's axes while keys are held: -1 to 1 each, and up or down; zeros stop.
  case walk(x: Double, y: Double, up: Double, isSlow: Bool)
  /// Walk to a place of the map.
  case go(x: Double, y: Double)
  /// Put a peer somewhere.
  case movePeer(Int, x: Double, y: Double)
  /// Build a wall.
  case wall(LiveWall)
  /// Let somebody stand at a place.
  case person(LivePerson)
  /// Take away the wall or the person at a place.
  case erase(x: Double, y: Double)

  /// The largest coordinate of the map, metres.
  package static let reach = 1000.0

  /// Reads a request's body; `nil` when it is no input.
  ///
  /// - Parameter body: A JSON object, `{"do":"go","x":1,"y":2}`.
  package init?(_ body: [UInt8]) {
    guard body.count <= 4096,
      let form = try? JSONDecoder().decode(Form.self, from: Data(body)),
      let input = form.input
    else { return nil }
    self = input
  }

  private struct Form: Decodable {
    var `do`: String
    var x: Double?
    var y: Double?
    var x2: Double?
    var y2: Double?
    var up: Double?
    var slow: Bool?
    var peer: Int?

    var input: LiveInput? {
      let numbers = [x, y, x2, y2, up].map { $0 ?? 0 }
      guard let x, let y, numbers.allSatisfy({ abs($0) <= LiveInput.reach }) else { return nil }
      switch `do` {
      case "walk":
        func limited(_ value: Double) -> Double { min(max(value, -1), 1) }
        return .walk(x: limited(x), y: limited(y), up: limited(up ?? 0), isSlow: slow ?? false)
      case "go": return .go(x: x, y: y)
      case "movePeer": return peer.map { .movePeer($0, x: x, y: y) }
      case "wall":
        guard let x2, let y2 else { return nil }
        let wall = LiveWall(x, y, x2, y2)
        return wall.length >= 0.1 ? .wall(wall) : nil
      case "person": return .person(LivePerson(x: x, y: y))
      case "erase": return .erase(x: x, y: y)
      default: return nil
      }
    }
  }
}

/// Inputs on their way to the world; when nobody takes them, new ones are refused.
package final class LiveInbox: Sendable {
  private let inputs = Locked<[LiveInput]>([])
  private static let capacity = 256

  /// Makes an empty one.
  package init() {}

  /// Adds an input.
  ///
  /// - Parameter input: The input.
  /// - Returns: Whether there was room.
  package func put(_ input: LiveInput) -> Bool {
    inputs.withLock { inputs in
      // Of several wishes to walk only the newest counts.
      if case .walk = input, case .walk = inputs.last { inputs.removeLast() }
      if case .go = input, case .go = inputs.last { inputs.removeLast() }
      guard inputs.count < Self.capacity else { return false }
      inputs.append(input)
      return true
    }
  }

  /// Takes all inputs, the oldest first.
  package func takeAll() -> [LiveInput] {
    inputs.withLock { inputs in
      let all = inputs
      inputs.removeAll(keepingCapacity: true)
      return all
    }
  }
}
