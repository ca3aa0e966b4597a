// SPDX-License-Identifier: Apache-2.0
/// The C interface of the engine: poses and ranging samples in, estimates of where each peer is
/// out.
///
/// Units. Metres, radians, and nanoseconds of one monotonic clock, whose origin the caller chooses.
/// Times must be within 4.6e18 ns (146 years) of that origin. NaN stands for a number that was not
/// measured, or that is not known.
///
/// Frames. Those of ARKit, unless `nearby_frames` says otherwise: a world with y up, and device
/// axes with x right, y up, z toward the user. Quaternions are x, y, z, w and turn device
/// coordinates into the world. Azimuth and elevation are the same in every frame: azimuth is zero
/// straight out of the back camera and positive to the right, elevation is positive up.
///
/// Status. Every function that can fail returns a `nearby_status`. After a failure, nothing has
/// changed and nothing was written through the pointers for results; `nearby_last_error` says what
/// was wrong. Only a call that was interrupted leaves what it has added.
///
/// Arguments. Null pointers, numbers of any value, unknown peers and handles that were destroyed
/// are recognised and give a status. A pointer that is not null must point to as much memory as the
/// function says: that cannot be checked.
///
/// Ownership. The caller owns what it passes; the library keeps no pointer to it after the call. A
/// handle belongs to the caller until the function whose name ends in `_destroy`. Texts are
/// returned to `nearby_text_free`. Arrow structures are returned by their own `release`.
///
/// Threads. Functions may be called from any thread. Calls with the same handle wait for each
/// other; calls with different handles run side by side. A call returns when its work is done; none
/// starts a thread. Equal calls give equal results, bit for bit.
///
/// Memory. When the system has no memory left, the process ends.
#ifndef NEARBY_H
#define NEARBY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NEARBY_API __attribute__((visibility("default")))

// MARK: - Arrow's C data interface

// As its specification asks for it, so that other headers may define it too.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif  // ARROW_C_DATA_INTERFACE

// MARK: - Status

/// What became of a call.
typedef enum nearby_status {
  /// It succeeded.
  NEARBY_OK = 0,
  /// An argument is null that must not be, or has a value that it cannot have.
  NEARBY_INVALID_ARGUMENT = 1,
  /// A handle is of another kind, was destroyed, or was never one.
  NEARBY_INVALID_HANDLE = 2,
  /// A sample or a question names a peer that was not added.
  NEARBY_UNKNOWN_PEER = 3,
  /// The settings are not JSON, name something that does not exist, or have a value out of bounds.
  NEARBY_INVALID_CONFIGURATION = 4,
  /// A file is missing or has a fault. The error names the file, and where known line and column.
  NEARBY_INVALID_FILE = 5,
  /// A call was ended by `nearby_engine_interrupt` or `nearby_smoother_interrupt`.
  NEARBY_INTERRUPTED = 6
} nearby_status;

/// A failure in detail.
///
/// The texts are UTF-8, never null, and belong to the library. They stay valid until the next call
/// on the same thread fails, or the thread ends.
typedef struct nearby_error {
  /// The status that the call returned.
  nearby_status status;
  /// The line in the file, from 1; 0 when there is none.
  int32_t line;
  /// The byte in the line, from 1; 0 when there is none.
  int32_t column;
  /// The whole in one line: place, fault and remedy.
  const char *text;
  /// The kind of fault, one word, such as `malformedNumber`.
  const char *code;
  /// The fault.
  const char *message;
  /// The file, or the argument that stands for one; empty when there is none.
  const char *file;
  /// What to do about it.
  const char *remedy;
} nearby_error;

/// Gives the newest failure of the calling thread.
///
/// - Parameter error: Filled in. Its status is `NEARBY_OK` when no call of the thread has failed.
/// - Returns: `NEARBY_INVALID_ARGUMENT` when `error` is null, which is not recorded.
NEARBY_API nearby_status nearby_last_error(nearby_error *error);

/// The version of the library, such as `1.2.0`: a constant text that belongs to the library.
NEARBY_API const char *nearby_version(void);

/// Frees a text that the library made. Null is allowed.
NEARBY_API void nearby_text_free(char *text);

// MARK: - Poses and samples

/// Which axis of the world points up.
typedef enum nearby_up {
  /// As in ARKit.
  NEARBY_UP_Y = 0,
  /// As in ROS (REP-103).
  NEARBY_UP_Z = 1
} nearby_up;

/// How the device's axes are named.
typedef enum nearby_axes {
  /// x right, y up, z toward the user.
  NEARBY_AXES_ARKIT = 0,
  /// x forward, y left, z up.
  NEARBY_AXES_ROS = 1,
  /// x right, y down, z forward.
  NEARBY_AXES_CAMERA = 2
} nearby_axes;

/// The frames of the poses that go in, and of the estimates that come out.
typedef struct nearby_frames {
  nearby_up up;
  nearby_axes axes;
} nearby_frames;

/// Where the odometry says that the device is.
typedef struct nearby_pose {
  int64_t nanoseconds;
  /// Metres in the odometry's world.
  double position[3];
  /// x, y, z, w; of any length but zero.
  double quaternion[4];
} nearby_pose;

/// What became of a pose.
typedef enum nearby_pose_outcome {
  /// It extends the trajectory.
  NEARBY_POSE_ACCEPTED = 0,
  /// It extends the trajectory by a step that no device makes: the odometry's world has jumped.
  NEARBY_POSE_JUMPED = 1,
  /// It was left out: a number is not finite or above 1e7 m, or the quaternion has no length.
  NEARBY_POSE_NOT_FINITE = 2,
  /// It was left out: it is not after the pose before it.
  NEARBY_POSE_NOT_LATER = 3,
  /// It extends the trajectory, and the pose before it is taken back, which was stamped far ahead of this one and of
  /// some more.
  NEARBY_POSE_INSTEAD = 4
} nearby_pose_outcome;

/// How well the odometry tracks, from a moment on.
typedef enum nearby_tracking_state {
  NEARBY_TRACKING_NORMAL = 0,
  /// Limited, for no known reason.
  NEARBY_TRACKING_LIMITED = 1,
  NEARBY_TRACKING_INITIALIZING = 2,
  NEARBY_TRACKING_RELOCALIZING = 3,
  NEARBY_TRACKING_EXCESSIVE_MOTION = 4,
  NEARBY_TRACKING_INSUFFICIENT_FEATURES = 5,
  /// Poses mean nothing.
  NEARBY_TRACKING_NOT_AVAILABLE = 6
} nearby_tracking_state;

/// Whether something stands in the line of sight, as the radio believes.
typedef enum nearby_sight {
  NEARBY_SIGHT_UNKNOWN = 0,
  NEARBY_SIGHT_CLEAR = 1,
  NEARBY_SIGHT_OBSTRUCTED = 2
} nearby_sight;

/// One ranging exchange with one peer; NaN for each number that was not measured.
typedef struct nearby_sample {
  int64_t nanoseconds;
  /// The peer's number, as `nearby_engine_add_peer` gave it.
  uint32_t peer;
  nearby_sight sight;
  /// Metres from the antenna to the peer.
  double distance;
  /// Radians, positive to the right.
  double azimuth;
  /// Radians, positive up.
  double elevation;
  /// Metres that the peer is above the antenna, along gravity.
  double height_difference;
  /// One standard deviation of each; NaN for that of the configuration.
  double distance_sigma;
  double azimuth_sigma;
  double elevation_sigma;
  double height_difference_sigma;
} nearby_sample;

/// How a peer may move.
typedef enum nearby_peer_motion {
  /// It rests.
  NEARBY_PEER_STATIONARY = 0,
  /// It moves.
  NEARBY_PEER_MOVING = 1,
  /// It may rest or move: the engine finds out.
  NEARBY_PEER_UNKNOWN = 2
} nearby_peer_motion;

// MARK: - Results

/// What became of one measured component.
typedef enum nearby_outcome {
  /// It was not measured.
  NEARBY_ABSENT = 0,
  /// It was used.
  NEARBY_FUSED = 1,
  /// It was used with a weight below 0.5: most likely an outlier.
  NEARBY_OUTLIER = 2,
  /// It was left out: the value is infinite.
  NEARBY_REJECTED_NOT_FINITE = 3,
  /// It was left out: the value is outside its interval.
  NEARBY_REJECTED_OUT_OF_BOUNDS = 4,
  /// It was left out: the standard deviation is no positive number.
  NEARBY_REJECTED_INVALID_SIGMA = 5,
  /// It was left out: the sample is older than the engine looks back.
  NEARBY_REJECTED_TOO_LATE = 6,
  /// It was left out: the sample repeats the one before it.
  NEARBY_REJECTED_DUPLICATE = 7,
  /// It was left out: the angle repeats the one before it although the device has turned.
  NEARBY_REJECTED_STUCK = 8,
  /// It was left out: no pose is near enough in time.
  NEARBY_REJECTED_NO_POSE = 9,
  /// It was left out: the odometry had no poses worth the name.
  NEARBY_REJECTED_NO_TRACKING = 10,
  /// It was left out: the peer is one of another engine.
  NEARBY_REJECTED_UNKNOWN_PEER = 11
} nearby_outcome;

/// The record of one component: metres or radians.
typedef struct nearby_component {
  nearby_outcome outcome;
  /// The probability that it is no outlier, 0 to 1; 0 when it was left out.
  double weight;
  /// The measured value; 0 when it was not measured.
  double value;
  /// The variance of its white noise, as it was assumed.
  double variance;
  /// Measured minus predicted.
  double innovation;
  /// The variance expected of that.
  double innovation_variance;
} nearby_component;

/// How much of a sample was used.
typedef enum nearby_use {
  NEARBY_USE_ALL = 0,
  NEARBY_USE_PARTIAL = 1,
  NEARBY_USE_REJECTED = 2
} nearby_use;

/// What became of a sample.
typedef struct nearby_report {
  int64_t nanoseconds;
  uint32_t peer;
  nearby_use use;
  /// The sum of innovation² over its variance, of the components that were used; NaN when none was.
  double normalized_innovation_squared;
  nearby_component distance;
  nearby_component azimuth;
  nearby_component elevation;
  nearby_component height_difference;
} nearby_report;

/// Whether the algorithm has converged.
typedef enum nearby_convergence {
  /// There is nothing to judge by yet.
  NEARBY_CONVERGENCE_UNKNOWN = 0,
  /// It has not; reasons say what stands in the way.
  NEARBY_NOT_CONVERGED = 1,
  NEARBY_CONVERGED = 2
} nearby_convergence;

/// What stands in the way of convergence: bits of `nearby_estimate.reasons`.
typedef enum nearby_reason {
  NEARBY_REASON_SIGNAL_STRENGTH = 1,
  /// It is dark.
  NEARBY_REASON_LIGHTING = 2,
  NEARBY_REASON_MOVEMENT = 4,
  NEARBY_REASON_HORIZONTAL_SWEEP = 8,
  NEARBY_REASON_VERTICAL_SWEEP = 16,
  /// The odometry has no poses, calls itself limited, or has just slipped.
  NEARBY_REASON_TRACKING = 32
} nearby_reason;

/// Whether the peer is above or below the device.
typedef enum nearby_vertical {
  NEARBY_VERTICAL_UNKNOWN = 0,
  NEARBY_VERTICAL_SAME = 1,
  NEARBY_VERTICAL_ABOVE = 2,
  NEARBY_VERTICAL_BELOW = 3,
  NEARBY_VERTICAL_ABOVE_OR_BELOW = 4
} nearby_vertical;

/// What is known of one peer at one moment, as seen from the device at that moment.
///
/// A value that is not known well enough is NaN; a standard deviation that is not known is
/// infinite.
typedef struct nearby_estimate {
  int64_t nanoseconds;
  uint32_t peer;
  nearby_convergence convergence;
  /// Bits of `nearby_reason`.
  uint32_t reasons;
  nearby_vertical vertical;
  /// How many hypotheses are alive.
  int32_t hypothesis_count;
  /// 1 while the hypotheses are fitted anew to all that has been seen, else 0.
  int32_t is_searching;
  /// Metres.
  double distance;
  double distance_sigma;
  /// The unit vector from the device to the peer, in device axes; its standard deviation in
  /// radians.
  double direction[3];
  double direction_sigma;
  /// The bearing about gravity relative to the device's heading, radians, positive to the right.
  double horizontal_angle;
  double horizontal_angle_sigma;
  /// The peer's height minus the device's, metres.
  double height_difference;
  double height_difference_sigma;
  /// The peer's place in the odometry's world, metres; published once converged.
  double world[3];
  double world_sigma;
  /// The posterior mean of the place, whatever the convergence; NaN before the first sample.
  double mean[3];
  /// The posterior covariance of the place, m²: xx, xy, xz, yy, yz, zz.
  double covariance[6];
} nearby_estimate;

// MARK: - Columns

/// The type of a column's values.
typedef enum nearby_type {
  NEARBY_FLOAT64 = 0,
  NEARBY_FLOAT32 = 1,
  NEARBY_INT64 = 2,
  NEARBY_INT32 = 3,
  NEARBY_UINT32 = 4,
  NEARBY_INT16 = 5,
  NEARBY_INT8 = 6,
  NEARBY_UINT8 = 7
} nearby_type;

/// A column of numbers in the caller's memory, read where it lies.
typedef struct nearby_column {
  /// The first value, of any alignment; null when there is no such column.
  const void *data;
  /// Bytes from one value to the next; may be negative, or zero for one value that holds for all
  /// rows.
  int64_t stride;
  nearby_type type;
} nearby_column;

/// Poses as columns. All but none are required when there are rows.
typedef struct nearby_poses {
  int64_t count;
  /// Integers are nanoseconds, floats are seconds.
  nearby_column time;
  nearby_column x, y, z;
  nearby_column qx, qy, qz, qw;
} nearby_poses;

/// Samples as columns, in the order of arrival. The time is required when there are rows.
typedef struct nearby_samples {
  int64_t count;
  /// Integers are nanoseconds, floats are seconds.
  nearby_column time;
  /// The peer's number, integers; without it all samples are of peer 0.
  nearby_column peer;
  nearby_column distance, azimuth, elevation, height_difference;
  nearby_column distance_sigma, azimuth_sigma, elevation_sigma, height_difference_sigma;
  /// Values of `nearby_sight`, integers.
  nearby_column sight;
} nearby_samples;

/// The odometry's quality as columns. Time and state are required when there are rows.
typedef struct nearby_trackings {
  int64_t count;
  /// Integers are nanoseconds, floats are seconds.
  nearby_column time;
  /// Values of `nearby_tracking_state`, integers.
  nearby_column state;
  /// Light in the scene, lumens; NaN when not measured.
  nearby_column lumens;
} nearby_trackings;

/// A column from its parts.
static inline nearby_column nearby_column_of(const void *data, int64_t stride, nearby_type type) {
  nearby_column column;
  column.data = data;
  column.stride = stride;
  column.type = type;
  return column;
}

/// An array of poses as columns.
static inline nearby_poses nearby_poses_of(const nearby_pose *poses, int64_t count) {
  nearby_poses columns;
  const int64_t stride = (int64_t)sizeof(nearby_pose);
  memset(&columns, 0, sizeof columns);
  if (!poses || count <= 0) return columns;
  columns.count = count;
  columns.time = nearby_column_of(&poses->nanoseconds, stride, NEARBY_INT64);
  columns.x = nearby_column_of(&poses->position[0], stride, NEARBY_FLOAT64);
  columns.y = nearby_column_of(&poses->position[1], stride, NEARBY_FLOAT64);
  columns.z = nearby_column_of(&poses->position[2], stride, NEARBY_FLOAT64);
  columns.qx = nearby_column_of(&poses->quaternion[0], stride, NEARBY_FLOAT64);
  columns.qy = nearby_column_of(&poses->quaternion[1], stride, NEARBY_FLOAT64);
  columns.qz = nearby_column_of(&poses->quaternion[2], stride, NEARBY_FLOAT64);
  columns.qw = nearby_column_of(&poses->quaternion[3], stride, NEARBY_FLOAT64);
  return columns;
}

/// An array of samples as columns.
static inline nearby_samples nearby_samples_of(const nearby_sample *samples, int64_t count) {
  nearby_samples columns;
  const int64_t stride = (int64_t)sizeof(nearby_sample);
  memset(&columns, 0, sizeof columns);
  if (!samples || count <= 0) return columns;
  columns.count = count;
  columns.time = nearby_column_of(&samples->nanoseconds, stride, NEARBY_INT64);
  columns.peer = nearby_column_of(&samples->peer, stride, NEARBY_UINT32);
  columns.sight = nearby_column_of(&samples->sight, stride, NEARBY_UINT32);
  columns.distance = nearby_column_of(&samples->distance, stride, NEARBY_FLOAT64);
  columns.azimuth = nearby_column_of(&samples->azimuth, stride, NEARBY_FLOAT64);
  columns.elevation = nearby_column_of(&samples->elevation, stride, NEARBY_FLOAT64);
  columns.height_difference = nearby_column_of(&samples->height_difference, stride, NEARBY_FLOAT64);
  columns.distance_sigma = nearby_column_of(&samples->distance_sigma, stride, NEARBY_FLOAT64);
  columns.azimuth_sigma = nearby_column_of(&samples->azimuth_sigma, stride, NEARBY_FLOAT64);
  columns.elevation_sigma = nearby_column_of(&samples->elevation_sigma, stride, NEARBY_FLOAT64);
  columns.height_difference_sigma =
      nearby_column_of(&samples->height_difference_sigma, stride, NEARBY_FLOAT64);
  return columns;
}

/// A sample of a peer in which nothing was measured yet.
static inline nearby_sample nearby_sample_of(uint32_t peer, int64_t nanoseconds) {
  nearby_sample sample;
  memset(&sample, 0, sizeof sample);
  sample.nanoseconds = nanoseconds;
  sample.peer = peer;
  sample.distance = sample.azimuth = sample.elevation = sample.height_difference = NAN;
  sample.distance_sigma = sample.azimuth_sigma = sample.elevation_sigma = NAN;
  sample.height_difference_sigma = NAN;
  return sample;
}

/// What became of the rows of a batch.
typedef struct nearby_counts {
  int64_t poses_accepted;
  /// Of these, how often the odometry's world jumped.
  int64_t poses_jumped;
  int64_t poses_not_finite;
  int64_t poses_not_later;
  int64_t samples_used;
  int64_t samples_partial;
  int64_t samples_rejected;
} nearby_counts;

// MARK: - Engine

/// An engine with all that it has seen. The value is no address and must not be dereferenced.
typedef struct nearby_engine nearby_engine;

/// Makes an engine.
///
/// - Parameter configuration: Settings that differ from the defaults, JSON in UTF-8 with the keys
/// of
///   `configuration.json`; null for the defaults.
/// - Parameter frames: The frames of poses and estimates; null for ARKit's. The settings do not
/// depend on
///   them: `ranging.antennaInDevice` is in ARKit's axes always.
/// - Parameter engine: Becomes the handle; to be destroyed by `nearby_engine_destroy`.
/// - Returns: `NEARBY_INVALID_CONFIGURATION`, `NEARBY_INVALID_ARGUMENT`.
NEARBY_API nearby_status nearby_engine_create(const char *configuration,
                                              const nearby_frames *frames, nearby_engine **engine);

/// Copies an engine: both go their own ways from here.
NEARBY_API nearby_status nearby_engine_copy(nearby_engine *engine, nearby_engine **copy);

/// Destroys an engine; calls that are under way with it finish first. Null is allowed.
NEARBY_API nearby_status nearby_engine_destroy(nearby_engine *engine);

/// Adds a peer; samples of it may follow.
///
/// - Parameter name: The peer's name in columns, UTF-8; null for its number.
/// - Parameter motion: How it may move.
/// - Parameter peer: Becomes its number: 0, 1, 2 and so on; may be null.
/// - Returns: `NEARBY_INVALID_ARGUMENT` also beyond a million peers.
NEARBY_API nearby_status nearby_engine_add_peer(nearby_engine *engine, const char *name,
                                                nearby_peer_motion motion, uint32_t *peer);

/// Changes how a peer may move, with the peer's next sample; all that is known of it stays.
///
/// - Parameter peer: The peer's number.
/// - Parameter motion: How it may move from now on.
/// - Returns: `NEARBY_UNKNOWN_PEER`, `NEARBY_INVALID_ARGUMENT`.
NEARBY_API nearby_status nearby_engine_set_motion(nearby_engine *engine, uint32_t peer,
                                                  nearby_peer_motion motion);

/// Extends the device's trajectory.
///
/// - Parameter outcome: Becomes what became of the pose; may be null. A pose that was left out is
/// no
///   failure.
NEARBY_API nearby_status nearby_engine_add_pose(nearby_engine *engine, const nearby_pose *pose,
                                                nearby_pose_outcome *outcome);

/// Takes note of the odometry's quality and the light, from the next pose on.
///
/// - Parameter lumens: Light in the scene; NaN when not measured.
NEARBY_API nearby_status nearby_engine_add_tracking(nearby_engine *engine, int64_t nanoseconds,
                                                    nearby_tracking_state state, double lumens);

/// Fuses a ranging sample, up to a second late. Add first the pose at or after its time, if it is
/// there.
///
/// - Parameter report: Filled in with what became of each component; may be null. A sample that was
/// left
///   out is no failure.
/// - Parameter estimate: Filled in with what is known of the peer at the sample's time, after it;
/// may be
///   null.
/// - Returns: `NEARBY_UNKNOWN_PEER`, `NEARBY_INVALID_ARGUMENT`.
NEARBY_API nearby_status nearby_engine_add_sample(nearby_engine *engine,
                                                  const nearby_sample *sample,
                                                  nearby_report *report, nearby_estimate *estimate);

/// What is known of a peer at the time of its newest sample that was used.
NEARBY_API nearby_status nearby_engine_estimate(nearby_engine *engine, uint32_t peer,
                                                nearby_estimate *estimate);

/// The estimate of a peer, predicted to a moment after its last sample.
NEARBY_API nearby_status nearby_engine_estimate_at(nearby_engine *engine, uint32_t peer,
                                                   int64_t nanoseconds, nearby_estimate *estimate);

/// Adds many poses and samples, each sample as soon as the first pose at or after its time is
/// there.
///
/// The estimates are those of the same calls one by one. The rows are checked before the first is
/// added, so that after a failure the engine is as it was.
///
/// - Parameter poses: In time order; may be null.
/// - Parameter samples: In the order of arrival; may be null.
/// - Parameter trackings: In time order; may be null.
/// - Parameter schema, array: Become a struct array with a row for each sample, in the samples'
/// order,
///   and the columns of `estimates.csv`; the unit of each is in the metadata of its field. The
///   caller releases both.
/// - Parameter counts: Becomes how many rows were used; may be null.
/// - Returns: `NEARBY_UNKNOWN_PEER`, `NEARBY_INVALID_ARGUMENT`: the error names the row.
///   `NEARBY_INTERRUPTED`: the rows before that moment were added, and there are no columns.
NEARBY_API nearby_status nearby_engine_run(nearby_engine *engine, const nearby_poses *poses,
                                           const nearby_samples *samples,
                                           const nearby_trackings *trackings,
                                           struct ArrowSchema *schema, struct ArrowArray *array,
                                           nearby_counts *counts);

/// Ends the run that another thread has under way with an engine; without one, it does nothing.
NEARBY_API nearby_status nearby_engine_interrupt(nearby_engine *engine);

/// All settings as JSON, after some were changed.
///
/// - Parameter configuration: As for `nearby_engine_create`.
/// - Parameter json: Becomes the text; to be freed by `nearby_text_free`.
NEARBY_API nearby_status nearby_configuration(const char *configuration, char **json);

// MARK: - Smoother

/// A smoother: estimates from a whole recording, past and future. No address either.
typedef struct nearby_smoother nearby_smoother;

/// Makes a smoother; the arguments are those of `nearby_engine_create`.
NEARBY_API nearby_status nearby_smoother_create(const char *configuration,
                                                const nearby_frames *frames,
                                                nearby_smoother **smoother);

/// Destroys a smoother. Null is allowed.
NEARBY_API nearby_status nearby_smoother_destroy(nearby_smoother *smoother);

/// Adds a peer, as `nearby_engine_add_peer` does.
NEARBY_API nearby_status nearby_smoother_add_peer(nearby_smoother *smoother, const char *name,
                                                  nearby_peer_motion motion, uint32_t *peer);

/// Adds poses, samples and tracking, as `nearby_engine_run` does.
NEARBY_API nearby_status nearby_smoother_add(nearby_smoother *smoother, const nearby_poses *poses,
                                             const nearby_samples *samples,
                                             const nearby_trackings *trackings,
                                             nearby_counts *counts);

/// Ends the addition of rows that another thread has under way with a smoother.
NEARBY_API nearby_status nearby_smoother_interrupt(nearby_smoother *smoother);

/// Estimates everything together: about a second for ten thousand samples.
///
/// - Parameter schema, array: Become a struct array with a row for each sample, in the order in
/// which
///   they were added, and the columns of `smoothed.csv`. The caller releases both.
NEARBY_API nearby_status nearby_smoother_solve(nearby_smoother *smoother,
                                               struct ArrowSchema *schema,
                                               struct ArrowArray *array);

// MARK: - Locator

/// Locates a device that only listens, by how much farther one anchor is than another (DL-TDoA). No
/// address either.
typedef struct nearby_locator nearby_locator;

/// The prior of an anchor's place.
typedef struct nearby_anchor {
  /// Metres in the site's world, with the axis up of the frames.
  double position[3];
  /// One sigma along each axis, metres; 0 for an exact place, NaN for an anchor that is to be
  /// located.
  double sigma;
} nearby_anchor;

/// How the clocks of anchors err, as lengths: a nanosecond is 0.3 m.
typedef struct nearby_anchor_clocks {
  /// One sigma at first, metres, and that of its rate, metres per second.
  double offset_sigma, rate_sigma;
  /// The random walk of the rate: one sigma after a second, metres per second.
  double rate_walk;
} nearby_anchor_clocks;

/// How much farther one anchor is than another.
typedef struct nearby_difference {
  int64_t nanoseconds;
  /// The anchors' numbers, in the order in which they were given.
  uint32_t from, to;
  /// Distance to `to` minus distance to `from`, metres.
  double metres;
  /// One sigma, metres; NaN for that of the configuration.
  double sigma;
} nearby_difference;

/// What became of a difference.
typedef enum nearby_difference_outcome {
  NEARBY_DIFFERENCE_ACCEPTED = 0,
  /// It was left out: no number, or of anchors that there are not.
  NEARBY_DIFFERENCE_NOT_ONE = 1,
  /// It was left out: no pose tells where the device was.
  NEARBY_DIFFERENCE_WITHOUT_POSE = 2,
  /// It was left out: it is older than what is still kept apart.
  NEARBY_DIFFERENCE_TOO_LATE = 3
} nearby_difference_outcome;

/// Where the device is.
typedef struct nearby_fix {
  /// The time of the newest pose; 0 before there is anything to go by.
  int64_t nanoseconds;
  /// Whether the place is known, and the turn of the odometry's world to the site's.
  int32_t is_located, is_turn_known;
  /// Metres in the site's world; NaN when not known.
  double position[3];
  /// xx, xy, xz, yy, yz, zz, m², and the root of its trace, metres.
  double covariance[6], position_sigma;
  /// The turn about gravity, counterclockwise as seen from above, and its sigma, radians.
  double yaw, yaw_sigma;
} nearby_fix;

/// Makes a locator.
///
/// - Parameter configuration, frames: As for `nearby_engine_create`.
/// - Parameter clocks: How the anchors' clocks err; null for clocks that are kept together.
NEARBY_API nearby_status nearby_locator_create(const char *configuration,
                                               const nearby_frames *frames,
                                               const nearby_anchor *anchors, int64_t count,
                                               const nearby_anchor_clocks *clocks,
                                               nearby_locator **locator);

/// Destroys a locator; calls that are under way with it finish first. Null is allowed.
NEARBY_API nearby_status nearby_locator_destroy(nearby_locator *locator);

/// Extends the device's trajectory, as `nearby_engine_add_pose` does.
NEARBY_API nearby_status nearby_locator_add_pose(nearby_locator *locator, const nearby_pose *pose,
                                                 nearby_pose_outcome *outcome);

/// Adds a range difference. Add first the pose at or after its time.
///
/// - Parameter outcome: Becomes what became of it; may be null. One that was left out is no
/// failure.
NEARBY_API nearby_status nearby_locator_add_difference(nearby_locator *locator,
                                                       const nearby_difference *difference,
                                                       nearby_difference_outcome *outcome);

/// Where the device is at the newest pose: a fit, some milliseconds.
NEARBY_API nearby_status nearby_locator_locate(nearby_locator *locator, nearby_fix *fix);

// MARK: - Recordings

/// A recording on disk, opened for reading. No address either.
typedef struct nearby_recording nearby_recording;

/// The tables of a recording.
typedef enum nearby_table {
  /// `trajectory.txt`: timestamp, time_ns, x, y, z, qx, qy, qz, qw.
  NEARBY_TABLE_POSES = 0,
  /// `ranging.csv`.
  NEARBY_TABLE_RANGING = 1,
  /// `tracking.csv`; no rows when the recording has no such file.
  NEARBY_TABLE_TRACKING = 2,
  /// `truth/trajectory.txt`, likewise.
  NEARBY_TABLE_TRUE_POSES = 3,
  /// `truth/peers.csv`, likewise.
  NEARBY_TABLE_TRUE_PEERS = 4
} nearby_table;

/// Opens a recording: reads `recording.json`, and checks that the required files are there.
///
/// - Parameter folder: The recording's folder.
/// - Returns: `NEARBY_INVALID_FILE`.
NEARBY_API nearby_status nearby_recording_open(const char *folder, nearby_recording **recording);

/// Destroys a recording; the files stay as they are. Null is allowed.
NEARBY_API nearby_status nearby_recording_destroy(nearby_recording *recording);

/// The frames of the recording's poses, and of the estimates from it.
NEARBY_API nearby_status nearby_recording_frames(nearby_recording *recording,
                                                 nearby_frames *frames);

/// What `nearby info --json` prints about the recording: peers, rates, gaps, faults, warnings.
///
/// - Parameter json: Becomes the text; to be freed by `nearby_text_free`.
/// - Returns: `NEARBY_INVALID_FILE`.
NEARBY_API nearby_status nearby_recording_info(nearby_recording *recording, char **json);

/// All settings for the recording as JSON: the defaults, what `recording.json` says of the sensors,
/// and the given changes.
///
/// - Parameter configuration: Settings that differ, JSON; null for none.
/// - Parameter json: Becomes the text; to be freed by `nearby_text_free`.
NEARBY_API nearby_status nearby_recording_configuration(nearby_recording *recording,
                                                        const char *configuration, char **json);

/// What the recording tells of its radio and odometry, as `nearby run` finds it before it runs: the
/// offset of the radio's clock, the antenna's place, drift, noise.
///
/// - Parameter configuration: Settings that differ from the recording's, JSON; null for none.
/// - Parameter calibrated: Becomes all settings, with what was found in place of what contradicts
/// it: the
///   configuration for `nearby_recording_run` and `nearby_recording_smooth`. To be freed by
///   `nearby_text_free`.
/// - Parameter findings: Becomes `calibration` of `summary.json`; null if it is not wanted. To be
/// freed likewise.
NEARBY_API nearby_status nearby_recording_calibrate(nearby_recording *recording,
                                                    const char *configuration, char **calibrated,
                                                    char **findings);

/// Reads a table of the recording, in the recording's own frames.
///
/// - Parameter schema, array: Become a struct array. The caller releases both.
/// - Returns: `NEARBY_INVALID_FILE`: the first fault, with its place.
NEARBY_API nearby_status nearby_recording_read(nearby_recording *recording, nearby_table table,
                                               struct ArrowSchema *schema,
                                               struct ArrowArray *array);

/// Runs the engine over the recording, as `nearby run --calibration off` does; after
/// `nearby_recording_calibrate`, with its settings, as `nearby run` does.
///
/// - Parameter configuration: Settings that differ from the recording's, JSON; null for none.
/// - Parameter schema, array: Become a struct array with the rows of `estimates.csv`. The caller
/// releases
///   both.
/// - Parameter summary: Becomes the text of `summary.json`, to be freed by `nearby_text_free`; may
/// be
///   null.
/// - Returns: `NEARBY_INVALID_CONFIGURATION`, `NEARBY_INVALID_FILE`.
NEARBY_API nearby_status nearby_recording_run(nearby_recording *recording,
                                              const char *configuration, struct ArrowSchema *schema,
                                              struct ArrowArray *array, char **summary);

/// Smooths the recording, as `nearby run --smooth` does.
///
/// The arguments are those of `nearby_recording_run`; the rows are those of `smoothed.csv`.
NEARBY_API nearby_status nearby_recording_smooth(nearby_recording *recording,
                                                 const char *configuration,
                                                 struct ArrowSchema *schema,
                                                 struct ArrowArray *array);

// MARK: - Simulation

/// Draws a run of a scenario from a seed and gives one of its tables; the same arguments give the
/// same table.
///
/// - Parameter scenario: A name that `nearby simulate --list` shows, such as `find`.
/// - Parameter settings: Settings that differ from the scenario's, JSON; null for none.
/// - Parameter seed: The seed of the motion, the odometry and the radios.
/// - Parameter peers: How many peers, 1 to 1000; 0 for as many as the scenario has.
/// - Parameter table: `NEARBY_TABLE_POSES`, `NEARBY_TABLE_RANGING` or `NEARBY_TABLE_TRACKING`.
/// Ranging has
///   the true place of the peer in the odometry's world as it was then (`true_x` and so on), and
///   which values are faults.
/// - Parameter schema, array: Become a struct array in ARKit's frames. The caller releases both.
/// - Parameter configuration: Becomes the settings of an engine that knows the sensors' accuracy,
/// JSON, to
///   be freed by `nearby_text_free`; may be null.
/// - Returns: `NEARBY_INVALID_CONFIGURATION`, `NEARBY_INVALID_ARGUMENT`.
NEARBY_API nearby_status nearby_simulate(const char *scenario, const char *settings, uint64_t seed,
                                         int32_t peers, nearby_table table,
                                         struct ArrowSchema *schema, struct ArrowArray *array,
                                         char **configuration);

// MARK: - Results of many recordings

/// The rows of `batch.csv` for a run, a line for each peer.
///
/// - Parameter recording: The recording's name in the table; null for the line of column names.
/// - Parameter summary: The text that `nearby_recording_run` gave; not read when `recording` is
/// null.
/// - Parameter csv: Becomes the text; to be freed by `nearby_text_free`.
NEARBY_API nearby_status nearby_batch_rows(const char *recording, const char *summary, char **csv);

/// Evaluates the results of a run by the truth of its recording, as `nearby evaluate --json` does.
///
/// - Parameter result: The folder that `nearby run` wrote.
/// - Parameter recording: The recording's folder; null for the one that the results name.
/// - Parameter json: Becomes the text; to be freed by `nearby_text_free`.
/// - Returns: `NEARBY_INVALID_FILE`.
NEARBY_API nearby_status nearby_evaluate(const char *result, const char *recording, char **json);

#ifdef __cplusplus
}
#endif

#endif  // NEARBY_H
