// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import NearbyEnvironment
internal import NearbyFusion
internal import NearbyGeometry
@_exported public import simd

/// The state of a session's peer at one time.
public final class NINearbyObject: NSObject, NSCopying, NSSecureCoding, Sendable {
  /// Whether the peer is above or below.
  public enum VerticalDirectionEstimate: Int, Hashable, Sendable {
    /// Not known.
    case unknown = 0
    /// On about the same level.
    case same = 1
    /// Above the device.
    case above = 2
    /// Below the device.
    case below = 3
    /// Not on the same level, but above or below is not known.
    case aboveOrBelow = 4
  }

  /// The reason why a peer was removed.
  public enum RemovalReason: Int, Hashable, Sendable {
    /// It was silent for too long.
    case timeout = 0
    /// It ended its session.
    case peerEnded = 1
  }

  /// The token with which the session was configured.
  public let discoveryToken: NIDiscoveryToken
  /// Metres; `nil` when the peer is out of reach.
  public let distance: Float?
  /// The unit vector to the peer in device axes: +x right, +y up, +z toward the user.
  public let direction: simd_float3?
  /// The peer's bearing about gravity relative to the device's heading, radians, positive to the
  /// right, (-π, π]; `nil` without camera assistance.
  public let horizontalAngle: Float?
  /// Whether the peer is above or below; unknown without camera assistance.
  public let verticalDirectionEstimate: VerticalDirectionEstimate
  /// Information beyond Apple's interface; `nil` for an object from an archive.
  let knowledge: PeerKnowledge?

  init(
    discoveryToken: NIDiscoveryToken, distance: Float? = nil, direction: simd_float3? = nil,
    horizontalAngle: Float? = nil,
    verticalDirectionEstimate: VerticalDirectionEstimate = .unknown,
    knowledge: PeerKnowledge? = nil
  ) {
    self.discoveryToken = discoveryToken
    self.distance = distance
    self.direction = direction
    self.horizontalAngle = horizontalAngle
    self.verticalDirectionEstimate = verticalDirectionEstimate
    self.knowledge = knowledge
  }

  // MARK: Archives

  private enum Key {
    static let token = "token"
    static let distance = "distance"
    static let direction = ["directionX", "directionY", "directionZ"]
    static let angle = "horizontalAngle"
    static let vertical = "vertical"
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Encodes the parts of the object that Apple's interface has.
  public func encode(with coder: NSCoder) {
    coder.encode(discoveryToken, forKey: Key.token)
    if let distance { coder.encode(distance, forKey: Key.distance) }
    if let direction {
      for axis in 0..<3 { coder.encode(direction[axis], forKey: Key.direction[axis]) }
    }
    if let horizontalAngle { coder.encode(horizontalAngle, forKey: Key.angle) }
    coder.encode(verticalDirectionEstimate.rawValue, forKey: Key.vertical)
  }

  /// Reads an object; `nil` when the archive holds none.
  public required init?(coder: NSCoder) {
    guard let token = coder.decodeObject(of: NIDiscoveryToken.self, forKey: Key.token) else {
      return nil
    }
    func number(_ key: String) -> Float? {
      coder.containsValue(forKey: key) ? coder.decodeFloat(forKey: key) : nil
    }
    discoveryToken = token
    distance = number(Key.distance)
    let axes = Key.direction.compactMap(number)
    direction = axes.count == 3 ? simd_float3(axes) : nil
    horizontalAngle = number(Key.angle)
    let vertical = coder.decodeInteger(forKey: Key.vertical)
    verticalDirectionEstimate = VerticalDirectionEstimate(rawValue: vertical) ?? .unknown
    knowledge = nil
  }

  /// The object itself, which never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether another object has the same values for the same peer.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NINearbyObject else { return false }
    return discoveryToken == other.discoveryToken && distance == other.distance
      && direction == other.direction && horizontalAngle == other.horizontalAngle
      && verticalDirectionEstimate == other.verticalDirectionEstimate
  }

  /// The same for equal objects.
  public override var hash: Int { discoveryToken.hash }

  /// The values in one line.
  public override var description: String {
    func text(_ value: Float?) -> String { value.map { "\($0)" } ?? "nil" }
    let direction = direction.map { "(\($0.x), \($0.y), \($0.z))" } ?? "nil"
    return "<NINearbyObject: \(discoveryToken.description), distance \(text(distance)), "
      + "direction \(direction), horizontalAngle \(text(horizontalAngle)), "
      + "vertical \(verticalDirectionEstimate)>"
  }
}
