// SPDX-License-Identifier: Apache-2.0
// Locates a beacon while the device walks around: one sample at a time, then all of them at once.
//
//   cc -std=c11 locate.c $(pkg-config --cflags --libs nearby) -lm -o locate && ./locate
#include <nearby.h>
#include <stdio.h>
#include <stdlib.h>

enum { poses_per_second = 30, samples_per_second = 5, seconds = 20 };
enum { pose_count = poses_per_second * seconds, sample_count = samples_per_second * seconds };

static void check(nearby_status status) {
  if (status == NEARBY_OK) return;
  nearby_error error;
  nearby_last_error(&error);
  fprintf(stderr, "error %d: %s\n", (int)status, error.text);
  exit(1);
}

static nearby_pose pose_at(int64_t nanoseconds) {
  const double turn = 0.5e-9 * (double)nanoseconds;
  nearby_pose pose = {.nanoseconds = nanoseconds,
                      .position = {2 * cos(turn), 1.4 + 0.5 * sin(2 * turn), 2 * sin(turn)},
                      .quaternion = {0, 0, 0, 1}};
  return pose;
}

static nearby_sample sample_at(int64_t nanoseconds, uint32_t peer) {
  const double beacon[3] = {4, 0.5, -3};
  const nearby_pose pose = pose_at(nanoseconds);
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) square += pow(beacon[axis] - pose.position[axis], 2);
  nearby_sample sample = nearby_sample_of(peer, nanoseconds);
  sample.distance = sqrt(square) + 0.05 * sin(7e-9 * (double)nanoseconds);
  return sample;
}

/// One by one: each sample after the pose at its time.
static void one_by_one(void) {
  nearby_engine *engine = NULL;
  uint32_t peer = 0;
  check(nearby_engine_create("{\"ranging\": {\"rangeSigma\": 0.1}}", NULL, &engine));
  check(nearby_engine_add_peer(engine, "beacon", NEARBY_PEER_STATIONARY, &peer));
  nearby_estimate estimate;
  for (int64_t index = 0; index < pose_count; ++index) {
    const int64_t time = index * 1000000000 / poses_per_second;
    const nearby_pose pose = pose_at(time);
    check(nearby_engine_add_pose(engine, &pose, NULL));
    if (index % (poses_per_second / samples_per_second) != 0) continue;
    const nearby_sample sample = sample_at(time, peer);
    check(nearby_engine_add_sample(engine, &sample, NULL, &estimate));
  }
  printf("one by one: %s at %.2f %.2f %.2f m, distance %.2f m\n",
         estimate.convergence == NEARBY_CONVERGED ? "converged" : "not converged", estimate.mean[0],
         estimate.mean[1], estimate.mean[2], estimate.distance);
  check(nearby_engine_destroy(engine));
}

/// All at once: arrays in, columns out.
static void all_at_once(void) {
  static nearby_pose poses[pose_count];
  static nearby_sample samples[sample_count];
  for (int64_t index = 0; index < pose_count; ++index)
    poses[index] = pose_at(index * 1000000000 / poses_per_second);
  for (int64_t index = 0; index < sample_count; ++index)
    samples[index] = sample_at(index * 1000000000 / samples_per_second, 0);

  nearby_engine *engine = NULL;
  check(nearby_engine_create(NULL, NULL, &engine));
  check(nearby_engine_add_peer(engine, "beacon", NEARBY_PEER_STATIONARY, NULL));
  const nearby_poses pose_columns = nearby_poses_of(poses, pose_count);
  const nearby_samples sample_columns = nearby_samples_of(samples, sample_count);
  struct ArrowSchema schema;
  struct ArrowArray array;
  nearby_counts counts;
  check(nearby_engine_run(engine, &pose_columns, &sample_columns, NULL, &schema, &array, &counts));
  for (int64_t index = 0; index < schema.n_children; ++index) {
    const struct ArrowArray *column = array.children[index];
    if (strcmp(schema.children[index]->name, "distance") != 0) continue;
    const double *distances = column->buffers[1];
    printf("all at once: %lld rows of %lld columns, the last distance %.2f m\n",
           (long long)array.length, (long long)array.n_children, distances[array.length - 1]);
  }
  schema.release(&schema);
  array.release(&array);
  check(nearby_engine_destroy(engine));
}

/// What was wrong is told; nothing that is passed ends the program.
static void mistakes(void) {
  nearby_engine *engine = NULL;
  nearby_error error;
  const nearby_status status =
      nearby_engine_create("{\n  \"ranging\": {\"rangeSigma\": -1}\n}", NULL, &engine);
  nearby_last_error(&error);
  printf("status %d, line %d, column %d: %s\n", (int)status, error.line, error.column,
         error.message);
}

int main(void) {
  printf("nearby %s\n", nearby_version());
  one_by_one();
  all_at_once();
  mistakes();
  return 0;
}
