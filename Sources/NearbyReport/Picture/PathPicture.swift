// SPDX-License-Identifier: Apache-2.0
internal import NearbyEvaluation
internal import NearbyFusion
internal import NearbyGeometry
public import NearbyRecordings

/// The paths of the device in one run: odometry, corrected, smoothed, true.
public struct PicturePaths: Sendable {
  /// A path in the map's frame, metres.
  struct Path: Sendable {
    let kind: DevicePath.Kind
    /// Seconds since the recording's first pose.
    var times: [Double] = []
    var x: [Double] = []
    var y: [Double] = []
    var z: [Double] = []
    /// The distance to the true path; empty where the truth is not known.
    var errors: [Double] = []
  }

  /// The largest number of points of a path.
  private static let longest = 4000

  let paths: [Path]

  /// Reads the paths of a result and of its recording.
  ///
  /// The true path is turned about gravity and shifted onto the corrected one, or onto the odometry where
  /// there is none. The distances to it are those after this alignment.
  ///
  /// - Parameters:
  ///   - result: The folder that a run wrote.
  ///   - recordingFolder: The recording; the one that the summary names when `nil`.
  /// - Throws: The first fault of a path, of the summary or of the settings.
  public init(result: String, recording recordingFolder: String? = nil) throws(RecordingError) {
    let folder = ResultFolder(path: result)
    let recording = try RecordingReader(folder: folder.recording(named: recordingFolder))
    let gap = try folder.configuration().odometry.maximumPoseGap
    let all = try DevicePath.read(result: result, of: recording, longestPoseGap: gap)
    let turn = recording.manifest.frames.engineWorldFromWorld
    let truth = all.first { $0.kind == .truth }
    let start = all[0].poses.first?.timestamp ?? Timestamp(nanoseconds: 0)
    paths = all.map { device in
      var path = Path(kind: device.kind)
      var truth = PathCursor(truth?.poses ?? [], longestGap: gap)
      for row in device.thinned(to: Self.longest) {
        let place = row.worldFromDevice.translation
        let onMap = MapFrame.vector(fromEngine: turn.act(place))
        path.times.append(row.timestamp.seconds(since: start))
        path.x.append(onMap.x)
        path.y.append(onMap.y)
        path.z.append(onMap.z)
        guard device.kind != .truth else { continue }
        path.errors.append(truth.place(at: row.timestamp).map { (place - $0).length } ?? .nan)
      }
      return path
    }
  }
}

/// Interpolates the places of a path at times that never go back.
private struct PathCursor {
  private let poses: [PoseRow]
  private let longestGap: Double
  private var next = 0

  init(_ poses: [PoseRow], longestGap: Double) {
    self.poses = poses
    self.longestGap = longestGap
  }

  mutating func place(at time: Timestamp) -> Vector3? {
    while next < poses.count, poses[next].timestamp < time { next += 1 }
    guard next < poses.count else { return nil }
    let after = poses[next]
    if after.timestamp == time { return after.worldFromDevice.translation }
    guard next > 0 else { return nil }
    let before = poses[next - 1]
    let gap = after.timestamp.seconds(since: before.timestamp)
    guard gap <= longestGap else { return nil }
    return before.worldFromDevice.interpolated(
      to: after.worldFromDevice, fraction: time.seconds(since: before.timestamp) / gap
    ).translation
  }
}

extension Picture {
  /// Draws the paths from above and, beside them, their distances to the true one over time, or the view
  /// from the side where the truth is not known.
  func drawPaths(in svg: inout SVGText) {
    let paths = paths?.paths ?? []
    let above = Chart.Frame(left: 72, top: 84, width: 520, height: 420)
    drawPlan(paths, isAbove: true, in: above, &svg)
    let right = Chart.Frame(left: 680, top: 84, width: 296, height: 420)
    guard paths.contains(where: { $0.errors.contains(where: \.isFinite) }) else {
      return drawPlan(paths, isAbove: false, in: right, &svg)
    }
    let errors = paths.flatMap(\.errors)
    let chart = Chart(
      "error", frame: right, x: timeAxis,
      y: ChartAxis("error (m)", ChartAxis.range(of: errors + [0])))
    chart.draw(in: &svg, title: "distance to the true path", legend: []) { svg in
      for path in paths where !path.errors.isEmpty {
        chart.line(path.times, path.errors, colour: Self.ink(path.kind), width: 1.5, in: &svg)
      }
    }
  }

  private func drawPlan(
    _ paths: [PicturePaths.Path], isAbove: Bool, in frame: Chart.Frame, _ svg: inout SVGText
  ) {
    func ahead(_ path: PicturePaths.Path) -> [Double] { isAbove ? path.y : path.z }
    let axes = Self.equalAxes(
      paths.flatMap(\.x), paths.flatMap(ahead), in: frame,
      titles: (recording.axes[0] + " (m)", recording.axes[isAbove ? 1 : 2] + " (m)"))
    let chart = Chart(isAbove ? "above" : "side", frame: frame, x: axes.x, y: axes.y)
    let legend = paths.map { path in
      Chart.Entry(
        mark: path.kind == .truth ? .dashes : .line, colour: Self.ink(path.kind),
        text: path.kind.rawValue)
    }
    chart.draw(
      in: &svg, title: isAbove ? "from above" : "from the side", legend: isAbove ? legend : []
    ) { svg in
      for path in paths {
        chart.line(
          path.x, ahead(path), colour: Self.ink(path.kind), width: 1.5,
          dashes: path.kind == .truth ? "6 4" : "none", in: &svg)
      }
    }
  }

  private static func ink(_ kind: DevicePath.Kind) -> String {
    switch kind {
    case .raw: Ink.palette[1]
    case .corrected: Ink.palette[0]
    case .smoothed: Ink.palette[2]
    case .truth: Ink.text
    }
  }
}
