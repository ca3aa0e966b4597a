// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
public import NearbyRecordings

/// Makes a recording from a factor graph in the PyFG format: one robot's path and its range
/// measurements.
///
/// The steps from each pose to the next are integrated to the odometry; the vertices are the truth.
/// Landmarks are stationary peers, other robots are moving ones. A measurement of a landmark's
/// position gives a distance, an azimuth and an elevation with the sigmas of its covariance.
/// The covariances of the steps give the drift, and the variances of ranges their sigmas. Priors, loop
/// closures and measurements by other robots are left out. The graph is held in memory
/// as a whole.
public struct PyfgImporter: Sendable {
  /// The file's path.
  public var path: String
  /// The letter of the robot; that of the first pose when `nil`.
  public var robot: String?
  /// The graph's frames.
  public var frames = ImportFrames(up: .z, axes: .ros)
  /// How the recording is written.
  public var options = ImportOptions()

  /// Makes an importer of a file.
  public init(path: String) { self.path = path }

  /// Reads the file and writes the recording.
  ///
  /// - Parameter output: The folder to make.
  /// - Returns: The report of the import.
  /// - Throws: The first fault, with its line.
  public func importRecording(to output: String) throws(RecordingError) -> ImportReport {
    let graph = try PyfgGraph(path: path)
    let walk = try PyfgWalk(graph, robot: robot ?? graph.firstPrefix ?? "", file: path)
    let rows = samples(graph, walk)
    var manifest = options.manifest(
      output: output, frames: frames.recorded, source: "imported from a factor graph (PyFG)")
    manifest.trajectory.isPlanar = options.isPlanar ?? graph.isPlanar
    if let drift = walk.drift(up: frames.up.isAlongZ ? Vector3(0, 0, 1) : Vector3(0, 1, 0)) {
      manifest.trajectory.positionDrift = drift.position
      manifest.trajectory.yawDriftDegrees = drift.yawDegrees
    }
    let robots = Set(rows.kept.map(\.peer)).subtracting(graph.landmarks.map(\.key.text)).sorted()
    manifest.peers =
      graph.landmarks.map { RecordingPeer(id: $0.key.text) }
      + robots.map { RecordingPeer(id: $0, motion: .moving) }
    manifest = options.stated(manifest)
    var sink = try ImportSink(
      output: output, manifest: manifest, options: options,
      columns: [.distanceSigma, .azimuthSigma, .elevationSigma])
    for row in walk.odometry { try sink.append(recorded(row), file: path) }
    for row in walk.truth { try sink.appendTruth(recorded(row), file: path) }
    for row in rows.kept { try sink.append(row, file: path) }
    let start = walk.odometry.first?.timestamp ?? Timestamp(nanoseconds: 0)
    for landmark in graph.landmarks {
      try sink.appendTruth(
        TruthPeerRow(
          timestamp: start, peer: landmark.key.text,
          positionInWorld: frames.recordedPlace(landmark.place)), file: path)
    }
    for robot in robots { try appendTruth(of: robot, graph, to: &sink) }
    for (what, count) in graph.leftOut { sink.leaveOut(what, count) }
    if rows.foreign > 0 { sink.leaveOut("measurements of other robots", rows.foreign) }
    let hasRanging = !graph.ranges.isEmpty || !graph.bearings.isEmpty
    return try sink.finish(file: path, ranging: hasRanging ? path : nil)
  }

  private func recorded(_ row: PoseRow) -> PoseRow {
    var row = row
    row.worldFromDevice = frames.recordedPose(row.worldFromDevice)
    return row
  }

  private func appendTruth(
    of robot: String, _ graph: PyfgGraph, to sink: inout ImportSink
  ) throws(RecordingError) {
    let poses = graph.poses.filter { $0.key.prefix == robot }
    for vertex in poses.values.sorted(by: { $0.time < $1.time }) {
      guard let truth = vertex.truth else { continue }
      try sink.appendTruth(
        TruthPeerRow(
          timestamp: vertex.time, peer: robot,
          positionInWorld: frames.recordedPlace(truth.translation)), file: path)
    }
  }

  /// The samples in the order of time, and how many are of other robots.
  private func samples(
    _ graph: PyfgGraph, _ walk: PyfgWalk
  ) -> (kept: [RangingRow], foreign: Int) {
    var rows: [RangingRow] = []
    var foreign = 0
    for range in graph.ranges {
      var (pose, peer) = range.keys
      if walk.times[pose] == nil { swap(&pose, &peer) }
      guard let time = walk.times[pose] else {
        foreign += 1
        continue
      }
      rows.append(
        RangingRow(
          timestamp: time, peer: graph.poses[peer] == nil ? peer.text : peer.prefix,
          distance: range.distance, distanceSigma: range.variance.squareRoot(), line: range.line))
    }
    for bearing in graph.bearings {
      guard let time = walk.times[bearing.pose] else {
        foreign += 1
        continue
      }
      rows.append(row(bearing, time, isPlanar: graph.isPlanar))
    }
    rows.sort { ($0.timestamp.nanoseconds, $0.line) < ($1.timestamp.nanoseconds, $1.line) }
    return (rows, foreign)
  }

  /// The sample for a landmark's measured position, with sigmas from its covariance.
  ///
  /// With `d` in engine axes and `h² = x² + z²`: ∂r = d / r, ∂azimuth = (-z, 0, x) / h²,
  /// ∂elevation = (-x y, h², -z y) / (r² h).
  private func row(
    _ bearing: PyfgGraph.Bearing, _ time: Timestamp, isPlanar: Bool
  ) -> RangingRow {
    let axes = frames.recorded
    // The axes of the EuRoC drone are converted to ARKit's in the same way as its poses.
    let turn = frames.recordedPose(.identity).rotation.inverse
    let toEngine = axes.engineDeviceFromDevice * (frames.axes == .euroc ? turn : .identity)
    let d = toEngine.act(bearing.place)
    let covariance = bearing.covariance.rotated(by: toEngine)
    let angles = ArrivalAngles(ofDirection: d)
    var row = RangingRow(
      timestamp: time, peer: bearing.landmark.text, distance: d.length,
      azimuthRadians: angles.azimuthRadians,
      elevationRadians: isPlanar ? nil : angles.elevationRadians, line: bearing.line)
    let horizontal = (d.x * d.x + d.z * d.z).squareRoot()
    guard d.length > 0, horizontal > 0 else { return row }
    func sigma(_ gradient: Vector3) -> Double? {
      let variance = covariance.quadraticForm(gradient)
      return variance > 0 && variance.isFinite ? variance.squareRoot() : nil
    }
    row.distanceSigma = sigma(d / d.length)
    row.azimuthSigmaRadians = sigma(Vector3(-d.z, 0, d.x) / (horizontal * horizontal))
    if !isPlanar {
      row.elevationSigmaRadians = sigma(
        Vector3(-d.x * d.y, horizontal * horizontal, -d.z * d.y) / (d.dot(d) * horizontal))
    }
    return row
  }
}

/// One robot's path through a factor graph.
struct PyfgWalk: Sendable {
  /// The integrated steps, starting at the first true pose; the truth where there are no steps.
  let odometry: [PoseRow]
  /// The true poses, where they are known.
  let truth: [PoseRow]
  /// The time of each pose.
  let times: [PyfgKey: Timestamp]
  /// The steps that were integrated, each with the pose at its start.
  private let steps: [(start: RigidTransform, step: PyfgGraph.Odometry)]

  init(_ graph: PyfgGraph, robot: String, file: String) throws(RecordingError) {
    let keys = graph.poses.keys.filter { $0.prefix == robot }.sorted { $0.number < $1.number }
    guard let first = keys.first, let start = graph.poses[first] else {
      throw RecordingError(
        .noSamples, "holds no poses of a robot \"\(robot)\"", file: file,
        remedy:
          "name one of \(Set(graph.poses.keys.map(\.prefix)).sorted().joined(separator: ", "))")
    }
    let hasSteps = keys.contains { graph.odometry[$0] != nil }
    var pose = start.truth ?? .identity
    var odometry: [PoseRow] = []
    var truth: [PoseRow] = []
    var times: [PyfgKey: Timestamp] = [:]
    var steps: [(start: RigidTransform, step: PyfgGraph.Odometry)] = []
    for (index, key) in keys.enumerated() {
      guard let vertex = graph.poses[key] else { continue }
      if index > 0 {
        if hasSteps {
          guard let step = graph.odometry[keys[index - 1]], step.to == key else {
            throw RecordingError(
              .missingValue, "there is no odometry from \(keys[index - 1].text) to \(key.text)",
              file: file, remedy: "add the edge, or cut the graph there")
          }
          steps.append((pose, step))
          pose = pose * step.fromTo
        } else {
          pose = vertex.truth ?? pose
        }
      }
      guard pose.translation.length <= TrajectoryReader.farthest else {
        throw RecordingError(
          .valueOutOfRange, "the odometry leads too far away at \(key.text)", file: file,
          remedy: "positions are metres, at most 1e7")
      }
      times[key] = vertex.time
      odometry.append(PoseRow(timestamp: vertex.time, worldFromDevice: pose))
      if let place = vertex.truth {
        truth.append(PoseRow(timestamp: vertex.time, worldFromDevice: place))
      }
    }
    self.odometry = odometry
    self.truth = truth
    self.times = times
    self.steps = steps
  }

  /// The drift that the covariances of the steps amount to, as densities of a random walk, rounded up
  /// to two digits.
  ///
  /// It is the median over the path of variance by length: a step over a pause has a large variance and
  /// hardly a length, and says nothing of the steps between.
  ///
  /// - Parameter up: The world's up axis, about which yaw turns.
  /// - Returns: `nil` without steps, without motion, or when all covariances are zero.
  func drift(up: Vector3) -> (position: Double, yawDegrees: Double)? {
    var (position, yaw) = (PathMedian(), PathMedian())
    for (start, step) in steps {
      let length = step.fromTo.translation.length
      position.add(step.positionVariance, over: length)
      let axis = (start.rotation * step.fromTo.rotation).inverse.act(up)
      yaw.add(max(step.rotation.quadraticForm(axis), 0), over: length)
    }
    guard let position = position.density, let yaw = yaw.density, position > 0 || yaw > 0 else {
      return nil
    }
    return (
      min(position.squareRoot().roundedUpToTwoDigits, 10),
      min(yaw.squareRoot().radiansAsDegrees.roundedUpToTwoDigits, 180)
    )
  }
}
