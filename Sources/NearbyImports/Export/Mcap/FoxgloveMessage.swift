// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// The text of a message: one object of JSON, whose members are appended in turn.
struct FoxgloveMessage {
  private(set) var text = OutputText()
  private var needsComma = false

  /// Starts a message with its time.
  init(at time: Timestamp) {
    open()
    add("timestamp", time)
  }

  /// Starts a message without a time.
  init() { open() }

  /// The finished message.
  var finished: OutputText {
    var text = text
    text.append("}")
    return text
  }

  private mutating func open() {
    text.append("{")
    needsComma = false
  }

  private mutating func close() {
    text.append("}")
    needsComma = true
  }

  private mutating func key(_ name: StaticString) {
    if needsComma { text.append(",") }
    text.append("\"\(name)\":")
    needsComma = true
  }

  // MARK: Members

  mutating func add(_ name: StaticString, _ time: Timestamp) {
    let second: Int64 = 1_000_000_000
    let rest = (time.nanoseconds % second + second) % second
    key(name)
    text.append("{\"sec\":\((time.nanoseconds - rest) / second),\"nsec\":\(rest)}")
  }

  mutating func add(_ name: StaticString, _ value: String) {
    key(name)
    text.append(value.quotedAsJSON)
  }

  mutating func add(_ name: StaticString, _ value: Bool) {
    key(name)
    text.append(value ? "true" : "false")
  }

  mutating func add(_ name: StaticString, _ value: Int) {
    key(name)
    text.append(value)
  }

  /// Adds a number, or nothing when it is not known.
  mutating func add(_ name: StaticString, _ value: Double?) {
    guard let value, value.isFinite else { return }
    key(name)
    // What rounding leaves of a zero is one.
    text.append(value.magnitude < 1e-12 ? 0 : value, significantDigits: 10)
  }

  mutating func add(_ name: StaticString, _ vector: Vector3) {
    key(name)
    open()
    add("x", vector.x)
    add("y", vector.y)
    add("z", vector.z)
    close()
  }

  mutating func add(_ name: StaticString, _ rotation: Rotation) {
    key(name)
    open()
    add("x", rotation.x)
    add("y", rotation.y)
    add("z", rotation.z)
    add("w", rotation.w)
    close()
  }

  mutating func add(_ name: StaticString, _ pose: RigidTransform) {
    key(name)
    open()
    addMembers(of: pose)
    close()
  }

  private mutating func addMembers(of pose: RigidTransform) {
    add("position", pose.translation)
    add("orientation", pose.rotation)
  }

  mutating func add(_ name: StaticString, _ colour: FoxgloveColour) {
    key(name)
    open()
    add("r", colour.red)
    add("g", colour.green)
    add("b", colour.blue)
    add("a", colour.opacity)
    close()
  }

  /// Adds a list of objects.
  mutating func addList<Item>(
    _ name: StaticString, _ items: [Item], _ body: (inout FoxgloveMessage, Item) -> Void
  ) {
    key(name)
    text.append("[")
    for (index, item) in items.enumerated() {
      if index > 0 { text.append(",") }
      open()
      body(&self, item)
      close()
    }
    text.append("]")
    needsComma = true
  }

  private mutating func addEmptyList(_ name: StaticString) {
    addList(name, [Never]()) { _, _ in }
  }

  // MARK: Messages

  static func pose(
    _ pose: RigidTransform, in frame: String, at time: Timestamp
  ) -> FoxgloveMessage {
    var message = FoxgloveMessage(at: time)
    message.add("frame_id", frame)
    message.add("pose", pose)
    return message
  }

  static func poses(
    _ poses: [RigidTransform], in frame: String, at time: Timestamp
  ) -> FoxgloveMessage {
    var message = FoxgloveMessage(at: time)
    message.add("frame_id", frame)
    message.addList("poses", poses) { $0.addMembers(of: $1) }
    return message
  }

  static func transform(
    _ transform: RigidTransform, from parent: String, to child: String, at time: Timestamp
  ) -> FoxgloveMessage {
    var message = FoxgloveMessage(at: time)
    message.add("parent_frame_id", parent)
    message.add("child_frame_id", child)
    message.add("translation", transform.translation)
    message.add("rotation", transform.rotation)
    return message
  }

  static func log(
    _ said: String, of name: String, isWarning: Bool, at time: Timestamp
  ) -> FoxgloveMessage {
    var message = FoxgloveMessage(at: time)
    message.add("level", isWarning ? 3 : 2)
    message.add("message", said)
    message.add("name", name)
    message.add("file", "")
    message.add("line", 0)
    return message
  }

  /// An entity that replaces the one of the same name.
  static func scene(_ entity: FoxgloveEntity, at time: Timestamp) -> FoxgloveMessage {
    var message = FoxgloveMessage()
    message.addEmptyList("deletions")
    message.addList("entities", [entity]) { message, entity in
      message.add("timestamp", time)
      message.add("frame_id", entity.frame)
      message.add("id", entity.id)
      message.add("lifetime", Timestamp(nanoseconds: 0))
      message.add("frame_locked", true)
      message.addEmptyList("metadata")
      message.addEmptyList("arrows")
      message.addEmptyList("cubes")
      message.addList("spheres", entity.ellipsoids) { message, ellipsoid in
        message.add("pose", ellipsoid.pose)
        message.add("size", ellipsoid.diameters)
        message.add("color", ellipsoid.colour)
      }
      message.addEmptyList("cylinders")
      message.addEmptyList("lines")
      message.addEmptyList("triangles")
      message.addList("texts", entity.labels) { message, label in
        message.add(
          "pose", RigidTransform(rotation: .identity, translation: label.place))
        message.add("billboard", true)
        message.add("font_size", 14.0)
        message.add("scale_invariant", true)
        message.add("color", label.colour)
        message.add("text", label.text)
      }
      message.addEmptyList("models")
    }
    return message
  }

  /// The removal of an entity.
  static func removal(of id: String, at time: Timestamp) -> FoxgloveMessage {
    var message = FoxgloveMessage()
    message.addList("deletions", [id]) { message, id in
      message.add("timestamp", time)
      message.add("type", 0)
      message.add("id", id)
    }
    message.addEmptyList("entities")
    return message
  }
}

/// A colour; its parts are between 0 and 1.
struct FoxgloveColour {
  var red: Double
  var green: Double
  var blue: Double
  var opacity: Double

  /// The colour of a peer, from Okabe and Ito's palette.
  static func ofPeer(_ number: Int, opacity: Double) -> FoxgloveColour {
    let palette: [UInt32] = [
      0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9, 0xF0E442,
    ]
    let colour = palette[number % palette.count]
    func part(_ shift: UInt32) -> Double { Double(colour >> shift & 0xFF) / 255 }
    return FoxgloveColour(red: part(16), green: part(8), blue: part(0), opacity: opacity)
  }
}

/// What is drawn of a peer.
struct FoxgloveEntity {
  struct Label {
    var place: Vector3
    var text: String
    var colour: FoxgloveColour
  }

  struct Ellipsoid {
    var pose: RigidTransform
    /// Along its own axes, metres.
    var diameters: Vector3
    var colour: FoxgloveColour

    /// The ellipsoid of some standard deviations about a mean: turned by the covariance's eigenvectors.
    init(mean: Vector3, covariance: SymmetricMatrix3, sigmas: Double, colour: FoxgloveColour) {
      let axes = covariance.principalAxes
      let (first, second) = (axes[2].direction, axes[1].direction)
      // Eigenvectors have no sign, but a rotation takes a right-handed frame.
      pose = RigidTransform(
        rotation: Rotation(xAxis: first, yAxis: second, zAxis: first.cross(second)),
        translation: mean)
      func diameter(_ variance: Double) -> Double {
        max(Self.thinnest, 2 * sigmas * max(0, variance).squareRoot())
      }
      diameters = Vector3(
        diameter(axes[2].variance), diameter(axes[1].variance), diameter(axes[0].variance))
      self.colour = colour
    }

    /// A millimetre, so that the ellipsoid of a plane is seen, too.
    private static let thinnest = 1e-3
  }

  var id: String
  var frame: String
  var ellipsoids: [Ellipsoid]
  var labels: [Label]
}
