// SPDX-License-Identifier: Apache-2.0
package import NearbyEvaluation
internal import NearbyGeometry

extension TuningResult.Quantity {
  /// Its name for a person.
  package var title: String {
    switch self {
    case .rangeSigma: "range noise"
    case .rangeWhiteShare: "range white share"
    case .rangeOutliers: "range outliers"
    case .rangeBias: "range bias, spread"
    case .rangeScale: "range scale error"
    case .azimuthSigma: "azimuth noise"
    case .azimuthWhiteShare: "azimuth white share"
    case .elevationSigma: "elevation noise"
    case .elevationWhiteShare: "elevation white share"
    case .angleOutliers: "angle outliers"
    case .positionDrift: "position drift"
    case .yawDrift: "yaw drift"
    case .turnRate: "steady turn"
    case .odometryScale: "odometry's scale error"
    case .clockOffset: "radio's clock ahead by"
    case .antennaX: "antenna, right"
    case .antennaY: "antenna, up"
    case .antennaZ: "antenna, back"
    }
  }

  /// The unit in which a person reads it, with a blank before it.
  package var unit: String {
    switch self {
    case .rangeSigma, .rangeBias, .antennaX, .antennaY, .antennaZ: " m"
    case .azimuthSigma, .elevationSigma: " degrees"
    case .rangeOutliers, .angleOutliers, .rangeScale, .odometryScale: " %"
    case .positionDrift: " m/√m"
    case .yawDrift: " degrees/√m"
    case .turnRate: " degrees/s"
    case .clockOffset: " s"
    case .rangeWhiteShare, .azimuthWhiteShare, .elevationWhiteShare: ""
    }
  }

  /// The factor to that unit.
  package var factor: Double {
    switch self {
    case .azimuthSigma, .elevationSigma, .yawDrift, .turnRate: 1.0.radiansAsDegrees
    case .rangeOutliers, .angleOutliers, .rangeScale, .odometryScale: 100
    default: 1
    }
  }
}
