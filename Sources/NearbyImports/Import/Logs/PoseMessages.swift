// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// Takes the poses from the messages of a log.
struct PoseMessages {
  /// The topic that was named, or else the one on which poses were found.
  private var topic: String?
  private let isTopicNamed: Bool
  private var chain: TransformChain?
  private let frames: ImportFrames
  private var sorter = TimeSorter<PoseRow>()
  /// The poses of the newest path: each message holds all poses so far.
  private var path: [PoseRow] = []
  private var growth = CovarianceGrowth()

  init(topic: String?, transform: (parent: String, child: String)?, frames: ImportFrames) {
    self.topic = topic
    isTopicNamed = topic != nil
    chain = transform.map { TransformChain(parent: $0.parent, child: $0.child) }
    self.frames = frames
  }

  /// Whether a message may hold a pose that is wanted.
  ///
  /// - Parameter message: The message.
  /// - Returns: Whether it is to be decoded.
  /// - Throws: When there are poses on two topics and none was named.
  func wants(_ message: LogMessage) throws(RecordingError) -> Bool {
    if chain != nil { return message.plainType == "TFMessage" }
    if let topic, message.topic == topic { return true }
    guard !isTopicNamed, message.isPose else { return false }
    guard let topic else { return true }
    throw message.data.error(
      "there are poses on \(topic) and on \(message.topic),", code: .missingValue,
      remedy: "name the one to import with --pose-topic")
  }

  /// The poses that no later message can precede.
  mutating func rows(
    of value: MessageValue, _ message: LogMessage
  ) throws(RecordingError) -> [PoseRow] {
    if chain != nil { return try transforms(value, message) }
    if case .list(let elements)? = value.value(at: "poses"), message.plainType == "Path" {
      topic = message.topic
      path = []
      for element in elements {
        if let row = try row(of: element, message) { path.append(row) }
      }
      return []
    }
    guard let row = try row(of: value, message) else {
      if !isTopicNamed { return [] }
      throw message.data.error(
        "a message of \(message.topic) holds no pose,", code: .malformedField,
        remedy: "name a topic of PoseStamped, PoseWithCovarianceStamped, Odometry or Path with "
          + "--pose-topic, or two frames with --tf")
    }
    topic = message.topic
    if let covariance = value.value(at: "pose.covariance") {
      growth.add(covariance, at: row.worldFromDevice.translation, isZUp: frames.up.isAlongZ)
    }
    return sorter.add(row) ?? []
  }

  /// The remaining poses.
  mutating func finish() throws(RecordingError) -> [PoseRow] {
    sorter.finish() + path
  }

  /// The drift that the covariances of the poses amount to.
  var drift: (position: Double, yawDegrees: Double)? { growth.drift }

  /// The error of a log without the transforms that were named.
  func noTransforms(file: String) -> RecordingError {
    RecordingError(
      .noSamples, "holds no transforms between the frames of --tf", file: file,
      remedy: "there are \(chain?.frameList ?? "none")")
  }

  private mutating func transforms(
    _ value: MessageValue, _ message: LogMessage
  ) throws(RecordingError) -> [PoseRow] {
    guard case .list(let elements)? = value.value(at: "transforms") else { return [] }
    var due: [PoseRow] = []
    for element in elements {
      guard let child = element.value(at: "child_frame_id")?.name,
        let parent = element.value(at: "header.frame_id")?.name,
        let transform = try pose(
          element, "transform.translation", "transform.rotation", message)
      else { continue }
      guard
        let pose = chain?.update(
          child: child, parent: parent, transform, isStatic: message.topic.hasSuffix("_static"))
      else { continue }
      let row = PoseRow(
        timestamp: try message.time(of: element, at: ["header.stamp"], .seconds),
        worldFromDevice: frames.recordedPose(pose))
      due += sorter.add(row) ?? []
    }
    return due
  }

  /// The pose in a message; `nil` when there is none.
  private func row(
    of value: MessageValue, _ message: LogMessage
  ) throws(RecordingError) -> PoseRow? {
    let pose = value.value(at: "pose.pose") ?? value.value(at: "pose") ?? value
    guard let transform = try self.pose(pose, "position", "orientation", message) else {
      return nil
    }
    return PoseRow(
      timestamp: try message.time(of: value, at: ["header.stamp", "timestamp"], .seconds),
      worldFromDevice: frames.recordedPose(transform))
  }

  private func pose(
    _ value: MessageValue, _ position: String, _ orientation: String, _ message: LogMessage
  ) throws(RecordingError) -> RigidTransform? {
    func numbers(_ path: String, _ names: [String]) -> [Double]? {
      let numbers = names.compactMap { value.value(at: "\(path).\($0)")?.number }
      return numbers.count == names.count ? numbers : nil
    }
    guard let p = numbers(position, ["x", "y", "z"]),
      let q = numbers(orientation, ["x", "y", "z", "w"])
    else { return nil }
    guard let rotation = TrajectoryReader.rotation(q[0], q[1], q[2], q[3]) else {
      throw message.data.error("a quaternion is not of unit length,", code: .invalidRotation)
    }
    guard p.allSatisfy({ abs($0) <= TrajectoryReader.farthest }) else {
      throw message.data.error("a position is not finite or beyond 1e7 m,", code: .valueOutOfRange)
    }
    return RigidTransform(rotation: rotation, translation: Vector3(p[0], p[1], p[2]))
  }
}

extension LogMessage {
  /// The type without its package.
  var plainType: String { type.split(separator: "/").last.map(String.init) ?? "" }

  /// Whether it is of a type in which odometry reports poses.
  var isPose: Bool {
    ["PoseStamped", "Odometry"].contains(plainType)
      || encoding == .json && ["foxglove.PoseInFrame", "PoseInFrame"].contains(type)
  }

  /// The time of a message: that of a field, or else of the log.
  func time(
    of value: MessageValue, at paths: [String], _ unit: TimeUnit
  ) throws(RecordingError) -> Timestamp {
    for path in paths {
      guard let found = value.value(at: path) else { continue }
      guard let nanoseconds = found.nanoseconds(unit) else {
        throw data.error("\(path) is no moment within 4.6e9 s,", code: .malformedField)
      }
      return Timestamp(nanoseconds: nanoseconds)
    }
    guard logTime < 4_600_000_000_000_000_000 else {
      throw data.error("a message's time is beyond 4.6e9 s,", code: .valueOutOfRange)
    }
    return Timestamp(nanoseconds: Int64(logTime))
  }
}
