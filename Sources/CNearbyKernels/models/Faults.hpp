// SPDX-License-Identifier: Apache-2.0
//
// The densities of values that may be faulty: the mixture of the filter, and that of a fit. Their
// numbers are those of `nearby_fault_model`.

#pragma once

#include "Models.hpp"

namespace nearby {

/// 1/√(2π), of a normal density.
constexpr double normalizer = 0.3989422804014327;
/// The exponent of a normal density, of a square over its variance, as a power of two.
constexpr double half_square = -0.5 * octaves;

/// The predicted fault-state probabilities of a value: that it is an inlier, that a fault has just
/// begun, and that one lasts.
template <class T>
struct Prior {
  T inlier, begins, lasts;
};

/// The joint density of an innovation and an inlier, and the density of the innovation, both times
/// `factor`.
template <class T>
struct Densities {
  T inlier, any, factor;
};

/// The variances of an inlier's innovation, and of the step of a fault that repeats itself. The
/// second is never less than the first: else a hypothesis that is still wide would explain every
/// value best by such a fault.
template <class T>
struct Spread {
  T variance, repeated_variance;
};

/// The densities of a range's innovation; `last` is the innovation of the range before.
///
/// Performance: all exponents of the mixture are evaluated at once; for one hypothesis they stand
/// side by side in lanes.
template <class T, class Sample>
NEARBY_INLINE inline Densities<T> range_densities(const Prior<T> &prior, T innovation, T last,
                                                  const Spread<T> &spread, T precision,
                                                  const Sample &m) {
  // Performance: one over it is the root times one over the variance, which do not depend on each
  // other.
  const T deviation = root(spread.variance);
  const double rate = 1 / m.range_excess;
  const T step = innovation - last;
  const T repeated_precision = 1.0 / spread.repeated_variance;
  T e[4] = {
      half_square * innovation * innovation * precision,
      half_square * step * step * repeated_precision,
      -1.702 * octaves * innovation * precision * deviation,
      at_least(innovation, 0.0) * (-octaves * rate),
  };
  powers_of_two(e);
  // A fault that begins is one-sided, with an edge as soft as the innovation is uncertain:
  // e[3] rate / (1 + e[2]). Performance: the denominator is the common factor, which saves a
  // dependent division, and the factors of the exponentials are ready before them.
  const T fresh = rate * (prior.begins + nearby_faults.range_redrawn * prior.lasts);
  const T repeated =
      prior.lasts * (nearby_faults.range_repeated * normalizer) * root(repeated_precision);
  const T inlier = prior.inlier * normalizer * deviation * precision * e[0];
  const T factor = 1.0 + e[2];
  const T even =
      inlier + (repeated * e[1] + nearby_faults.range_anything / nearby_faults.range_reach * fresh);
  return {inlier * factor, even * factor + nearby_faults.range_excess * fresh * e[3], factor};
}

/// The densities of the innovation of any kind but a range.
template <int component, class T, class Sample>
NEARBY_INLINE inline Densities<T> bounded_densities(const Prior<T> &prior, T innovation,
                                                    const Spread<T> &spread, T precision,
                                                    const Sample &m) {
  constexpr bool is_angle = Kind<component>::is_angle;
  // NaN before the first value, at which a value cannot stick.
  const double step_from_previous = m.value[component] - m.previous[component];
  const double change = is_angle ? wrapped(step_from_previous) : step_from_previous;
  const bool may_stick = change == change;
  const double step = may_stick ? change : 0, sticks = may_stick ? nearby_faults.stuck : 0;
  const T stuck_precision = 1.0 / spread.repeated_variance;
  // Measured π - z instead of z: the innovation that the mirrored value would have.
  constexpr bool may_mirror = component == NEARBY_AZIMUTH;
  T e[may_mirror ? 3 : 2] = {half_square * innovation * innovation * precision,
                             half_square * step * step * stuck_precision};
  if constexpr (may_mirror) {
    const T mirrored = wrapped(T(innovation + (M_PI - 2 * m.value[component])));
    e[2] = half_square * mirrored * mirrored * precision;
  }
  powers_of_two(e);
  const T peak = normalizer * root(precision);
  const T stuck_peak = normalizer * root(stuck_precision);
  const T fresh = prior.begins + nearby_faults.redrawn * prior.lasts;
  const T inlier = prior.inlier * peak * e[0];
  // Only azimuths have a mirrored share.
  const double anything = may_mirror ? nearby_faults.angle_anything : 1;
  double span;
  if constexpr (is_angle)
    span = m.field_of_view;
  else
    span = Kind<component>::fault_span();
  T faulty = (sticks * prior.lasts) * stuck_peak * e[1] + fresh * (anything / span);
  if constexpr (may_mirror) faulty += nearby_faults.angle_mirrored * fresh * peak * e[2];
  return {inlier, inlier + faulty, T(1)};
}

/// The density of a fault of which nothing else is known, as the fit of a window has it: that of a
/// fault that begins, with a sharp edge, and without mirrored azimuths, which are hypotheses of
/// their own there. `rate` is one over the mean excess.
///
/// `fall` becomes minus its derivative by the innovation.
template <int component, class T>
NEARBY_INLINE inline T outlier_density(T innovation, T rate, T angle_density, T &fall) {
  fall = T(0.0 * innovation);
  if constexpr (component == NEARBY_RANGE) {
    const T anything = nearby_faults.range_anything / nearby_faults.range_reach * rate;
    const T late = nearby_faults.range_excess * rate * power_of_two(innovation * (-octaves * rate));
    const T excess = anything + late, falls = late * rate;
    fall = innovation > 0 ? falls : fall;
    return innovation > 0 ? excess : anything;
  } else if constexpr (Kind<component>::is_angle) {
    return angle_density;
  } else {
    return T(1 / Kind<component>::fault_span());
  }
}

/// The same without the derivative.
template <int component, class T>
NEARBY_INLINE inline T outlier_density(T innovation, T rate, T angle_density) {
  T fall;
  return outlier_density<component>(innovation, rate, angle_density, fall);
}

}  // namespace nearby
