// SPDX-License-Identifier: Apache-2.0
//
// What all measurement models have in common. A measurement is seen from an antenna with an
// attitude, either one for all lanes or one for each. v is the vector from the antenna to the peer
// in the world, δ = R v the same in device axes.

#pragma once

#include "../filter/Hypothesis.hpp"

namespace nearby {

/// What is particular to a kind of measurement. Each kind has one, in the file of its model:
///
/// - `Model<T>`, its equation and gradient;
/// - `is_angle`, whether values wrap at ±π and turn with the odometry's world;
/// - `is_linear`, whether the model is: it then comes before all others, which then bend less;
/// - `has_bias`, `bias`, `wander`, where its constant and its wandering error stand in the state;
/// - `correlation` and `added_variance`, the step of the wandering error;
/// - `fault_span`, how wide the interval is in which a faulty value may be anything, if the kind is
///   neither a range nor an angle.
///
/// There is no general one, so that nothing compiles that would use a kind without.
template <int component>
struct Kind;

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

}  // namespace nearby
