// SPDX-License-Identifier: Apache-2.0
//
// What bounds the cost of an operation from below: the same work as straight-line C++, written for
// the benchmarks, or the part of it that nobody can leave out. Nothing here checks its input, and
// nothing is for use.

#ifndef NEARBY_FLOORS_H
#define NEARBY_FLOORS_H

#include <stddef.h>
#include <stdint.h>

#include "CNearbyKernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One hypothesis about a peer at rest; `mean` and `covariance` as in a bank.
typedef struct floor_state {
  double mean[NEARBY_STATE_SIZE];
  double covariance[NEARBY_COVARIANCE_SIZE];
  double fault[NEARBY_COMPONENTS];
  double range_residual;
  double log_weight;
  double innovation[NEARBY_COMPONENTS];
  double innovation_variance[NEARBY_COMPONENTS];
} floor_state;

/// A prediction, then range, azimuth and elevation as scalar Kalman updates: Gaussian, first order.
void floor_update(floor_state *state, const nearby_motion *motion, const nearby_error_step *errors,
                  const nearby_measurement *from);

/// The same with all components linearised at the prediction and the state written once.
void floor_update_at_once(floor_state *state, const nearby_motion *motion,
                          const nearby_error_step *errors, const nearby_measurement *from);

/// The first of these with the kernels' mixture of inliers and faults; first order.
void floor_robust_update(floor_state *state, const nearby_motion *motion,
                         const nearby_error_step *errors, const nearby_measurement *from);

/// A pose: position, attitude as a quaternion (x, y, z, w), seconds.
typedef struct floor_pose {
  double position[3], attitude[4], seconds;
} floor_pose;

enum { FLOOR_RING_SIZE = 256 };

/// The last poses, the newest at `count - 1`, modulo the size.
typedef struct floor_ring {
  floor_pose poses[FLOOR_RING_SIZE];
  uint64_t count;
} floor_ring;

/// Copies a pose into the ring.
void floor_add_pose(floor_ring *ring, const floor_pose *pose);

/// The pose at a time between the newest pose and the one before: a line, and a great circle.
floor_pose floor_interpolate(const floor_ring *ring, double seconds);

/// Counts the lines of a text as `wc -l` does.
size_t floor_count_lines(const char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
