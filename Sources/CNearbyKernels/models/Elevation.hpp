// SPDX-License-Identifier: Apache-2.0
//
// The elevation model: equation, Jacobian, second-order terms and singular set.

#pragma once

#include "Linearized.hpp"

namespace nearby {

template <class T>
struct ElevationModel;

template <>
struct Kind<NEARBY_ELEVATION> {
  template <class T>
  using Model = ElevationModel<T>;
  static constexpr bool is_angle = true, is_linear = false;
  static constexpr bool has_bias = true;
  static constexpr int bias = NEARBY_STATE_ELEVATION_BIAS;
  static constexpr int wander = NEARBY_STATE_ELEVATION_WANDER;
  static NEARBY_INLINE double correlation(const nearby_error_step &step) { return step.elevation; }
  static NEARBY_INLINE double added_variance(const nearby_error_step &step) {
    return step.elevation_added;
  }
};

/// z = atan2(δ.y, ρ) + b + e, which is asin(δ.y/‖δ‖) + b + e, with ρ² = δ.x² + δ.z².
///
/// Gradient (-δ.x δ.y/ρ, ρ, -δ.z δ.y/ρ)/‖δ‖² on δ; 1 on the elevation's bias b
/// and wander e.
/// Singular on the device's vertical axis, ρ = 0, where it has its greatest value.
template <class T>
struct ElevationModel {
  using Errors = Kind<NEARBY_ELEVATION>;

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
    const T level = at_least(T(d[0] * d[0] + d[2] * d[2]), singular_distance * singular_distance);
    const T rho = root(level), over_rho = rho * (1.0 / level);
    const T square = 1.0 / (level + d[1] * d[1]);
    const T slope = d[1] * over_rho;
    const T up[3] = {T(-d[0] * slope), rho, T(-d[2] * slope)};
    Linearized<T> z;
    opposite = d[1], adjacent = rho;
    z.predicted = h.mean(Errors::bias) + h.mean(Errors::wander);
    z.slope = square;
    rotate_back(m.device_from_world, up, z.direction);
    if constexpr (curved) {
      // Along and up as for the azimuth; moving across bends the elevation down by tan(e)/‖δ‖².
      const T inverse = root(square);
      T tangent[3];
      for (int i = 0; i < 3; ++i) tangent[i] = z.direction[i] * inverse;
      const T along[3] = {T(d[0] * inverse), T(d[1] * inverse), T(d[2] * inverse)};
      const T across[3] = {T(-d[2] * over_rho), T(0.0 * rho), T(d[0] * over_rho)};
      T radial[3], sideways[3], pt[3], pr[3], pa[3];
      rotate_back(m.device_from_world, along, radial);
      rotate_back(m.device_from_world, across, sideways);
      position_times(h, tangent, pt);
      position_times(h, radial, pr);
      position_times(h, sideways, pa);
      const T tt = dot(tangent, pt), tr = dot(tangent, pr), rr = dot(radial, pr);
      const T aa = dot(sideways, pa);
      const T bend = 0.5 * aa * d[1] * over_rho * square;
      z.curvature_mean = -tr * square - bend;
      z.curvature_variance = (tr * tr + tt * rr) * square * square + 2.0 * bend * bend;
    } else {
      z.curvature_mean = z.curvature_variance = T(0.0 * rho);
    }
    return z;
  }
};

}  // namespace nearby
