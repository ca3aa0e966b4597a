// SPDX-License-Identifier: Apache-2.0
//
// One hypothesis, or several side by side, in place in a bank or loaded from it.

#pragma once

#include <type_traits>

#include "../simd/Lanes.hpp"

namespace nearby {

/// Where element (row, column) of a symmetric matrix stands in its packed upper triangle.
///
/// Performance: without a branch, as thousands of them, unrolled, take minutes to compile.
NEARBY_INLINE constexpr int packed(int row, int column) {
  const int below = (row > column) * (row - column);
  const int last = column + below, first = row - below;
  return last * (last + 1) / 2 + first;
}

/// Where an element of the mean, or of the packed covariance, stands among a bank's fields.
NEARBY_INLINE constexpr int mean_field(int i) {
  return i < NEARBY_STATE_SIZE          ? NEARBY_FIELD_MEAN + i
         : i < NEARBY_HEIGHT_STATE_SIZE ? NEARBY_FIELD_HEIGHT_OFFSET + i - NEARBY_STATE_SIZE
                                        : NEARBY_FIELD_VELOCITY + i - NEARBY_STATE_VELOCITY;
}
NEARBY_INLINE constexpr int covariance_field(int i) {
  return i < NEARBY_COVARIANCE_SIZE ? NEARBY_FIELD_COVARIANCE + i
         : i < NEARBY_HEIGHT_COVARIANCE_SIZE
             ? NEARBY_FIELD_HEIGHT_COVARIANCE + i - NEARBY_COVARIANCE_SIZE
             : NEARBY_FIELD_VELOCITY_COVARIANCE + i - NEARBY_HEIGHT_COVARIANCE_SIZE;
}

/// The fields of a hypothesis of a bank.
template <class T, class Stride = int>
struct Fields {
  using Value = T;
  double *first;
  Stride stride;

  Fields(const nearby_bank &bank, int index)
      : first(bank.fields + index), stride(Stride(bank.stride)) {}

  NEARBY_INLINE typename Number<T>::At &operator[](int field) const {
    return at<T>(first + field * stride);
  }
};

/// The stride of a bank that is a single column: the fields of a hypothesis are contiguous.
struct SingleColumn {
  explicit SingleColumn(int) {}
  NEARBY_INLINE constexpr operator int() const { return 1; }
};

/// Calls `body(size)`, a constant, with the size of a state.
template <class Body>
NEARBY_INLINE inline void with_states(int32_t states, const Body &body) {
  if (states == NEARBY_STATE_SIZE)
    body(std::integral_constant<int, NEARBY_STATE_SIZE>());
  else if (states == NEARBY_HEIGHT_STATE_SIZE)
    body(std::integral_constant<int, NEARBY_HEIGHT_STATE_SIZE>());
  else
    body(std::integral_constant<int, NEARBY_MOVING_STATE_SIZE>());
}

/// Whether a state of a size holds the offset of height differences, and a velocity.
template <int N>
constexpr bool has_height = N >= NEARBY_HEIGHT_STATE_SIZE;
template <int N>
constexpr bool has_velocity = N >= NEARBY_MOVING_STATE_SIZE;

/// The state of a hypothesis in its bank: `N` states.
template <class Fields, int N = NEARBY_STATE_SIZE>
struct Placed {
  using Value = typename Fields::Value;
  static constexpr int size = N;
  Fields fields;

  NEARBY_INLINE typename Number<Value>::At &mean(int i) const { return fields[mean_field(i)]; }
  NEARBY_INLINE typename Number<Value>::At &cov(int row, int column) const {
    return fields[covariance_field(packed(row, column))];
  }
};

/// The same taken out of it.
template <class T, int N = NEARBY_STATE_SIZE>
struct Hypothesis {
  using Value = T;
  static constexpr int size = N, triangle = N * (N + 1) / 2;
  T means[N];
  T covariance[triangle];

  NEARBY_INLINE T &mean(int i) { return means[i]; }
  NEARBY_INLINE const T &mean(int i) const { return means[i]; }
  NEARBY_INLINE T &cov(int row, int column) { return covariance[packed(row, column)]; }
  NEARBY_INLINE const T &cov(int row, int column) const { return covariance[packed(row, column)]; }

  static NEARBY_INLINE Hypothesis load(const Fields<T> &fields) {
    Hypothesis h;
    each<N>([&](auto i) NEARBY_INLINE { h.means[i] = fields[mean_field(i)]; });
    each<triangle>([&](auto i) NEARBY_INLINE { h.covariance[i] = fields[covariance_field(i)]; });
    return h;
  }

  NEARBY_INLINE void store(const Fields<T> &fields) const {
    each<N>([&](auto i) NEARBY_INLINE { fields[mean_field(i)] = means[i]; });
    each<triangle>([&](auto i) NEARBY_INLINE { fields[covariance_field(i)] = covariance[i]; });
  }
};

/// Calls `body(placed)` for the only hypothesis of a bank that is a single column: `N` states.
template <int N, class Body>
NEARBY_INLINE inline void for_column_of(const nearby_bank &bank, const Body &body) {
  body(Placed<Fields<double, SingleColumn>, N>{{bank, 0}});
}
/// The same, of whatever size.
template <class Body>
NEARBY_INLINE inline void for_column(const nearby_bank &bank, const Body &body) {
  with_states(bank.states, [&](auto size) NEARBY_INLINE { for_column_of<size>(bank, body); });
}

/// Calls `body(placed)` for all hypotheses of a bank with room for lanes: `N` states. Lanes beyond
/// the count work on whatever the buffer holds there, to no effect.
template <int N, class InLanes, class Body>
NEARBY_INLINE inline void for_lanes_of(const nearby_bank &bank, const Body &body) {
  constexpr int width = Number<InLanes>::count;
  static_assert(NEARBY_LANES % width == 0, "a bank is worked on in whole lanes");
  for (int first = 0; first < bank.count; first += width)
    body(Placed<Fields<InLanes>, N>{{bank, first}});
}
/// The same, of whatever size.
template <class InLanes, class Body>
NEARBY_INLINE inline void for_lanes(const nearby_bank &bank, const Body &body) {
  with_states(bank.states,
              [&](auto size) NEARBY_INLINE { for_lanes_of<size, InLanes>(bank, body); });
}

}  // namespace nearby
