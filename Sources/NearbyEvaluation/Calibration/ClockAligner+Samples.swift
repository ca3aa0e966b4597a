// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry
internal import NearbyRecordings

extension ClockAligner {
  /// The offset of the radio's clock at which ranges fit a path best.
  ///
  /// - Parameters:
  ///   - path: The device's places in the odometry's world.
  ///   - samples: Samples of peers at rest.
  ///   - stated: The offset that is stated, seconds.
  /// - Returns: The offset, seconds; `nil` where it does not differ significantly from the stated one.
  static func offset(
    of path: some Sequence<(Timestamp, Vector3)>, _ samples: [StatedSample], stated: Double
  ) -> Double? {
    var aligner = ClockAligner()
    for (time, place) in path { aligner.add(time, place) }
    for sample in samples {
      guard let range = sample.values[.range]?.value else { continue }
      aligner.add(
        sample.timestamp.advanced(bySeconds: -stated), range: range, of: sample.peer)
    }
    guard let alignment = aligner.alignment(), alignment.isSignificant else { return nil }
    return stated - alignment.offset
  }
}
