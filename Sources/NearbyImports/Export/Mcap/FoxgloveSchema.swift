// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// A JSON schema, as a viewer needs it to know the fields of a topic's messages.
indirect enum FoxgloveSchema: Sendable {
  case number
  case integer
  case boolean
  case string
  case list(FoxgloveSchema)
  case object(title: String, KeyValuePairs<String, FoxgloveSchema>)

  /// The schema as JSON.
  var text: String {
    switch self {
    case .number: #"{"type":"number"}"#
    case .integer: #"{"type":"integer"}"#
    case .boolean: #"{"type":"boolean"}"#
    case .string: #"{"type":"string"}"#
    case .list(let item): #"{"type":"array","items":\#(item.text)}"#
    case .object(let title, let fields):
      #"{"title":\#(title.quotedAsJSON),"type":"object","properties":{"#
        + fields.map { "\($0.key.quotedAsJSON):\($0.value.text)" }.joined(separator: ",") + "}}"
    }
  }

  /// The name of an object's type.
  var name: String {
    if case .object(let title, _) = self { return title }
    return ""
  }
}

/// The schemas that Foxglove and others know by their names.
extension FoxgloveSchema {
  private static let time = object(title: "time", ["sec": .integer, "nsec": .integer])
  private static let duration = object(title: "duration", ["sec": .integer, "nsec": .integer])
  private static let vector = object(
    title: "foxglove.Vector3", ["x": .number, "y": .number, "z": .number])
  private static let point = object(
    title: "foxglove.Point3", ["x": .number, "y": .number, "z": .number])
  private static let quaternion = object(
    title: "foxglove.Quaternion", ["x": .number, "y": .number, "z": .number, "w": .number])
  private static let pose = object(
    title: "foxglove.Pose", ["position": vector, "orientation": quaternion])
  private static let colour = object(
    title: "foxglove.Color", ["r": .number, "g": .number, "b": .number, "a": .number])

  static let poseInFrame = object(
    title: "foxglove.PoseInFrame", ["timestamp": time, "frame_id": .string, "pose": pose])
  static let posesInFrame = object(
    title: "foxglove.PosesInFrame", ["timestamp": time, "frame_id": .string, "poses": .list(pose)])
  static let frameTransform = object(
    title: "foxglove.FrameTransform",
    [
      "timestamp": time, "parent_frame_id": .string, "child_frame_id": .string,
      "translation": vector, "rotation": quaternion,
    ])
  static let log = object(
    title: "foxglove.Log",
    [
      "timestamp": time, "level": .integer, "message": .string, "name": .string, "file": .string,
      "line": .integer,
    ])
  static let sceneUpdate = object(
    title: "foxglove.SceneUpdate", ["deletions": .list(deletion), "entities": .list(entity)])

  /// The estimate of a peer after a sample as numbers, for plots over time.
  ///
  /// A field whose value is not known is left out of a message.
  static let peerNumbers = object(
    title: "nearby.PeerNumbers",
    [
      "timestamp": time, "converged": .boolean, "status": .string, "distance": .number,
      "distance_sigma": .number, "measured_distance": .number,
      "horizontal_angle_degrees": .number, "horizontal_angle_sigma_degrees": .number,
      "sigma": .number, "nis": .number, "hypotheses": .integer, "used": .string,
      "error": .number, "distance_error": .number, "horizontal_angle_error_degrees": .number,
      "nees": .number,
    ])

  private static let deletion = object(
    title: "foxglove.SceneEntityDeletion", ["timestamp": time, "type": .integer, "id": .string])
  private static let pair = object(
    title: "foxglove.KeyValuePair", ["key": .string, "value": .string])
  private static let box = object(
    title: "foxglove.CubePrimitive", ["pose": pose, "size": vector, "color": colour])
  private static let sphere = object(
    title: "foxglove.SpherePrimitive", ["pose": pose, "size": vector, "color": colour])
  private static let label = object(
    title: "foxglove.TextPrimitive",
    [
      "pose": pose, "billboard": .boolean, "font_size": .number, "scale_invariant": .boolean,
      "color": colour, "text": .string,
    ])
  private static let arrow = object(
    title: "foxglove.ArrowPrimitive",
    [
      "pose": pose, "shaft_length": .number, "shaft_diameter": .number, "head_length": .number,
      "head_diameter": .number, "color": colour,
    ])
  private static let cylinder = object(
    title: "foxglove.CylinderPrimitive",
    [
      "pose": pose, "size": vector, "bottom_scale": .number, "top_scale": .number,
      "color": colour,
    ])
  private static let line = object(
    title: "foxglove.LinePrimitive",
    [
      "type": .integer, "pose": pose, "thickness": .number, "scale_invariant": .boolean,
      "points": .list(point), "color": colour, "colors": .list(colour),
      "indices": .list(.integer),
    ])
  private static let triangles = object(
    title: "foxglove.TriangleListPrimitive",
    [
      "pose": pose, "points": .list(point), "color": colour, "colors": .list(colour),
      "indices": .list(.integer),
    ])
  private static let model = object(
    title: "foxglove.ModelPrimitive",
    [
      "pose": pose, "scale": vector, "color": colour, "override_color": .boolean, "url": .string,
      "media_type": .string, "data": .string,
    ])
  /// Only spheres and texts are written; viewers expect the other lists to be there, empty.
  private static let entity = object(
    title: "foxglove.SceneEntity",
    [
      "timestamp": time, "frame_id": .string, "id": .string, "lifetime": duration,
      "frame_locked": .boolean, "metadata": .list(pair), "arrows": .list(arrow),
      "cubes": .list(box), "spheres": .list(sphere), "cylinders": .list(cylinder),
      "lines": .list(line), "triangles": .list(triangles), "texts": .list(label),
      "models": .list(model),
    ])
}
