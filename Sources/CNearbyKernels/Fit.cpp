// SPDX-License-Identifier: Apache-2.0

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>

#include "Models.hpp"

namespace {

/// The parameters of a fit: the state of a peer that rests or of one that moves, and after it the
/// amplitudes of the odometry's drift since the window began (x, y, z, yaw), each with a prior
/// variance of one.
template <int States>
struct Parameters {
  static constexpr int drift = States, size = States + 4;
  static constexpr bool moves = States > NEARBY_STATE_SIZE;
  using Vector = Eigen::Matrix<double, size, 1>;
  using Matrix = Eigen::Matrix<double, size, size>;
};

/// Two antennas tell front from back below this azimuth, whatever else they confuse.
constexpr double mirrored_beyond = 0.8;

/// The normal equations at one point, and the cost there.
template <int States>
struct System {
  using Vector = typename Parameters<States>::Vector;
  using Matrix = typename Parameters<States>::Matrix;
  Matrix information = Matrix::Zero();
  Vector gradient = Vector::Zero();
  double cost = 0;
  /// Of each component, the share of its values that are probably no outliers.
  double honest[NEARBY_COMPONENTS] = {1, 1, 1};

  void add(const Vector &h, double innovation, double variance, double weight, double informative) {
    information.template selfadjointView<Eigen::Lower>().rankUpdate(h, informative / variance);
    gradient += weight * innovation / variance * h;
  }
};

/// The information of the prior of the position.
Eigen::Matrix3d position_information(const nearby_fit_model &model) {
  const double *p = model.information;
  Eigen::Matrix3d information;
  information << p[0], p[1], p[2], p[1], p[3], p[4], p[2], p[4], p[5];
  return information;
}

template <int States>
void add_prior(const nearby_fit_model &model, const typename Parameters<States>::Vector &x,
               System<States> &system) {
  const Eigen::Matrix3d position = position_information(model);
  const Eigen::Vector3d away = Eigen::Map<const Eigen::Vector3d>(model.center) - x.template head<3>();
  const Eigen::Vector3d pull = position * away;
  system.information.template topLeftCorner<3, 3>() += position;
  system.gradient.template head<3>() += pull;
  system.cost += 0.5 * away.dot(pull);

  double prior[Parameters<States>::size];
  prior[NEARBY_STATE_RANGE_SCALE] = model.range_scale_sigma * model.range_scale_sigma;
  for (int i = 0; i < NEARBY_COMPONENTS; ++i) {
    prior[NEARBY_STATE_RANGE_BIAS + i] = model.bias_variance[i];
    prior[NEARBY_STATE_RANGE_WANDER + i] = model.wander_variance[i];
  }
  for (int i = NEARBY_STATE_SIZE; i < States; ++i)
    prior[i] = model.speed_variance[i - NEARBY_STATE_VELOCITY];
  for (int i = Parameters<States>::drift; i < Parameters<States>::size; ++i) prior[i] = 1;
  for (int i = 3; i < Parameters<States>::size; ++i) {
    // A prior of zero width pins the parameter without dividing by it.
    const double variance = std::fmax(prior[i], 1e-12);
    system.information(i, i) += 1 / variance;
    system.gradient[i] -= x[i] / variance;
    system.cost += 0.5 * x[i] * x[i] / variance;
  }
}

/// The density of an outlier: an obstructed range is too long, hardly ever too short.
double outlier_density(const nearby_fit_model &model, int component, double innovation) {
  if (component != NEARBY_RANGE) return 1 / model.field_of_view;
  const double excess = model.range_excess;
  const double anything = 0.25 / (30 * excess);
  return innovation > 0 ? anything + 0.75 * std::exp(-innovation / excess) / excess : anything;
}

/// One value of a keyframe, linearised.
template <int States>
struct Value {
  typename Parameters<States>::Vector h;
  double innovation, variance;
  /// The density of the innovation if the value is honest, and if it is a fault.
  double honest, faulty;
  /// How likely its state has lasted since the value of the same component before.
  double lasting;
  /// The probability that it is honest, given all values of the component.
  double weight;
};

/// The values of one component, in the order of time.
template <int States>
struct Chain {
  Value<States> values[NEARBY_FIT_CAPACITY];
  int count = 0;
};

template <int States>
Value<States> linearized(const nearby_keyframe &k, int component, const nearby_fit_model &model,
                         const typename Parameters<States>::Vector &x, double widening) {
  constexpr int drift = Parameters<States>::drift;
  nearby::Hypothesis<double> at{};
  for (int i = 0; i < NEARBY_STATE_SIZE; ++i) at.mean[i] = x[i];
  // Where the peer was in the world as it was then: less its way and the drift since.
  if constexpr (Parameters<States>::moves)
    for (int i = 0; i < 3; ++i) at.mean[i] -= k.velocity_reach * x[NEARBY_STATE_VELOCITY + i];
  const double turned[3] = {x[2] - k.pivot[2], 0, k.pivot[0] - x[0]};  // up × (p - pivot)
  at.mean[0] -= k.horizontal_drift * x[drift] + k.yaw_drift * x[drift + 3] * turned[0];
  at.mean[1] -= k.vertical_drift * x[drift + 1];
  at.mean[2] -= k.horizontal_drift * x[drift + 2] + k.yaw_drift * x[drift + 3] * turned[2];
  nearby_measurement from;
  for (int i = 0; i < 3; ++i) from.antenna_in_world[i] = k.antenna_in_world[i];
  for (int i = 0; i < 9; ++i) from.device_from_world[i] = k.device_from_world[i];

  Value<States> value;
  auto &h = value.h;
  h.setZero();
  nearby::Linearized<double> z;
  if (component == NEARBY_RANGE) {
    double range;
    z = nearby::RangeModel<double>::at<false>(at, from, range);
    h[NEARBY_STATE_RANGE_SCALE] = range;
  } else if (component == NEARBY_AZIMUTH) {
    z = nearby::AzimuthModel<double>::at<false>(at, from);
  } else {
    z = nearby::ElevationModel<double>::at<false>(at, from);
  }
  if (component == NEARBY_AZIMUTH && model.is_mirrored) {
    // Errors are added to what the radio takes for the azimuth.
    const double error = x[NEARBY_STATE_AZIMUTH_BIAS] + x[NEARBY_STATE_AZIMUTH_WANDER];
    const double folded = std::copysign(M_PI, z.predicted) - (z.predicted - error) + error;
    const double off = std::fabs(nearby::wrapped(k.value[component] - z.predicted));
    const double off_folded = std::fabs(nearby::wrapped(k.value[component] - folded));
    if (std::fabs(z.predicted) > mirrored_beyond && off_folded < off) {
      z.predicted = folded;
      for (int i = 0; i < 3; ++i) z.gradient[i] = -z.gradient[i];
    }
  }
  for (int i = 0; i < 3; ++i) h[i] = z.gradient[i];
  if constexpr (Parameters<States>::moves)
    for (int i = 0; i < 3; ++i) h[NEARBY_STATE_VELOCITY + i] = -k.velocity_reach * h[i];
  h[drift] = -k.horizontal_drift * h[0];
  h[drift + 1] = -k.vertical_drift * h[1];
  h[drift + 2] = -k.horizontal_drift * h[2];
  h[drift + 3] = -k.yaw_drift * (h[0] * turned[0] + h[2] * turned[2]);
  // The model predicts with the wandering error of now; then it was only correlated with it.
  const int wander = NEARBY_STATE_RANGE_WANDER + component;
  h[NEARBY_STATE_RANGE_BIAS + component] = 1;
  h[wander] = k.memory[component];
  value.innovation = k.value[component] - z.predicted + (1 - k.memory[component]) * x[wander];
  if (component != NEARBY_RANGE) value.innovation = nearby::wrapped(value.innovation);

  const double variance = k.variance[component] * widening;
  value.variance = variance;
  value.honest = 0.3989422804014327 *
                 std::exp(-0.5 * value.innovation * value.innovation / variance) /
                 std::sqrt(variance);
  value.faulty = outlier_density(model, component, value.innovation);
  return value;
}

/// Sets the weights of a chain's values, and returns the logarithm of its likelihood.
///
/// The chain forgets its state with probability 1 - lasting and draws it anew then, faulty with
/// probability `share`.
template <int States>
double weigh(Chain<States> &chain, double share) {
  double ahead[NEARBY_FIT_CAPACITY];  // P(honest | values so far)
  double log_likelihood = 0, honest = 1 - share;
  for (int i = 0; i < chain.count; ++i) {
    const Value<States> &v = chain.values[i];
    honest = v.lasting * honest + (1 - v.lasting) * (1 - share);
    const double both = honest * v.honest + (1 - honest) * v.faulty;
    log_likelihood += std::log(both);
    honest *= v.honest / both;
    ahead[i] = honest;
  }
  // P(values after | state), up to a factor.
  double after_honest = 1, after_faulty = 1;
  for (int i = chain.count - 1; i >= 0; --i) {
    Value<States> &v = chain.values[i];
    const double a = ahead[i] * after_honest, b = (1 - ahead[i]) * after_faulty;
    v.weight = a / (a + b);
    const double from_honest = v.honest * after_honest, from_faulty = v.faulty * after_faulty;
    const double drawn = (1 - v.lasting) * ((1 - share) * from_honest + share * from_faulty);
    after_honest = v.lasting * from_honest + drawn;
    after_faulty = v.lasting * from_faulty + drawn;
    const double scale = 1 / (after_honest + after_faulty);
    after_honest *= scale;
    after_faulty *= scale;
  }
  return log_likelihood;
}

/// The share of a value's information that is left when it is not known whether it is honest: of
/// the observed information `w/R - w (1 - w) (ν/R)²` (Louis 1982), zero at least.
template <int States>
double informative(const Value<States> &v) {
  const double squared = v.innovation * v.innovation / v.variance;
  return v.weight * std::fmax(0, 1 - (1 - v.weight) * squared);
}

/// At the mode itself (`is_mode`) the information is that which the values have; on the way there,
/// that with which steps are sure to lead downhill.
template <int States>
System<States> linearize(const nearby_keyframe *keyframes, int count,
                         const nearby_fit_model &model,
                         const typename Parameters<States>::Vector &x, double widening,
                         bool is_mode = false) {
  System<States> system;
  add_prior(model, x, system);
  for (int component = 0; component < NEARBY_COMPONENTS; ++component) {
    Chain<States> chain;
    double lasting = 1;
    for (int i = 0; i < count; ++i) {
      lasting *= keyframes[i].lasting;
      if (!(keyframes[i].present & 1 << component)) continue;
      Value<States> &value = chain.values[chain.count++];
      value = linearized<States>(keyframes[i], component, model, x, widening);
      value.lasting = lasting;
      lasting = 1;
    }
    system.cost -= weigh(chain, model.outlier_share);
    double honest = 0;
    for (int i = 0; i < chain.count; ++i) {
      const Value<States> &v = chain.values[i];
      system.add(v.h, v.innovation, v.variance, v.weight, is_mode ? informative(v) : v.weight);
      honest += v.weight;
    }
    if (chain.count > 0) system.honest[component] = honest / chain.count;
  }
  return system;
}

template <int States>
double fit(const nearby_keyframe *keyframes, int count, const nearby_fit_model &model,
           double widest, double *state, double *covariance, double *honest) {
  using Vector = typename Parameters<States>::Vector;
  using Matrix = typename Parameters<States>::Matrix;
  // Noise widened by these factors of variance, step by step.
  constexpr double schedule[] = {400, 100, 30, 10, 3, 1, 1, 1, 1};
  Vector x = Vector::Zero();
  for (int i = 0; i < States; ++i) x[i] = state[i];
  Eigen::LLT<Matrix> solver;
  const Eigen::LLT<Eigen::Matrix3d> prior(position_information(model));
  if (prior.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
  const double reach = 2 / std::sqrt(position_information(model).trace() / 3);
  for (const double widening : schedule) {
    if (widening > widest) continue;
    const System<States> system = linearize<States>(keyframes, count, model, x, widening);
    solver.compute(system.information);
    if (solver.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
    Vector step = solver.solve(system.gradient);
    // A step far beyond the prior would leave the valley.
    const double length = step.template head<3>().norm();
    if (length > reach) step *= reach / length;
    x += step;
    if (widening == 1 && length < 1e-4) break;
  }
  const System<States> last = linearize<States>(keyframes, count, model, x, 1, true);
  solver.compute(last.information);
  if (solver.info() != Eigen::Success || !x.allFinite())
    return -std::numeric_limits<double>::infinity();
  double half_log_det = 0;
  for (int i = 0; i < Parameters<States>::size; ++i) half_log_det += std::log(solver.matrixLLT()(i, i));
  for (int i = 0; i < 3; ++i) half_log_det -= std::log(prior.matrixLLT()(i, i));
  const Matrix p = solver.solve(Matrix::Identity());
  for (int i = 0; i < States; ++i) state[i] = x[i];
  for (int c = 0; c < States; ++c)
    for (int r = 0; r <= c; ++r) covariance[nearby::packed(r, c)] = p(r, c);
  std::copy(last.honest, last.honest + NEARBY_COMPONENTS, honest);
  return -last.cost - half_log_det;
}

}  // namespace

double nearby_fit(const nearby_keyframe *keyframes, int32_t count, const nearby_fit_model *model,
                  double widest, double *state, double *covariance, double *honest) {
  count = std::min<int32_t>(count, NEARBY_FIT_CAPACITY);
  const auto fit_any = model->may_move ? fit<NEARBY_MOVING_STATE_SIZE> : fit<NEARBY_STATE_SIZE>;
  return fit_any(keyframes, count, *model, widest, state, covariance, honest);
}
