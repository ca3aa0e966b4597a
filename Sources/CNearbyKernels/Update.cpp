// SPDX-License-Identifier: Apache-2.0

#include <type_traits>

#include "Models.hpp"

namespace {

using nearby::each;
using nearby::Linearized;

/// What a new fault looks like, as shares of its density: an obstructed range is too long, a bad
/// angle is mirrored front to back, and either may be anything.
constexpr double new_range_excess = 0.75, new_range_anything = 0.25;
constexpr double new_angle_mirrored = 0.25, new_angle_anything = 0.75;
/// What a fault that lasts looks like: it repeats itself, so that a burst is one surprise and not
/// as many as it has samples. Ranges repeat their excess, angles the very value at which they
/// stick.
constexpr double lasting_range_repeated = 0.9, lasting_range_new = 0.1;
constexpr double lasting_angle_stuck = 0.6, lasting_angle_new = 0.4;
/// "Anything", for a range: so many mean excesses.
constexpr double range_span = 30;

/// The exponents of a mixture's densities are evaluated all at once: for one hypothesis they stand
/// side by side in lanes. A density is a factor and its exponential.
constexpr double normalizer = 0.3989422804014327;  // 1/√(2π)

/// The densities of an innovation, all times one factor: if it is honest, and in case of a fault:
/// one that has just begun, one that lasts.
template <class T>
struct Densities {
  T honest, fresh, lasting, factor;
};

/// `precision` is one over the innovation's variance, `deviation` its root.
template <class T>
NEARBY_INLINE inline Densities<T> range_densities(T innovation, T last, T variance, T precision,
                                                  T deviation, const nearby_measurement &m) {
  const double rate = 1 / m.range_excess;
  const T step = innovation - last;
  // A lasting fault is never predicted more sharply than an honest value: else a hypothesis that is
  // still wide would do best to call everything a fault that repeats itself.
  const T spread = variance + (m.variance[NEARBY_RANGE] + m.lasting_range_variance);
  const T inverse_spread = 1.0 / spread;
  const T scaled = innovation * precision;
  T e[4] = {
      -0.5 * innovation * scaled,
      // Beyond e^40 the edge is none.
      nearby::at_most(T(-1.702 * scaled * deviation), 40.0),
      nearby::at_least(innovation, 0.0) * -rate,
      -0.5 * step * step * inverse_spread,
  };
  nearby::exponentials(e);
  // One-sided, with an edge as soft as the innovation is uncertain: e[2] rate / (1 + e[1]). The
  // denominator is the densities' common factor, so that nobody waits for a division by it.
  Densities<T> density;
  density.factor = 1.0 + e[1];
  density.honest = normalizer * deviation * precision * e[0] * density.factor;
  density.fresh =
      new_range_excess * rate * e[2] + new_range_anything / range_span * rate * density.factor;
  density.lasting =
      lasting_range_repeated * normalizer * nearby::root(inverse_spread) * e[3] * density.factor +
      lasting_range_new * density.fresh;
  return density;
}

template <int component, class T>
NEARBY_INLINE inline Densities<T> angle_densities(T innovation, T variance, T precision,
                                                  T deviation, const nearby_measurement &m) {
  const double step = nearby::wrapped(m.value[component] - m.previous[component]);
  const T inverse_spread = 1.0 / (variance + m.variance[component]);
  // Measured π - z instead of z: the innovation that the mirrored value would have.
  constexpr bool may_mirror = component == NEARBY_AZIMUTH;
  T e[may_mirror ? 3 : 2] = {-0.5 * innovation * innovation * precision,
                             -0.5 * step * step * inverse_spread};
  if constexpr (may_mirror) {
    const T mirrored = nearby::wrapped(T(innovation + (M_PI - 2 * m.value[component])));
    e[2] = -0.5 * mirrored * mirrored * precision;
  }
  nearby::exponentials(e);
  Densities<T> density;
  density.factor = T(1);
  const T factor = normalizer * deviation * precision;
  density.honest = factor * e[0];
  density.fresh = T(new_angle_anything / m.field_of_view);
  if constexpr (may_mirror) density.fresh += new_angle_mirrored * factor * e[2];
  density.lasting = lasting_angle_new * density.fresh;
  // Before the first value there is none at which it could stick.
  if (step == step)
    density.lasting += lasting_angle_stuck * normalizer * nearby::root(inverse_spread) * e[1];
  return density;
}

/// a ← a - s b for the `count` numbers of a packed column; those of one hypothesis are contiguous.
template <int count, class At>
NEARBY_INLINE inline void subtract(At *column, double s, const double *b) {
  if constexpr (count >= 4) {
    nearby::at<nearby::Lanes>(column) -= s * nearby::at<nearby::Lanes>(b);
    subtract<count - 4>(column + 4, s, b + 4);
  } else if constexpr (count >= 2) {
    nearby::at<nearby::Pair>(column) -= s * nearby::at<nearby::Pair>(b);
    subtract<count - 2>(column + 2, s, b + 2);
  } else if constexpr (count == 1) {
    *column -= s * *b;
  }
}

/// One scalar component's update of the moments, and its mark in the bank's fields. Returns the
/// likelihood.
template <int component, bool curved, class H, class T, class Fields>
NEARBY_INLINE inline T fuse(H &h, const Linearized<T> &z, T range, const nearby_measurement &m,
                            const Fields &fields) {
  constexpr bool is_range = component == NEARBY_RANGE;
  constexpr int bias = NEARBY_STATE_RANGE_BIAS + component;
  constexpr int wander = NEARBY_STATE_RANGE_WANDER + component;
  const T gradient[3] = {z.gradient[0], z.gradient[1], z.gradient[2]};
  T gain[H::size];  // P Hᵀ
  each<H::size>([&](auto i) NEARBY_INLINE {
    T sum = h.cov(i, bias) + h.cov(i, wander);
    sum = h.cov(i, 0) * gradient[0] + sum;
    sum = h.cov(i, 1) * gradient[1] + sum;
    sum = h.cov(i, 2) * gradient[2] + sum;
    if constexpr (is_range) sum = h.cov(i, NEARBY_STATE_RANGE_SCALE) * range + sum;
    gain[i] = sum;
  });
  T state_variance = gain[0] * gradient[0] + gain[1] * gradient[1] + gain[2] * gradient[2] +
                     (gain[bias] + gain[wander]);
  if constexpr (is_range) state_variance += gain[NEARBY_STATE_RANGE_SCALE] * range;

  T variance = state_variance + m.variance[component];
  // The gain's variance: the curvature's error is not noise that averages out, so no number of
  // samples may make the prediction surer than the curvature allows.
  T gain_variance = variance;
  T innovation = m.value[component] - z.predicted;
  if constexpr (curved) {
    const T slack = nearby::at_least(T(state_variance - z.curvature_variance), 0.0);
    gain_variance +=
        z.curvature_variance * state_variance / (slack + 1e-3 * state_variance + 1e-300);
    variance += z.curvature_variance;
    innovation -= z.curvature_mean;
  }
  if constexpr (!is_range) innovation = nearby::wrapped(innovation);

  const T faulty = fields[NEARBY_FIELD_FAULT + component];
  // The root is not waited for: one over it is the root times one over the variance.
  const T precision = 1.0 / variance, deviation = nearby::root(variance);
  Densities<T> density;
  if constexpr (is_range) {
    density = range_densities(innovation, T(fields[NEARBY_FIELD_RANGE_RESIDUAL]), variance,
                              precision, deviation, m);
    fields[NEARBY_FIELD_RANGE_RESIDUAL] = innovation;
  } else {
    density = angle_densities<component>(innovation, variance, precision, deviation, m);
  }
  const T begins = m.fault_onset[component] * (1.0 - faulty);
  const T lasts = m.fault_persistence * faulty;
  const T honest = (1.0 - begins - lasts) * density.honest;
  const T likelihood = honest + (begins * density.fresh + lasts * density.lasting);
  const T inlier = honest / likelihood;

  // c = γ (1 - (1 - γ) ν²/S)/S, with all that can be known before γ.
  const T inverse_gain = curved ? 1.0 / gain_variance : precision;
  const T scaled_innovation = innovation * inverse_gain;
  const T squared = scaled_innovation * scaled_innovation;
  const T step = inlier * scaled_innovation;
  const T shrink = inlier * ((inverse_gain - squared) + inlier * squared);
  each<H::size>([&](auto i) NEARBY_INLINE {
    const T scaled = shrink * gain[i];
    h.mean(i) += gain[i] * step;
    if constexpr (std::is_same_v<T, double>)
      subtract<i + 1>(&h.cov(0, i), scaled, gain);
    else
      each<i + 1>([&](auto j) NEARBY_INLINE { h.cov(j, i) -= scaled * gain[j]; });
  });

  fields[NEARBY_FIELD_FAULT + component] = 1.0 - inlier;
  fields[NEARBY_FIELD_INNOVATION + component] = innovation;
  fields[NEARBY_FIELD_INNOVATION_VARIANCE + component] = variance;
  fields[NEARBY_FIELD_INLIER + component] = inlier;
  return likelihood / density.factor;
}

/// Whether curvature can matter: for one hypothesis only while the position is so uncertain that
/// the second-order variance would reach a thousandth of the noise; in lanes always.
template <class H>
NEARBY_INLINE inline bool curvature_matters(const H &h, const nearby_measurement &m) {
  if constexpr (std::is_same_v<typename H::Value, double>) {
    const double trace = h.cov(0, 0) + h.cov(1, 1) + h.cov(2, 2);
    double v[3];
    nearby::line_of_sight(h, m, v);
    const double squared = nearby::dot(v, v);
    const double angular = squared * squared;
    const double least = 1e3 * trace * trace;
    return (m.present & 1 << NEARBY_RANGE && least > m.variance[NEARBY_RANGE] * squared) ||
           (m.present & 1 << NEARBY_AZIMUTH && least > m.variance[NEARBY_AZIMUTH] * angular) ||
           (m.present & 1 << NEARBY_ELEVATION && least > m.variance[NEARBY_ELEVATION] * angular);
  } else {
    return true;
  }
}

template <bool curved, class H, class Fields>
NEARBY_INLINE inline void update(H &h, const nearby_measurement &m, const Fields &fields) {
  using T = typename H::Value;
  T azimuth = 1, elevation = 1, distance = 1;
  if (m.present & 1 << NEARBY_AZIMUTH) {
    const auto z = nearby::AzimuthModel<T>::template at<curved>(h, m);
    azimuth = fuse<NEARBY_AZIMUTH, curved>(h, z, T(0), m, fields);
  }
  if (m.present & 1 << NEARBY_ELEVATION) {
    const auto z = nearby::ElevationModel<T>::template at<curved>(h, m);
    elevation = fuse<NEARBY_ELEVATION, curved>(h, z, T(0), m, fields);
  }
  if (m.present & 1 << NEARBY_RANGE) {
    T range;
    const auto z = nearby::RangeModel<T>::template at<curved>(h, m, range);
    distance = fuse<NEARBY_RANGE, curved>(h, z, range, m, fields);
  }
  fields[NEARBY_FIELD_LOG_WEIGHT] += nearby::logarithm_of_product(azimuth, elevation, distance);
}

}  // namespace

void nearby_bank_update(const nearby_bank *bank, const nearby_measurement *measurement) {
  nearby::on_this_processor([&]() NEARBY_INLINE {
    nearby::for_each(*bank, [&](auto placed) NEARBY_INLINE {
      using T = typename decltype(placed)::Value;
      // A copy: nothing that is written to the bank can change it.
      const nearby_measurement m = *measurement;
      if constexpr (std::is_same_v<T, double>) {
        // Where it stands its columns are contiguous, and so the compiler leaves them.
        if (curvature_matters(placed, m))
          update<true>(placed, m, placed.fields);
        else
          update<false>(placed, m, placed.fields);
      } else {
        auto h = nearby::Hypothesis<T, placed.size>::load(placed.fields);
        update<true>(h, m, placed.fields);
        h.store(placed.fields);
      }
    });
  });
}
