// SPDX-License-Identifier: Apache-2.0
//
// The model of a height difference: equation and Jacobian. It is linear.

#pragma once

#include "Linearized.hpp"

namespace nearby {

template <class T>
struct HeightDifferenceModel;

/// The offset of height differences wanders slowly, and there is no constant error beside it.
template <>
struct Kind<NEARBY_HEIGHT_DIFFERENCE> {
  template <class T>
  using Model = HeightDifferenceModel<T>;
  static constexpr bool is_angle = false, is_linear = true;
  static constexpr bool has_bias = false;
  static constexpr int wander = NEARBY_STATE_HEIGHT_OFFSET;
  static NEARBY_INLINE double correlation(const nearby_error_step &step) { return step.height; }
  static NEARBY_INLINE double added_variance(const nearby_error_step &step) {
    return step.height_added;
  }
  static NEARBY_INLINE double fault_span() { return 2 * nearby_faults.height_reach; }
};

/// z = v.y + o, the height of the peer above the antenna and the offset of such differences.
///
/// Gradient (0, 1, 0) on the position and 1 on the offset o.
template <class T>
struct HeightDifferenceModel {
  using Errors = Kind<NEARBY_HEIGHT_DIFFERENCE>;

  template <bool curved, class H, class From>
  static NEARBY_INLINE Linearized<T> at(const H &h, const From &m) {
    T v[3];
    line_of_sight(h, m, v);
    const T zero = T(0.0 * v[1]), one = zero + 1.0;
    Linearized<T> z;
    z.predicted = v[1] + h.mean(Errors::wander);
    z.slope = one;
    z.direction[0] = z.direction[2] = zero;
    z.direction[1] = one;
    z.curvature_mean = z.curvature_variance = zero;
    return z;
  }
};

}  // namespace nearby
