// SPDX-License-Identifier: Apache-2.0

/// Why bytes are no state from which an engine can go on.
public enum SavedEngineError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The bytes do not begin as those of ``FusionEngine/saved()`` do.
  case notAnEngine
  /// The bytes have another format.
  ///
  /// - Parameters:
  ///   - found: The number of their format.
  ///   - supported: The number of the format that this version reads.
  case otherFormat(found: Int, supported: Int)
  /// Bytes are missing at the end.
  ///
  /// - Parameters:
  ///   - expected: The number of bytes that were written, or the least number if that cannot be told.
  ///   - found: The number of bytes that there are.
  case cutOff(expected: Int, found: Int)
  /// The bytes are not those that were written: their checksum differs.
  case damaged
  /// The bytes are as they were written, but an engine cannot have this state.
  ///
  /// - Parameters:
  ///   - problem: What is wrong.
  ///   - version: The version of this package that wrote them.
  case inconsistent(problem: String, version: String)

  /// What is wrong, and what to do, in one line.
  public var description: String {
    switch self {
    case .notAnEngine:
      "not the state of an engine"
    case .otherFormat(let found, let supported):
      "a state of format \(found), but version \(NearbyVersion.current) reads format \(supported): "
        + "begin with a new engine"
    case .cutOff(let expected, let found):
      "the state of an engine is cut off: \(found) of \(expected) bytes"
    case .damaged:
      "the state of an engine is damaged: its checksum differs"
    case .inconsistent(let problem, let version):
      "the state of an engine makes no sense (\(problem)); it was saved by version \(version)"
    }
  }
}
