// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "CFloors.h"

void floor_add_pose(floor_ring *ring, const floor_pose *pose) {
  ring->poses[ring->count++ % FLOOR_RING_SIZE] = *pose;
}

floor_pose floor_interpolate(const floor_ring *ring, double seconds) {
  const floor_pose &a = ring->poses[(ring->count - 2) % FLOOR_RING_SIZE];
  const floor_pose &b = ring->poses[(ring->count - 1) % FLOOR_RING_SIZE];
  const double share = (seconds - a.seconds) / (b.seconds - a.seconds);
  floor_pose at;
  at.seconds = seconds;
  for (int i = 0; i < 3; ++i)
    at.position[i] = a.position[i] + share * (b.position[i] - a.position[i]);
  double cosine = 0;
  for (int i = 0; i < 4; ++i) cosine += a.attitude[i] * b.attitude[i];
  const double sign = std::copysign(1.0, cosine);
  cosine = std::fmin(std::fabs(cosine), 1.0 - 1e-15);
  const double sine = std::sqrt(1 - cosine * cosine);
  const double angle = std::atan2(sine, cosine);
  const double from = std::sin((1 - share) * angle) / sine;
  const double to = sign * std::sin(share * angle) / sine;
  for (int i = 0; i < 4; ++i) at.attitude[i] = from * a.attitude[i] + to * b.attitude[i];
  return at;
}
