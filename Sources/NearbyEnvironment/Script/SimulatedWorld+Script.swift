// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import NearbyFusion
internal import NearbyGeometry

/// A script while it is played: the events that are still to come.
struct ScriptPlayer {
  private var events: ArraySlice<WorldScript.Event>
  /// The time at which the script began, seconds of the world.
  private let start: Double

  init(_ script: WorldScript, at start: Double) {
    events = script.events[...]
    self.start = start
  }

  /// Removes the events that are due.
  ///
  /// - Parameter seconds: The world's time.
  /// - Returns: The events in order.
  mutating func due(at seconds: Double) -> ArraySlice<WorldScript.Event> {
    let due = events.prefix { start + $0.seconds <= seconds + 1e-9 }
    events = events.dropFirst(due.count)
    return due
  }
}

extension SimulatedWorld {
  /// Advances the time of a stepped world, and lets the main queue run meanwhile.
  ///
  /// After each tenth of a second the callbacks on the main queue have run, so that an app whose delegates are
  /// called there reacts in time. It may be awaited by a task of the main actor.
  ///
  /// - Parameter seconds: The time to advance.
  public func pass(seconds: Double) async {
    var left = seconds
    while left > 1e-9 {
      let step = min(left, 0.1)
      advance(bySeconds: step)
      left -= step
      // Twice, so that blocks that a callback enqueues run, too.
      for _ in 0..<2 {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
          DispatchQueue.main.async { done.resume() }
        }
      }
    }
  }
}
