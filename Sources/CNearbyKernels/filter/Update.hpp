// SPDX-License-Identifier: Apache-2.0
//
// The update of a bank with a sample. Update.cpp chooses among the sizes of states.

#pragma once

#include <type_traits>

#include "../models/Faults.hpp"
#include "../models/Models.hpp"
#include "Prediction.hpp"

namespace nearby::updating {

// Performance: in a namespace of each file's own, so that the compiler forgets a function as soon
// as it has inlined it. This takes half the memory to compile.
namespace {

using nearby::each;
using nearby::Linearized;

/// A measurement, and the probability that a fault has lasted since the last sample.
struct Sample : nearby_measurement {
  double fault_correlation;
  /// By what variance an excess that has lasted has changed.
  double excess_variance;

  NEARBY_INLINE Sample(const nearby_measurement &measurement, double correlation)
      : nearby_measurement(measurement),
        fault_correlation(correlation),
        excess_variance(lasting_range_variance * (1 - correlation * correlation)) {}
};

/// The covariance of the state with a prediction, P Hᵀ.
template <int component, class H, class T>
NEARBY_INLINE inline void covariance_with(const H &h, const Linearized<T> &z, T range,
                                          T (&result)[H::size]) {
  using Errors = nearby::Kind<component>;
  each<H::size>([&](auto i) NEARBY_INLINE {
    T across = h.cov(i, 0) * z.direction[0];
    across = h.cov(i, 1) * z.direction[1] + across;
    across = h.cov(i, 2) * z.direction[2] + across;
    T sum = h.cov(i, Errors::wander);
    if constexpr (Errors::has_bias) sum = h.cov(i, Errors::bias) + sum;
    if constexpr (component == NEARBY_RANGE) sum = h.cov(i, NEARBY_STATE_RANGE_SCALE) * range + sum;
    result[i] = across * z.slope + sum;
  });
}

/// H c, for such a covariance of the state with something.
template <int component, class T, int size>
NEARBY_INLINE inline T predicted_covariance(const Linearized<T> &z, T range, const T (&c)[size]) {
  const T part = c[0] * z.gradient(0) + c[1] * z.gradient(1);
  using Errors = nearby::Kind<component>;
  T rest = c[Errors::wander];
  if constexpr (Errors::has_bias) rest = c[Errors::bias] + rest;
  rest = c[2] * z.gradient(2) + rest;
  if constexpr (component == NEARBY_RANGE) rest = c[NEARBY_STATE_RANGE_SCALE] * range + rest;
  return part + rest;
}

/// By how much the variance of a repeated fault's step exceeds that of an inlier's innovation.
template <int component>
NEARBY_INLINE inline double repetition_variance(const Sample &m) {
  return m.variance[component] + (component == NEARBY_RANGE ? m.excess_variance : 0);
}

/// What an innovation does to the moments. With γ the probability that it is an inlier:
///
///     x ← x + γ s P Hᵀ,  P ← P - γ (r + γ s²) P Hᵀ (P Hᵀ)ᵀ,  s = ν/S,  r = 1/S - s²
///
/// Of a peer at rest γ is zero below one half: faults that last would else pull the state to where
/// they agree with it. The values of a peer that turns look like faults at first. γ is known last,
/// so that all else is kept apart from it.
template <class T>
struct Correction {
  T inlier, scaled_innovation, squared, rest, likelihood;

  NEARBY_INLINE T step() const { return inlier * scaled_innovation; }
  NEARBY_INLINE T shrink() const { return inlier * shrink_over_inlier(T(1)); }
  /// (r + γ s²) times a factor: what is multiplied by γ comes first, for that to be one operation.
  NEARBY_INLINE T shrink_over_inlier(T factor) const {
    return inlier * (squared * factor) + rest * factor;
  }
};

/// Weighs an innovation, and marks in the bank's fields how it met the hypothesis.
///
/// `gain_variance` is the innovation's variance, or more where the gain must be less than it says.
template <int component, bool may_move, class T, class Fields>
NEARBY_INLINE inline Correction<T> correction(T innovation, const nearby::Spread<T> &spread,
                                              const T *gain_variance, const Sample &m,
                                              const Fields &fields) {
  constexpr bool is_range = component == NEARBY_RANGE;
  if constexpr (nearby::Kind<component>::is_angle) innovation = nearby::wrapped(innovation);
  const T faulty = fields[NEARBY_FIELD_FAULT + component];
  const T precision = 1.0 / spread.variance;
  const T begins = m.fault_onset[component] * (1.0 - faulty);
  const T lasts = m.fault_correlation * faulty;
  // Rounding may take a fault that lasts for certain below zero.
  const nearby::Prior<T> prior = {nearby::at_least(T(1.0 - begins - lasts), 0.0), begins, lasts};
  nearby::Densities<T> density;
  if constexpr (is_range) {
    density = nearby::range_densities(prior, innovation, T(fields[NEARBY_FIELD_RANGE_RESIDUAL]),
                                      spread, precision, m);
    fields[NEARBY_FIELD_RANGE_RESIDUAL] = innovation;
  } else {
    density = nearby::bounded_densities<component>(prior, innovation, spread, precision, m);
  }
  const T inlier = density.inlier / density.any;

  fields[NEARBY_FIELD_FAULT + component] = 1.0 - inlier;
  fields[NEARBY_FIELD_INNOVATION + component] = innovation;
  fields[NEARBY_FIELD_INNOVATION_VARIANCE + component] = spread.variance;
  fields[NEARBY_FIELD_INLIER + component] = inlier;

  const T inverse_gain = gain_variance ? T(1.0 / *gain_variance) : precision;
  const T scaled = innovation * inverse_gain, squared = scaled * scaled;
  T used = inlier;
  if constexpr (!may_move) used = inlier < 0.5 ? T(0) : inlier;
  return {used, scaled, squared, T(inverse_gain - squared), density.any / density.factor};
}

/// a ← a - Σ s b, for `count` numbers of a column of one hypothesis: they are contiguous.
template <int count, int terms, int size>
NEARBY_INLINE inline void subtract(double *column, const double (&s)[terms],
                                   const double (&b)[terms][size], int first = 0) {
  const auto step = [&](auto vector) NEARBY_INLINE {
    using V = decltype(vector);
    V sum = nearby::at<V>(column + first);
    each<terms>([&](auto k) NEARBY_INLINE { sum -= s[k] * nearby::at<V>(b[k] + first); });
    nearby::at<V>(column + first) = sum;
  };
  if constexpr (count >= nearby::lane_count) {
    step(nearby::Lanes());
    subtract<count - nearby::lane_count>(column, s, b, first + nearby::lane_count);
  } else if constexpr (count >= 2) {
    step(nearby::Pair());
    subtract<count - 2>(column, s, b, first + 2);
  } else if constexpr (count == 1) {
    step(double());
  }
}

// MARK: Component by component

/// One scalar component's update. Returns the likelihood.
template <int component, class H, class T, class Fields>
NEARBY_INLINE inline T fuse(H &h, const Linearized<T> &z, T range, const Sample &m,
                            const Fields &fields) {
  // One term, as `subtract` takes them.
  T gains[1][H::size];
  T(&gain)[H::size] = gains[0];
  covariance_with<component>(h, z, range, gain);
  const T state_variance = predicted_covariance<component>(z, range, gain);
  // The gain's variance: the curvature's error is not noise that averages out, so no number of
  // samples may make the prediction surer than the curvature allows.
  const T slack = nearby::at_least(T(state_variance - z.curvature_variance), 0.0);
  const T variance = state_variance + m.variance[component];
  const T gain_variance =
      variance + z.curvature_variance * state_variance / (slack + 1e-3 * state_variance + 1e-300);
  const T innovation_variance = variance + z.curvature_variance;
  const Correction<T> by = correction<component, H::size == NEARBY_MOVING_STATE_SIZE>(
      T((m.value[component] - z.predicted) - z.curvature_mean),
      {innovation_variance, T(innovation_variance + repetition_variance<component>(m))},
      &gain_variance, m, fields);
  const T step = by.step(), shrink = by.shrink();
  each<H::size>([&](auto i) NEARBY_INLINE {
    const T scaled[] = {shrink * gain[i]};
    h.mean(i) += gain[i] * step;
    if constexpr (std::is_same_v<T, double>)
      subtract<i + 1>(&h.cov(0, i), scaled, gains);
    else
      each<i + 1>([&](auto j) NEARBY_INLINE { h.cov(j, i) -= scaled[0] * gain[j]; });
  });
  return by.likelihood;
}

/// The update with values that have linear models, of those whose errors the state has: they come
/// before all others, which then bend less.
template <class H, class Fields>
NEARBY_INLINE inline void update_linear(H &h, const Sample &m, const Fields &fields) {
  using T = typename H::Value;
  each<NEARBY_COMPONENTS>([&](auto component) NEARBY_INLINE {
    if constexpr (nearby::Kind<component>::is_linear && nearby::has_errors_of<component, H::size>) {
      if (!(m.present & 1 << component)) return;
      T scale = T(0);
      const auto z = nearby::linearized<component, false, T>(h, m, scale);
      const T likelihood = fuse<component>(h, z, scale, m, fields);
      if constexpr (!std::is_same_v<T, double>)
        fields[NEARBY_FIELD_LOG_WEIGHT] += nearby::logarithm(likelihood);
    }
  });
}

static_assert(nearby::curved_kinds ==
                  (1 << NEARBY_RANGE | 1 << NEARBY_AZIMUTH | 1 << NEARBY_ELEVATION),
              "a kind with a curved model has no place in the updates below");

/// The update with all other components.
template <class H, class Fields>
NEARBY_INLINE inline void update(H &h, const Sample &m, const Fields &fields) {
  using T = typename H::Value;
  T azimuth = 1, elevation = 1, distance = 1;
  if (m.present & 1 << NEARBY_AZIMUTH) {
    const auto z = nearby::AzimuthModel<T>::template at<true>(h, m);
    azimuth = fuse<NEARBY_AZIMUTH>(h, z, T(0), m, fields);
  }
  if (m.present & 1 << NEARBY_ELEVATION) {
    const auto z = nearby::ElevationModel<T>::template at<true>(h, m);
    elevation = fuse<NEARBY_ELEVATION>(h, z, T(0), m, fields);
  }
  if (m.present & 1 << NEARBY_RANGE) {
    T range;
    const auto z = nearby::RangeModel<T>::template at<true>(h, m, range);
    distance = fuse<NEARBY_RANGE>(h, z, range, m, fields);
  }
  if constexpr (!std::is_same_v<T, double>)
    fields[NEARBY_FIELD_LOG_WEIGHT] += nearby::logarithm_of_product(azimuth, elevation, distance);
}

// MARK: All components at once

/// Whether curvature can matter: only while the position is so uncertain that the second-order
/// variance would reach a hundredth of the noise's. Below, a prediction is off by a twentieth of
/// the noise's sigma at most, and by less with each sample that narrows the position.
template <class H>
NEARBY_INLINE inline bool curvature_matters(const H &h, const Sample &m) {
  const double trace = h.cov(0, 0) + h.cov(1, 1) + h.cov(2, 2);
  double v[3];
  nearby::line_of_sight(h, m, v);
  const double squared = nearby::dot(v, v);
  const double angular = squared * squared;
  const double least = 1e2 * trace * trace;
  return (m.present & 1 << NEARBY_RANGE && least > m.variance[NEARBY_RANGE] * squared) ||
         (m.present & 1 << NEARBY_AZIMUTH && least > m.variance[NEARBY_AZIMUTH] * angular) ||
         (m.present & 1 << NEARBY_ELEVATION && least > m.variance[NEARBY_ELEVATION] * angular);
}

/// The update of one hypothesis with the components of a mask, all linearised at the prediction.
///
/// The same as one after the other, for models that are flat: once a component has been used, the
/// innovations of the others follow from the covariances of the predictions. Performance: only a
/// few numbers depend on each other, and the state is written once.
template <int present, class H, class Fields>
NEARBY_INLINE inline void update_at_once(H &h, const Sample &m, const Fields &fields) {
  constexpr int count = __builtin_popcount(present);
  constexpr bool has_range = present & 1 << NEARBY_RANGE;
  constexpr bool has_azimuth = present & 1 << NEARBY_AZIMUTH;
  // In this order: a range is predicted soonest, and meanwhile the arctangents are on their way.
  constexpr int components[] = {has_range     ? NEARBY_RANGE
                                : has_azimuth ? NEARBY_AZIMUTH
                                              : NEARBY_ELEVATION,
                                has_range && has_azimuth ? NEARBY_AZIMUTH : NEARBY_ELEVATION,
                                NEARBY_ELEVATION};

  using nearby::Lanes;
  double gain[count][H::size], step[count], shrink[count], range = 0;
  Linearized<double> linearized[count];
  Correction<double> by[count];
  // Both arctangents for the price of one; in the order of instructions behind a number known
  // before.
  const auto predict_angles = [&](double known) NEARBY_INLINE {
    Lanes opposite = 0, adjacent = 1;
    each<count - has_range>([&](auto i) NEARBY_INLINE {
      constexpr int k = has_range + i, angle = components[k];
      double y, x;
      if constexpr (angle == NEARBY_AZIMUTH)
        linearized[k] = nearby::AzimuthModel<double>::at<false>(h, m, y, x);
      else
        linearized[k] = nearby::ElevationModel<double>::at<false>(h, m, y, x);
      opposite[i.value] = nearby::after(known, y), adjacent[i.value] = x;
    });
    const Lanes angles = nearby::arctangent(opposite, adjacent);
    each<count - has_range>(
        [&](auto i) NEARBY_INLINE { linearized[has_range + i].predicted += angles[i.value]; });
  };
  each<count>([&](auto k) NEARBY_INLINE {
    constexpr int component = components[k];
    if constexpr (component == NEARBY_RANGE)
      linearized[k] = nearby::RangeModel<double>::at<false>(h, m, range);
    else if constexpr (k == 0)
      predict_angles(0);
    const Linearized<double> &z = linearized[k];
    covariance_with<component>(h, z, range, gain[k]);
    double innovation = m.value[component] - z.predicted;
    const double variance =
        predicted_covariance<component>(z, range, gain[k]) + m.variance[component];
    nearby::Spread<double> spread = {variance, variance + repetition_variance<component>(m)};
    // What those before have said of it.
    each<k>([&](auto l) NEARBY_INLINE {
      const double between = predicted_covariance<component>(z, range, gain[l]);
      const double inlier = by[l].inlier, share = shrink[l] * between;
      const double less = by[l].shrink_over_inlier(between * between);
      innovation -= inlier * (by[l].scaled_innovation * between);
      spread.variance -= inlier * less;
      spread.repeated_variance -= inlier * less;
      each<H::size>([&](auto i) NEARBY_INLINE { gain[k][i] -= share * gain[l][i]; });
    });
    // The angles are predicted while the range is weighed.
    if constexpr (component == NEARBY_RANGE && count > 1) predict_angles(spread.variance);
    by[k] = correction<component, H::size == NEARBY_MOVING_STATE_SIZE, double>(
        innovation, spread, nullptr, m, fields);
    step[k] = by[k].step();
    shrink[k] = by[k].shrink();
  });
  each<H::size>([&](auto i) NEARBY_INLINE {
    double scaled[count], sum = h.mean(i);
    each<count>([&](auto k) NEARBY_INLINE {
      sum += step[k] * gain[k][i];
      scaled[k] = shrink[k] * gain[k][i];
    });
    h.mean(i) = sum;
    subtract<i + 1>(&h.cov(0, i), scaled, gain);
  });
}

/// The same with the components that are there and have curved models.
template <class H, class Fields>
NEARBY_INLINE inline void update_at_once(H &h, const Sample &m, const Fields &fields) {
  static_assert(nearby::curved_kinds == 7, "each subset of them has a case");
  switch (m.present & nearby::curved_kinds) {
    case 1:
      return update_at_once<1>(h, m, fields);
    case 2:
      return update_at_once<2>(h, m, fields);
    case 3:
      return update_at_once<3>(h, m, fields);
    case 4:
      return update_at_once<4>(h, m, fields);
    case 5:
      return update_at_once<5>(h, m, fields);
    case 6:
      return update_at_once<6>(h, m, fields);
    case 7:
      return update_at_once<7>(h, m, fields);
  }
}

// MARK: Banks

/// The update of a single column and, if there is a motion, the prediction before it.
template <int States>
NEARBY_INLINE inline void step_column(const nearby_bank *bank, const nearby_motion *motion,
                                      const nearby_travel *travel,
                                      const nearby_measurement *measurement,
                                      double fault_correlation, nearby_correlations *correlations) {
  nearby::for_column_of<States>(*bank, [&](auto h) NEARBY_INLINE {
    // Copies: nothing that is written to the bank can change them.
    nearby_error_step errors;
    if (motion) errors = nearby::error_step(*travel);
    Sample m(*measurement, motion ? errors.fault : fault_correlation);
    for (double &entry : m.device_from_world) entry = nearby::alone(entry);
    if (motion) {
      const nearby_motion step = *motion;
      *correlations = nearby::correlations(errors);
      nearby::propagate(h, step, errors);
    }
    update_linear(h, m, h.fields);
    // In place its columns are contiguous, and the compiler keeps them so.
    if (curvature_matters(h, m))
      update(h, m, h.fields);
    else
      update_at_once(h, m, h.fields);
  });
}

template <int States, class Lanes>
NEARBY_INLINE inline void update_lanes(const nearby_bank *bank,
                                       const nearby_measurement *measurement,
                                       double fault_correlation) {
  nearby::for_lanes_of<States, Lanes>(*bank, [&](auto placed) NEARBY_INLINE {
    const Sample m(*measurement, fault_correlation);
    auto h = nearby::Hypothesis<Lanes, placed.size>::load(placed.fields);
    update_linear(h, m, placed.fields);
    update(h, m, placed.fields);
    h.store(placed.fields);
  });
}

}  // namespace

/// The same compiled for some vectors: once for all who call it, since it takes long to compile.
///
/// Performance: each size is compiled in a file of its own, beside the others.
template <int States>
void step_column_with(nearby_vectors vectors, const nearby_bank *bank, const nearby_motion *motion,
                      const nearby_travel *travel, const nearby_measurement *measurement,
                      double fault_correlation, nearby_correlations *correlations) {
  nearby::for_vectors(
      vectors, [](auto... arguments) NEARBY_INLINE { step_column<States>(arguments...); }, bank,
      motion, travel, measurement, fault_correlation, correlations);
}
template <int States>
void update_lanes_with(nearby_vectors vectors, const nearby_bank *bank,
                       const nearby_measurement *measurement, double fault_correlation) {
  using nearby::Lanes, nearby::WideLanes;
  // What fills half of the widest vectors is updated in half as wide ones.
  if (vectors == NEARBY_VECTORS_OF_EIGHT && bank->count > nearby::lane_count)
    nearby::for_vectors_of_eight(
        [](auto... arguments) NEARBY_INLINE { update_lanes<States, WideLanes>(arguments...); },
        bank, measurement, fault_correlation);
  else
    nearby::for_vectors(
        vectors, [](auto... arguments) NEARBY_INLINE { update_lanes<States, Lanes>(arguments...); },
        bank, measurement, fault_correlation);
}

/// Declares or instantiates the updates of one size of states.
#define NEARBY_UPDATES(prefix, states)                                                   \
  prefix template void nearby::updating::step_column_with<states>(                       \
      nearby_vectors, const nearby_bank *, const nearby_motion *, const nearby_travel *, \
      const nearby_measurement *, double, nearby_correlations *);                        \
  prefix template void nearby::updating::update_lanes_with<states>(                      \
      nearby_vectors, const nearby_bank *, const nearby_measurement *, double);

}  // namespace nearby::updating

NEARBY_UPDATES(extern, NEARBY_STATE_SIZE)
NEARBY_UPDATES(extern, NEARBY_HEIGHT_STATE_SIZE)
NEARBY_UPDATES(extern, NEARBY_MOVING_STATE_SIZE)
