// SPDX-License-Identifier: Apache-2.0
import CNearby
import NearbyFusion
import NearbyGeometry

// What the C interface calls the kinds of measurement: all that names each of them. The fields of its
// structures are the columns of `RangingColumn`.

extension RangingSample {
  /// A sample of the caller's; NaN is what was not measured.
  @inline(__always)
  init(_ sample: nearby_sample, of peer: PeerID, at time: Timestamp) {
    func measured(_ value: Double) -> Double? { value.isNaN ? nil : value }
    self.init(
      peer: peer, timestamp: time, distance: measured(sample.distance),
      azimuthRadians: measured(sample.azimuth), elevationRadians: measured(sample.elevation),
      heightDifference: measured(sample.height_difference),
      distanceSigma: measured(sample.distance_sigma),
      azimuthSigmaRadians: measured(sample.azimuth_sigma),
      elevationSigmaRadians: measured(sample.elevation_sigma),
      heightDifferenceSigma: measured(sample.height_difference_sigma),
      isNonLineOfSight: sample.sight == NEARBY_SIGHT_UNKNOWN
        ? nil : sample.sight == NEARBY_SIGHT_OBSTRUCTED)
  }
}

extension nearby_samples {
  /// The columns of values.
  var values: PerKind<nearby_column> {
    unsafe PerKind(
      range: distance, azimuth: azimuth, elevation: elevation, heightDifference: height_difference)
  }

  /// The columns of their standard deviations.
  var sigmas: PerKind<nearby_column> {
    unsafe PerKind(
      range: distance_sigma, azimuth: azimuth_sigma, elevation: elevation_sigma,
      heightDifference: height_difference_sigma)
  }
}

extension SampleRows {
  /// What was measured in a row.
  ///
  /// Performance: written out, as it is done for each sample.
  @inline(__always)
  func measured(_ row: Int, of id: PeerID) -> RangingSample {
    var sample = RangingSample(peer: id, timestamp: times[row])
    sample.distance = values.range.measured(row)
    sample.azimuthRadians = values.azimuth.measured(row)
    sample.elevationRadians = values.elevation.measured(row)
    sample.heightDifference = values.heightDifference.measured(row)
    sample.distanceSigma = sigmas.range.measured(row)
    sample.azimuthSigmaRadians = sigmas.azimuth.measured(row)
    sample.elevationSigmaRadians = sigmas.elevation.measured(row)
    sample.heightDifferenceSigma = sigmas.heightDifference.measured(row)
    return sample
  }
}

extension nearby_report {
  @inline(__always)
  init(_ report: SampleReport) {
    self.init(
      nanoseconds: report.timestamp.nanoseconds,
      peer: UInt32(truncatingIfNeeded: report.peer.index),
      use: nearby_use(rawValue: UInt32(report.use.number)),
      normalized_innovation_squared: report.normalizedInnovationSquared ?? .nan,
      distance: nearby_component(report.range), azimuth: nearby_component(report.azimuth),
      elevation: nearby_component(report.elevation),
      height_difference: nearby_component(report.heightDifference))
  }
}
