// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels

/// The shares of the densities of faults, as the kernels have them.
extension FaultModel {
  /// Of a range's fault that begins: too long by an exponential excess, or anything within
  /// ``rangeReach`` mean excesses.
  static var rangeExcessShare: Double { nearby_faults.range_excess }
  static var rangeAnythingShare: Double { nearby_faults.range_anything }
  static var rangeReach: Double { nearby_faults.range_reach }
  /// Of a range's fault that lasts: it repeats its excess, or is drawn anew.
  static var rangeRepeatedShare: Double { nearby_faults.range_repeated }
  static var rangeRedrawnShare: Double { nearby_faults.range_redrawn }
  /// Of an azimuth's fault that begins: mirrored front to back, or anything.
  static var angleMirroredShare: Double { nearby_faults.angle_mirrored }
  static var angleAnythingShare: Double { nearby_faults.angle_anything }
  /// Of a lasting fault of an angle or of a height difference: it sticks at its value, or is drawn anew.
  static var stuckShare: Double { nearby_faults.stuck }
  static var redrawnShare: Double { nearby_faults.redrawn }
  /// A faulty height difference is anything within these metres.
  static var heightReach: Double { nearby_faults.height_reach }
}
