// SPDX-License-Identifier: Apache-2.0

extension FusionEngine {
  /// The whole state as bytes, from which ``init(restoring:)`` makes an engine that goes on as this one.
  ///
  /// The state is that of the moment, with the configuration, the names of the peers and the map that it
  /// was given. The page <doc:SavingAnEngine> says when it is of use, and how large it is.
  ///
  /// - Returns: The bytes: the same ones for the same state. Cost: their number, about 30 ns each.
  public func saved() -> [UInt8] {
    do {
      return SavedEngine.wrapped(try StateWriter.bytes(of: contents))
    } catch {
      // No value of an engine's refuses to be encoded, and the writer throws nothing.
      return []
    }
  }

  /// Makes an engine that goes on where another one was saved.
  ///
  /// Whatever comes next, it gives the same reports, estimates and maps, bit for bit on the same kind of
  /// processor. Handles of peers stay what they were (``peerIDs``). The poses that follow must be in the
  /// same world of the odometry's, on the same clock; the time in between is an outage of the poses.
  ///
  /// - Parameter bytes: What ``saved()`` has given.
  /// - Throws: Why no engine can be made of them. Any bytes are safe to be tried.
  public init(restoring bytes: [UInt8]) throws(SavedEngineError) {
    let (state, version) = try SavedEngine.unwrapped(bytes)
    let contents: Contents
    do {
      contents = try StateReader.value(from: state)
    } catch {
      throw .inconsistent(problem: Self.problem(error), version: version)
    }
    if let problem = contents.inconsistency {
      throw .inconsistent(problem: problem, version: version)
    }
    self.init(contents)
  }

  private static func problem(_ error: any Error) -> String {
    switch error {
    case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
      DecodingError.keyNotFound(_, let context), DecodingError.valueNotFound(_, let context):
      context.debugDescription
    default: "\(error)"
    }
  }
}
