// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a hypothesis from one sample to the next.

#pragma once

#include <type_traits>

#include "Hypothesis.hpp"

namespace nearby {

/// First-order Gauss-Markov step of one error state: x ← d x, and the covariance with it.
template <int state, class H>
NEARBY_INLINE inline void decay(const H &h, double left, double diffusion) {
  h.mean(state) = left * h.mean(state);
  each<H::size>([&](auto i) NEARBY_INLINE {
    if constexpr (i == state)
      h.cov(i, state) = left * left * h.cov(i, state) + diffusion;
    else
      h.cov(i, state) = left * h.cov(i, state);
  });
}

/// `nearby_stray`, in line. Below a ratio of 0.04 the differences are series.
NEARBY_INLINE inline nearby_straying straying(double x) {
  nearby_straying result;
  if (x < 0.04) {
    result.displacement =
        x * x / 2 *
        (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6 * (1 - x / 7 * (1 - x / 8))))));
    result.reach = x - result.displacement;
    result.left = 1 - result.reach;
    result.position =
        x * x * x *
        (2.0 / 3 - x * (0.5 - x * (7.0 / 30 - x * (1.0 / 12 - x * (31.0 / 1260 - x / 160)))));
  } else {
    result.left = std::exp(-x);
    result.reach = 1 - result.left;
    result.displacement = x - result.reach;
    result.position = 2 * result.displacement - result.reach * result.reach;
  }
  result.both = result.reach * result.reach;
  result.velocity = result.reach * (1 + result.left);
  return result;
}

/// Moves a peer by its velocity: p ← p + τ (1 - e) v, v ← e v.
///
/// `moves` is one where the peer moves and zero where it rests: there the velocity and all its
/// covariances are zero, and stay so.
template <class H>
NEARBY_INLINE inline void move(const H &h, const nearby_motion &motion, typename H::Value moves) {
  const double lasts = motion.velocity_seconds;
  const nearby_straying unit = straying(motion.seconds / lasts);
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
    decay<velocity>(h, unit.left, 0);
    h.cov(axis, axis) += lasts * lasts * speed * unit.position * moves;
    h.cov(axis, velocity) += lasts * speed * unit.both * moves;
    h.cov(velocity, velocity) += speed * unit.velocity * moves;
  });
}

/// What becomes of the errors that last: what is left of each wandering one, and the variance added
/// to it.
struct Renewal {
  double range, range_added, azimuth, azimuth_added, elevation, elevation_added;
  /// Of a way only: what is left of faults.
  double fault;

  NEARBY_INLINE explicit Renewal(const nearby_motion &m)
      : range(m.range_wander_decay),
        range_added(m.range_wander_diffusion),
        azimuth(m.azimuth_wander_decay),
        azimuth_added(m.azimuth_wander_diffusion),
        elevation(m.elevation_wander_decay),
        elevation_added(m.elevation_wander_diffusion) {}

  NEARBY_INLINE explicit Renewal(const nearby_travel &t) {
    double powers[3] = {-octaves * t.range, -octaves * t.angle, -octaves * t.fault};
    powers_of_two(powers);
    range = powers[0], azimuth = elevation = powers[1], fault = powers[2];
    const double new_range = 1 - range * range, new_angle = 1 - azimuth * azimuth;
    range_added = new_range * t.range_variance;
    azimuth_added = new_angle * t.azimuth_variance;
    elevation_added = new_angle * t.elevation_variance;
  }

  /// Says in a measurement how likely a fault has lasted, and how far its excess has strayed since.
  NEARBY_INLINE void foresee(nearby_measurement &m) const {
    m.fault_persistence = fault;
    m.lasting_range_variance *= 1 - fault * fault;
  }

  NEARBY_INLINE nearby_decays decays() const { return {range, azimuth, fault}; }
};

/// Adds to an element of the covariance. In a single column it is written together with the one
/// behind it, as the update reads both: apart they would have to be waited for until they are in
/// the cache.
template <class H>
NEARBY_INLINE inline void add(const H &h, int row, int column, typename H::Value x) {
  if constexpr (std::is_same_v<typename H::Value, double>)
    at<Pair>(&h.cov(row, column)) += Pair{x, 0};
  else
    h.cov(row, column) += x;
}

/// What becomes of the state on the way to the next sample.
template <class H>
NEARBY_INLINE inline void propagate(const H &h, const nearby_motion &motion,
                                    const Renewal &renewal) {
  using T = typename H::Value;
  if constexpr (H::size > NEARBY_STATE_SIZE) move(h, motion, T(h.fields[NEARBY_FIELD_MOVES]));
  // up × d = (d.z, 0, -d.x)
  const T dx = h.mean(0) - motion.device_in_world[0];
  const T dz = h.mean(2) - motion.device_in_world[2];
  const T turned = motion.yaw_diffusion * dz;
  add(h, 0, 0, motion.horizontal_diffusion + turned * dz);
  h.cov(1, 1) += motion.vertical_diffusion;
  add(h, 0, 2, -turned * dx);
  h.cov(2, 2) += motion.horizontal_diffusion + motion.yaw_diffusion * dx * dx;
  decay<NEARBY_STATE_RANGE_WANDER>(h, renewal.range, renewal.range_added);
  decay<NEARBY_STATE_AZIMUTH_WANDER>(h, renewal.azimuth, renewal.azimuth_added);
  decay<NEARBY_STATE_ELEVATION_WANDER>(h, renewal.elevation, renewal.elevation_added);
}

}  // namespace nearby
