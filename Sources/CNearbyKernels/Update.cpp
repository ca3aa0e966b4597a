// SPDX-License-Identifier: Apache-2.0

#include <type_traits>

#include "Models.hpp"

namespace {

using nearby::Hypothesis;
using nearby::Lanes;
using nearby::Linearized;
using nearby::Number;

/// What faults look like, as shares of their density. A fault that lasts repeats itself, so most of
/// its density lies where it was last: a burst is one surprise and not as many as it has samples.
constexpr double range_share_lasting = 0.6, range_share_excess = 0.3, range_share_anything = 0.1;
constexpr double angle_share_stuck = 0.3, angle_share_mirrored = 0.2, angle_share_anything = 0.5;
/// "Anything", for a range: so many mean excesses.
constexpr double range_span = 30;
/// How far a lasting excess wanders from sample to sample, in mean excesses.
constexpr double range_lasting_wander = 0.1;

template <class T>
T gaussian(const T &squared, const T &variance) {
  constexpr double normalizer = 0.3989422804014327;  // 1/√(2π)
  return normalizer * nearby::exponential(T(-0.5 * squared / variance)) /
         nearby::root(variance);
}

/// The density of a faulty range at innovation ν.
template <class T>
T faulty_range_density(const T &innovation, const T &last, const T &variance, double noise,
                       double excess) {
  // One-sided, with an edge as soft as the innovation is uncertain.
  const T positive = nearby::at_least(innovation, 0.0);
  const T edge = 1.0 / (1.0 + nearby::exponential(T(-1.702 * innovation / nearby::root(variance))));
  const T one_sided = edge * nearby::exponential(T(-positive / excess)) / excess;
  const double wander = range_lasting_wander * excess;
  const T step = innovation - last;
  const T spread = T(0.0 * innovation + 2 * noise + wander * wander);
  return range_share_excess * one_sided + range_share_anything / (range_span * excess) +
         range_share_lasting * gaussian(T(step * step), spread);
}

/// The density of a faulty angle: stuck at its last value, mirrored front to back, or anything.
template <class T>
T faulty_angle_density(int component, const T &innovation, const T &variance,
                       const nearby_measurement &m) {
  const double step = nearby::wrapped(m.value[component] - m.previous[component]);
  const double spread = 2 * m.variance[component];
  double common = angle_share_anything / m.field_of_view;
  if (std::isfinite(step)) common += angle_share_stuck * gaussian(step * step, spread);
  T density = T(0.0 * innovation + common);
  if (component == NEARBY_AZIMUTH) {
    // Measured π - z instead of z: the innovation that the mirrored value would have.
    const T mirrored = nearby::wrapped(T(innovation + (M_PI - 2 * m.value[component])));
    density += angle_share_mirrored * gaussian(T(mirrored * mirrored), variance);
  }
  return density;
}

/// One scalar component's update of the moments, and its mark in the bank's fields.
template <class T>
void fuse(Hypothesis<T> &h, int component, const Linearized<T> &z, int wander, const T *range,
          const nearby_measurement &m, double *fields, int stride, T &log_weight) {
  T gain[NEARBY_STATE_SIZE];  // P Hᵀ
  for (int i = 0; i < NEARBY_STATE_SIZE; ++i) {
    gain[i] = h.cov(i, 0) * z.gradient[0] + h.cov(i, 1) * z.gradient[1] +
              h.cov(i, 2) * z.gradient[2] + h.cov(i, wander);
    if (range)
      gain[i] += h.cov(i, NEARBY_STATE_RANGE_BIAS) + h.cov(i, NEARBY_STATE_RANGE_SCALE) * *range;
  }
  T state_variance = gain[0] * z.gradient[0] + gain[1] * z.gradient[1] +
                     gain[2] * z.gradient[2] + gain[wander];
  if (range)
    state_variance += gain[NEARBY_STATE_RANGE_BIAS] + gain[NEARBY_STATE_RANGE_SCALE] * *range;

  const T variance = state_variance + m.variance[component] + z.curvature_variance;
  T innovation = m.value[component] - z.predicted - z.curvature_mean;
  if (component != NEARBY_RANGE) innovation = nearby::wrapped(innovation);

  double *fault_field = fields + (NEARBY_FIELD_FAULT + component) * stride;
  const T fault = nearby::at_least(Number<T>::load(fault_field), m.fault_floor[component]);
  T faulty;
  if (component == NEARBY_RANGE) {
    double *last_field = fields + NEARBY_FIELD_RANGE_RESIDUAL * stride;
    faulty = faulty_range_density(innovation, Number<T>::load(last_field), variance,
                                  m.variance[component], m.range_excess);
    Number<T>::store(last_field, innovation);
  } else {
    faulty = faulty_angle_density(component, innovation, variance, m);
  }
  const T honest = (1.0 - fault) * gaussian(T(innovation * innovation), variance);
  const T likelihood = honest + fault * faulty;
  const T inlier = honest / likelihood;
  log_weight += nearby::logarithm(likelihood);

  const T shrink = inlier * (variance - (1.0 - inlier) * innovation * innovation) /
                   (variance * variance);
  const T step = inlier * innovation / variance;
  for (int i = 0; i < NEARBY_STATE_SIZE; ++i) {
    h.mean[i] += gain[i] * step;
    const T scaled = shrink * gain[i];
    for (int j = i; j < NEARBY_STATE_SIZE; ++j)
      h.covariance[nearby::packed(i, j)] -= scaled * gain[j];
  }

  const double onset = m.fault_onset[component];
  Number<T>::store(fault_field, T(onset * inlier + m.fault_persistence * (1.0 - inlier)));
  Number<T>::store(fields + (NEARBY_FIELD_INNOVATION + component) * stride, innovation);
  Number<T>::store(fields + (NEARBY_FIELD_INNOVATION_VARIANCE + component) * stride, variance);
  Number<T>::store(fields + (NEARBY_FIELD_INLIER + component) * stride, inlier);
}

/// Whether curvature can matter: for one hypothesis only while the position is so uncertain that the
/// second-order variance would reach a thousandth of the noise; in lanes always.
bool curvature_matters(const Hypothesis<double> &h, const nearby_measurement &m) {
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
bool curvature_matters(const Hypothesis<Lanes> &, const nearby_measurement &) { return true; }

template <bool curved, class T>
void update(Hypothesis<T> &h, const nearby_measurement &m, double *fields, int stride) {
  double *weight_field = fields + NEARBY_FIELD_LOG_WEIGHT * stride;
  T log_weight = Number<T>::load(weight_field);
  if (m.present & 1 << NEARBY_AZIMUTH) {
    const auto z = nearby::AzimuthModel<T>::template at<curved>(h, m);
    fuse<T>(h, NEARBY_AZIMUTH, z, NEARBY_STATE_AZIMUTH_WANDER, nullptr, m, fields, stride,
            log_weight);
  }
  if (m.present & 1 << NEARBY_ELEVATION) {
    const auto z = nearby::ElevationModel<T>::template at<curved>(h, m);
    fuse<T>(h, NEARBY_ELEVATION, z, NEARBY_STATE_ELEVATION_WANDER, nullptr, m, fields, stride,
            log_weight);
  }
  if (m.present & 1 << NEARBY_RANGE) {
    T range;
    const auto z = nearby::RangeModel<T>::template at<curved>(h, m, range);
    fuse<T>(h, NEARBY_RANGE, z, NEARBY_STATE_RANGE_WANDER, &range, m, fields, stride, log_weight);
  }
  Number<T>::store(weight_field, log_weight);
}

}  // namespace

void nearby_bank_update(const nearby_bank *bank, const nearby_measurement *measurement) {
  nearby::for_each(*bank, [&](auto tag, int first) {
    using T = typename decltype(tag)::Type;
    auto h = Hypothesis<T>::load(*bank, first);
    double *fields = bank->fields + first;
    if (curvature_matters(h, *measurement))
      update<true>(h, *measurement, fields, bank->stride);
    else
      update<false>(h, *measurement, fields, bank->stride);
    h.store(*bank, first);
  });
}
