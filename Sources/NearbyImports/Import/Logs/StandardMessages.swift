// SPDX-License-Identifier: Apache-2.0

/// The message types that poses come in, for bags that do not hold definitions.
enum StandardMessages {
  /// The definition of a type, made of the standard types and of given ones.
  ///
  /// - Parameters:
  ///   - type: The type's name, `package/msg/Type`.
  ///   - others: The text of `.msg` files, by the names of their types.
  /// - Returns: `nil` when there is no such type among them.
  static func definition(of type: String, with others: [String: String]) -> String? {
    let name = type.replacing("/msg/", with: "/")
    let isStandard = text.contains("MSG: \(name)\n")
    guard isStandard || others.keys.contains(where: { $0.replacing("/msg/", with: "/") == name })
    else { return nil }
    return text + others.sorted { $0.key < $1.key }.map { "MSG: \($0.key)\n\($0.value)\n" }.joined()
  }

  private static let text = """
    MSG: std_msgs/Header
    builtin_interfaces/Time stamp
    string frame_id
    MSG: geometry_msgs/Point
    float64 x
    float64 y
    float64 z
    MSG: geometry_msgs/Vector3
    float64 x
    float64 y
    float64 z
    MSG: geometry_msgs/Quaternion
    float64 x
    float64 y
    float64 z
    float64 w
    MSG: geometry_msgs/Pose
    Point position
    Quaternion orientation
    MSG: geometry_msgs/PoseStamped
    std_msgs/Header header
    Pose pose
    MSG: geometry_msgs/PoseWithCovariance
    Pose pose
    float64[36] covariance
    MSG: geometry_msgs/PoseWithCovarianceStamped
    std_msgs/Header header
    PoseWithCovariance pose
    MSG: geometry_msgs/Twist
    Vector3 linear
    Vector3 angular
    MSG: geometry_msgs/TwistWithCovariance
    Twist twist
    float64[36] covariance
    MSG: geometry_msgs/Transform
    Vector3 translation
    Quaternion rotation
    MSG: geometry_msgs/TransformStamped
    std_msgs/Header header
    string child_frame_id
    Transform transform
    MSG: nav_msgs/Odometry
    std_msgs/Header header
    string child_frame_id
    geometry_msgs/PoseWithCovariance pose
    geometry_msgs/TwistWithCovariance twist
    MSG: nav_msgs/Path
    std_msgs/Header header
    geometry_msgs/PoseStamped[] poses
    MSG: tf2_msgs/TFMessage
    geometry_msgs/TransformStamped[] transforms
    MSG: sensor_msgs/Range
    std_msgs/Header header
    uint8 radiation_type
    float32 field_of_view
    float32 min_range
    float32 max_range
    float32 range

    """
}
