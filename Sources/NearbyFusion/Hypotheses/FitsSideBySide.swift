// SPDX-License-Identifier: Apache-2.0
package import CNearbyKernels

/// Fits of up to eight starts to one window, side by side: they cost less than two made one by one, or
/// as much on a processor without vectors of eight.
///
/// States, covariances (packed) and shares of honest values stand one start after the other, as long as
/// the models' states are. All that is large: it is read through spans where it is inout, and written
/// through mutable ones, since else each element costs a copy of all.
package struct FitsSideBySide {
  /// How many there may be.
  package static let capacity = Int(NEARBY_FITS)

  package var models = InlineArray<8, nearby_fit_model>(repeating: nearby_fit_model())
  /// The starts, and then the modes; what cannot be fitted stays as it was.
  package var states = InlineArray<104, Double>(repeating: 0)
  package var covariances = InlineArray<728, Double>(repeating: 0)
  package var honest = InlineArray<24, Double>(repeating: 1)
  /// Minus infinity for what could not be fitted.
  package var logEvidences = InlineArray<8, Double>(repeating: -.infinity)
  /// Not zero for what has taken an azimuth for mirrored on its way.
  package var hasFolded = InlineArray<8, Int32>(repeating: 0)

  package init() {}

  /// Fits the first so many.
  ///
  /// - Parameters:
  ///   - count: How many, at most ``capacity``.
  ///   - keyframes: The window.
  ///   - widest: By how much noise variances begin widened, as `nearby_fit` has it.
  package mutating func fit(_ count: Int, to keyframes: [nearby_keyframe], widest: Double) {
    unsafe keyframes.withUnsafeBufferPointer { keyframes in
      unsafe withUnsafeBytes(of: models) { models in
        unsafe withUnsafeMutableBytes(of: &states) { states in
          unsafe withUnsafeMutableBytes(of: &covariances) { covariances in
            unsafe withUnsafeMutableBytes(of: &honest) { honest in
              unsafe withUnsafeMutableBytes(of: &logEvidences) { logEvidences in
                unsafe withUnsafeMutableBytes(of: &hasFolded) { hasFolded in
                  unsafe nearby_fit_side_by_side(
                    keyframes.baseAddress, Int32(keyframes.count),
                    models.assumingMemoryBound(to: nearby_fit_model.self).baseAddress,
                    Int32(count), widest, states.assumingMemoryBound(to: Double.self).baseAddress,
                    covariances.assumingMemoryBound(to: Double.self).baseAddress,
                    honest.assumingMemoryBound(to: Double.self).baseAddress,
                    logEvidences.assumingMemoryBound(to: Double.self).baseAddress,
                    hasFolded.assumingMemoryBound(to: Int32.self).baseAddress)
                }
              }
            }
          }
        }
      }
    }
  }
}
