// SPDX-License-Identifier: Apache-2.0
//
// The model of a height difference: equation and Jacobian. It is linear.

#pragma once

#include "Linearized.hpp"

namespace nearby {

/// z = v.y + o, the height of the peer above the antenna and the offset of such differences.
///
/// Gradient (0, 1, 0) on the position and 1 on the offset o.
template <class T>
struct HeightDifferenceModel {
  using Errors = ErrorStates<NEARBY_HEIGHT_DIFFERENCE>;

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
