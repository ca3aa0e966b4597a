// SPDX-License-Identifier: Apache-2.0

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>

#include "Models.hpp"
#include "NormalEquations.hpp"

namespace {

using nearby::at;
using nearby::Core;
using nearby::each;
using nearby::Estimate;
using nearby::Factorization;
using nearby::lane_count;
using nearby::LaneBits;
using nearby::Lanes;
using nearby::NormalEquations;

/// Two antennas tell front from back below this azimuth, whatever else they confuse.
constexpr double mirrored_beyond = 0.8;

// MARK: - Keyframes

/// Four keyframes side by side, and what does not change from one iteration to the next.
///
/// Those beyond the last are its copies without values, from which no state is forgotten: they
/// leave every sum and every chain as it is.
struct Keyframes {
  Lanes antenna_in_world[3], device_from_world[9];
  Lanes horizontal_drift, vertical_drift, yaw_drift, pivot_x, pivot_z, reach;
  /// The probability that an honest state lasts or is drawn anew, that a faulty one is followed by
  /// an honest one drawn anew; and the same with the roles exchanged.
  Lanes honest_again, honest_anew, faulty_again, faulty_anew;
  struct Component {
    LaneBits present;
    Lanes value, memory;
    /// One over the variance, and over the standard deviation.
    Lanes precision, sharpness;
  } component[NEARBY_COMPONENTS];
};

/// The keyframes of a fit, in blocks of four: 150 kB at most, of which a fit touches what it has.
struct Window {
  static constexpr int capacity = NEARBY_FIT_CAPACITY / lane_count;
  static_assert(NEARBY_FIT_CAPACITY % lane_count == 0, "keyframes are worked on in whole lanes");
  Keyframes blocks[capacity];
  int count = 0;
  /// Of each component, how many values there are.
  int values[NEARBY_COMPONENTS] = {0, 0, 0};

  NEARBY_INLINE Window(const nearby_keyframe *keyframes, int keyframe_count, double share) {
    for (int i = 0; i < keyframe_count; ++i)
      each<NEARBY_COMPONENTS>([&](auto c)
                                  NEARBY_INLINE { values[c] += keyframes[i].present >> c & 1; });
    for (int first = 0; first < keyframe_count; first += lane_count)
      take(keyframes, first, keyframe_count, share, blocks[count++]);
  }

 private:
  NEARBY_INLINE void take(const nearby_keyframe *keyframes, int first, int keyframe_count,
                          double share, Keyframes &block) const {
    const nearby_keyframe *keyframe[lane_count];
    LaneBits exists;
    each<lane_count>([&](auto i) NEARBY_INLINE {
      keyframe[i] = keyframes + std::min(first + i, keyframe_count - 1);
      exists[i.value] = first + i < keyframe_count ? -1 : 0;
    });
    const auto lanes = [&](const auto &number) NEARBY_INLINE {
      Lanes result;
      each<lane_count>([&](auto i) NEARBY_INLINE { result[i.value] = number(*keyframe[i]); });
      return result;
    };
    each<3>([&](auto i) NEARBY_INLINE {
      block.antenna_in_world[i] =
          lanes([&](const auto &f) NEARBY_INLINE { return f.antenna_in_world[i]; });
    });
    if (values[NEARBY_AZIMUTH] + values[NEARBY_ELEVATION] > 0)
      each<9>([&](auto i) NEARBY_INLINE {
        block.device_from_world[i] =
            lanes([&](const auto &f) NEARBY_INLINE { return f.device_from_world[i]; });
      });
    block.horizontal_drift = lanes([](const auto &f) NEARBY_INLINE { return f.horizontal_drift; });
    block.vertical_drift = lanes([](const auto &f) NEARBY_INLINE { return f.vertical_drift; });
    block.yaw_drift = lanes([](const auto &f) NEARBY_INLINE { return f.yaw_drift; });
    block.pivot_x = lanes([](const auto &f) NEARBY_INLINE { return f.pivot[0]; });
    block.pivot_z = lanes([](const auto &f) NEARBY_INLINE { return f.pivot[2]; });
    block.reach = lanes([](const auto &f) NEARBY_INLINE { return f.velocity_reach; });
    Lanes lasting = lanes([](const auto &f) NEARBY_INLINE { return f.lasting; });
    lasting = exists ? lasting : Lanes(1);
    block.honest_anew = (1 - share) * (1 - lasting);
    block.faulty_anew = share * (1 - lasting);
    block.honest_again = lasting + block.honest_anew;
    block.faulty_again = lasting + block.faulty_anew;
    each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
      if (values[c] == 0) return;
      auto &component = block.component[c];
      LaneBits present;
      each<lane_count>(
          [&](auto i) NEARBY_INLINE { present[i.value] = keyframe[i]->present >> c & 1 ? -1 : 0; });
      present &= exists;
      // Absent values may hold anything: none of it may be summed.
      const Lanes value = lanes([&](const auto &f) NEARBY_INLINE { return f.value[c]; });
      const Lanes memory = lanes([&](const auto &f) NEARBY_INLINE { return f.memory[c]; });
      const Lanes variance = lanes([&](const auto &f) NEARBY_INLINE { return f.variance[c]; });
      component.present = present;
      component.value = present ? value : Lanes(0);
      component.memory = present ? memory : Lanes(0);
      component.precision = present ? 1 / variance : Lanes(0);
      component.sharpness = nearby::root(component.precision);
    });
  }
};

/// The density of an outlier: an obstructed range is too long, hardly ever too short.
template <int component>
NEARBY_INLINE inline Lanes outlier_density(const nearby_fit_model &model, Lanes innovation) {
  if constexpr (component != NEARBY_RANGE) return Lanes(1 / model.field_of_view);
  const double rate = 1 / model.range_excess;
  const double anything = 0.25 / 30 * rate;
  const Lanes excess = anything + 0.75 * rate * nearby::exponential(innovation * -rate);
  return innovation > 0 ? excess : Lanes(anything);
}

// MARK: - Linearisation

/// What the models ask of a state.
struct Mean {
  Lanes values[NEARBY_STATE_SIZE];
  NEARBY_INLINE Lanes mean(int i) const { return values[i]; }
};

/// Four values of one component, linearised: absent ones with densities of one and without weight,
/// which leaves the chain as it is.
template <int States>
struct Values {
  /// The gradient on the core; that on the constant error is one, on the wandering one `memory`.
  Lanes gradient[Core<States>::used];
  Lanes memory, innovation, precision;
  /// The steps of the chain: from honest or faulty to honest, the density of the innovation if the
  /// value is honest included; and to faulty, with that of a fault.
  Lanes honest_to_honest, faulty_to_honest, honest_to_faulty, faulty_to_faulty;
  /// P(state, values so far) and P(values after | state), up to a factor.
  Lanes honest_before, faulty_before, honest_after, faulty_after;
  /// How much the value pulls, and how stiff it is.
  Lanes push, stiffness;
};

/// The same in the order of time.
template <int States>
struct Chain {
  Values<States> blocks[Window::capacity];
};

/// Linearises four values of a component.
template <int component, bool is_mirrored, int States>
NEARBY_INLINE inline void linearize(const Keyframes &k, const nearby_fit_model &model,
                                    const Estimate<States> &x, const Mean &state, double narrowing,
                                    Values<States> &v) {
  using Core = Core<States>;
  const auto &measured = k.component[component];
  // Where the peer was in the world as it was then: less its way and the drift since.
  Mean mean = state;
  if constexpr (Core::moves)
    each<3>([&](auto i) NEARBY_INLINE { mean.values[i] -= k.reach * x.core[Core::velocity + i]; });
  // up × (p - pivot)
  const Lanes turned_x = state.values[2] - k.pivot_z, turned_z = k.pivot_x - state.values[0];
  const Lanes yaw = k.yaw_drift * x.core[Core::drift + 3];
  mean.values[0] -= k.horizontal_drift * x.core[Core::drift] + yaw * turned_x;
  mean.values[1] -= k.vertical_drift * x.core[Core::drift + 1];
  mean.values[2] -= k.horizontal_drift * x.core[Core::drift + 2] + yaw * turned_z;

  nearby::Linearized<Lanes> z;
  if constexpr (component == NEARBY_RANGE) {
    z = nearby::RangeModel<Lanes>::at<false>(mean, k, v.gradient[Core::scale]);
  } else if constexpr (component == NEARBY_AZIMUTH) {
    z = nearby::AzimuthModel<Lanes>::at<false>(mean, k);
  } else {
    z = nearby::ElevationModel<Lanes>::at<false>(mean, k);
  }
  if constexpr (is_mirrored) {
    // Errors are added to what the radio takes for the azimuth.
    const double error = x.bias[component] + x.wander[component];
    const Lanes half_turn = z.predicted < 0 ? Lanes(-M_PI) : Lanes(M_PI);
    const Lanes folded = half_turn - (z.predicted - error) + error;
    const Lanes off = nearby::magnitude(nearby::wrapped(measured.value - z.predicted));
    const Lanes off_folded = nearby::magnitude(nearby::wrapped(measured.value - folded));
    const auto is_folded = (nearby::magnitude(z.predicted) > mirrored_beyond) & (off_folded < off);
    z.predicted = is_folded ? folded : z.predicted;
    each<3>([&](auto i)
                NEARBY_INLINE { z.gradient[i] = is_folded ? -z.gradient[i] : z.gradient[i]; });
  }
  each<3>([&](auto i) NEARBY_INLINE {
    v.gradient[i] = z.gradient[i];
    if constexpr (Core::moves) v.gradient[Core::velocity + i] = -k.reach * z.gradient[i];
  });
  v.gradient[Core::drift] = -k.horizontal_drift * z.gradient[0];
  v.gradient[Core::drift + 1] = -k.vertical_drift * z.gradient[1];
  v.gradient[Core::drift + 2] = -k.horizontal_drift * z.gradient[2];
  v.gradient[Core::drift + 3] =
      -k.yaw_drift * (z.gradient[0] * turned_x + z.gradient[2] * turned_z);
  // The model predicts with the wandering error of now; then it was only correlated with it.
  v.memory = measured.memory;
  Lanes innovation = measured.value - z.predicted + (1 - measured.memory) * x.wander[component];
  if constexpr (component != NEARBY_RANGE) innovation = nearby::wrapped(innovation);
  v.innovation = innovation;
  v.precision = measured.precision * narrowing;
  const Lanes sharpness = measured.sharpness * std::sqrt(narrowing);

  constexpr double normalizer = 0.3989422804014327;  // 1/√(2π)
  Lanes honest =
      normalizer * sharpness * nearby::exponential(-0.5 * innovation * innovation * v.precision);
  Lanes faulty = outlier_density<component>(model, innovation);
  honest = measured.present ? honest : Lanes(1);
  faulty = measured.present ? faulty : Lanes(1);
  v.honest_to_honest = honest * k.honest_again;
  v.faulty_to_honest = honest * k.honest_anew;
  v.honest_to_faulty = faulty * k.faulty_anew;
  v.faulty_to_faulty = faulty * k.faulty_again;
}

/// Runs a chain forward and, independently, backward, and returns the logarithm of its likelihood
/// if that is asked for.
///
/// The chain forgets its state with probability 1 - lasting and draws it anew then, faulty with
/// probability `share`. Probabilities are scaled to a sum of one after every block only: none
/// is so unlikely that they would come to nothing in between.
template <bool is_mode, int States>
NEARBY_INLINE inline double run(Chain<States> &chain, int count, double share) {
  double honest = 1 - share, faulty = share, honest_after = 1, faulty_after = 1;
  Lanes log_likelihood = 0, scales = 1;
  for (int block = 0; block < count; ++block) {
    Values<States> &v = chain.blocks[block];
    each<lane_count>([&](auto i) NEARBY_INLINE {
      const double was_honest = honest, was_faulty = faulty;
      honest = v.honest_to_honest[i.value] * was_honest + v.faulty_to_honest[i.value] * was_faulty;
      faulty = v.honest_to_faulty[i.value] * was_honest + v.faulty_to_faulty[i.value] * was_faulty;
      v.honest_before[i.value] = honest;
      v.faulty_before[i.value] = faulty;
    });
    const double sum = honest + faulty, scale = 1 / sum;
    honest *= scale;
    faulty *= scale;
    if constexpr (is_mode) {
      scales[block % lane_count] = sum;
      if (block % lane_count == lane_count - 1 || block == count - 1) {
        log_likelihood += nearby::logarithm(scales);
        scales = 1;
      }
    }
    // From the other end at the same time: neither waits for the other.
    Values<States> &w = chain.blocks[count - 1 - block];
    each<lane_count>([&](auto n) NEARBY_INLINE {
      constexpr int i = lane_count - 1 - n;
      w.honest_after[i] = honest_after;
      w.faulty_after[i] = faulty_after;
      const double then_honest = honest_after, then_faulty = faulty_after;
      honest_after = w.honest_to_honest[i] * then_honest + w.honest_to_faulty[i] * then_faulty;
      faulty_after = w.faulty_to_honest[i] * then_honest + w.faulty_to_faulty[i] * then_faulty;
    });
    const double scale_after = 1 / (honest_after + faulty_after);
    honest_after *= scale_after;
    faulty_after *= scale_after;
  }
  return nearby::sum(log_likelihood);
}

// MARK: - Normal equations

/// Adds the sums of `stiffness * row * column` over all values to the lower triangle of the core.
template <int component, int States>
NEARBY_INLINE inline void add_core(const Chain<States> &chain, int count,
                                   NormalEquations<States> &equations) {
  using Core = Core<States>;
  // A gradient has entries that are zero: an angle's on the scale of ranges, and what fills up.
  constexpr auto is_zero = [](int i) {
    return i >= Core::used || (i == Core::scale && component != NEARBY_RANGE);
  };
  // Two columns and four rows at a time.
  each<Core::size / 2>([&](auto pair) NEARBY_INLINE {
    constexpr int left = 2 * pair, first = left / lane_count;
    each<Core::rows - first>([&](auto group) NEARBY_INLINE {
      constexpr int top = lane_count * (first + group);
      Lanes products[2][lane_count];
      each<2>([&](auto c) NEARBY_INLINE {
        each<lane_count>([&](auto r) NEARBY_INLINE { products[c][r] = Lanes(0); });
      });
      for (int block = 0; block < count; ++block) {
        const Values<States> &v = chain.blocks[block];
        each<2>([&](auto c) NEARBY_INLINE {
          constexpr int column = left + c;
          if constexpr (!is_zero(column)) {
            const Lanes stiff = v.stiffness * v.gradient[column];
            each<lane_count>([&](auto r) NEARBY_INLINE {
              constexpr int row = top + r;
              if constexpr (row >= column && !is_zero(row))
                products[c][r] += stiff * v.gradient[row];
            });
          }
        });
      }
      each<2>([&](auto c) NEARBY_INLINE {
        if constexpr (!is_zero(left + c))
          equations.column[left + c].lanes[top / lane_count] +=
              nearby::sums(products[c][0], products[c][1], products[c][2], products[c][3]);
      });
    });
  });
}

/// Adds the rows of a component's errors, and the gradients.
template <int component, bool is_mode, int States>
NEARBY_INLINE inline void add_errors(const Chain<States> &chain, int count,
                                     NormalEquations<States> &equations) {
  using Core = Core<States>;
  auto &errors = equations.errors[component];
  constexpr auto is_zero = [](int i) {
    return i >= Core::used || (i == Core::scale && component != NEARBY_RANGE);
  };
  each<Core::rows>([&](auto group) NEARBY_INLINE {
    Lanes bias[lane_count], wander[lane_count], pull[lane_count];
    each<lane_count>([&](auto r) NEARBY_INLINE { bias[r] = wander[r] = pull[r] = Lanes(0); });
    for (int block = 0; block < count; ++block) {
      const Values<States> &v = chain.blocks[block];
      const Lanes remembered = v.stiffness * v.memory;
      each<lane_count>([&](auto r) NEARBY_INLINE {
        constexpr int row = lane_count * group + r;
        if constexpr (!is_zero(row)) {
          bias[r] += v.stiffness * v.gradient[row];
          wander[r] += remembered * v.gradient[row];
          if constexpr (!is_mode) pull[r] += v.push * v.gradient[row];
        }
      });
    }
    errors.bias.lanes[group] = nearby::sums(bias[0], bias[1], bias[2], bias[3]);
    errors.wander.lanes[group] = nearby::sums(wander[0], wander[1], wander[2], wander[3]);
    if constexpr (!is_mode)
      equations.gradient.lanes[group] += nearby::sums(pull[0], pull[1], pull[2], pull[3]);
  });
  Lanes bias = 0, mixed = 0, wander = 0, bias_pull = 0, wander_pull = 0;
  for (int block = 0; block < count; ++block) {
    const Values<States> &v = chain.blocks[block];
    const Lanes remembered = v.stiffness * v.memory;
    bias += v.stiffness;
    mixed += remembered;
    wander += remembered * v.memory;
    bias_pull += v.push;
    wander_pull += v.push * v.memory;
  }
  const Lanes totals = nearby::sums(bias, mixed, wander, bias_pull);
  errors.bias_bias += totals[0];
  errors.bias_wander += totals[1];
  errors.wander_wander += totals[2];
  errors.bias_gradient += totals[3];
  errors.wander_gradient += nearby::sum(wander_pull);
}

/// The share of a value's information that is left when it is not known whether it is honest: of
/// the observed information `w/R - w (1 - w) (ν/R)²` (Louis 1982), zero at least.
NEARBY_INLINE inline Lanes informative(Lanes weight, Lanes innovation, Lanes precision) {
  return weight * nearby::at_least(1 - (1 - weight) * innovation * innovation * precision, 0.0);
}

/// What a fit has found beside its estimate.
struct Explained {
  /// The negative logarithm of the posterior's density.
  double cost = 0;
  /// Of each component, the share of its values that are probably no outliers.
  double honest[NEARBY_COMPONENTS] = {1, 1, 1};
};

/// Adds a component's values to the normal equations.
///
/// At the mode itself (`is_mode`) the information is that which the values have, and cost and
/// shares are found; on the way there, the information is that with which steps are sure to lead
/// downhill.
template <int component, bool is_mode, int States>
NEARBY_INLINE inline void add_values(const Window &window, const nearby_fit_model &model,
                                     const Estimate<States> &x, double widening,
                                     Chain<States> &chain, NormalEquations<States> &equations,
                                     Explained &explained) {
  equations.errors[component].is_measured = window.values[component] > 0;
  if (window.values[component] == 0) return;
  Mean mean;
  each<4>([&](auto i) NEARBY_INLINE { mean.values[i] = Lanes(x.core[i]); });
  each<NEARBY_COMPONENTS>([&](auto i) NEARBY_INLINE {
    mean.values[NEARBY_STATE_RANGE_BIAS + i] = Lanes(x.bias[i]);
    mean.values[NEARBY_STATE_RANGE_WANDER + i] = Lanes(x.wander[i]);
  });
  const double narrowing = 1 / widening;
  const auto linearize_all = [&](auto is_mirrored) NEARBY_INLINE {
    for (int block = 0; block < window.count; ++block)
      linearize<component, is_mirrored>(window.blocks[block], model, x, mean, narrowing,
                                        chain.blocks[block]);
  };
  if (component == NEARBY_AZIMUTH && model.is_mirrored)
    linearize_all(std::bool_constant<component == NEARBY_AZIMUTH>());
  else
    linearize_all(std::false_type());
  const double log_likelihood = run<is_mode>(chain, window.count, model.outlier_share);
  Lanes honest = 0;
  for (int block = 0; block < window.count; ++block) {
    Values<States> &v = chain.blocks[block];
    const Lanes a = v.honest_before * v.honest_after, b = v.faulty_before * v.faulty_after;
    // Without precision: absent.
    const Lanes weight = v.precision > 0 ? a / (a + b) : Lanes(0);
    v.push = weight * v.innovation * v.precision;
    v.stiffness = (is_mode ? informative(weight, v.innovation, v.precision) : weight) * v.precision;
    if constexpr (is_mode) honest += weight;
  }
  if constexpr (is_mode) {
    explained.cost -= log_likelihood;
    explained.honest[component] = nearby::sum(honest) / window.values[component];
  }
  add_core<component>(chain, window.count, equations);
  add_errors<component, is_mode>(chain, window.count, equations);
}

/// The priors: their information, which does not change, and their gradient and cost.
template <int States>
struct Priors {
  using Core = Core<States>;
  /// Their information, and no gradient.
  NormalEquations<States> information;
  double center[3], position[6];
  typename Core::Vector precision;
  double bias_precision[NEARBY_COMPONENTS], wander_precision[NEARBY_COMPONENTS];

  NEARBY_INLINE explicit Priors(const nearby_fit_model &model) {
    // A prior of zero width pins the parameter without dividing by it.
    const auto inverse = [](double variance)
                             NEARBY_INLINE { return 1 / std::fmax(variance, 1e-12); };
    each<Core::rows>([&](auto i) NEARBY_INLINE { precision.lanes[i] = Lanes(1); });
    precision.lanes[0] = Lanes{0, 0, 0, inverse(model.range_scale_sigma * model.range_scale_sigma)};
    if constexpr (Core::moves)
      each<3>([&](auto i) NEARBY_INLINE {
        precision.lanes[Core::velocity / lane_count][i.value] = inverse(model.speed_variance[i]);
      });
    each<Core::rows>([&](auto i) NEARBY_INLINE { information.gradient.lanes[i] = Lanes(0); });
    each<Core::size>([&](auto i) NEARBY_INLINE {
      each<Core::rows>([&](auto v) NEARBY_INLINE { information.column[i].lanes[v] = Lanes(0); });
      information.column[i].lanes[i / lane_count][i % lane_count] = precision[i];
    });
    each<3>([&](auto i) NEARBY_INLINE { center[i] = model.center[i]; });
    each<6>([&](auto i) NEARBY_INLINE { position[i] = model.information[i]; });
    const double *p = position;
    information.column[0].lanes[0] = Lanes{p[0], p[1], p[2], 0};
    information.column[1].lanes[0] = Lanes{p[1], p[3], p[4], 0};
    information.column[2].lanes[0] = Lanes{p[2], p[4], p[5], 0};
    each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
      auto &errors = information.errors[c];
      each<Core::rows>(
          [&](auto v) NEARBY_INLINE { errors.bias.lanes[v] = errors.wander.lanes[v] = Lanes(0); });
      errors.bias_bias = bias_precision[c] = inverse(model.bias_variance[c]);
      errors.wander_wander = wander_precision[c] = inverse(model.wander_variance[c]);
      errors.bias_wander = errors.bias_gradient = errors.wander_gradient = 0;
      errors.is_measured = false;
    });
  }

  /// The normal equations of the priors alone, and twice the cost.
  NEARBY_INLINE double at(const Estimate<States> &x, NormalEquations<States> &equations) const {
    equations = information;
    Lanes away = Lanes(0);
    each<3>([&](auto i) NEARBY_INLINE { away[i.value] = center[i] - x.core[i]; });
    Lanes pull = away[0] * information.column[0].lanes[0];
    pull += away[1] * information.column[1].lanes[0];
    pull += away[2] * information.column[2].lanes[0];
    Lanes cost = away * pull;
    each<Core::rows>([&](auto i) NEARBY_INLINE {
      const Lanes stretched = precision.lanes[i] * x.core.lanes[i];
      equations.gradient.lanes[i] = -stretched;
      cost += stretched * x.core.lanes[i];
    });
    equations.gradient.lanes[0] += pull;
    double errors = 0;
    each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
      const double bias = x.bias[c] * bias_precision[c], wander = x.wander[c] * wander_precision[c];
      equations.errors[c].bias_gradient = -bias;
      equations.errors[c].wander_gradient = -wander;
      errors += bias * x.bias[c] + wander * x.wander[c];
    });
    return nearby::sum(cost) + errors;
  }
};

/// The normal equations at an estimate.
template <bool is_mode, int States>
NEARBY_INLINE inline NormalEquations<States> normal_equations(
    const Window &window, const nearby_fit_model &model, const Priors<States> &priors,
    const Estimate<States> &x, double widening, Chain<States> &chain, Explained &explained) {
  NormalEquations<States> equations;
  explained.cost = 0.5 * priors.at(x, equations);
  each<NEARBY_COMPONENTS>([&](auto component) NEARBY_INLINE {
    add_values<component, is_mode>(window, model, x, widening, chain, equations, explained);
  });
  return equations;
}

// MARK: - Fit

/// Fits `state`; returns the negative logarithm of the posterior's density at the mode plus half
/// that of the determinant, or infinity when the equations cannot be solved.
///
/// - reach: Steps of the position are at most so long: a longer one would leave the valley.
template <int States>
NEARBY_INLINE inline double fit(const nearby_keyframe *keyframes, int count,
                                const nearby_fit_model &model, double widest, double reach,
                                double *state, double *covariance, double *honest) {
  using Core = Core<States>;
  constexpr double failed = std::numeric_limits<double>::infinity();
  // Noise widened by these factors of variance, step by step.
  constexpr double schedule[] = {400, 100, 30, 10, 3, 1, 1, 1, 1};
  const Window window(keyframes, count, model.outlier_share);
  const Priors<States> priors(model);
  Chain<States> chain;
  Explained explained;
  Estimate<States> x;
  each<Core::rows>([&](auto i) NEARBY_INLINE { x.core.lanes[i] = Lanes(0); });
  x.core.lanes[0] = at<Lanes>(state);
  if constexpr (Core::moves)
    each<3>([&](auto i) NEARBY_INLINE {
      x.core.lanes[Core::velocity / lane_count][i.value] = state[NEARBY_STATE_VELOCITY + i];
    });
  each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
    x.bias[c] = state[NEARBY_STATE_RANGE_BIAS + c];
    x.wander[c] = state[NEARBY_STATE_RANGE_WANDER + c];
  });
  for (const double widening : schedule) {
    if (widening > widest) continue;
    const Factorization<States> factorization(
        normal_equations<false>(window, model, priors, x, widening, chain, explained));
    if (!factorization.is_positive) return failed;
    const Estimate<States> step = factorization.step();
    const double length = std::sqrt(step.core[0] * step.core[0] + step.core[1] * step.core[1] +
                                    step.core[2] * step.core[2]);
    const double part = length > reach ? reach / length : 1;
    x.core.add(Lanes(part), step.core);
    each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
      x.bias[c] += part * step.bias[c];
      x.wander[c] += part * step.wander[c];
    });
    if (widening == 1 && length < 1e-4) break;
  }
  const Factorization<States> factorization(
      normal_equations<true>(window, model, priors, x, 1, chain, explained));
  const double loss = explained.cost + 0.5 * factorization.log_determinant();
  // A parameter that is no number makes the cost none.
  if (!factorization.is_positive || !std::isfinite(loss)) return failed;
  factorization.covariance(covariance);
  at<Lanes>(state) = x.core.lanes[0];
  each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
    state[NEARBY_STATE_RANGE_BIAS + c] = x.bias[c];
    state[NEARBY_STATE_RANGE_WANDER + c] = x.wander[c];
    honest[c] = explained.honest[c];
  });
  if constexpr (Core::moves)
    each<3>([&](auto i)
                NEARBY_INLINE { state[NEARBY_STATE_VELOCITY + i] = x.core[Core::velocity + i]; });
  return loss;
}

}  // namespace

double nearby_fit(const nearby_keyframe *keyframes, int32_t count, const nearby_fit_model *model,
                  double widest, double *state, double *covariance, double *honest) {
  const double *p = model->information;
  Eigen::Matrix3d information;
  information << p[0], p[1], p[2], p[1], p[3], p[4], p[2], p[4], p[5];
  const Eigen::LLT<Eigen::Matrix3d> prior(information);
  if (prior.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
  const double reach = 2 / std::sqrt(information.trace() / 3);
  count = std::min<int32_t>(count, NEARBY_FIT_CAPACITY);
  double loss = 0;
  nearby::on_this_processor([&]() NEARBY_INLINE {
    if (model->may_move)
      loss = fit<NEARBY_MOVING_STATE_SIZE>(keyframes, count, *model, widest, reach, state,
                                           covariance, honest);
    else
      loss = fit<NEARBY_STATE_SIZE>(keyframes, count, *model, widest, reach, state, covariance,
                                    honest);
  });
  return std::log(prior.matrixLLT().diagonal().prod()) - loss;
}
