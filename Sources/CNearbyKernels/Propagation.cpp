// SPDX-License-Identifier: Apache-2.0

#include "Hypothesis.hpp"

namespace {

using nearby::Hypothesis;

/// First-order Gauss-Markov step of one error state: x ← d x, and the covariance with it.
template <class T, int N>
void decay(Hypothesis<T, N> &h, int state, double left, double diffusion) {
  h.mean[state] = left * h.mean[state];
  for (int i = 0; i < N; ++i) {
    T &element = h.cov(i, state);
    element = i == state ? T(left * left * element + diffusion) : T(left * element);
  }
}

/// What an Ornstein-Uhlenbeck velocity of unit variance adds to position and velocity.
struct Straying {
  double position, both, velocity;
};

/// Moves a peer by its velocity: p ← p + τ (1 - e) v, v ← e v.
///
/// `moves` is one where the peer moves and zero where it rests: there the velocity and all its
/// covariances are zero, and stay so.
template <class T, int N>
void move(Hypothesis<T, N> &h, const nearby_motion &motion, const T &moves) {
  const double lasts = motion.velocity_seconds;
  const double left = std::exp(-motion.seconds / lasts);
  const double reach = lasts * (1 - left);
  const Straying unit = {
      lasts * lasts * (2 * motion.seconds / lasts - 3 + 4 * left - left * left),
      lasts * (1 - left) * (1 - left),
      1 - left * left,
  };
  for (int axis = 0; axis < 3; ++axis) {
    const int velocity = NEARBY_STATE_VELOCITY + axis;
    const double speed =
        axis == 1 ? motion.vertical_speed_variance : motion.horizontal_speed_variance;
    h.mean[axis] += reach * h.mean[velocity];
    h.cov(axis, axis) +=
        2 * reach * h.cov(axis, velocity) + reach * reach * h.cov(velocity, velocity);
    for (int i = 0; i < N; ++i)
      if (i != axis) h.cov(i, axis) += reach * h.cov(i, velocity);
    decay(h, velocity, left, 0);
    h.cov(axis, axis) += speed * unit.position * moves;
    h.cov(axis, velocity) += speed * unit.both * moves;
    h.cov(velocity, velocity) += speed * unit.velocity * moves;
  }
}

template <class T, int N>
void propagate(Hypothesis<T, N> &h, const nearby_motion &motion) {
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
    using Hypothesis = typename decltype(tag)::Type;
    using T = typename decltype(tag)::Number;
    auto h = Hypothesis::load(*bank, first);
    if constexpr (Hypothesis::size > NEARBY_STATE_SIZE)
      move(h, *motion,
           nearby::Number<T>::load(bank->fields + NEARBY_FIELD_MOVES * bank->stride + first));
    propagate(h, *motion);
    h.store(*bank, first);
  });
}
