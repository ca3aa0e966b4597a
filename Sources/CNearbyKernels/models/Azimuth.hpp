// SPDX-License-Identifier: Apache-2.0
//
// The azimuth model: equation, Jacobian, second-order terms and singular set.

#pragma once

#include "Linearized.hpp"

namespace nearby {

template <class T>
struct AzimuthModel;

template <>
struct Kind<NEARBY_AZIMUTH> {
  template <class T>
  using Model = AzimuthModel<T>;
  static constexpr bool is_angle = true, is_linear = false;
  static constexpr bool has_bias = true;
  static constexpr int bias = NEARBY_STATE_AZIMUTH_BIAS;
  static constexpr int wander = NEARBY_STATE_AZIMUTH_WANDER;
  static NEARBY_INLINE double correlation(const nearby_error_step &step) { return step.azimuth; }
  static NEARBY_INLINE double added_variance(const nearby_error_step &step) {
    return step.azimuth_added;
  }
};

/// z = atan2(δ.x, -δ.z) + b + a.
///
/// Gradient (-δ.z, 0, δ.x)/ρ² on δ, with ρ² = δ.x² + δ.z²; 1 on the azimuth's bias b and
/// wander a.
/// Singular on the device's vertical axis, ρ = 0; the value wraps at straight behind.
template <class T>
struct AzimuthModel {
  using Errors = Kind<NEARBY_AZIMUTH>;

  template <bool curved, class H, class From>
  static NEARBY_INLINE Linearized<T> at(const H &h, const From &m) {
    T opposite, adjacent;
    Linearized<T> z = at<curved>(h, m, opposite, adjacent);
    z.predicted += arctangent(opposite, adjacent);
    return z;
  }

  /// The same but for the angle that the arctangent of `opposite` over `adjacent` is: those of
  /// several models can be taken side by side.
  template <bool curved, class H, class From>
  static NEARBY_INLINE Linearized<T> at(const H &h, const From &m, T &opposite, T &adjacent) {
    T v[3], d[3];
    line_of_sight(h, m, v);
    rotate(m.device_from_world, v, d);
    const T squared = at_least(T(d[0] * d[0] + d[2] * d[2]), singular_distance * singular_distance);
    const T square = 1.0 / squared, zero = T(0.0 * squared);
    Linearized<T> z;
    opposite = d[0], adjacent = -d[2];
    z.predicted = h.mean(Errors::bias) + h.mean(Errors::wander);
    z.slope = square;
    for (int i = 0; i < 3; ++i)
      z.direction[i] = m.device_from_world[6 + i] * d[0] - m.device_from_world[i] * d[2];
    if constexpr (curved) {
      // In the plane of azimuth ∇²h = -(t rᵀ + r tᵀ)/ρ², t across and r along the line of sight.
      const T inverse = root(square);
      const T along[3] = {T(d[0] * inverse), zero, T(d[2] * inverse)};
      T tangent[3], radial[3], pt[3], pr[3];
      for (int i = 0; i < 3; ++i) tangent[i] = z.direction[i] * inverse;
      rotate_back(m.device_from_world, along, radial);
      position_times(h, tangent, pt);
      position_times(h, radial, pr);
      const T tt = dot(tangent, pt), tr = dot(tangent, pr), rr = dot(radial, pr);
      z.curvature_mean = -tr * square;
      z.curvature_variance = (tr * tr + tt * rr) * square * square;
    } else {
      z.curvature_mean = z.curvature_variance = zero;
    }
    return z;
  }
};

}  // namespace nearby
