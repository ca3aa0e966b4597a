// SPDX-License-Identifier: Apache-2.0
//
// The prediction of a hypothesis from one sample to the next.

#pragma once

#include <type_traits>

#include "../models/Models.hpp"
#include "Hypothesis.hpp"

namespace nearby {

/// First-order Gauss-Markov step of one error state: x ← φ x, and the covariance with it.
template <int state, class H>
NEARBY_INLINE inline void decorrelate(const H &h, double correlation, double added) {
  h.mean(state) = correlation * h.mean(state);
  each<H::size>([&](auto i) NEARBY_INLINE {
    if constexpr (i == state)
      h.cov(i, state) = correlation * correlation * h.cov(i, state) + added;
    else
      h.cov(i, state) = correlation * h.cov(i, state);
  });
}

/// `nearby_ornstein_uhlenbeck_over`, inlined. Below a ratio of 0.04 the differences are series.
NEARBY_INLINE inline nearby_ornstein_uhlenbeck ornstein_uhlenbeck(double x) {
  nearby_ornstein_uhlenbeck result;
  if (x < 0.04) {
    result.displacement =
        x * x / 2 *
        (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6 * (1 - x / 7 * (1 - x / 8))))));
    result.reach = x - result.displacement;
    result.correlation = 1 - result.reach;
    result.position =
        x * x * x *
        (2.0 / 3 - x * (0.5 - x * (7.0 / 30 - x * (1.0 / 12 - x * (31.0 / 1260 - x / 160)))));
  } else {
    result.correlation = std::exp(-x);
    result.reach = 1 - result.correlation;
    result.displacement = x - result.reach;
    result.position = 2 * result.displacement - result.reach * result.reach;
  }
  result.both = result.reach * result.reach;
  result.velocity = result.reach * (1 + result.correlation);
  return result;
}

/// Moves a peer by its velocity: p ← p + τ (1 - e) v, v ← e v.
///
/// `moves` is one where the peer moves and zero where it rests: there the velocity and all its
/// covariances are zero, and stay so.
template <class H>
NEARBY_INLINE inline void move(const H &h, const nearby_motion &motion, typename H::Value moves) {
  const double lasts = motion.velocity_seconds;
  const nearby_ornstein_uhlenbeck unit = ornstein_uhlenbeck(motion.seconds / lasts);
  const double reach = lasts * unit.reach;
  each<3>([&](auto axis) NEARBY_INLINE {
    constexpr int velocity = NEARBY_STATE_VELOCITY + axis;
    const double speed =
        axis == 1 ? motion.vertical_speed_variance : motion.horizontal_speed_variance;
    h.mean(axis) += reach * h.mean(velocity);
    h.cov(axis, axis) +=
        2 * reach * h.cov(axis, velocity) + reach * reach * h.cov(velocity, velocity);
    each<H::size>([&](auto i) NEARBY_INLINE {
      if constexpr (i != axis) h.cov(i, axis) += reach * h.cov(i, velocity);
    });
    decorrelate<velocity>(h, unit.correlation, 0);
    h.cov(axis, axis) += lasts * lasts * speed * unit.position * moves;
    h.cov(axis, velocity) += lasts * speed * unit.both * moves;
    h.cov(velocity, velocity) += speed * unit.velocity * moves;
  });
}

/// The step of the errors over a path.
NEARBY_INLINE inline nearby_error_step error_step(const nearby_travel &t) {
  double powers[4] = {-octaves * t.range, -octaves * t.angle, -octaves * t.fault,
                      -octaves * t.height};
  powers_of_two(powers);
  const double range = powers[0], angle = powers[1], fault = powers[2], height = powers[3];
  const double range_decorrelation = 1 - range * range;
  const double angle_decorrelation = 1 - angle * angle;
  return {range,
          range_decorrelation * t.range_variance,
          angle,
          angle_decorrelation * t.azimuth_variance,
          angle,
          angle_decorrelation * t.elevation_variance,
          fault,
          height,
          (1 - height * height) * t.height_variance};
}

/// The step of errors that stay as they are.
constexpr nearby_error_step no_error_step = {1, 0, 1, 0, 1, 0, 1, 1, 0};

NEARBY_INLINE inline nearby_correlations correlations(const nearby_error_step &step) {
  return {step.range, step.azimuth, step.fault};
}

/// Adds to an element of the covariance.
///
/// Performance: in a single column it is written together with the one behind it, as the update
/// reads both with one load, which two separate stores would stall.
template <class H>
NEARBY_INLINE inline void add(const H &h, int row, int column, typename H::Value x) {
  if constexpr (std::is_same_v<typename H::Value, double>)
    at<Pair>(&h.cov(row, column)) += Pair{x, 0};
  else
    h.cov(row, column) += x;
}

/// Moves the state to the time of the next sample.
template <class H>
NEARBY_INLINE inline void propagate(const H &h, const nearby_motion &motion,
                                    const nearby_error_step &errors) {
  using T = typename H::Value;
  if constexpr (has_velocity<H::size>) move(h, motion, T(h.fields[NEARBY_FIELD_MOVES]));
  // up × d = (d.z, 0, -d.x)
  const T dx = h.mean(0) - motion.device_in_world[0];
  const T dz = h.mean(2) - motion.device_in_world[2];
  const T turned = motion.yaw_diffusion * dz;
  add(h, 0, 0, motion.horizontal_diffusion + turned * dz);
  h.cov(1, 1) += motion.vertical_diffusion;
  add(h, 0, 2, -turned * dx);
  h.cov(2, 2) += motion.horizontal_diffusion + motion.yaw_diffusion * dx * dx;
  each<NEARBY_COMPONENTS>([&](auto component) NEARBY_INLINE {
    if constexpr (has_errors_of<component, H::size>) {
      using Errors = Kind<component>;
      decorrelate<Errors::wander>(h, Errors::correlation(errors), Errors::added_variance(errors));
    }
  });
}

}  // namespace nearby
