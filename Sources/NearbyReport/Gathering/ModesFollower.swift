// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry
internal import NearbyRecordings

/// Follows `modes.csv` beside the rows of its result, which are in the same order.
struct ModesFollower: ~Copyable {
  private var reader: ModeTableReader
  private var next: ModeRow?
  private let frames: FrameConvention

  /// Opens the file of a result; `nil` when it has none.
  init?(result: String, _ frames: FrameConvention) throws(RecordingError) {
    guard var reader = try ModeTableReader(result: result) else { return nil }
    next = try reader.next()
    self.reader = reader
    self.frames = frames
  }

  /// The places after a row, in the engine's frames; `nil` where there is only one.
  mutating func places(of row: EstimateRow) throws(RecordingError) -> [PositionMode]? {
    var places: [PositionMode] = []
    let turn = frames.engineWorldFromWorld
    while let place = next, place.timestamp == row.timestamp, place.peer == row.peer {
      places.append(
        PositionMode(
          probability: place.weight, positionInWorld: turn.act(place.mean),
          covarianceInWorld: place.covariance.rotated(by: turn)))
      next = try reader.next()
    }
    return places.isEmpty ? nil : places
  }
}
