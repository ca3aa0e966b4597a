// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// A peer as one engine knows it: a small number, handed out by ``FusionEngine/addPeer(_:named:)``.
///
/// Names, tokens and radio addresses stay with the caller. The handle of one engine is refused by another
/// (``ComponentReport/Rejection/unknownPeer``), but by none of its copies. Handles are equal if their numbers are, so
/// that two runs of the same recording give equal results.
@frozen
public struct PeerID: Sendable {
  /// The peer's place in the order in which peers were added, from zero.
  public let index: Int
  /// The mark of the engine that handed it out; zero for one that any engine takes.
  @usableFromInline package let mark: UInt32

  @inlinable
  package init(index: Int, mark: UInt32) { (self.index, self.mark) = (index, mark) }

  /// Makes a handle that every engine takes for that of its peer with this number, for previews and test doubles.
  ///
  /// - Parameter index: The number.
  @inlinable
  public init(index: Int) { self.init(index: index, mark: 0) }
}

extension PeerID: Hashable {
  /// Whether the numbers are equal.
  @inlinable
  public static func == (one: PeerID, other: PeerID) -> Bool { one.index == other.index }

  /// Hashes the number.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(index) }
}

extension PeerID: CustomStringConvertible {
  /// The number.
  public var description: String { "PeerID(\(index))" }
}

extension PeerID: Codable {
  /// Reads the number alone; every engine takes the handle.
  ///
  /// - Parameter decoder: Where it is read from.
  /// - Throws: What the decoder throws.
  public init(from decoder: any Decoder) throws {
    self.init(index: try decoder.singleValueContainer().decode(Int.self))
  }

  /// Writes the number alone.
  ///
  /// - Parameter encoder: Where it is written to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(index)
  }
}

/// Tells the handles of one engine from those of another.
enum EngineMark {
  private static let count = Atomic<UInt32>(0)

  /// A mark that no other engine of the process has, unless there are four thousand million.
  static func next() -> UInt32 {
    let mark = count.wrappingAdd(1, ordering: .relaxed).newValue
    return mark == 0 ? next() : mark
  }
}

/// How a peer may move.
public enum PeerMotion: String, Sendable, Codable, CaseIterable {
  /// It rests. Its place in the odometry's world changes only as that world drifts.
  case stationary
  /// It moves, as ``MotionConfiguration`` says.
  case moving
  /// It may rest or move, and change between the two: the engine finds out.
  case unknown
}
