// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import simd

/// A pose in the world to which an app attaches virtual content.
///
/// A session never changes an anchor. Where its world moves, it makes new ones with the same
/// identifiers by ``init(anchor:)``.
open class ARAnchor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Unchecked because the class is open; its own properties are set before an anchor is shared.

  /// The anchor's name among all anchors.
  public let identifier: UUID
  /// A name that the app chose.
  public let name: String?
  /// The session to which the anchor was added, if any.
  public internal(set) final var sessionIdentifier: UUID?
  /// Anchor axes to the world, metres.
  public internal(set) final var transform: simd_float4x4

  /// Makes an anchor.
  public init(transform: simd_float4x4) {
    identifier = UUID()
    name = nil
    self.transform = transform
  }

  /// Makes an anchor with a name.
  public init(name: String, transform: simd_float4x4) {
    identifier = UUID()
    self.name = name
    self.transform = transform
  }

  /// Makes a copy of an anchor, as a session does; a subclass copies its own properties.
  public required init(anchor: ARAnchor) {
    identifier = anchor.identifier
    name = anchor.name
    sessionIdentifier = anchor.sessionIdentifier
    transform = anchor.transform
  }

  private enum Key {
    static let identifier = "identifier"
    static let name = "name"
    static let transform = "transform"
  }

  /// Always true.
  open class var supportsSecureCoding: Bool { true }

  /// Writes the anchor, without its session.
  open func encode(with coder: NSCoder) {
    coder.encode(identifier.uuidString as NSString, forKey: Key.identifier)
    if let name { coder.encode(name as NSString, forKey: Key.name) }
    let numbers = (0..<16).map { transform[$0 / 4][$0 % 4].bitPattern }
    coder.encode(
      numbers.map { String($0, radix: 16) }.joined(separator: " ") as NSString,
      forKey: Key.transform)
  }

  /// Reads an anchor; `nil` when the archive holds none.
  public required init?(coder: NSCoder) {
    func text(_ key: String) -> String? {
      // A key that is missing would be an error of the whole archive.
      guard coder.containsValue(forKey: key) else { return nil }
      return coder.decodeObject(of: NSString.self, forKey: key).map { String(describing: $0) }
    }
    let numbers = (text(Key.transform) ?? "").split(separator: " ")
      .compactMap { UInt32($0, radix: 16).map(Float.init(bitPattern:)) }
    guard let identifier = text(Key.identifier).flatMap(UUID.init(uuidString:)), numbers.count == 16
    else { return nil }
    self.identifier = identifier
    name = text(Key.name)
    transform = simd_float4x4(
      (0..<4).map { column in simd_float4((0..<4).map { numbers[4 * column + $0] }) })
  }

  /// The anchor itself, which never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// An anchor that the odometry may follow.
public protocol ARTrackable {
  /// Whether it is followed now.
  var isTracked: Bool { get }
}

/// Another user in a shared world.
///
/// No world is ever shared here.
public final class ARParticipantAnchor: ARAnchor, @unchecked Sendable {
  // Unchecked because there are no instances.

  /// Makes a copy.
  public required init(anchor: ARAnchor) { super.init(anchor: anchor) }

  /// Always `nil`, since there are no instances.
  public required init?(coder: NSCoder) { nil }
}
