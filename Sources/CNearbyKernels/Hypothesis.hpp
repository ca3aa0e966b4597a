// SPDX-License-Identifier: Apache-2.0
//
// One hypothesis, or eight side by side, taken out of a bank and put back.

#pragma once

#include "Lanes.hpp"

namespace nearby {

/// Where element (row, column) of a symmetric matrix stands in its packed upper triangle.
constexpr int packed(int row, int column) {
  return row <= column ? row * NEARBY_STATE_SIZE - row * (row - 1) / 2 + (column - row)
                       : packed(column, row);
}

template <class T>
struct Hypothesis {
  T mean[NEARBY_STATE_SIZE];
  T covariance[NEARBY_COVARIANCE_SIZE];

  T &cov(int row, int column) { return covariance[packed(row, column)]; }
  const T &cov(int row, int column) const { return covariance[packed(row, column)]; }

  static Hypothesis load(const nearby_bank &bank, int first) {
    Hypothesis h;
    const double *at = bank.fields + first;
    for (int i = 0; i < NEARBY_STATE_SIZE; ++i)
      h.mean[i] = Number<T>::load(at + (NEARBY_FIELD_MEAN + i) * bank.stride);
    for (int i = 0; i < NEARBY_COVARIANCE_SIZE; ++i)
      h.covariance[i] = Number<T>::load(at + (NEARBY_FIELD_COVARIANCE + i) * bank.stride);
    return h;
  }

  void store(const nearby_bank &bank, int first) const {
    double *at = bank.fields + first;
    for (int i = 0; i < NEARBY_STATE_SIZE; ++i)
      Number<T>::store(at + (NEARBY_FIELD_MEAN + i) * bank.stride, mean[i]);
    for (int i = 0; i < NEARBY_COVARIANCE_SIZE; ++i)
      Number<T>::store(at + (NEARBY_FIELD_COVARIANCE + i) * bank.stride, covariance[i]);
  }
};

/// Names a number type to a generic lambda.
template <class T>
struct Tag {
  using Type = T;
};

/// Calls `body(Tag<T>, first)` for all hypotheses: with one double when the bank is a single
/// column, in lanes otherwise. Lanes beyond the count work on whatever the buffer holds there, to
/// no effect.
template <class Body>
void for_each(const nearby_bank &bank, Body body) {
  if (bank.stride == 1) {
    if (bank.count > 0) body(Tag<double>(), 0);
  } else {
    for (int first = 0; first < bank.count; first += NEARBY_LANES) body(Tag<Lanes>(), first);
  }
}

}  // namespace nearby
