// SPDX-License-Identifier: Apache-2.0

#include "Hypothesis.hpp"

namespace {

using nearby::Hypothesis;

/// First-order Gauss-Markov step of one error state: x ← d x, and the covariance with it.
template <class T>
void decay(Hypothesis<T> &h, int state, double left, double diffusion) {
  h.mean[state] = left * h.mean[state];
  for (int i = 0; i < NEARBY_STATE_SIZE; ++i) {
    T &element = h.cov(i, state);
    element = i == state ? T(left * left * element + diffusion) : T(left * element);
  }
}

template <class T>
void propagate(Hypothesis<T> &h, const nearby_motion &motion) {
  h.cov(0, 0) += motion.horizontal_diffusion;
  h.cov(1, 1) += motion.vertical_diffusion;
  h.cov(2, 2) += motion.horizontal_diffusion;
  if (motion.yaw_diffusion > 0) {
    // up × d = (d.z, 0, -d.x)
    const T dx = h.mean[0] - motion.device_in_world[0];
    const T dz = h.mean[2] - motion.device_in_world[2];
    h.cov(0, 0) += motion.yaw_diffusion * dz * dz;
    h.cov(0, 2) -= motion.yaw_diffusion * dz * dx;
    h.cov(2, 2) += motion.yaw_diffusion * dx * dx;
  }
  decay(h, NEARBY_STATE_RANGE_WANDER, motion.range_wander_decay, motion.range_wander_diffusion);
  decay(h, NEARBY_STATE_AZIMUTH_WANDER, motion.azimuth_wander_decay,
        motion.azimuth_wander_diffusion);
  decay(h, NEARBY_STATE_ELEVATION_WANDER, motion.elevation_wander_decay,
        motion.elevation_wander_diffusion);
}

}  // namespace

void nearby_bank_propagate(const nearby_bank *bank, const nearby_motion *motion) {
  nearby::for_each(*bank, [&](auto tag, int first) {
    auto h = Hypothesis<typename decltype(tag)::Type>::load(*bank, first);
    propagate(h, *motion);
    h.store(*bank, first);
  });
}
