// SPDX-License-Identifier: Apache-2.0
//
// One hypothesis, or eight side by side, taken out of a bank and put back.

#pragma once

#include "Lanes.hpp"

namespace nearby {

/// Where element (row, column) of a symmetric matrix stands in its packed upper triangle.
constexpr int packed(int row, int column) {
  return row <= column ? column * (column + 1) / 2 + row : packed(column, row);
}

/// `N` states: with or without a velocity.
template <class T, int N = NEARBY_STATE_SIZE>
struct Hypothesis {
  static constexpr int size = N;
  T mean[N];
  T covariance[N * (N + 1) / 2];

  T &cov(int row, int column) { return covariance[packed(row, column)]; }
  const T &cov(int row, int column) const { return covariance[packed(row, column)]; }

  static Hypothesis load(const nearby_bank &bank, int first) {
    Hypothesis h;
    const double *at = bank.fields + first;
    for (int i = 0; i < N; ++i) h.mean[i] = Number<T>::load(at + mean_field(i) * bank.stride);
    for (int i = 0; i < N * (N + 1) / 2; ++i)
      h.covariance[i] = Number<T>::load(at + covariance_field(i) * bank.stride);
    return h;
  }

  void store(const nearby_bank &bank, int first) const {
    double *at = bank.fields + first;
    for (int i = 0; i < N; ++i) Number<T>::store(at + mean_field(i) * bank.stride, mean[i]);
    for (int i = 0; i < N * (N + 1) / 2; ++i)
      Number<T>::store(at + covariance_field(i) * bank.stride, covariance[i]);
  }

 private:
  static constexpr int mean_field(int i) {
    return i < NEARBY_STATE_SIZE ? NEARBY_FIELD_MEAN + i
                                 : NEARBY_FIELD_VELOCITY + i - NEARBY_STATE_SIZE;
  }
  static constexpr int covariance_field(int i) {
    return i < NEARBY_COVARIANCE_SIZE
               ? NEARBY_FIELD_COVARIANCE + i
               : NEARBY_FIELD_VELOCITY_COVARIANCE + i - NEARBY_COVARIANCE_SIZE;
  }
};

/// Names a kind of hypothesis to a generic lambda.
template <class T, int N>
struct Tag {
  using Type = Hypothesis<T, N>;
  using Number = T;
};

template <class T, class Body>
void for_each_in(const nearby_bank &bank, Body body) {
  for (int first = 0; first < bank.count; first += Number<T>::width)
    if (bank.may_move)
      body(Tag<T, NEARBY_MOVING_STATE_SIZE>(), first);
    else
      body(Tag<T, NEARBY_STATE_SIZE>(), first);
}

/// Calls `body(tag, first)` for all hypotheses: with one double when the bank is a single column,
/// in lanes otherwise. Lanes beyond the count work on whatever the buffer holds there, to no
/// effect.
template <class Body>
void for_each(const nearby_bank &bank, Body body) {
  if (bank.stride == 1)
    for_each_in<double>(bank, body);
  else
    for_each_in<Lanes>(bank, body);
}

}  // namespace nearby
