// SPDX-License-Identifier: Apache-2.0
//
// The numeric kernels of the engine: straight-line functions on plain doubles, behind a C11
// interface. No function here keeps state, allocates, throws, prints or locks; all may be called
// from any thread as long as no two calls share a buffer.
//
// Units are metres, radians and seconds. The world has +y up; device axes are ARKit's (+x right, +y
// up, -z ahead). Matrices of rotation are row-major. Symmetric 3 x 3 matrices are packed as their
// upper triangle, row by row; covariances of the state column by column, so that those of a shorter
// state come first.

#ifndef NEARBY_KERNELS_H
#define NEARBY_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// MARK: State

/// The state of one hypothesis about one peer:
/// position in the odometry's world (3), range scale error, the constant errors of range, azimuth
/// and elevation, their wandering errors; then, where height differences have been measured, their
/// offset; and for peers that may move, the offset in any case and velocity in the odometry's world
/// (3).
///
/// So a state has one of three sizes. Performance: a peer without height differences pays nothing
/// for them.
enum {
  NEARBY_STATE_POSITION = 0,
  NEARBY_STATE_RANGE_SCALE = 3,
  NEARBY_STATE_RANGE_BIAS = 4,
  NEARBY_STATE_AZIMUTH_BIAS = 5,
  NEARBY_STATE_ELEVATION_BIAS = 6,
  NEARBY_STATE_RANGE_WANDER = 7,
  NEARBY_STATE_AZIMUTH_WANDER = 8,
  NEARBY_STATE_ELEVATION_WANDER = 9,
  NEARBY_STATE_SIZE = 10,
  NEARBY_COVARIANCE_SIZE = 55,
  NEARBY_STATE_HEIGHT_OFFSET = NEARBY_STATE_SIZE,
  NEARBY_HEIGHT_STATE_SIZE = NEARBY_STATE_HEIGHT_OFFSET + 1,
  NEARBY_HEIGHT_COVARIANCE_SIZE = 66,
  NEARBY_STATE_VELOCITY = NEARBY_HEIGHT_STATE_SIZE,
  NEARBY_MOVING_STATE_SIZE = NEARBY_STATE_VELOCITY + 3,
  NEARBY_MOVING_COVARIANCE_SIZE = 105,
};

#ifdef __cplusplus
static_assert(NEARBY_COVARIANCE_SIZE == NEARBY_STATE_SIZE * (NEARBY_STATE_SIZE + 1) / 2 &&
                  NEARBY_HEIGHT_COVARIANCE_SIZE ==
                      NEARBY_HEIGHT_STATE_SIZE * (NEARBY_HEIGHT_STATE_SIZE + 1) / 2 &&
                  NEARBY_MOVING_COVARIANCE_SIZE ==
                      NEARBY_MOVING_STATE_SIZE * (NEARBY_MOVING_STATE_SIZE + 1) / 2,
              "a covariance is the packed triangle of its state");
#endif

/// The kinds of measurement, in the order in which reports hold them: bit `1 << kind` of `present`
/// says that a value of the kind is there.
enum {
  NEARBY_RANGE = 0,
  NEARBY_AZIMUTH = 1,
  NEARBY_ELEVATION = 2,
  NEARBY_HEIGHT_DIFFERENCE = 3,
  NEARBY_COMPONENTS = 4,
};

// MARK: Fault model

/// What faulty values look like: the shares of their densities. The filter, the fit of a window,
/// the smoother and the reference update all read these numbers.
///
/// A fault that begins: an obstructed range is too long, exponentially distributed about its mean
/// excess; an azimuth is mirrored front to back; or the value may be anything, a range within
/// `range_reach` mean excesses, an angle within the field of view (an elevation always) and a
/// height difference within `height_reach` metres. A fault that lasts repeats itself, so that a
/// burst is one surprise and not as many as it has samples: a range repeats its excess, an angle or
/// a height difference the very value at which it sticks. Or it is drawn anew.
typedef struct nearby_fault_model {
  double range_excess, range_anything, range_reach;
  double angle_mirrored, angle_anything;
  double range_repeated, range_redrawn;
  double stuck, redrawn;
  double height_reach;
} nearby_fault_model;

static const nearby_fault_model nearby_faults = {
    0.75, 0.25, 30,  // range_excess, range_anything, range_reach
    0.25, 0.75,      // angle_mirrored, angle_anything
    0.9,  0.1,       // range_repeated, range_redrawn
    0.6,  0.4,       // stuck, redrawn
    20,              // height_reach
};

/// The fields of a hypothesis. A bank is a structure of arrays: field `f` of hypothesis `i` stands
/// at `fields[f * stride + i]`.
enum {
  NEARBY_FIELD_MEAN = 0,
  NEARBY_FIELD_COVARIANCE = NEARBY_FIELD_MEAN + NEARBY_STATE_SIZE,
  /// The probability that the last value of each component was faulty.
  NEARBY_FIELD_FAULT = NEARBY_FIELD_COVARIANCE + NEARBY_COVARIANCE_SIZE,
  /// The last range innovation: what a lasting obstruction would repeat.
  NEARBY_FIELD_RANGE_RESIDUAL = NEARBY_FIELD_FAULT + NEARBY_COMPONENTS,
  /// The logarithm of the share; shares sum to one after `nearby_bank_normalize`.
  NEARBY_FIELD_LOG_WEIGHT,
  /// Of the last update, for each component: innovation, its variance, probability of no fault.
  NEARBY_FIELD_INNOVATION,
  NEARBY_FIELD_INNOVATION_VARIANCE = NEARBY_FIELD_INNOVATION + NEARBY_COMPONENTS,
  NEARBY_FIELD_INLIER = NEARBY_FIELD_INNOVATION_VARIANCE + NEARBY_COMPONENTS,
  NEARBY_FIELD_COUNT = NEARBY_FIELD_INLIER + NEARBY_COMPONENTS,
  /// Only in a bank with height differences: their offset, and its part of the covariance.
  NEARBY_FIELD_HEIGHT_OFFSET = NEARBY_FIELD_COUNT,
  NEARBY_FIELD_HEIGHT_COVARIANCE,
  NEARBY_HEIGHT_FIELD_COUNT =
      NEARBY_FIELD_HEIGHT_COVARIANCE + NEARBY_HEIGHT_COVARIANCE_SIZE - NEARBY_COVARIANCE_SIZE,
  /// Only in a bank about a peer that may move: one for a hypothesis under which it does and zero
  /// for one under which it rests, the velocity, and the rest of the covariance.
  NEARBY_FIELD_MOVES = NEARBY_HEIGHT_FIELD_COUNT,
  NEARBY_FIELD_VELOCITY,
  NEARBY_FIELD_VELOCITY_COVARIANCE =
      NEARBY_FIELD_VELOCITY + NEARBY_MOVING_STATE_SIZE - NEARBY_STATE_VELOCITY,
  NEARBY_MOVING_FIELD_COUNT = NEARBY_FIELD_VELOCITY_COVARIANCE + NEARBY_MOVING_COVARIANCE_SIZE -
                              NEARBY_HEIGHT_COVARIANCE_SIZE,
};

/// A stride is one or a multiple of so many hypotheses: a cache line of doubles, which is as many
/// as the widest vectors hold.
enum { NEARBY_LANES = 8 };

/// The greatest number of hypotheses in a bank, which is the greatest number of modes that a search
/// finds: 96 for each of two motion models, with and without mirrored azimuths.
enum { NEARBY_CAPACITY = 384 };

/// A bank of hypotheses in memory that the caller owns: as many doubles as the fields of its states
/// are, times `stride`.
typedef struct nearby_bank {
  double *fields;
  int32_t count;
  int32_t stride;
  /// The size of a state: `NEARBY_STATE_SIZE`, `NEARBY_HEIGHT_STATE_SIZE` with height differences,
  /// or `NEARBY_MOVING_STATE_SIZE` of a peer that may move.
  int32_t states;
} nearby_bank;

// MARK: One step

/// How the state moves from the peer's last sample to this one.
typedef struct nearby_motion {
  /// The device's position now: the centre about which the odometry's yaw drifts.
  double device_in_world[3];
  /// Variance added to the position in the horizontal plane and along gravity, m².
  double horizontal_diffusion, vertical_diffusion;
  /// Variance of the odometry's yaw drift, rad².
  double yaw_diffusion;
  /// The time since then, and how a peer that moves does: the variance of its speed along each
  /// horizontal axis and along gravity, m²/s², and the time over which a velocity lasts, seconds.
  double seconds, horizontal_speed_variance, vertical_speed_variance, velocity_seconds;
} nearby_motion;

/// The path from the peer's last sample to this one, as it decorrelates the sensors' errors: its
/// length in correlation lengths of the range's wandering error, of both angles', of the offset of
/// height differences, and of faults, at least zero; and the stationary variances of these errors.
///
/// Performance: lengths and variances alternate, so that none are read in pairs. They are written
/// one by one, and a load that spans two stores must wait until both are in the cache.
typedef struct nearby_travel {
  double range, range_variance, angle, azimuth_variance, fault, elevation_variance;
  double height, height_variance;
} nearby_travel;

/// One step of the first-order Gauss-Markov processes of the sensors' errors: of each wandering
/// error the correlation factor φ = exp(-travel) and the variance (1 - φ²) σ² that is added to it;
/// and the correlation factor of faults, which is the probability that one has lasted.
typedef struct nearby_error_step {
  double range, range_added, azimuth, azimuth_added, elevation, elevation_added, fault;
  double height, height_added;
} nearby_error_step;

/// Correlation factors φ = exp(-travel) of the errors over a step: of the range's wandering error,
/// of the angles', of faults.
typedef struct nearby_correlations {
  double range, angle, fault;
} nearby_correlations;

/// From where something was measured.
typedef struct nearby_antenna_pose {
  double antenna_in_world[3];
  double device_from_world[9];
} nearby_antenna_pose;

/// What was measured, from where, and how it may be wrong.
typedef struct nearby_measurement {
  double antenna_in_world[3];
  double device_from_world[9];
  /// Bit `1 << component` is set for each component that is there.
  int32_t present;
  double value[NEARBY_COMPONENTS];
  /// Variance of the white noise.
  double variance[NEARBY_COMPONENTS];
  /// The values measured last time; equal to `value` of an absent component, NaN before the first.
  double previous[NEARBY_COMPONENTS];
  /// The probability that a fault begins.
  double fault_onset[NEARBY_COMPONENTS];
  /// The mean excess of a range without line of sight, and the stationary variance about which an
  /// excess that lasts changes.
  double range_excess, lasting_range_variance;
  /// The full cone in which angles are measured.
  double field_of_view;
} nearby_measurement;

/// The step of the errors over a path.
nearby_error_step nearby_error_step_over(const nearby_travel *travel);

/// Moves every hypothesis to the time of the next sample.
///
///     x ← F x,  P ← F P Fᵀ + Q
///
/// with F the identity but for the correlation factors of the wandering errors, and on the position
/// Q = diag(h, v, h) + y² (up × d)(up × d)ᵀ, d from the device to the peer. Where a hypothesis
/// holds that the peer moves, its velocity is an Ornstein-Uhlenbeck process: v̇ = -v/τ + w,
/// stationary with the given variance, so that p ← p + τ (1 - e) v and v ← e v with e = exp(-t/τ).
/// Without `errors` the errors stay as they are.
void nearby_bank_propagate(const nearby_bank *bank, const nearby_motion *motion,
                           const nearby_error_step *errors);

/// An Ornstein-Uhlenbeck velocity over a time t, in units of its correlation time τ and of a
/// stationary variance of one.
typedef struct nearby_ornstein_uhlenbeck {
  /// φ = exp(-t/τ), the correlation factor of the velocity, and 1 - φ, by which the position moves
  /// on with it.
  double correlation, reach;
  /// 2 t/τ - 3 + 4 φ - φ², (1 - φ)² and 1 - φ²: what is added to the variance of the position, to
  /// its covariance with the velocity, and to the variance of the velocity.
  double position, both, velocity;
  /// t/τ - 1 + φ: half of the variance of the displacement when the velocity is unknown.
  double displacement;
} nearby_ornstein_uhlenbeck;

/// The same to ten digits or more, however short the time, `ratio` = t/τ >= 0: as they are written
/// above, the differences would cancel out and might be negative.
nearby_ornstein_uhlenbeck nearby_ornstein_uhlenbeck_over(double ratio);

/// Updates every hypothesis with the components that are present: height difference, azimuth,
/// elevation, range, each a scalar, each linearised (second order in the innovation's mean and
/// variance) at the mean that the one before has left. A height difference needs a state that has
/// its offset, and is left out without. Where there is a single column, and the models bend by less
/// within its spread than a hundredth of the noise's variance, all others are linearised at the
/// prediction, and the range comes first.
///
/// Each component has the likelihood (1 - f) N(ν; 0, S) + f F(ν), with f the probability of a
/// fault, from a Markov chain (Gilbert and Elliott), and F its density. With γ the posterior
/// probability of no fault the moments of the exact two-component posterior are
///
///     x ← x + γ K ν,  P ← P - c (P Hᵀ)(P Hᵀ)ᵀ,  c = γ (S - (1 - γ) ν²) / S²
///
/// (probabilistic data association with one candidate, Bar-Shalom and Tse 1975). The likelihood's
/// logarithm is added to the hypothesis' log weight, but for that of a single column, which there
/// is nothing to weigh against.
///
/// `fault_correlation` is the probability φ that a fault has lasted since the last sample, one when
/// no time has passed; an excess that has lasted has changed by (1 - φ²) of its stationary
/// variance.
void nearby_bank_update(const nearby_bank *bank, const nearby_measurement *measurement,
                        double fault_correlation);

/// `nearby_bank_propagate` and `nearby_bank_update` in one go, with the error step over a path.
nearby_correlations nearby_bank_advance(const nearby_bank *bank, const nearby_motion *motion,
                                        const nearby_travel *travel,
                                        const nearby_measurement *measurement);

/// What a kernel is compiled for: any processor of its kind, or one with vectors of four doubles
/// (on x86-64 AVX2 and FMA) or of eight (AVX-512 F, DQ and VL). Each has what those before it have.
typedef enum nearby_vectors {
  NEARBY_VECTORS_OF_ANY,
  NEARBY_VECTORS_OF_FOUR,
  NEARBY_VECTORS_OF_EIGHT,
} nearby_vectors;

/// The widest of the processor that this runs on: what kernels choose.
nearby_vectors nearby_widest_vectors(void);

/// `nearby_bank_update` with vectors that the processor must have: the same but for rounding. Given
/// out for tests.
void nearby_bank_update_with(const nearby_bank *bank, const nearby_measurement *measurement,
                             double fault_correlation, nearby_vectors vectors);

// MARK: Bank

/// Makes the shares sum to one.
void nearby_bank_normalize(const nearby_bank *bank);

/// Drops hypotheses below `pruning_weight`, unless they have half of an even share, and all but the
/// `most` heaviest, then merges neighbours as long as Runnalls' bound on the Kullback-Leibler loss,
/// per unit of their weight and on the position, stays below `merging_loss` (Runnalls 2007, eq.
/// 16). Returns how many are left, one at least; they are moved to the front, the heaviest first.
/// Shares must be normalised and are so again afterwards. O(n²).
int32_t nearby_bank_reduce(const nearby_bank *bank, int32_t most, double pruning_weight,
                           double merging_loss);

/// Lets a peer at rest start and a moving one stop: the mixing step of an interacting multiple
/// model (Blom and Bar-Shalom 1988) over the two hypotheses of a bank, the first at rest, the
/// second moving. With s and e the probabilities of starting and of stopping since the last sample,
/// the first becomes the moment-matched mixture of itself and the e-th part of the second with the
/// velocity taken out, the second that of itself and the s-th part of the first with a velocity of
/// the given variances. Shares must be normalised, and stay so.
void nearby_bank_mix(const nearby_bank *bank, double start, double stop,
                     double horizontal_speed_variance, double vertical_speed_variance);

/// The first two moments of the mixture's position: mean (3), and covariance (6, packed) with the
/// spread between hypotheses included.
void nearby_bank_moments(const nearby_bank *bank, double *mean, double *covariance);

// MARK: Fit

/// Some samples taken from one place, as one: what a fit of a whole window works on.
typedef struct nearby_keyframe {
  double antenna_in_world[3];
  double device_from_world[9];
  /// Bit `1 << component` is set for each component that is there.
  int32_t present;
  double value[NEARBY_COMPONENTS];
  /// Variance of all that the fit does not estimate: white noise, drift since, and what of the
  /// wandering error has been forgotten since.
  double variance[NEARBY_COMPONENTS];
  /// The correlation of the wandering error then with that of now, which the fit estimates.
  double memory[NEARBY_COMPONENTS];
  /// How far the odometry has drifted since, in the shape in which it most likely has: metres in
  /// the horizontal plane and along gravity, and radians about `pivot`, for an amplitude of one.
  double horizontal_drift, vertical_drift, yaw_drift, pivot[3];
  /// The probability that a state, faulty or not, has lasted since the keyframe before.
  double lasting;
} nearby_keyframe;

/// A fit takes at most so many keyframes; more are left out.
enum { NEARBY_FIT_CAPACITY = 512 };

/// What a fit assumes.
typedef struct nearby_fit_model {
  /// The prior of the position: its mean, and its information (packed), 1/m².
  double center[3], information[6];
  double range_scale_sigma;
  /// The prior variance of each constant error, and of each wandering one.
  double bias_variance[NEARBY_COMPONENTS], wander_variance[NEARBY_COMPONENTS];
  /// The probability of an outlier of each kind, the mean excess of a range that is one, and the
  /// cone in which an angle that is one may lie.
  double outlier_share[NEARBY_COMPONENTS], range_excess, field_of_view;
  /// Whether the radio confuses what is before it with what is behind, as two antennas do far from
  /// straight ahead: an azimuth z may then be measured as ±π - z.
  int32_t is_mirrored;
  /// Whether the state holds the offset of height differences.
  int32_t has_heights;
} nearby_fit_model;

/// Fits the state to all keyframes at once: the mode of the posterior that is nearest downhill.
/// Height differences need a state that has their offset, and are left out without.
///
/// Each component is a Markov chain over the keyframes: inlier with a share of 1 - ε, N(ν; 0, R),
/// or faulty with a share of ε, F; so that a burst of faults is one surprise. Minimises the
/// negative logarithm of the chains' likelihood (forward algorithm) plus the priors by Gauss and
/// Newton's method, each value weighted by its probability of being no fault given all others
/// (forward and backward, Rabiner 1989, eq. 27), the noise at first widened and then narrowed to
/// what it is (graduated non-convexity, Yang et al. 2020), so that a start far off finds its way.
/// `state`, as long as the model says, is the start and becomes the mode; the
/// amplitudes of the odometry's drift are fitted with it and left out; `covariance` (packed) is the
/// inverse of the information there. Returns the logarithm of the evidence by Laplace's
/// approximation, up to a constant common to all priors; minus infinity when it could not be
/// solved. Noise variances begin at most `widest` times as large as they are: 400 for a start
/// anywhere, 1 for one that is a mode already. For each component `inlier_shares` becomes the mean
/// probability that a value of it is no outlier, one without values: low when the mode explains
/// little of what it was fitted to. O(count).
double nearby_fit(const nearby_keyframe *keyframes, int32_t count, const nearby_fit_model *model,
                  double widest, double *state, double *covariance, double *inlier_shares);

/// So many fits cost less than two that are made one by one, or as much where vectors are of four.
enum { NEARBY_FITS = 8 };

/// The same for up to `NEARBY_FITS` starts in one window, in lanes: each with a model of its own,
/// all with states of one size. States, covariances, shares of
/// inliers and evidences stand one after the other, states and covariances as long as the
/// models' are. What cannot be fitted is left as it was, its evidence's logarithm minus infinity.
/// Takes up to 0.6 MB of stack.
///
/// `has_folded` becomes whether a fit that may take azimuths for mirrored has done so on its way.
/// One that has not is, to the last bit, the fit of the same start and model without `is_mirrored`.
void nearby_fit_side_by_side(const nearby_keyframe *keyframes, int32_t count,
                             const nearby_fit_model *models, int32_t fits, double widest,
                             double *states, double *covariances, double *inlier_shares,
                             double *log_evidences, int32_t *has_folded);

/// `nearby_fit_side_by_side` with vectors that the processor must have: the same but for rounding.
/// Given out for tests.
void nearby_fit_side_by_side_with(const nearby_keyframe *keyframes, int32_t count,
                                  const nearby_fit_model *models, int32_t fits, double widest,
                                  double *states, double *covariances, double *inlier_shares,
                                  double *log_evidences, int32_t *has_folded,
                                  nearby_vectors vectors);

// MARK: Chain

/// The unknowns of a chain. At each knot the odometry's drift: the device's place in a world that
/// does not drift (3) and the yaw by which the odometry's world is turned there; then for each peer
/// that moves its place and velocity in that world (6), and for each clock that wanders its error,
/// as a length, and the rate of that (2). Behind the knots the border, which is the
/// same at all of them: the constants of the device that are asked for, and for each peer its place
/// (3), the constant error of its ranges and their scale error.
enum {
  NEARBY_CHAIN_DRIFT_SIZE = 4,
  NEARBY_CHAIN_MOTION_SIZE = 6,
  NEARBY_CHAIN_CLOCK_SIZE = 2,
  NEARBY_CHAIN_PEER_SIZE = 5,
  NEARBY_CHAIN_DIRECTION_SIZE = 8
};

/// The constants of the device, each unknown only when its bit is set, in the order of the border.
enum {
  /// The odometry's steady turn, rad/s, and its scale error (2).
  NEARBY_CHAIN_ODOMETRY_ERRORS = 1 << 0,
  /// By how much the radio's clock is ahead of that by which the cells have their poses, s (1).
  NEARBY_CHAIN_CLOCK_OFFSET = 1 << 1,
  /// The antenna's place relative to that of the cells' poses, along the device's axes, m (3).
  NEARBY_CHAIN_LEVER_ARM = 1 << 2,
  /// The scale error that the ranges of all peers share (1).
  NEARBY_CHAIN_RANGE_SCALE = 1 << 3,
  /// Of an error of all ranges that depends on the azimuth α of the peer in the device's axes: the
  /// factors of cos α, sin α, cos 2α ... sin 4α, metres (8).
  NEARBY_CHAIN_DIRECTION_ERROR = 1 << 4
};

/// A place on the path at which the odometry's drift is a parameter of its own.
typedef struct nearby_chain_knot {
  /// The device there, as the odometry has it, and how far it says that it is to the next knot.
  double place[3], step[3];
  /// The drift from there to the next knot: variance per horizontal axis and along gravity, m², and
  /// of yaw, rad². All above zero.
  double horizontal_variance, vertical_variance, yaw_variance;
  /// How long it is to the next knot, seconds.
  double seconds;
  /// Of the errors of ranges that depend on the place: the correlation φ of that at the next knot
  /// with that here, and the variance of its innovation there, m². Read only with range errors.
  double place_correlation, place_innovation;
  /// The variance of the walk, until the next knot, of the error that all ranges share, m².
  double common_innovation;
} nearby_chain_knot;

/// How a moving peer goes from one knot to the next, for a stationary speed variance of one:
/// `v' = φ v` and `p' = p + ρ v`, each with noise, that of p' having the share k of that of v' and
/// `position_variance` of its own. Variances are above zero.
typedef struct nearby_chain_motion {
  double correlation, reach, coupling, position_variance, velocity_variance;
} nearby_chain_motion;

/// Samples of one peer from about one place, as one.
typedef struct nearby_chain_cell {
  /// From where, in the odometry's world as it was then.
  nearby_antenna_pose from;
  double value[NEARBY_COMPONENTS];
  /// The variance of a value, all errors together, and the power to which its likelihood is raised:
  /// what it holds of an independent draw of them.
  double variance[NEARBY_COMPONENTS], power[NEARBY_COMPONENTS];
  /// The prior probability that the range is an outlier.
  double range_outlier_share;
  /// The knot before it, and its share of the drift from there to the next one: there the drift is
  /// interpolated.
  double share;
  /// How long after the knot, seconds: of peers that move.
  double seconds;
  int32_t knot, peer;
  /// The peer's number among those that move; -1 for one at rest.
  int32_t mover;
  /// Bit `1 << component` is set for each component that is there.
  int32_t present;
} nearby_chain_cell;

/// How the device moves at a cell, in the odometry's world: the velocity of its antenna, m/s, and
/// its turn rate, rad/s.
typedef struct nearby_chain_rate {
  double velocity[3], turn[3];
} nearby_chain_rate;

/// How much longer the range to one peer at rest is than that to another, both from one place, with
/// the errors of the clocks by which they were sent: `r_peer - r_other + o_peer - o_other`.
typedef struct nearby_chain_difference {
  /// From where, in the odometry's world as it was then.
  double antenna_in_world[3];
  double value, variance;
  /// As of a cell; and its share of the time from its knot to the next one.
  double share, elapsed;
  int32_t knot, peer, other;
  /// The numbers of the peers' clocks; -1 for one that does not wander.
  int32_t clock, other_clock;
} nearby_chain_difference;

/// A chain: what is minimised, and where.
typedef struct nearby_chain_problem {
  const nearby_chain_knot *knots;
  /// One for each knot but the last; null without peers that move.
  const nearby_chain_motion *motions;
  const nearby_chain_cell *cells;
  /// One for each cell; null unless the clock's offset is unknown.
  const nearby_chain_rate *rates;
  /// Linearised anew at each state, whatever is live. The constants of the device but for the
  /// odometry's do not enter them.
  const nearby_chain_difference *differences;
  int32_t knot_count, cell_count, peer_count, mover_count, difference_count, clock_count;
  /// The random walk of the rate of a clock, as a length: variance per second, m²/s³.
  double clock_walk;
  /// The prior probability that a difference is an outlier; none takes all for inliers.
  double difference_outlier_share;
  /// The bits of the constants that are unknown.
  int32_t constants;
  /// Whether each knot has, behind all else, an error that all ranges share and one of each peer
  /// that depends on the device's place: c' = c + n, e' = φ e + n. Between knots they are
  /// interpolated.
  int32_t has_range_errors;
  /// Prior variances about zero beside `information`, none where zero: of each constant of the
  /// device in the order of the border, and of each peer's place error at the first knot. Null for
  /// none.
  const double *constant_variance, *first_error_variance;
  /// What is known from before, of the first knot and of all behind the knots: its information A
  /// (column by column), gradient g and origin o; it costs ½ (s - o)ᵀ A (s - o) - gᵀ (s - o).
  const double *information, *gradient, *origin;
  /// As in `nearby_fit_model`.
  double outlier_share[NEARBY_COMPONENTS], range_excess, field_of_view;
  /// The variance of a moving peer's speed along each axis, m²/s², above zero.
  double speed_variance[3];
  /// By what factor the variances of values are taken too large.
  double widening;
  /// A peer that is held along a direction n, at nᵀ x = `held_place`; -1 for none.
  int32_t held_peer;
  double held_direction[3], held_place;
  /// The peer whose cells are linearised anew at each state, while those of all others stay as
  /// `nearby_chain_freeze` has linearised them; -1 where none stay. Its cells follow each other.
  int32_t live_peer;
} nearby_chain_problem;

/// How a fit of a chain has ended.
typedef struct nearby_chain_result {
  /// Minus the logarithm of the posterior density, up to a constant; infinite when it failed.
  double cost;
  int32_t iterations;
  /// Whether the last step was smaller than matters.
  int32_t has_converged;
} nearby_chain_result;

/// What Laplace's approximation of the evidence is made of.
typedef struct nearby_chain_evidence {
  double cost;
  /// The logarithm of the determinant of the information.
  double log_determinant;
  /// Whether the information is regular; else all else has no meaning.
  int32_t is_regular;
} nearby_chain_evidence;

/// How many doubles the functions below need to work in; there are two knots at least.
int64_t nearby_chain_workspace(const nearby_chain_problem *problem);

/// The cost at a state, and its gradient by all unknowns. Given out for tests.
double nearby_chain_cost(const nearby_chain_problem *problem, const double *state,
                         double *workspace, double *gradient);

/// Linearises the prior and the cells of all peers but `live_peer` at a state. It stays in the
/// workspace for the fits of that problem and that peer.
void nearby_chain_freeze(const nearby_chain_problem *problem, const double *state,
                         double *workspace);

/// Measured minus predicted of the range of each cell at a state; where none was measured, any
/// number.
///
/// `workspace` has as many numbers as `nearby_chain_workspace` says, `residuals` as there are
/// cells.
void nearby_chain_range_residuals(const nearby_chain_problem *problem, const double *state,
                                  double *workspace, double *residuals);

/// Minimises the cost by Gauss and Newton's method, damped where a step would not lower it
/// (Marquardt 1963), each value weighted by its probability of being no outlier.
///
/// `state` is the start and becomes the minimum. The normal equations are block tridiagonal in the
/// knots, with a border of the unknowns that are the same at all knots. The knots are eliminated by
/// their Schur complements; the equations of the last knot and the border are dense.
/// `covariance` may be null, or becomes that of the last knot and of all behind it; `inlier_shares`
/// likewise the mean probability, for each peer, that a value is no outlier. O(knots × peers²).
nearby_chain_result nearby_chain_fit(const nearby_chain_problem *problem, double *state,
                                     int32_t most_iterations, double tolerance, double *workspace,
                                     double *covariance, double *inlier_shares);

/// What a problem says of its last knot and all behind it, linearised at a state: all other knots
/// are marginalised. Information and gradient at that state, as a later problem takes them. Returns
/// zero when the information is singular.
int32_t nearby_chain_marginalize(const nearby_chain_problem *problem, const double *state,
                                 double *workspace, double *information, double *gradient);

/// The covariances at a state.
///
/// `covariance` becomes that of the last knot and of all behind it. With room for the knots, which
/// may be null, it is that of the first knot instead, and `knots` gets of each knot the covariance
/// of its unknowns with themselves and with all behind the knots, row by row. O(knots × (block +
/// border)²) with the knots.
nearby_chain_evidence nearby_chain_covariances(const nearby_chain_problem *problem,
                                               const double *state, double *workspace,
                                               double *covariance, double *knots);

/// The posterior means and variances of the innovations between knots at a state, which is a
/// minimum: of each knot but the last those of the odometry (3 of place, yaw), of the error that
/// all ranges share, and of each peer's place error; two numbers each. `first` gets the variance of
/// each peer's place error at the first knot, `covariance` that of the first knot and all behind
/// the knots. Without range errors the odometry's alone. O(knots × (block + border)²).
nearby_chain_evidence nearby_chain_innovations(const nearby_chain_problem *problem,
                                               const double *state, double *workspace,
                                               double *covariance, double *innovations,
                                               double *first);

/// Whether a symmetric matrix, `size` rows and columns, is positive definite; its lower part is
/// read.
int32_t nearby_is_positive_definite(int32_t size, const double *matrix);

// MARK: Models

/// The prediction of a measurement of a kind for one state, with its Jacobian
/// (both `NEARBY_HEIGHT_STATE_SIZE`). These models are what `nearby_bank_update` uses, given out
/// for tests and for batch estimation. Not a number for a kind that does not exist.
double nearby_predict(int32_t kind, const double *state, const nearby_antenna_pose *from,
                      double *jacobian);

// MARK: Elementary functions

/// exp, log and atan2 of so many numbers, as the kernels have them in lanes: within 1, 1 and 2
/// units in the last place of what is exact. exp is zero below -708, log takes numbers below the
/// normal ones too, atan2 only finite ones. Given out for tests.
void nearby_exponential(const double *x, double *result, int32_t count);
/// 2^x as the densities have it: to 2e-14, and beyond ±866 what it is there.
void nearby_power_of_two(const double *x, double *result, int32_t count);
void nearby_logarithm(const double *x, double *result, int32_t count);
void nearby_arctangent(const double *y, const double *x, double *result, int32_t count);

#ifdef __cplusplus
}
#endif

#endif
