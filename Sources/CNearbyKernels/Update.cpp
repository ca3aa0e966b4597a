// SPDX-License-Identifier: Apache-2.0

#include <type_traits>

#include "Models.hpp"

namespace {

using nearby::Hypothesis;
using nearby::Lanes;
using nearby::Linearized;
using nearby::Number;

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

template <class T>
T gaussian(const T &squared, const T &variance) {
  constexpr double normalizer = 0.3989422804014327;  // 1/√(2π)
  return normalizer * nearby::exponential(T(-0.5 * squared / variance)) / nearby::root(variance);
}

/// The densities of an innovation in case of a fault: one that has just begun, one that lasts.
template <class T>
struct FaultDensity {
  T fresh, lasting;
};

template <class T>
FaultDensity<T> range_fault(const T &innovation, const T &last, const T &variance,
                            const nearby_measurement &m) {
  const double excess = m.range_excess;
  // One-sided, with an edge as soft as the innovation is uncertain.
  const T positive = nearby::at_least(innovation, 0.0);
  const T edge = 1.0 / (1.0 + nearby::exponential(T(-1.702 * innovation / nearby::root(variance))));
  const T one_sided = edge * nearby::exponential(T(-positive / excess)) / excess;
  FaultDensity<T> density;
  density.fresh = new_range_excess * one_sided + new_range_anything / (range_span * excess);
  const T step = innovation - last;
  // A lasting fault is never predicted more sharply than an honest value: else a hypothesis that is
  // still wide would do best to call everything a fault that repeats itself.
  const T spread = variance + (m.variance[NEARBY_RANGE] + m.lasting_range_variance);
  density.lasting =
      lasting_range_repeated * gaussian(T(step * step), spread) + lasting_range_new * density.fresh;
  return density;
}

template <class T>
FaultDensity<T> angle_fault(int component, const T &innovation, const T &variance,
                            const nearby_measurement &m) {
  FaultDensity<T> density;
  density.fresh = T(0.0 * innovation + new_angle_anything / m.field_of_view);
  if (component == NEARBY_AZIMUTH) {
    // Measured π - z instead of z: the innovation that the mirrored value would have.
    const T mirrored = nearby::wrapped(T(innovation + (M_PI - 2 * m.value[component])));
    density.fresh += new_angle_mirrored * gaussian(T(mirrored * mirrored), variance);
  }
  const double step = nearby::wrapped(m.value[component] - m.previous[component]);
  density.lasting = lasting_angle_new * density.fresh;
  if (std::isfinite(step))
    density.lasting += lasting_angle_stuck * gaussian(T(0.0 * innovation + step * step),
                                                      T(variance + m.variance[component]));
  return density;
}

/// One scalar component's update of the moments, and its mark in the bank's fields.
template <class T, int N>
void fuse(Hypothesis<T, N> &h, int component, const Linearized<T> &z, const T *range,
          const nearby_measurement &m, double *fields, int stride, T &log_weight) {
  const int bias = NEARBY_STATE_RANGE_BIAS + component;
  const int wander = NEARBY_STATE_RANGE_WANDER + component;
  T gain[N];  // P Hᵀ
  for (int i = 0; i < N; ++i) {
    gain[i] = h.cov(i, 0) * z.gradient[0] + h.cov(i, 1) * z.gradient[1] +
              h.cov(i, 2) * z.gradient[2] + h.cov(i, bias) + h.cov(i, wander);
    if (range) gain[i] += h.cov(i, NEARBY_STATE_RANGE_SCALE) * *range;
  }
  T state_variance = gain[0] * z.gradient[0] + gain[1] * z.gradient[1] + gain[2] * z.gradient[2] +
                     gain[bias] + gain[wander];
  if (range) state_variance += gain[NEARBY_STATE_RANGE_SCALE] * *range;

  const T variance = state_variance + m.variance[component] + z.curvature_variance;
  T innovation = m.value[component] - z.predicted - z.curvature_mean;
  if (component != NEARBY_RANGE) innovation = nearby::wrapped(innovation);

  double *fault_field = fields + (NEARBY_FIELD_FAULT + component) * stride;
  const T faulty = Number<T>::load(fault_field);
  FaultDensity<T> density;
  if (component == NEARBY_RANGE) {
    double *last_field = fields + NEARBY_FIELD_RANGE_RESIDUAL * stride;
    density = range_fault(innovation, Number<T>::load(last_field), variance, m);
    Number<T>::store(last_field, innovation);
  } else {
    density = angle_fault(component, innovation, variance, m);
  }
  const T begins = m.fault_onset[component] * (1.0 - faulty);
  const T lasts = m.fault_persistence * faulty;
  const T honest = (1.0 - begins - lasts) * gaussian(T(innovation * innovation), variance);
  const T likelihood = honest + begins * density.fresh + lasts * density.lasting;
  const T inlier = honest / likelihood;
  log_weight += nearby::logarithm(likelihood);

  // The gain's variance: the curvature's error is not noise that averages out, so no number of
  // samples may make the prediction surer than the curvature allows.
  const T slack = nearby::at_least(T(state_variance - z.curvature_variance), 0.0);
  const T gain_variance =
      state_variance + m.variance[component] +
      z.curvature_variance * state_variance / (slack + 1e-3 * state_variance + 1e-300);
  const T shrink = inlier * (gain_variance - (1.0 - inlier) * innovation * innovation) /
                   (gain_variance * gain_variance);
  const T step = inlier * innovation / gain_variance;
  for (int i = 0; i < N; ++i) {
    h.mean[i] += gain[i] * step;
    const T scaled = shrink * gain[i];
    for (int j = i; j < N; ++j) h.covariance[nearby::packed(i, j)] -= scaled * gain[j];
  }

  Number<T>::store(fault_field, T(1.0 - inlier));
  Number<T>::store(fields + (NEARBY_FIELD_INNOVATION + component) * stride, innovation);
  Number<T>::store(fields + (NEARBY_FIELD_INNOVATION_VARIANCE + component) * stride, variance);
  Number<T>::store(fields + (NEARBY_FIELD_INLIER + component) * stride, inlier);
}

/// Whether curvature can matter: for one hypothesis only while the position is so uncertain that
/// the second-order variance would reach a thousandth of the noise; in lanes always.
template <int N>
bool curvature_matters(const Hypothesis<double, N> &h, const nearby_measurement &m) {
  const double trace = h.cov(0, 0) + h.cov(1, 1) + h.cov(2, 2);
  double v[3];
  nearby::line_of_sight(h, m, v);
  const double squared = nearby::dot(v, v);
  double limit = 1e300;
  if (m.present & 1 << NEARBY_RANGE) limit = m.variance[NEARBY_RANGE] * squared;
  const double angular = squared * squared;
  if (m.present & 1 << NEARBY_AZIMUTH)
    limit = std::fmin(limit, m.variance[NEARBY_AZIMUTH] * angular);
  if (m.present & 1 << NEARBY_ELEVATION)
    limit = std::fmin(limit, m.variance[NEARBY_ELEVATION] * angular);
  return trace * trace > 1e-3 * limit;
}
template <int N>
bool curvature_matters(const Hypothesis<Lanes, N> &, const nearby_measurement &) {
  return true;
}

template <bool curved, class T, int N>
void update(Hypothesis<T, N> &h, const nearby_measurement &m, double *fields, int stride) {
  double *weight_field = fields + NEARBY_FIELD_LOG_WEIGHT * stride;
  T log_weight = Number<T>::load(weight_field);
  const T *none = nullptr;
  if (m.present & 1 << NEARBY_AZIMUTH) {
    const auto z = nearby::AzimuthModel<T>::template at<curved>(h, m);
    fuse(h, NEARBY_AZIMUTH, z, none, m, fields, stride, log_weight);
  }
  if (m.present & 1 << NEARBY_ELEVATION) {
    const auto z = nearby::ElevationModel<T>::template at<curved>(h, m);
    fuse(h, NEARBY_ELEVATION, z, none, m, fields, stride, log_weight);
  }
  if (m.present & 1 << NEARBY_RANGE) {
    T range;
    const auto z = nearby::RangeModel<T>::template at<curved>(h, m, range);
    const T *scaled = &range;
    fuse(h, NEARBY_RANGE, z, scaled, m, fields, stride, log_weight);
  }
  Number<T>::store(weight_field, log_weight);
}

}  // namespace

void nearby_bank_update(const nearby_bank *bank, const nearby_measurement *measurement) {
  nearby::for_each(*bank, [&](auto tag, int first) {
    auto h = decltype(tag)::Type::load(*bank, first);
    double *fields = bank->fields + first;
    if (curvature_matters(h, *measurement))
      update<true>(h, *measurement, fields, bank->stride);
    else
      update<false>(h, *measurement, fields, bank->stride);
    h.store(*bank, first);
  });
}
