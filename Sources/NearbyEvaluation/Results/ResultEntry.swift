// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// The accumulated figures of one peer.
struct ResultEntry {
  var id: String
  var start: Timestamp
  var converged: Timestamp?
  var losses = 0
  var rows = 0
  var published: InlineArray<5, Int> = [0, 0, 0, 0, 0]
  var hasStatus = false
  var innovations = RunRecord.Sum()
  var innovationComponents = 0
  var jitter = RunRecord.Sum()
  private var wasConverged = false
  private var placedError: Vector3?

  init(id: String, start: Timestamp) {
    self.id = id
    self.start = start
  }

  mutating func note(_ row: EstimateRow, _ sample: RangingRow) {
    rows += 1
    if row.status != nil { hasStatus = true }
    let available = [
      row.hasDistance, row.hasDirection, row.hasHorizontalAngle, row.hasVerticalDirection,
      row.hasWorldTransform,
    ]
    for (index, isAvailable) in available.enumerated() where isAvailable { published[index] += 1 }
    if row.isUsedWhole, let nis = row.normalizedInnovationSquared {
      innovations.add(nis)
      innovationComponents += sample.measuredCount
    }
  }

  mutating func noteConvergence(_ isConverged: Bool, at time: Timestamp) {
    if isConverged, converged == nil { converged = time }
    if wasConverged, !isConverged { losses += 1 }
    wasConverged = isConverged
  }

  /// Adds the error of the peer's published position in the odometry's world; `nil` when none was
  /// published.
  mutating func notePlacement(_ error: Vector3?) {
    if let error, let before = placedError {
      let step = error - before
      jitter.add(step.dot(step))
    }
    placedError = error
  }
}
