// SPDX-License-Identifier: Apache-2.0
//
// The range model: equation, Jacobian, second-order terms and singular set.

#pragma once

#include "Linearized.hpp"

namespace nearby {

template <class T>
struct RangeModel;

template <>
struct Kind<NEARBY_RANGE> {
  template <class T>
  using Model = RangeModel<T>;
  static constexpr bool is_angle = false, is_linear = false;
  static constexpr bool has_bias = true;
  static constexpr int bias = NEARBY_STATE_RANGE_BIAS;
  static constexpr int wander = NEARBY_STATE_RANGE_WANDER;
  static NEARBY_INLINE double correlation(const nearby_error_step &step) { return step.range; }
  static NEARBY_INLINE double added_variance(const nearby_error_step &step) {
    return step.range_added;
  }
};

/// z = (1 + s) ‖v‖ + b + w.
///
/// Gradient (1 + s) vᵀ/‖v‖ on the position, 1 on the bias b and the wander w, ‖v‖ on the scale s.
/// Singular at the antenna itself, v = 0.
template <class T>
struct RangeModel {
  using Errors = Kind<NEARBY_RANGE>;

  template <bool curved, class H, class From>
  static NEARBY_INLINE Linearized<T> at(const H &h, const From &m, T &range) {
    T v[3];
    line_of_sight(h, m, v);
    const T squared = at_least(T(dot(v, v)), singular_distance * singular_distance);
    range = root(squared);
    // Neither root nor division waits for the other.
    const T inverse_square = 1.0 / squared;
    const T scale = 1.0 + h.mean(NEARBY_STATE_RANGE_SCALE);
    Linearized<T> z;
    z.predicted = scale * range + (h.mean(Errors::bias) + h.mean(Errors::wander));
    z.slope = (scale * inverse_square) * range;
    for (int i = 0; i < 3; ++i) z.direction[i] = v[i];
    if constexpr (curved) {
      // ∇²‖v‖ = (I - u uᵀ)/‖v‖, hence tr(MP) and tr(MPMP) with M = I - u uᵀ.
      const T inverse = range * inverse_square;
      T u[3], w[3];
      for (int i = 0; i < 3; ++i) u[i] = v[i] * inverse;
      position_times(h, u, w);
      const T along = dot(u, w);
      const T trace = h.cov(0, 0) + h.cov(1, 1) + h.cov(2, 2);
      const T squares =
          h.cov(0, 0) * h.cov(0, 0) + h.cov(1, 1) * h.cov(1, 1) + h.cov(2, 2) * h.cov(2, 2) +
          2.0 * (h.cov(0, 1) * h.cov(0, 1) + h.cov(0, 2) * h.cov(0, 2) + h.cov(1, 2) * h.cov(1, 2));
      z.curvature_mean = 0.5 * (trace - along) * inverse;
      z.curvature_variance =
          0.5 * at_least(T(squares - 2.0 * dot(w, w) + along * along), 0.0) * inverse * inverse;
    } else {
      z.curvature_mean = z.curvature_variance = T(0.0 * range);
    }
    return z;
  }
};

}  // namespace nearby
