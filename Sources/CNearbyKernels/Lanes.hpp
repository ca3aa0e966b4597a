// SPDX-License-Identifier: Apache-2.0
//
// The two kinds of number that the kernels are written for: one double, or eight of them side by
// side. The same source makes the fast path of one hypothesis and the pass over a bank.

#pragma once

#include <Eigen/Core>
#include <cmath>

#include "CNearbyKernels.h"

namespace nearby {

using Lanes = Eigen::Array<double, NEARBY_LANES, 1>;

/// Width and access of a number type.
template <class T>
struct Number;

template <>
struct Number<double> {
  static constexpr int width = 1;
  static double load(const double *p) { return *p; }
  static void store(double *p, double value) { *p = value; }
};

template <>
struct Number<Lanes> {
  static constexpr int width = NEARBY_LANES;
  static Lanes load(const double *p) { return Eigen::Map<const Lanes>(p); }
  static void store(double *p, const Lanes &value) {
    Eigen::Map<Lanes> target(p);
    target = value;
  }
};

inline double root(double x) { return std::sqrt(x); }
inline Lanes root(const Lanes &x) { return x.sqrt(); }

inline double exponential(double x) { return std::exp(x); }
inline Lanes exponential(const Lanes &x) { return x.exp(); }

inline double logarithm(double x) { return std::log(x); }
inline Lanes logarithm(const Lanes &x) { return x.log(); }

inline double at_least(double x, double floor) { return x > floor ? x : floor; }
inline Lanes at_least(const Lanes &x, double floor) { return x.max(floor); }

inline double arctangent(double y, double x) { return std::atan2(y, x); }
inline Lanes arctangent(const Lanes &y, const Lanes &x) {
  Lanes result;
  for (int i = 0; i < NEARBY_LANES; ++i) result[i] = std::atan2(y[i], x[i]);
  return result;
}

/// The same angle in [-π, π].
inline double wrapped(double angle) {
  constexpr double turn = 2 * M_PI;
  return angle - turn * std::nearbyint(angle / turn);
}
inline Lanes wrapped(const Lanes &angle) {
  constexpr double turn = 2 * M_PI;
  return angle - turn * (angle / turn).rint();
}

}  // namespace nearby
