// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// The transform between two named frames, put together from the newest ones between their neighbours.
struct TransformChain {
  let parent: String
  let child: String

  private struct Link {
    var parent: String
    var transform: RigidTransform
  }

  /// The link from each frame to its parent.
  private var links: [String: Link] = [:]

  init(parent: String, child: String) {
    self.parent = Self.plain(parent)
    self.child = Self.plain(child)
  }

  /// Takes a transform.
  ///
  /// - Parameters:
  ///   - child: The frame.
  ///   - parent: The frame in which its pose is given.
  ///   - transform: The pose.
  ///   - isStatic: Whether it always holds, so that it is no news.
  /// - Returns: The pose of the one named frame in the other, if this transform is part of it.
  mutating func update(
    child: String, parent: String, _ transform: RigidTransform, isStatic: Bool
  ) -> RigidTransform? {
    let name = Self.plain(child)
    links[name] = Link(parent: Self.plain(parent), transform: transform)
    if isStatic { return nil }
    var (frame, pose, isPart) = (self.child, RigidTransform.identity, false)
    // A damaged log may hold a ring.
    for _ in 0...links.count where frame != self.parent {
      guard let link = links[frame] else { return nil }
      isPart = isPart || frame == name
      pose = link.transform * pose
      frame = link.parent
    }
    return isPart && frame == self.parent ? pose : nil
  }

  /// The frames, each with its parent, for messages.
  var frameList: String {
    let pairs = links.sorted { $0.key < $1.key }.map { "\($0.value.parent):\($0.key)" }
    return pairs.isEmpty ? "none" : pairs.prefix(12).joined(separator: ", ")
  }

  /// A frame's name without the slash that ROS 1 put before some.
  private static func plain(_ name: String) -> String {
    name.hasPrefix("/") ? String(name.dropFirst()) : name
  }
}
