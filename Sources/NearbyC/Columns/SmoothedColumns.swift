// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbySmoothing

/// The columns of `smoothed.csv`, and the time in nanoseconds beside that in seconds.
struct SmoothedColumns {
  private let frames: FrameConvention
  private let timestamp = ArrowColumn("timestamp", .float64, unit: "s")
  private let nanoseconds = ArrowColumn("time_ns", .int64, unit: "ns")
  private let peer: ArrowColumn
  private let mean = VectorColumns("mean", unit: "m")
  private let covariance = CovarianceColumns()
  private let distance = ArrowColumn("distance", .float64, unit: "m")
  private let direction = VectorColumns("direction", unit: "1")
  private let horizontalAngle = ArrowColumn("horizontal_angle", .float64, unit: "rad")
  private let modeProbability = ArrowColumn("mode_probability", .float64, unit: "1")

  /// Columns for peers of these names.
  init(peers: [String], frames: FrameConvention) {
    self.frames = frames
    peer = ArrowColumn("peer", .words, words: peers)
  }

  /// All columns, in the file's order.
  var all: [ArrowColumn] {
    [timestamp, nanoseconds, peer] + mean.all + covariance.all + [distance] + direction.all
      + [horizontalAngle, modeProbability]
  }

  /// Appends the estimate at a sample; `nil` when none of the peer's samples could be used.
  func append(
    _ time: Timestamp, peer index: Int, _ position: SmoothedPosition?, probability: Double?
  ) {
    timestamp.append(time.seconds)
    nanoseconds.append(time.nanoseconds)
    peer.append(index: index)
    mean.append(position.map { frames.worldVector(fromEngine: $0.positionInWorld) })
    covariance.append(position.map { frames.worldCovariance(fromEngine: $0.covarianceInWorld) })
    let fromDevice = position.flatMap { position in
      position.worldFromDevice.map { $0.inverse.act(position.positionInWorld) }
    }
    distance.append(fromDevice?.length)
    let unit = fromDevice.flatMap { $0.length > 0 ? $0.normalized : nil }
    direction.append(unit.map(frames.deviceVector(fromEngine:)))
    horizontalAngle.append(unit == nil ? nil : position?.horizontalAngleRadians)
    modeProbability.append(position == nil ? nil : probability)
  }
}
