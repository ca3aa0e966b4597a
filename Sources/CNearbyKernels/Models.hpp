// SPDX-License-Identifier: Apache-2.0
//
// The measurement models: equation, Jacobian, second-order terms and singular set of each.
// Where it is seen from, an antenna and an attitude, is one for all lanes or one for each.
// v is the vector from the antenna to the peer in the world, δ = R v the same in device axes.

#pragma once

#include "Hypothesis.hpp"

namespace nearby {

/// A scalar measurement, linearised: it depends on the position, on a constant and a wandering
/// error and, if it is a range, on its scale.
template <class T>
struct Linearized {
  /// The prediction for the mean, its error states included.
  T predicted;
  /// What the curvature of the model adds to the prediction's mean and variance: ½ tr(∇²h P) and
  /// ½ tr((∇²h P)²). Zero when not asked for.
  T curvature_mean, curvature_variance;
  /// The gradient with respect to the position, as a factor and a vector that is known before it.
  T slope, direction[3];

  NEARBY_INLINE T gradient(int i) const { return slope * direction[i]; }
};

/// P v for the position block.
template <class H, class T>
NEARBY_INLINE inline void position_times(const H &h, const T v[3], T result[3]) {
  for (int i = 0; i < 3; ++i)
    result[i] = h.cov(i, 0) * v[0] + h.cov(i, 1) * v[1] + h.cov(i, 2) * v[2];
}

template <class T>
NEARBY_INLINE inline T dot(const T a[3], const T b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// The vector from the antenna to the peer.
template <class H, class From, class T>
NEARBY_INLINE inline void line_of_sight(const H &h, const From &m, T v[3]) {
  for (int i = 0; i < 3; ++i) v[i] = h.mean(i) - m.antenna_in_world[i];
}

template <class R, class T>
NEARBY_INLINE inline void rotate(const R r[9], const T v[3], T result[3]) {
  for (int i = 0; i < 3; ++i)
    result[i] = r[3 * i] * v[0] + r[3 * i + 1] * v[1] + r[3 * i + 2] * v[2];
}

template <class R, class T>
NEARBY_INLINE inline void rotate_back(const R r[9], const T v[3], T result[3]) {
  for (int i = 0; i < 3; ++i) result[i] = r[i] * v[0] + r[3 + i] * v[1] + r[6 + i] * v[2];
}

/// Nearer than this (metres) the models keep their values for this distance: the singular set is
/// one point or one axis, and no radio resolves a millimetre.
constexpr double singular_distance = 1e-3;

/// z = (1 + s) ‖v‖ + b + w.
///
/// Gradient (1 + s) vᵀ/‖v‖ on the position, 1 on the bias b and the wander w, ‖v‖ on the scale s.
/// Singular at the antenna itself, v = 0.
template <class T>
struct RangeModel {
  static constexpr int bias = NEARBY_STATE_RANGE_BIAS, wander = NEARBY_STATE_RANGE_WANDER;

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
    z.predicted = scale * range + (h.mean(bias) + h.mean(wander));
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

/// z = atan2(δ.x, -δ.z) + b + a.
///
/// Gradient (-δ.z, 0, δ.x)/ρ² on δ, with ρ² = δ.x² + δ.z²; 1 on the azimuth's bias b and
/// wander a.
/// Singular on the device's vertical axis, ρ = 0; the value wraps at straight behind.
template <class T>
struct AzimuthModel {
  static constexpr int bias = NEARBY_STATE_AZIMUTH_BIAS, wander = NEARBY_STATE_AZIMUTH_WANDER;

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
    z.predicted = h.mean(bias) + h.mean(wander);
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

/// z = atan2(δ.y, ρ) + b + e, which is asin(δ.y/‖δ‖) + b + e, with ρ² = δ.x² + δ.z².
///
/// Gradient (-δ.x δ.y/ρ, ρ, -δ.z δ.y/ρ)/‖δ‖² on δ; 1 on the elevation's bias b
/// and wander e.
/// Singular on the device's vertical axis, ρ = 0, where it has its greatest value.
template <class T>
struct ElevationModel {
  static constexpr int bias = NEARBY_STATE_ELEVATION_BIAS, wander = NEARBY_STATE_ELEVATION_WANDER;

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
    z.predicted = h.mean(bias) + h.mean(wander);
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
