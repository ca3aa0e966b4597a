// SPDX-License-Identifier: Apache-2.0

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>

#include "Models.hpp"

namespace {

using nearby::at;
using nearby::each;
using nearby::lane_count;
using nearby::LaneBits;
using nearby::Lanes;

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
  const Eigen::Vector3d away =
      Eigen::Map<const Eigen::Vector3d>(model.center) - x.template head<3>();
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
template <int component>
NEARBY_INLINE inline Lanes outlier_density(const nearby_fit_model &model, Lanes innovation) {
  if constexpr (component != NEARBY_RANGE) return Lanes(1 / model.field_of_view);
  const double rate = 1 / model.range_excess;
  const double anything = 0.25 / 30 * rate;
  const Lanes excess = anything + 0.75 * rate * nearby::exponential(innovation * -rate);
  return innovation > 0 ? excess : Lanes(anything);
}

/// Some keyframes side by side.
struct Keyframes {
  const nearby_keyframe *keyframe[lane_count];
  LaneBits exists;

  NEARBY_INLINE Keyframes(const nearby_keyframe *all, int first, int count) {
    each<lane_count>([&](auto i) NEARBY_INLINE {
      keyframe[i] = all + std::min(first + i, count - 1);
      exists[i.value] = first + i < count ? -1 : 0;
    });
  }

  template <class Number>
  NEARBY_INLINE Lanes operator()(const Number &number) const {
    Lanes lanes;
    each<lane_count>([&](auto i) NEARBY_INLINE { lanes[i.value] = number(*keyframe[i]); });
    return lanes;
  }

  NEARBY_INLINE LaneBits has(int component) const {
    LaneBits lanes;
    each<lane_count>([&](auto i) NEARBY_INLINE {
      lanes[i.value] = keyframe[i]->present & 1 << component ? -1 : 0;
    });
    return exists & lanes;
  }
};

/// From where the models see a peer, in lanes.
struct Station {
  Lanes antenna_in_world[3], device_from_world[9];
};

/// What the models ask of a state.
struct Mean {
  Lanes values[NEARBY_STATE_SIZE];
  NEARBY_INLINE Lanes mean(int i) const { return values[i]; }
};

/// The values of one component, linearised, in the order of time; one for each keyframe, those that
/// are absent with densities of one and without weight, which leaves the chain as it is.
///
/// A gradient has few entries that are not zero: those on the position and on the amplitudes of the
/// drift, on the component's constant and its wandering error, on the velocity when the peer may
/// move, and on the scale if it is a range. Only they are kept, and only their products summed.
template <int States>
struct Chain {
  static constexpr int drift = 3, bias = 7, wander = 8, velocity = 9;
  static constexpr int scale = velocity + (Parameters<States>::moves ? 3 : 0), entries = scale + 1;
  static constexpr int capacity = NEARBY_FIT_CAPACITY;
  static_assert(capacity % lane_count == 0, "keyframes are worked on in whole lanes");

  double gradient[entries][capacity];
  double innovation[capacity], variance[capacity];
  /// The density of the innovation if the value is honest, and if it is a fault.
  double honest[capacity], faulty[capacity];
  /// One for values that are there, else zero.
  double present[capacity];
  /// The probability that it is honest, given all values of the component.
  double weight[capacity];
  int count;

  /// The place of an entry among the parameters.
  static NEARBY_INLINE constexpr int parameter(int entry, int component) {
    return entry < drift     ? entry
           : entry < bias    ? Parameters<States>::drift + entry - drift
           : entry == bias   ? NEARBY_STATE_RANGE_BIAS + component
           : entry == wander ? NEARBY_STATE_RANGE_WANDER + component
           : entry == scale  ? NEARBY_STATE_RANGE_SCALE
                             : NEARBY_STATE_VELOCITY + entry - velocity;
  }
};

/// Linearises the values from keyframe `first` on.
template <int component, int States>
NEARBY_INLINE inline void linearize_lanes(const Keyframes &k, int first,
                                          const nearby_fit_model &model, const double *x,
                                          double widening, Chain<States> &chain) {
  constexpr int drifts = Parameters<States>::drift;
  const auto entry = [&](int e) NEARBY_INLINE -> nearby::LanesAt & {
    return at<Lanes>(chain.gradient[e] + first);
  };
  Mean mean;
  each<NEARBY_STATE_SIZE>([&](auto i) NEARBY_INLINE { mean.values[i] = Lanes(x[i]); });
  // Where the peer was in the world as it was then: less its way and the drift since.
  const Lanes reach = k([&](const auto &f) NEARBY_INLINE { return f.velocity_reach; });
  if constexpr (Parameters<States>::moves)
    each<3>([&](auto i) NEARBY_INLINE { mean.values[i] -= reach * x[NEARBY_STATE_VELOCITY + i]; });
  const Lanes horizontal = k([&](const auto &f) NEARBY_INLINE { return f.horizontal_drift; });
  const Lanes vertical = k([&](const auto &f) NEARBY_INLINE { return f.vertical_drift; });
  const Lanes yaw = k([&](const auto &f) NEARBY_INLINE { return f.yaw_drift; });
  // up × (p - pivot)
  const Lanes turned_x = x[2] - k([&](const auto &f) NEARBY_INLINE { return f.pivot[2]; });
  const Lanes turned_z = k([&](const auto &f) NEARBY_INLINE { return f.pivot[0]; }) - x[0];
  mean.values[0] -= horizontal * x[drifts] + yaw * x[drifts + 3] * turned_x;
  mean.values[1] -= vertical * x[drifts + 1];
  mean.values[2] -= horizontal * x[drifts + 2] + yaw * x[drifts + 3] * turned_z;
  Station from;
  each<3>([&](auto i) NEARBY_INLINE {
    from.antenna_in_world[i] =
        k([&](const auto &f) NEARBY_INLINE { return f.antenna_in_world[i]; });
  });
  if constexpr (component != NEARBY_RANGE)
    each<9>([&](auto i) NEARBY_INLINE {
      from.device_from_world[i] =
          k([&](const auto &f) NEARBY_INLINE { return f.device_from_world[i]; });
    });
  const Lanes value = k([&](const auto &f) NEARBY_INLINE { return f.value[component]; });
  const Lanes memory = k([&](const auto &f) NEARBY_INLINE { return f.memory[component]; });
  const Lanes noise = k([&](const auto &f) NEARBY_INLINE { return f.variance[component]; });
  const auto present = k.has(component);

  nearby::Linearized<Lanes> z;
  if constexpr (component == NEARBY_RANGE) {
    Lanes range;
    z = nearby::RangeModel<Lanes>::at<false>(mean, from, range);
    entry(Chain<States>::scale) = range;
  } else if constexpr (component == NEARBY_AZIMUTH) {
    z = nearby::AzimuthModel<Lanes>::at<false>(mean, from);
  } else {
    z = nearby::ElevationModel<Lanes>::at<false>(mean, from);
  }
  if (component == NEARBY_AZIMUTH && model.is_mirrored) {
    // Errors are added to what the radio takes for the azimuth.
    const double error = x[NEARBY_STATE_AZIMUTH_BIAS] + x[NEARBY_STATE_AZIMUTH_WANDER];
    const Lanes half_turn = z.predicted < 0 ? Lanes(-M_PI) : Lanes(M_PI);
    const Lanes folded = half_turn - (z.predicted - error) + error;
    const Lanes off = nearby::magnitude(nearby::wrapped(value - z.predicted));
    const Lanes off_folded = nearby::magnitude(nearby::wrapped(value - folded));
    const auto is_folded = (nearby::magnitude(z.predicted) > mirrored_beyond) & (off_folded < off);
    z.predicted = is_folded ? folded : z.predicted;
    each<3>([&](auto i)
                NEARBY_INLINE { z.gradient[i] = is_folded ? -z.gradient[i] : z.gradient[i]; });
  }
  each<3>([&](auto i) NEARBY_INLINE {
    entry(i) = z.gradient[i];
    if constexpr (Parameters<States>::moves)
      entry(Chain<States>::velocity + i) = -reach * z.gradient[i];
  });
  entry(Chain<States>::drift) = -horizontal * z.gradient[0];
  entry(Chain<States>::drift + 1) = -vertical * z.gradient[1];
  entry(Chain<States>::drift + 2) = -horizontal * z.gradient[2];
  entry(Chain<States>::drift + 3) = -yaw * (z.gradient[0] * turned_x + z.gradient[2] * turned_z);
  // The model predicts with the wandering error of now; then it was only correlated with it.
  entry(Chain<States>::bias) = Lanes(1);
  entry(Chain<States>::wander) = memory;
  Lanes innovation = value - z.predicted + (1 - memory) * x[NEARBY_STATE_RANGE_WANDER + component];
  if constexpr (component != NEARBY_RANGE) innovation = nearby::wrapped(innovation);

  // Absent values may hold anything: none of it may be summed.
  const Lanes variance = present ? noise * widening : Lanes(1);
  innovation = present ? innovation : Lanes(0);
  each<Chain<States>::entries>([&](auto e) NEARBY_INLINE {
    if constexpr (e != Chain<States>::scale || component == NEARBY_RANGE)
      entry(e) = present ? Lanes(entry(e)) : Lanes(0);
  });
  const Lanes inverse = 1 / variance;
  const Lanes honest = 0.3989422804014327 *
                       nearby::exponential(-0.5 * innovation * innovation * inverse) *
                       nearby::root(inverse);
  const Lanes faulty = outlier_density<component>(model, innovation);
  at<Lanes>(chain.innovation + first) = innovation;
  at<Lanes>(chain.variance + first) = variance;
  at<Lanes>(chain.honest + first) = present ? honest : Lanes(1);
  at<Lanes>(chain.faulty + first) = present ? faulty : Lanes(1);
  at<Lanes>(chain.present + first) = present ? Lanes(1) : Lanes(0);
}

/// Sets the weights of a chain's values, and returns the logarithm of its likelihood.
///
/// The chain forgets its state with probability 1 - lasting and draws it anew then, faulty with
/// probability `share`. Probabilities are scaled to a sum of one after every few values only: none
/// is so unlikely that they would come to nothing in between.
template <int States>
NEARBY_INLINE inline double weigh(const nearby_keyframe *keyframes, Chain<States> &chain,
                                  double share) {
  // P(state, values so far), up to a factor.
  double honest[NEARBY_FIT_CAPACITY], faulty[NEARBY_FIT_CAPACITY];
  Lanes log_likelihood = 0, scales = 1;
  double ahead_honest = 1 - share, ahead_faulty = share;
  for (int first = 0; first < chain.count; first += lane_count) {
    const int end = std::min(first + lane_count, chain.count);
    for (int i = first; i < end; ++i) {
      const double lasting = keyframes[i].lasting;
      const double drawn = (1 - lasting) * (ahead_honest + ahead_faulty);
      ahead_honest = (lasting * ahead_honest + (1 - share) * drawn) * chain.honest[i];
      ahead_faulty = (lasting * ahead_faulty + share * drawn) * chain.faulty[i];
      honest[i] = ahead_honest;
      faulty[i] = ahead_faulty;
    }
    const double sum = ahead_honest + ahead_faulty, scale = 1 / sum;
    ahead_honest *= scale;
    ahead_faulty *= scale;
    const int lane = first / lane_count % lane_count;
    scales[lane] = sum;
    if (lane == lane_count - 1 || end == chain.count) {
      log_likelihood += nearby::logarithm(scales);
      scales = 1;
    }
  }
  // P(values after | state), up to a factor.
  double after_honest = 1, after_faulty = 1;
  for (int i = chain.count - 1; i >= 0; --i) {
    honest[i] *= after_honest;
    faulty[i] *= after_faulty;
    const double lasting = keyframes[i].lasting;
    const double from_honest = chain.honest[i] * after_honest;
    const double from_faulty = chain.faulty[i] * after_faulty;
    const double drawn = (1 - lasting) * ((1 - share) * from_honest + share * from_faulty);
    after_honest = lasting * from_honest + drawn;
    after_faulty = lasting * from_faulty + drawn;
    if (i % lane_count == 0) {
      const double scale = 1 / (after_honest + after_faulty);
      after_honest *= scale;
      after_faulty *= scale;
    }
  }
  for (int first = 0; first < chain.count; first += lane_count) {
    const Lanes a = at<Lanes>(honest + first), b = at<Lanes>(faulty + first);
    const auto present = at<Lanes>(chain.present + first) > 0;
    at<Lanes>(chain.weight + first) = present ? a / (a + b) : Lanes(0);
  }
  return nearby::sum(log_likelihood);
}

/// The share of a value's information that is left when it is not known whether it is honest: of
/// the observed information `w/R - w (1 - w) (ν/R)²` (Louis 1982), zero at least.
NEARBY_INLINE inline Lanes informative(Lanes weight, Lanes innovation, Lanes variance) {
  return weight * nearby::at_least(1 - (1 - weight) * innovation * innovation / variance, 0.0);
}

/// Adds a component's values to the normal equations.
template <int component, int States>
NEARBY_INLINE inline void add_values(const nearby_keyframe *keyframes, int count,
                                     const nearby_fit_model &model, const double *x,
                                     double widening, bool is_mode, Chain<States> &chain,
                                     System<States> &system) {
  chain.count = count;
  for (int first = 0; first < count; first += lane_count)
    linearize_lanes<component>(Keyframes(keyframes, first, count), first, model, x, widening,
                               chain);
  system.cost -= weigh(keyframes, chain, model.outlier_share);
  double push[NEARBY_FIT_CAPACITY], stiffness[NEARBY_FIT_CAPACITY];
  Lanes honest = 0, present = 0;
  for (int first = 0; first < count; first += lane_count) {
    const Lanes weight = at<Lanes>(chain.weight + first);
    const Lanes innovation = at<Lanes>(chain.innovation + first);
    const Lanes variance = at<Lanes>(chain.variance + first);
    at<Lanes>(push + first) = weight * innovation / variance;
    at<Lanes>(stiffness + first) =
        (is_mode ? informative(weight, innovation, variance) : weight) / variance;
    honest += weight;
    present += at<Lanes>(chain.present + first);
  }
  if (nearby::sum(present) == 0) return;
  system.honest[component] = nearby::sum(honest) / nearby::sum(present);
  constexpr int entries = component == NEARBY_RANGE ? Chain<States>::entries : Chain<States>::scale;
  each<entries>([&](auto r) NEARBY_INLINE {
    Lanes products[r + 1], pull = 0;
    each<r + 1>([&](auto c) NEARBY_INLINE { products[c] = Lanes(0); });
    for (int first = 0; first < count; first += lane_count) {
      const Lanes entry = at<Lanes>(chain.gradient[r] + first);
      const Lanes stiff = at<Lanes>(stiffness + first) * entry;
      pull += at<Lanes>(push + first) * entry;
      each<r + 1>([&](auto c) NEARBY_INLINE {
        products[c] += stiff * at<Lanes>(chain.gradient[c] + first);
      });
    }
    constexpr int row = Chain<States>::parameter(r, component);
    system.gradient[row] += nearby::sum(pull);
    each<r + 1>([&](auto c) NEARBY_INLINE {
      constexpr int column = Chain<States>::parameter(c, component);
      system.information(row > column ? row : column, row > column ? column : row) +=
          nearby::sum(products[c]);
    });
  });
}

/// At the mode itself (`is_mode`) the information is that which the values have; on the way there,
/// that with which steps are sure to lead downhill. Only the lower triangle is filled.
template <int States>
System<States> linearize(const nearby_keyframe *keyframes, int count, const nearby_fit_model &model,
                         const typename Parameters<States>::Vector &x, double widening,
                         bool is_mode = false) {
  System<States> system;
  add_prior(model, x, system);
  int present = 0;
  for (int i = 0; i < count; ++i) present |= keyframes[i].present;
  nearby::on_this_processor([&]() NEARBY_INLINE {
    Chain<States> chain;
    each<NEARBY_COMPONENTS>([&](auto component) NEARBY_INLINE {
      if (present & 1 << component)
        add_values<component>(keyframes, count, model, x.data(), widening, is_mode, chain, system);
    });
  });
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
  for (int i = 0; i < Parameters<States>::size; ++i)
    half_log_det += std::log(solver.matrixLLT()(i, i));
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
