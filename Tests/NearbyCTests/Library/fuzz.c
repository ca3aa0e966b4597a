// SPDX-License-Identifier: Apache-2.0
// Calls every function of nearby.h with random arguments, on two threads that share their handles:
//
//   fuzz SECONDS [SEED [RECORDING]]
//
// Nothing may crash, hang, leak or return a status that the header does not list. A pointer is null
// or points to enough memory; everything else is random.
#include <nearby.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { slot_count = 12, row_count = 200, buffer_size = row_count * 16 + 64 };

typedef struct random_state {
  uint64_t state;
} random_state;

static uint64_t next(random_state *random) {
  random->state += 0x9e3779b97f4a7c15u;
  uint64_t z = random->state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint64_t below(random_state *random, uint64_t count) { return next(random) % count; }
static int one_in(random_state *random, uint64_t count) { return below(random, count) == 0; }

static int64_t any_integer(random_state *random) {
  static const int64_t odd[] = {0,
                                1,
                                -1,
                                INT64_MIN,
                                INT64_MAX,
                                255,
                                1 << 20,
                                INT32_MAX,
                                INT32_MIN,
                                UINT32_MAX,
                                4600000000000000000,
                                -4600000000000000000,
                                4600000000000000001};
  if (one_in(random, 2)) return odd[below(random, sizeof odd / sizeof *odd)];
  return (int64_t)next(random) >> below(random, 64);
}

static double any_number(random_state *random) {
  static const double odd[] = {0.0,  -0.0, 1.0,   -1.0, 1e-320, 1e300, -1e300,
                               1e15, 3.14, -3.15, 1e-9, 4.6e9,  9.3e18};
  switch (below(random, 6)) {
    case 0:
      return odd[below(random, sizeof odd / sizeof *odd)];
    case 1:
      return NAN;
    case 2:
      return one_in(random, 2) ? INFINITY : -INFINITY;
    default:
      return ((double)next(random) / 9.2e18 - 1) * (one_in(random, 3) ? 1000 : 5);
  }
}

/// A time that goes on, most often.
static int64_t any_time(random_state *random) {
  static _Atomic int64_t clock_now = 1000000000;
  if (one_in(random, 20)) return any_integer(random);
  return atomic_fetch_add(&clock_now, 30000000) - (int64_t)below(random, 60000000);
}

static const char *any_configuration(random_state *random, char *text, size_t size) {
  static const char *known[] = {
      "{}",
      "{\"ranging\": {\"rangeSigma\": 0.3}}",
      "{\"odometry\": {\"isPlanar\": true}, \"hypotheses\": {\"maximumCount\": 8}}",
      "{\"ranging\": {\"rangeSigma\": -1}}",
      "{\"nothing\": 1}",
      "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
      "{\"ranging\": {\"antennaInDevice\": [1e308, 1e308, 1]}}",
      "\xff\xfe",
      ""};
  if (one_in(random, 2)) return NULL;
  snprintf(text, size, "%s", known[below(random, sizeof known / sizeof *known)]);
  const size_t length = strlen(text);
  if (length > 0 && one_in(random, 2)) text[below(random, length)] = (char)(1 + below(random, 255));
  return text;
}

/// What the two threads share.
static _Atomic(void *) engines[slot_count], smoothers[slot_count], recordings[slot_count];
static const char *recording_folder = "Datasets/plaza2";
static time_t end_time;
static atomic_ullong calls[NEARBY_INVALID_FILE + 1];

static void *any_handle(random_state *random, _Atomic(void *) *own) {
  if (!one_in(random, 20)) return atomic_load(&own[below(random, slot_count)]);
  switch (below(random, 4)) {
    case 0:
      return NULL;
    case 1:
      return (void *)(uintptr_t)any_integer(random);
    case 2:
      return atomic_load(&recordings[below(random, slot_count)]);
    default:
      return atomic_load(&engines[below(random, slot_count)]);
  }
}

static void check(nearby_status status) {
  if ((unsigned)status > NEARBY_INVALID_FILE) {
    fprintf(stderr, "unlisted status %d\n", (int)status);
    abort();
  }
  atomic_fetch_add(&calls[status], 1);
  nearby_error error;
  if (status == NEARBY_OK || nearby_last_error(&error) != NEARBY_OK) return;
  if (error.status != status || strlen(error.text) == 0 || strlen(error.code) == 0) abort();
}

/// Keeps a new handle in a slot and destroys the one that was there.
static void keep(random_state *random, _Atomic(void *) *own, void *handle, int kind) {
  void *old = atomic_exchange(&own[below(random, slot_count)], handle);
  const int times = one_in(random, 10) ? 2 : 1;
  for (int time = 0; time < times; ++time) {
    if (kind == 0) check(nearby_engine_destroy(old));
    if (kind == 1) check(nearby_smoother_destroy(old));
    if (kind == 2) check(nearby_recording_destroy(old));
  }
}

static nearby_column any_column(random_state *random, const char *buffer) {
  static const int64_t strides[] = {0, 1, 4, 8, 16, -8, -16, 3};
  if (one_in(random, 12)) return nearby_column_of(NULL, any_integer(random), NEARBY_FLOAT64);
  const int64_t stride = strides[below(random, sizeof strides / sizeof *strides)];
  const nearby_type type = one_in(random, 30) ? (nearby_type)(uint32_t)any_integer(random)
                                              : (nearby_type)below(random, 8);
  return nearby_column_of(buffer + (stride < 0 ? row_count * 16 : 0), stride, type);
}

/// As many rows as the buffers hold, or a number that is refused.
static int64_t any_count(random_state *random) {
  if (!one_in(random, 10)) return (int64_t)below(random, row_count);
  return one_in(random, 2) ? INT64_MIN + (int64_t)below(random, 1000) : INT64_MAX;
}

/// Most often a table that can be read, so that the engine behind it is reached.
static void fill(random_state *random, nearby_pose *poses, nearby_sample *samples, int64_t count) {
  for (int64_t row = 0; row < count; ++row) {
    poses[row].nanoseconds = any_time(random);
    for (int axis = 0; axis < 3; ++axis) poses[row].position[axis] = any_number(random);
    for (int part = 0; part < 4; ++part) poses[row].quaternion[part] = any_number(random);
    samples[row] = nearby_sample_of((uint32_t)below(random, 2), poses[row].nanoseconds);
    samples[row].sight = (nearby_sight)below(random, 3);
    double *numbers = &samples[row].distance;
    for (int number = 0; number < 8; ++number)
      if (one_in(random, 2)) numbers[number] = any_number(random);
  }
}

static void any_batch(random_state *random, nearby_poses *poses, nearby_samples *samples,
                      nearby_trackings *trackings, char *buffer) {
  static _Thread_local nearby_pose pose_array[row_count];
  static _Thread_local nearby_sample sample_array[row_count];
  if (!one_in(random, 3)) {
    const int64_t count = (int64_t)below(random, row_count);
    fill(random, pose_array, sample_array, count);
    *poses = nearby_poses_of(pose_array, count);
    *samples = nearby_samples_of(sample_array, count);
    memset(trackings, 0, sizeof *trackings);
    return;
  }
  for (int byte = 0; byte < buffer_size; ++byte) buffer[byte] = (char)below(random, 4);
  nearby_column *columns = &poses->time;
  poses->count = any_count(random);
  for (int column = 0; column < 8; ++column) columns[column] = any_column(random, buffer);
  columns = &samples->time;
  samples->count = any_count(random);
  for (int column = 0; column < 11; ++column) columns[column] = any_column(random, buffer);
  trackings->count = any_count(random);
  trackings->time = any_column(random, buffer);
  trackings->state = any_column(random, buffer);
  trackings->lumens = any_column(random, buffer);
}

static void release(nearby_status status, struct ArrowSchema *schema, struct ArrowArray *array) {
  check(status);
  if (status != NEARBY_OK) return;
  // A reader may move a column out first.
  if (array->n_children > 0) {
    struct ArrowArray moved = *array->children[0];
    array->children[0]->release = NULL;
    moved.release(&moved);
  }
  schema->release(schema);
  array->release(array);
}

static void call_engine(random_state *random, char *buffer) {
  void *engine = any_handle(random, engines), *made = NULL;
  char text[256];
  const nearby_frames frames = {(nearby_up)below(random, one_in(random, 9) ? 9 : 2),
                                (nearby_axes)below(random, one_in(random, 9) ? 9 : 3)};
  nearby_pose pose;
  nearby_sample sample;
  nearby_report report;
  nearby_estimate estimate;
  nearby_pose_outcome outcome;
  uint32_t peer = 0;
  fill(random, &pose, &sample, 1);
  if (one_in(random, 9)) sample.peer = (uint32_t)any_integer(random);
  if (one_in(random, 30)) sample.sight = (nearby_sight)(uint32_t)any_integer(random);
  switch (below(random, 12)) {
    case 0: {
      const nearby_status status = nearby_engine_create(
          any_configuration(random, text, sizeof text), one_in(random, 2) ? NULL : &frames,
          one_in(random, 20) ? NULL : (nearby_engine **)&made);
      check(status);
      if (made) keep(random, engines, made, 0);
      break;
    }
    case 1:
      if (!one_in(random, 4)) break;
      check(nearby_engine_copy(engine, one_in(random, 20) ? NULL : (nearby_engine **)&made));
      if (made) keep(random, engines, made, 0);
      break;
    case 2:
      check(nearby_engine_add_peer(engine, any_configuration(random, text, sizeof text),
                                   (nearby_peer_motion)below(random, one_in(random, 9) ? 99 : 3),
                                   one_in(random, 3) ? NULL : &peer));
      if (one_in(random, 3)) {
        check(nearby_engine_set_motion(engine, peer, (nearby_peer_motion)below(random, 4)));
      }
      break;
    case 3:
    case 4:
    case 5:
      check(nearby_engine_add_pose(engine, one_in(random, 30) ? NULL : &pose,
                                   one_in(random, 3) ? NULL : &outcome));
      break;
    case 6:
    case 7:
    case 8:
      check(nearby_engine_add_sample(engine, one_in(random, 30) ? NULL : &sample,
                                     one_in(random, 3) ? NULL : &report,
                                     one_in(random, 3) ? NULL : &estimate));
      break;
    case 9:
      check(nearby_engine_estimate(engine, sample.peer, one_in(random, 20) ? NULL : &estimate));
      check(nearby_engine_estimate_at(engine, sample.peer, any_time(random),
                                      one_in(random, 20) ? NULL : &estimate));
      break;
    case 10:
      check(nearby_engine_add_tracking(
          engine, any_time(random), (nearby_tracking_state)below(random, 8), any_number(random)));
      break;
    default: {
      nearby_poses poses;
      nearby_samples samples;
      nearby_trackings trackings;
      nearby_counts counts;
      struct ArrowSchema schema;
      struct ArrowArray array;
      any_batch(random, &poses, &samples, &trackings, buffer);
      const int lacks = one_in(random, 20);
      const nearby_status status = nearby_engine_run(
          engine, one_in(random, 9) ? NULL : &poses, one_in(random, 9) ? NULL : &samples,
          one_in(random, 2) ? NULL : &trackings, lacks ? NULL : &schema, &array,
          one_in(random, 2) ? NULL : &counts);
      release(status, &schema, &array);
    }
  }
}

static void call_smoother(random_state *random, char *buffer) {
  void *smoother = any_handle(random, smoothers), *made = NULL;
  char text[256];
  nearby_poses poses;
  nearby_samples samples;
  nearby_trackings trackings;
  struct ArrowSchema schema;
  struct ArrowArray array;
  switch (below(random, 4)) {
    case 0:
      check(nearby_smoother_create(any_configuration(random, text, sizeof text), NULL,
                                   one_in(random, 20) ? NULL : (nearby_smoother **)&made));
      if (made) keep(random, smoothers, made, 1);
      break;
    case 1:
      check(nearby_smoother_add_peer(smoother, NULL, (nearby_peer_motion)below(random, 4), NULL));
      break;
    case 2:
      any_batch(random, &poses, &samples, &trackings, buffer);
      check(nearby_smoother_add(smoother, &poses, &samples, &trackings, NULL));
      break;
    default:
      release(nearby_smoother_solve(smoother, one_in(random, 20) ? NULL : &schema, &array), &schema,
              &array);
      keep(random, smoothers, NULL, 1);
  }
}

static void call_recording(random_state *random) {
  void *recording = any_handle(random, recordings), *made = NULL;
  char text[256] = "", *json = NULL;
  struct ArrowSchema schema;
  struct ArrowArray array;
  nearby_frames frames;
  switch (below(random, 10)) {
    case 0:
      check(nearby_recording_open(
          one_in(random, 3) ? any_configuration(random, text, sizeof text) : recording_folder,
          one_in(random, 20) ? NULL : (nearby_recording **)&made));
      if (made) keep(random, recordings, made, 2);
      break;
    case 1:
      check(nearby_recording_frames(recording, one_in(random, 20) ? NULL : &frames));
      break;
    case 2:
      check(nearby_recording_info(recording, one_in(random, 20) ? NULL : &json));
      break;
    case 3:
      check(nearby_recording_configuration(recording, any_configuration(random, text, sizeof text),
                                           &json));
      break;
    case 4:
      release(nearby_recording_read(recording, (nearby_table)below(random, 7), &schema, &array),
              &schema, &array);
      break;
    case 5:
      check(nearby_configuration(any_configuration(random, text, sizeof text), &json));
      break;
    case 6:
      check(nearby_batch_rows(any_configuration(random, text, sizeof text),
                              one_in(random, 2) ? "{\"peers\": [], \"duration\": 1}" : text,
                              one_in(random, 9) ? NULL : &json));
      break;
    case 8:
      release(nearby_simulate(one_in(random, 2) ? "find" : text,
                              any_configuration(random, text, sizeof text), next(random),
                              (int32_t)below(random, 5), (nearby_table)below(random, 4), &schema,
                              &array, one_in(random, 2) ? NULL : &json),
              &schema, &array);
      break;
    case 7:
      check(nearby_evaluate(one_in(random, 2) ? "/no/such/folder" : recording_folder, NULL, &json));
      break;
    default:
      if (!one_in(random, 8)) break;
      release(nearby_recording_run(recording, any_configuration(random, text, sizeof text), &schema,
                                   &array, one_in(random, 2) ? NULL : &json),
              &schema, &array);
  }
  nearby_text_free(json);
}

static void *run(void *seed) {
  random_state random = {*(const uint64_t *)seed};
  char *buffer = malloc(buffer_size);
  while (time(NULL) < end_time) {
    for (int round = 0; round < 100; ++round) {
      if (one_in(&random, 100)) call_recording(&random);
      if (one_in(&random, 200)) call_smoother(&random, buffer);
      call_engine(&random, buffer);
    }
  }
  free(buffer);
  return NULL;
}

int main(int count, char **arguments) {
  const long seconds = count > 1 ? atol(arguments[1]) : 10;
  const uint64_t seed = count > 2 ? strtoull(arguments[2], NULL, 10) : (uint64_t)time(NULL);
  if (count > 3) recording_folder = arguments[3];
  printf("fuzzing for %ld s from seed %llu\n", seconds, (unsigned long long)seed);
  fflush(stdout);
  end_time = time(NULL) + seconds;
  pthread_t threads[2];
  uint64_t seeds[2] = {seed, seed ^ 0x5555};
  for (int thread = 0; thread < 2; ++thread)
    pthread_create(&threads[thread], NULL, run, &seeds[thread]);
  for (int thread = 0; thread < 2; ++thread) pthread_join(threads[thread], NULL);
  for (int slot = 0; slot < slot_count; ++slot) {
    nearby_engine_destroy(atomic_load(&engines[slot]));
    nearby_smoother_destroy(atomic_load(&smoothers[slot]));
    nearby_recording_destroy(atomic_load(&recordings[slot]));
  }
  printf("calls by status:");
  for (int status = 0; status <= NEARBY_INVALID_FILE; ++status)
    printf(" %d: %llu", status, (unsigned long long)calls[status]);
  printf("\n");
  return 0;
}
