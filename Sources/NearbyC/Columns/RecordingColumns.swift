// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// The tables of a recording as columns, in the recording's own frames.
enum RecordingColumns {
  /// `trajectory.txt` or `truth/trajectory.txt`; no rows without the file.
  static func poses(
    _ reader: consuming TrajectoryReader?
  ) throws(RecordingError) -> [ArrowColumn] {
    let rows = PoseColumns()
    while let row = try reader?.next() { rows.append(row.timestamp, row.worldFromDevice) }
    return rows.all
  }

  /// `ranging.csv`, in time order.
  static func ranging(_ reader: consuming RangingReader) throws(RecordingError) -> [ArrowColumn] {
    let times = TimeColumns()
    let peer = ArrowColumn("peer", .words)
    let measured =
      MeasurementKind.allCases.map(\.column) + MeasurementKind.allCases.map(\.sigmaColumn)
    let columns =
      measured + RangingColumn.all.filter { !measured.contains($0) && $0.unit != .flag }
    let numbers = columns.map(ArrowColumn.init)
    let obstructed = ArrowColumn("nlos", .boolean)
    while let row = try reader.next() {
      times.append(row.timestamp)
      peer.append(word: row.peer)
      for (number, column) in zip(numbers, columns) { number.append(row.values[column]) }
      obstructed.append(row.isNonLineOfSight)
    }
    return times.all + [peer] + numbers + [obstructed]
  }

  /// `tracking.csv`; no rows without the file.
  static func tracking(
    _ reader: consuming TrackingReader?
  ) throws(RecordingError) -> [ArrowColumn] {
    let rows = TrackingColumns()
    while let sample = try reader?.next()?.sample { rows.append(sample) }
    return rows.all
  }

  /// `truth/peers.csv`; no rows without the file.
  static func truePeers(
    _ reader: consuming TruthPeersReader?
  ) throws(RecordingError) -> [ArrowColumn] {
    let times = TimeColumns()
    let peer = ArrowColumn("peer", .words)
    let place = ["x", "y", "z"].map { ArrowColumn($0, .float64, unit: "m") }
    while let row = try reader?.next() {
      times.append(row.timestamp)
      peer.append(word: row.peer)
      let position = row.positionInWorld
      for (column, value) in zip(place, [position.x, position.y, position.z]) {
        column.append(value)
      }
    }
    return times.all + [peer] + place
  }
}

/// The first two columns of every table.
struct TimeColumns {
  let all = [
    ArrowColumn("timestamp", .float64, unit: "s"), ArrowColumn("time_ns", .int64, unit: "ns"),
  ]

  func append(_ time: Timestamp) {
    all[0].append(time.seconds)
    all[1].append(time.nanoseconds)
  }
}

/// The columns of poses.
struct PoseColumns {
  private let times = TimeColumns()
  private let numbers =
    ["x", "y", "z"].map { ArrowColumn($0, .float64, unit: "m") }
    + ["qx", "qy", "qz", "qw"].map { ArrowColumn($0, .float64, unit: "1") }

  var all: [ArrowColumn] { times.all + numbers }

  func append(_ time: Timestamp, _ pose: RigidTransform) {
    times.append(time)
    let (place, turn) = (pose.translation, pose.rotation)
    let values = [place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w]
    for (column, value) in zip(numbers, values) { column.append(value) }
  }
}

/// The columns of the odometry's quality.
struct TrackingColumns {
  private let times = TimeColumns()
  private let state = ArrowColumn(
    "state", .words, words: ["normal", "limited", "notAvailable"])
  private let reason = ArrowColumn(
    "reason", .words, words: TrackingSample.LimitationReason.allCases.map(\.rawValue))
  private let light = ArrowColumn("ambient_intensity", .float64, unit: "lm")

  var all: [ArrowColumn] { times.all + [state, reason, light] }

  func append(_ sample: TrackingSample) {
    times.append(sample.timestamp)
    switch sample.quality {
    case .normal:
      state.append(index: 0)
      reason.append(word: nil)
    case .limited(let why):
      state.append(index: 1)
      reason.append(word: why.rawValue)
    case .notAvailable:
      state.append(index: 2)
      reason.append(word: nil)
    }
    light.append(sample.ambientIntensityLumens)
  }
}

extension ArrowColumn {
  /// An empty column of numbers as recordings have it.
  convenience init(_ column: RangingColumn) {
    let unit: String? =
      switch column.unit {
      case .metres: "m"
      case .radians: "rad"
      case .decibelMilliwatts: "dBm"
      case .figureOfMerit, .flag: nil
      }
    self.init(column.name, .float64, unit: unit)
  }
}
