// SPDX-License-Identifier: Apache-2.0

#include <type_traits>

#include "Models.hpp"
#include "Propagation.hpp"

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
/// The exponent of a normal density, of a square over its variance, as a power of two.
constexpr double half_square = -0.5 * nearby::octaves;

/// What is held of a component before it is looked at: the probabilities that it is honest, that a
/// fault has just begun and that one lasts.
template <class T>
struct Prior {
  T honest, begins, lasts;
};

/// The joint density of an innovation with its being honest, and its density, both times `factor`.
template <class T>
struct Densities {
  T honest, any, factor;
};

/// How far innovations are spread: honest ones, and the steps of a fault that repeats itself. Those
/// never less: else a hypothesis that is still wide would do best to call everything such a fault.
template <class T>
struct Spread {
  T variance, repeated_variance;
};

template <class T>
NEARBY_INLINE inline Densities<T> range_densities(const Prior<T> &prior, T innovation, T last,
                                                  const Spread<T> &spread, T precision,
                                                  const nearby_measurement &m) {
  // One over it is taken as the root times one over the variance: neither waits for the other.
  const T deviation = nearby::root(spread.variance);
  const double rate = 1 / m.range_excess;
  const T step = innovation - last;
  const T repeated_precision = 1.0 / spread.repeated_variance;
  T e[4] = {
      half_square * innovation * innovation * precision,
      half_square * step * step * repeated_precision,
      -1.702 * nearby::octaves * innovation * precision * deviation,
      nearby::at_least(innovation, 0.0) * (-nearby::octaves * rate),
  };
  nearby::powers_of_two(e);
  // A fault that begins is one-sided, with an edge as soft as the innovation is uncertain:
  // e[3] rate / (1 + e[2]). The denominator is the common factor, so that nobody waits for a
  // division by it, and what the exponentials are multiplied by is there before them.
  const T fresh = rate * (prior.begins + lasting_range_new * prior.lasts);
  const T repeated =
      prior.lasts * (lasting_range_repeated * normalizer) * nearby::root(repeated_precision);
  const T honest = prior.honest * normalizer * deviation * precision * e[0];
  const T factor = 1.0 + e[2];
  const T even = honest + (repeated * e[1] + new_range_anything / range_span * fresh);
  return {honest * factor, even * factor + new_range_excess * fresh * e[3], factor};
}

template <int component, class T>
NEARBY_INLINE inline Densities<T> angle_densities(const Prior<T> &prior, T innovation,
                                                  const Spread<T> &spread, T precision,
                                                  const nearby_measurement &m) {
  // Before the first value there is none at which it could stick.
  const double change = nearby::wrapped(m.value[component] - m.previous[component]);
  const bool may_stick = change == change;
  const double step = may_stick ? change : 0, sticks = may_stick ? lasting_angle_stuck : 0;
  const T stuck_precision = 1.0 / spread.repeated_variance;
  // Measured π - z instead of z: the innovation that the mirrored value would have.
  constexpr bool may_mirror = component == NEARBY_AZIMUTH;
  T e[may_mirror ? 3 : 2] = {half_square * innovation * innovation * precision,
                             half_square * step * step * stuck_precision};
  if constexpr (may_mirror) {
    const T mirrored = nearby::wrapped(T(innovation + (M_PI - 2 * m.value[component])));
    e[2] = half_square * mirrored * mirrored * precision;
  }
  nearby::powers_of_two(e);
  const T peak = normalizer * nearby::root(precision);
  const T stuck_peak = normalizer * nearby::root(stuck_precision);
  const T fresh = prior.begins + lasting_angle_new * prior.lasts;
  const T honest = prior.honest * peak * e[0];
  T faulty =
      (sticks * prior.lasts) * stuck_peak * e[1] + fresh * (new_angle_anything / m.field_of_view);
  if constexpr (may_mirror) faulty += new_angle_mirrored * fresh * peak * e[2];
  return {honest, honest + faulty, T(1)};
}

/// The covariance of the state with a prediction, P Hᵀ.
template <int component, class H, class T>
NEARBY_INLINE inline void covariance_with(const H &h, const Linearized<T> &z, T range,
                                          T (&result)[H::size]) {
  constexpr int bias = NEARBY_STATE_RANGE_BIAS + component;
  constexpr int wander = NEARBY_STATE_RANGE_WANDER + component;
  each<H::size>([&](auto i) NEARBY_INLINE {
    T across = h.cov(i, 0) * z.direction[0];
    across = h.cov(i, 1) * z.direction[1] + across;
    across = h.cov(i, 2) * z.direction[2] + across;
    T sum = h.cov(i, bias) + h.cov(i, wander);
    if constexpr (component == NEARBY_RANGE) sum = h.cov(i, NEARBY_STATE_RANGE_SCALE) * range + sum;
    result[i] = across * z.slope + sum;
  });
}

/// H c, for such a covariance of the state with something.
template <int component, class T, int size>
NEARBY_INLINE inline T predicted_covariance(const Linearized<T> &z, T range, const T (&c)[size]) {
  const T part = c[0] * z.gradient(0) + c[1] * z.gradient(1);
  T rest = c[NEARBY_STATE_RANGE_BIAS + component] + c[NEARBY_STATE_RANGE_WANDER + component];
  rest = c[2] * z.gradient(2) + rest;
  if constexpr (component == NEARBY_RANGE) rest = c[NEARBY_STATE_RANGE_SCALE] * range + rest;
  return part + rest;
}

/// By how much the variance of a repeated fault's step exceeds that of an honest innovation.
template <int component>
NEARBY_INLINE inline double repetition_variance(const nearby_measurement &m) {
  return m.variance[component] + (component == NEARBY_RANGE ? m.lasting_range_variance : 0);
}

/// What an innovation does to the moments. With γ the probability that it is honest:
///
///     x ← x + γ s P Hᵀ,  P ← P - γ (r + γ s²) P Hᵀ (P Hᵀ)ᵀ,  s = ν/S,  r = 1/S - s²
///
/// γ is known last, so that all else is kept apart from it.
template <class T>
struct Correction {
  T honest, scaled_innovation, squared, rest, likelihood;

  NEARBY_INLINE T step() const { return honest * scaled_innovation; }
  NEARBY_INLINE T shrink() const { return honest * shrink_over_honest(T(1)); }
  /// (r + γ s²) times a factor: what is multiplied by γ comes first, for that to be one operation.
  NEARBY_INLINE T shrink_over_honest(T factor) const {
    return honest * (squared * factor) + rest * factor;
  }
};

/// Weighs an innovation, and marks in the bank's fields how it met the hypothesis.
///
/// `gain_variance` is the innovation's variance, or more where the gain must be less than it says.
template <int component, class T, class Fields>
NEARBY_INLINE inline Correction<T> correction(T innovation, const Spread<T> &spread,
                                              const T *gain_variance, const nearby_measurement &m,
                                              const Fields &fields) {
  constexpr bool is_range = component == NEARBY_RANGE;
  if constexpr (!is_range) innovation = nearby::wrapped(innovation);
  const T faulty = fields[NEARBY_FIELD_FAULT + component];
  const T precision = 1.0 / spread.variance;
  const T begins = m.fault_onset[component] * (1.0 - faulty);
  const T lasts = m.fault_persistence * faulty;
  const Prior<T> prior = {T(1.0 - begins - lasts), begins, lasts};
  Densities<T> density;
  if constexpr (is_range) {
    density = range_densities(prior, innovation, T(fields[NEARBY_FIELD_RANGE_RESIDUAL]), spread,
                              precision, m);
    fields[NEARBY_FIELD_RANGE_RESIDUAL] = innovation;
  } else {
    density = angle_densities<component>(prior, innovation, spread, precision, m);
  }
  const T inlier = density.honest / density.any;

  fields[NEARBY_FIELD_FAULT + component] = 1.0 - inlier;
  fields[NEARBY_FIELD_INNOVATION + component] = innovation;
  fields[NEARBY_FIELD_INNOVATION_VARIANCE + component] = spread.variance;
  fields[NEARBY_FIELD_INLIER + component] = inlier;

  const T inverse_gain = gain_variance ? T(1.0 / *gain_variance) : precision;
  const T scaled = innovation * inverse_gain, squared = scaled * scaled;
  return {inlier, scaled, squared, T(inverse_gain - squared), density.any / density.factor};
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
NEARBY_INLINE inline T fuse(H &h, const Linearized<T> &z, T range, const nearby_measurement &m,
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
  const Correction<T> by = correction<component>(
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

template <class H, class Fields>
NEARBY_INLINE inline void update(H &h, const nearby_measurement &m, const Fields &fields) {
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
NEARBY_INLINE inline bool curvature_matters(const H &h, const nearby_measurement &m) {
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
/// The same as one after the other, for models that are flat: what is known of the others' errors
/// once a component has been used follows from the covariances of the predictions, so that
/// nothing but a few numbers is waited for, and the state is written once.
template <int present, class H, class Fields>
NEARBY_INLINE inline void update_at_once(H &h, const nearby_measurement &m, const Fields &fields) {
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
    Spread<double> spread = {variance, variance + repetition_variance<component>(m)};
    // What those before have said of it.
    each<k>([&](auto l) NEARBY_INLINE {
      const double between = predicted_covariance<component>(z, range, gain[l]);
      const double honest = by[l].honest, share = shrink[l] * between;
      const double less = by[l].shrink_over_honest(between * between);
      innovation -= honest * (by[l].scaled_innovation * between);
      spread.variance -= honest * less;
      spread.repeated_variance -= honest * less;
      each<H::size>([&](auto i) NEARBY_INLINE { gain[k][i] -= share * gain[l][i]; });
    });
    // The angles are predicted while the range is weighed.
    if constexpr (component == NEARBY_RANGE && count > 1) predict_angles(spread.variance);
    by[k] = correction<component, double>(innovation, spread, nullptr, m, fields);
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

/// The same with the components that are there.
template <class H, class Fields>
NEARBY_INLINE inline void update_at_once(H &h, const nearby_measurement &m, const Fields &fields) {
  switch (m.present) {
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
NEARBY_INLINE inline void step_column(const nearby_bank *bank, const nearby_motion *motion,
                                      const nearby_travel *travel,
                                      const nearby_measurement *measured, nearby_decays *decays) {
  nearby::for_column(*bank, [&](auto h) NEARBY_INLINE {
    // Copies: nothing that is written to the bank can change them.
    nearby_measurement m = *measured;
    for (double &entry : m.device_from_world) entry = nearby::alone(entry);
    if (motion) {
      const nearby_motion step = *motion;
      const nearby::Renewal renewal(*travel);
      renewal.foresee(m);
      *decays = renewal.decays();
      nearby::propagate(h, step, renewal);
    }
    // Where it stands its columns are contiguous, and so the compiler leaves them.
    if (curvature_matters(h, m))
      update(h, m, h.fields);
    else
      update_at_once(h, m, h.fields);
  });
}

template <class Lanes>
NEARBY_INLINE inline void update_lanes(const nearby_bank *bank,
                                       const nearby_measurement *measured) {
  nearby::for_lanes<Lanes>(*bank, [&](auto placed) NEARBY_INLINE {
    const nearby_measurement m = *measured;
    auto h = nearby::Hypothesis<Lanes, placed.size>::load(placed.fields);
    update(h, m, placed.fields);
    h.store(placed.fields);
  });
}

/// The same compiled for some vectors: once for all who call it, since it takes long to compile.
inline void step_column(nearby_vectors vectors, const nearby_bank *bank,
                        const nearby_motion *motion, const nearby_travel *travel,
                        const nearby_measurement *measurement, nearby_decays *decays) {
  nearby::for_vectors(
      vectors, [](auto... arguments) NEARBY_INLINE { step_column(arguments...); }, bank, motion,
      travel, measurement, decays);
}
inline void update_lanes(nearby_vectors vectors, const nearby_bank *bank,
                         const nearby_measurement *measurement) {
  using nearby::Lanes, nearby::WideLanes;
  // What fills half of the widest vectors is updated in half as wide ones.
  if (vectors == NEARBY_VECTORS_OF_EIGHT && bank->count > nearby::lane_count)
    nearby::for_vectors_of_eight([](auto... arguments)
                                     NEARBY_INLINE { update_lanes<WideLanes>(arguments...); },
                                 bank, measurement);
  else
    nearby::for_vectors(
        vectors, [](auto... arguments) NEARBY_INLINE { update_lanes<Lanes>(arguments...); }, bank,
        measurement);
}

/// Not in line, so that a single column need not save what this one needs.
__attribute__((noinline)) void advance_lanes(const nearby_bank *bank, const nearby_motion *motion,
                                             const nearby_travel *travel,
                                             const nearby_measurement *measurement,
                                             nearby_decays *decays) {
  nearby_measurement m = *measurement;
  nearby::on_this_processor([&]() NEARBY_INLINE {
    const nearby::Renewal renewal(*travel);
    renewal.foresee(m);
    *decays = renewal.decays();
    nearby::for_lanes<nearby::Lanes>(*bank, [&](auto h) NEARBY_INLINE {
      const nearby_motion step = *motion;
      nearby::propagate(h, step, renewal);
    });
  });
  update_lanes(nearby::widest_vectors, bank, &m);
}

}  // namespace

void nearby_bank_update_with(const nearby_bank *bank, const nearby_measurement *measurement,
                             nearby_vectors vectors) {
  if (bank->stride == 1)
    step_column(vectors, bank, nullptr, nullptr, measurement, nullptr);
  else
    update_lanes(vectors, bank, measurement);
}

void nearby_bank_update(const nearby_bank *bank, const nearby_measurement *measurement) {
  nearby_bank_update_with(bank, measurement, nearby::widest_vectors);
}

nearby_decays nearby_bank_advance(const nearby_bank *bank, const nearby_motion *motion,
                                  const nearby_travel *travel,
                                  const nearby_measurement *measurement) {
  nearby_decays decays;
  if (bank->stride == 1)
    step_column(nearby::widest_vectors, bank, motion, travel, measurement, &decays);
  else
    advance_lanes(bank, motion, travel, measurement, &decays);
  return decays;
}
