// SPDX-License-Identifier: Apache-2.0
//
// The fit of hypotheses to a window of samples. Each state size is compiled in a file of its own.

#pragma once

#include <algorithm>
#include <limits>

#include "../models/Faults.hpp"
#include "../models/Models.hpp"
#include "NormalEquations.hpp"

namespace nearby::fitting {

static_assert(NEARBY_FITS == wide_lane_count, "a fit in each lane of the widest vectors");

/// How many fits stand side by side.
template <class Lanes>
constexpr int width = Number<Lanes>::count;

/// Two antennas tell front from back below this azimuth, whatever else they confuse.
constexpr double mirrored_beyond = 0.8;

// MARK: - What is given

/// One value of a component, and what of it does not change from one iteration to the next.
struct Measured {
  const nearby_keyframe *from;
  double value, memory;
  /// One over the variance, and over the standard deviation.
  double precision, sharpness;
  /// How likely it is that the state, faulty or not, has lasted since the component's value before.
  double lasting;
};

/// The values of all components, each in the order of time.
struct Window {
  Measured measured[NEARBY_COMPONENTS][NEARBY_FIT_CAPACITY];
  int count[NEARBY_COMPONENTS];

  NEARBY_INLINE void fill(const nearby_keyframe *keyframes, int keyframe_count) {
    each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
      count[c] = 0;
      // Keyframes without a value only give the chain more time to forget its state.
      double lasting = 1;
      for (int i = 0; i < keyframe_count; ++i) {
        const nearby_keyframe &from = keyframes[i];
        lasting *= from.lasting;
        if (!(from.present & 1 << c)) continue;
        const double precision = 1 / from.variance[c];
        measured[c][count[c]++] = {&from,     from.value[c],   from.memory[c],
                                   precision, root(precision), lasting};
        lasting = 1;
      }
    });
  }
};

/// What the fits assume, side by side.
template <class Lanes>
struct Models {
  Lanes center[3], information[6], precision[NEARBY_HEIGHT_STATE_SIZE];
  Lanes outlier_share[NEARBY_COMPONENTS], outlier_rate, angle_outlier_density;
  Bits<Lanes> is_mirrored;

  NEARBY_INLINE void fill(const nearby_fit_model *models, int count) {
    // Lanes beyond the last fit go with it.
    const nearby_fit_model *in_lane[width<Lanes>];
    for (int i = 0; i < width<Lanes>; ++i) in_lane[i] = models + std::min(i, count - 1);
    const auto lanes = [&](const auto &number) NEARBY_INLINE {
      Lanes result;
      each<width<Lanes>>([&](auto i) NEARBY_INLINE { result[i.value] = number(*in_lane[i]); });
      return result;
    };
    // A prior of zero width pins the parameter without dividing by it.
    const auto inverse = [](Lanes variance) NEARBY_INLINE { return 1 / at_least(variance, 1e-12); };
    using Model = nearby_fit_model;
    each<3>([&](auto i) NEARBY_INLINE {
      center[i] = lanes([&](const Model &m) NEARBY_INLINE { return m.center[i]; });
    });
    each<6>([&](auto i) NEARBY_INLINE {
      information[i] = lanes([&](const Model &m) NEARBY_INLINE { return m.information[i]; });
    });
    const Lanes scale = lanes([](const Model &m) NEARBY_INLINE { return m.range_scale_sigma; });
    precision[NEARBY_STATE_RANGE_SCALE] = inverse(scale * scale);
    each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
      using Errors = Kind<c>;
      outlier_share[c] = lanes([&](const Model &m) NEARBY_INLINE { return m.outlier_share[c]; });
      if constexpr (Errors::has_bias)
        precision[Errors::bias] =
            inverse(lanes([&](const Model &m) NEARBY_INLINE { return m.bias_variance[c]; }));
      precision[Errors::wander] =
          inverse(lanes([&](const Model &m) NEARBY_INLINE { return m.wander_variance[c]; }));
    });
    outlier_rate = 1 / lanes([](const Model &m) NEARBY_INLINE { return m.range_excess; });
    angle_outlier_density = 1 / lanes([](const Model &m) NEARBY_INLINE { return m.field_of_view; });
    is_mirrored = lanes([](const Model &m) NEARBY_INLINE { return m.is_mirrored; }) > 0;
  }
};

// MARK: - Linearisation

/// What the models ask of a state; one without an offset of height differences is asked for none.
template <class Lanes>
struct Mean {
  Lanes values[NEARBY_HEIGHT_STATE_SIZE];
  NEARBY_INLINE Lanes mean(int i) const { return values[i]; }
};

/// One value, linearised.
///
/// A gradient has few entries that are not zero: those on the position and on the amplitudes of the
/// drift, and on the scale if it is a range; that on the constant error is one, and on the
/// wandering one `memory`. Only their products are summed.
template <int States, class Lanes>
struct Value {
  using P = Parameters<States>;
  static constexpr int drift = 3, scale = 7;

  Lanes gradient[scale + 1];
  Lanes innovation;
  /// The density of the innovation if the value is an inlier, and if it is a fault; later how much
  /// the value pulls, and how stiff it is.
  union {
    Lanes inlier, push;
  };
  union {
    Lanes faulty, stiffness;
  };
  /// P(state, values so far), up to a factor.
  Lanes inlier_before, faulty_before;

  static NEARBY_INLINE constexpr int entries(int component) {
    return component == NEARBY_RANGE ? scale + 1 : scale;
  }
  /// The parameter of an entry.
  static NEARBY_INLINE constexpr int parameter(int entry) {
    return entry < drift   ? P::position + entry
           : entry < scale ? P::drift + entry - drift
                           : P::scale;
  }
};

/// The normal equations of fits, with the cost and the inlier shares at the same linearisation.
template <int States, class Lanes>
struct System {
  Triangle<States, Lanes> information;
  Lanes gradient[Parameters<States>::size];
  /// The negative logarithm of the posterior's density, when asked for.
  Lanes cost;
  /// Of each component, the share of its values that are probably no outliers.
  Lanes inlier_share[NEARBY_COMPONENTS];
  /// Where an azimuth has been taken for mirrored, now or in any iteration before.
  Bits<Lanes> has_folded;
};

/// Linearises a value at the parameters `x`, with its precision narrowed by a factor.
template <int component, bool may_mirror, int States, class Lanes>
NEARBY_INLINE inline void linearize(const Measured &measured, const Models<Lanes> &models,
                                    const Lanes *x, double narrowing, double root_of_narrowing,
                                    Value<States, Lanes> &v, Bits<Lanes> &has_folded) {
  using P = Parameters<States>;
  const nearby_keyframe &k = *measured.from;
  Mean<Lanes> mean;
  each<P::has_height ? NEARBY_HEIGHT_STATE_SIZE : NEARBY_STATE_SIZE>(
      [&](auto i) NEARBY_INLINE { mean.values[i] = x[P::of(i)]; });
  // up × (p - pivot)
  const Lanes turned_x = mean.values[2] - k.pivot[2], turned_z = k.pivot[0] - mean.values[0];
  // Where the peer was in the world as it was then: less the drift since.
  const Lanes yaw = k.yaw_drift * x[P::drift + 3];
  mean.values[0] -= k.horizontal_drift * x[P::drift] + yaw * turned_x;
  mean.values[1] -= k.vertical_drift * x[P::drift + 1];
  mean.values[2] -= k.horizontal_drift * x[P::drift + 2] + yaw * turned_z;

  // The last entry, which only a range has.
  Lanes &scale = v.gradient[Value<States, Lanes>::scale];
  Linearized<Lanes> z = linearized<component, false, Lanes>(mean, k, scale);
  if constexpr (may_mirror) {
    // Errors are added to what the radio takes for the azimuth.
    const Lanes error = x[P::bias(component)] + x[P::wander(component)];
    const Lanes half_turn = z.predicted < 0 ? Lanes(-M_PI) : Lanes(M_PI);
    const Lanes folded = half_turn - (z.predicted - error) + error;
    const Lanes off = magnitude(wrapped(Lanes(measured.value - z.predicted)));
    const Lanes off_folded = magnitude(wrapped(Lanes(measured.value - folded)));
    const auto is_folded =
        (magnitude(z.predicted) > mirrored_beyond) & (off_folded < off) & models.is_mirrored;
    z.predicted = is_folded ? folded : z.predicted;
    z.slope = is_folded ? -z.slope : z.slope;
    has_folded |= is_folded;
  }
  each<3>([&](auto i) NEARBY_INLINE { v.gradient[i] = z.gradient(i); });
  constexpr int drift = Value<States, Lanes>::drift;
  v.gradient[drift] = -k.horizontal_drift * v.gradient[0];
  v.gradient[drift + 1] = -k.vertical_drift * v.gradient[1];
  v.gradient[drift + 2] = -k.horizontal_drift * v.gradient[2];
  v.gradient[drift + 3] = -k.yaw_drift * (v.gradient[0] * turned_x + v.gradient[2] * turned_z);
  // The model predicts with the wandering error of now; then it was only correlated with it.
  v.innovation = measured.value - z.predicted + (1 - measured.memory) * x[P::wander(component)];
  if constexpr (Kind<component>::is_angle) v.innovation = wrapped(v.innovation);
  const double sharpness = normalizer * root_of_narrowing * measured.sharpness;
  const double half_precision = -0.5 * octaves * narrowing * measured.precision;
  v.inlier = sharpness * power_of_two(half_precision * (v.innovation * v.innovation));
  v.faulty =
      outlier_density<component>(v.innovation, models.outlier_rate, models.angle_outlier_density);
}

/// The share of a value's information that is left when it may be a fault: of
/// the observed information `w/R - w (1 - w) (ν/R)²` (Louis 1982), zero at least.
template <class Lanes>
NEARBY_INLINE inline Lanes informative(Lanes weight, Lanes innovation, double precision) {
  return weight * at_least(1 - (1 - weight) * innovation * innovation * precision, 0.0);
}

/// Linearises all values of a component, and sets how much they pull and how stiff they are, each
/// weighted by its probability of being an inlier, given all values of the component.
///
/// The chain forgets its state with probability 1 - lasting and draws it anew then, faulty with the
/// outliers' share. Probabilities are scaled to a sum of one after every few values only: none
/// is so unlikely that they would underflow in between.
template <int component, bool may_mirror, int States, class Lanes>
NEARBY_INLINE inline void weigh(const Window &window, const Models<Lanes> &models, const Lanes *x,
                                double widening, bool is_mode, Value<States, Lanes> *values,
                                System<States, Lanes> &system) {
  constexpr int every = 4;
  const int count = window.count[component];
  const double narrowing = 1 / widening, root_of_narrowing = root(narrowing);
  const Lanes share = models.outlier_share[component], rest = 1 - share;
  Lanes inlier = rest, faulty = share;
  for (int i = 0; i < count; ++i) {
    Value<States, Lanes> &v = values[i];
    const Measured &measured = window.measured[component][i];
    linearize<component, may_mirror>(measured, models, x, narrowing, root_of_narrowing, v,
                                     system.has_folded);
    const Lanes drawn = (1 - measured.lasting) * (inlier + faulty);
    inlier = (measured.lasting * inlier + rest * drawn) * v.inlier;
    faulty = (measured.lasting * faulty + share * drawn) * v.faulty;
    v.inlier_before = inlier;
    v.faulty_before = faulty;
    if (i % every == every - 1 || i == count - 1) {
      const Lanes sum = inlier + faulty, scale = 1 / sum;
      inlier *= scale;
      faulty *= scale;
      if (is_mode) system.cost -= logarithm(sum);
    }
  }
  // P(values after | state), up to a factor.
  Lanes inlier_after = 1, faulty_after = 1, weights = 0;
  for (int i = count - 1; i >= 0; --i) {
    Value<States, Lanes> &v = values[i];
    const Measured &measured = window.measured[component][i];
    const Lanes a = v.inlier_before * inlier_after, b = v.faulty_before * faulty_after;
    const Lanes weight = a / (a + b);
    const Lanes from_inlier = v.inlier * inlier_after, from_faulty = v.faulty * faulty_after;
    const Lanes drawn = (1 - measured.lasting) * (rest * from_inlier + share * from_faulty);
    inlier_after = measured.lasting * from_inlier + drawn;
    faulty_after = measured.lasting * from_faulty + drawn;
    if (i % every == 0) {
      const Lanes scale = 1 / (inlier_after + faulty_after);
      inlier_after *= scale;
      faulty_after *= scale;
    }
    const double precision = measured.precision * narrowing;
    v.push = weight * v.innovation * precision;
    v.stiffness = (is_mode ? informative(weight, v.innovation, precision) : weight) * precision;
    weights += weight;
  }
  system.inlier_share[component] = weights / double(count);
}

// MARK: - Normal equations

/// Adds a component's values: two columns and as many rows as there are registers at a time.
template <int component, int States, class Lanes>
NEARBY_INLINE inline void add_products(const Measured *measured, const Value<States, Lanes> *values,
                                       int count, System<States, Lanes> &system) {
  using P = Parameters<States>;
  constexpr int entries = Value<States, Lanes>::entries(component), most = 5;
  each<(entries + 1) / 2>([&](auto pair) NEARBY_INLINE {
    constexpr int left = 2 * pair;
    each<(entries - left + most - 1) / most>([&](auto group) NEARBY_INLINE {
      constexpr int top = left + most * group, rows = std::min(most, entries - top);
      Lanes products[2][rows];
      each<2>([&](auto c) NEARBY_INLINE {
        each<rows>([&](auto r) NEARBY_INLINE { products[c][r] = Lanes(0); });
      });
      for (const Value<States, Lanes> *v = values; v < values + count; ++v)
        each<2>([&](auto c) NEARBY_INLINE {
          if constexpr (left + c < entries) {
            const Lanes stiff = v->stiffness * v->gradient[left + c];
            each<rows>([&](auto r) NEARBY_INLINE {
              if constexpr (top + r >= left + c) products[c][r] += stiff * v->gradient[top + r];
            });
          }
        });
      each<2>([&](auto c) NEARBY_INLINE {
        each<rows>([&](auto r) NEARBY_INLINE {
          if constexpr (left + c < entries && top + r >= left + c)
            element<Value<States, Lanes>::parameter(top + r),
                    Value<States, Lanes>::parameter(left + c)>(system.information) +=
                products[c][r];
        });
      });
    });
  });
  // The errors' rows, and the gradient.
  constexpr bool has_bias = Kind<component>::has_bias;
  constexpr int at_once = 4;
  each<(entries + at_once - 1) / at_once>([&](auto group) NEARBY_INLINE {
    constexpr int first = at_once * group, rows = std::min(at_once, entries - first);
    Lanes bias[rows], wander[rows], pull[rows];
    each<rows>([&](auto r) NEARBY_INLINE { bias[r] = wander[r] = pull[r] = Lanes(0); });
    for (int i = 0; i < count; ++i) {
      const Value<States, Lanes> &v = values[i];
      const Lanes remembered = v.stiffness * measured[i].memory;
      each<rows>([&](auto r) NEARBY_INLINE {
        bias[r] += v.stiffness * v.gradient[first + r];
        wander[r] += remembered * v.gradient[first + r];
        pull[r] += v.push * v.gradient[first + r];
      });
    }
    each<rows>([&](auto r) NEARBY_INLINE {
      constexpr int row = Value<States, Lanes>::parameter(first + r);
      // No other component adds to these two.
      if constexpr (has_bias) element<row, P::bias(component)>(system.information) = bias[r];
      element<row, P::wander(component)>(system.information) = wander[r];
      system.gradient[row] += pull[r];
    });
  });
  Lanes bias = 0, mixed = 0, wander = 0, bias_pull = 0, wander_pull = 0;
  for (int i = 0; i < count; ++i) {
    const Value<States, Lanes> &v = values[i];
    const double memory = measured[i].memory;
    const Lanes remembered = v.stiffness * memory;
    bias += v.stiffness;
    mixed += remembered;
    wander += remembered * memory;
    bias_pull += v.push;
    wander_pull += v.push * memory;
  }
  if constexpr (has_bias) {
    element<P::bias(component), P::bias(component)>(system.information) += bias;
    element<P::wander(component), P::bias(component)>(system.information) = mixed;
    system.gradient[P::bias(component)] += bias_pull;
  }
  element<P::wander(component), P::wander(component)>(system.information) += wander;
  system.gradient[P::wander(component)] += wander_pull;
}

/// Sets the system to that of the priors alone.
template <int States, class Lanes>
NEARBY_INLINE inline void set_priors(const Models<Lanes> &models, const Lanes *x,
                                     System<States, Lanes> &system) {
  using P = Parameters<States>;
  Lanes cost = 0;
  const auto set = [&](auto i, Lanes precision) NEARBY_INLINE {
    const Lanes pull = precision * x[i];
    element<i, i>(system.information) = precision;
    system.gradient[i] = -pull;
    cost += pull * x[i];
  };
  each<States - 3>([&](auto i) NEARBY_INLINE {
    set(std::integral_constant<int, P::of(3 + i)>(), models.precision[3 + i]);
  });
  each<4>([&](auto i)
              NEARBY_INLINE { set(std::integral_constant<int, P::drift + i>(), Lanes(1)); });
  Lanes away[3];
  each<3>([&](auto i) NEARBY_INLINE { away[i] = models.center[i] - x[P::position + i]; });
  each<3>([&](auto r) NEARBY_INLINE {
    // Packed row by row, the upper triangle.
    constexpr int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    Lanes pull = 0;
    each<3>([&](auto c) NEARBY_INLINE {
      const Lanes entry = models.information[place[r][c]];
      if constexpr (c <= r) element<P::position + r, P::position + c>(system.information) = entry;
      pull += entry * away[c];
    });
    system.gradient[P::position + r] = pull;
    cost += pull * away[r];
  });
  system.cost = 0.5 * cost;
  // Zero the blocks that are filled by measurements.
  each<P::size>([&](auto r) NEARBY_INLINE {
    each<r>([&](auto c) NEARBY_INLINE {
      if constexpr (P::meet(r, c) && !(r < P::position + 3 && c >= P::position))
        element<r, c>(system.information) = Lanes(0);
    });
  });
}

/// The system at `x`.
///
/// At the mode itself (`is_mode`) the information is the observed one, and the cost is computed;
/// before, the information is positive definite, so that steps lead downhill.
template <int States, class Vectors, class Lanes>
NEARBY_INLINE inline void linearize_all(const Window &window, const Models<Lanes> &models,
                                        const Lanes *x, double widening, bool is_mode,
                                        Value<States, Lanes> *values,
                                        System<States, Lanes> &system) {
  Vectors::run([&]() NEARBY_INLINE { set_priors<States>(models, x, system); });
  each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE { system.inlier_share[c] = Lanes(1); });
  each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
    // What the parameters do not explain is left out.
    if constexpr (has_errors_of<c, States>) {
      if (window.count[c] == 0) return;
      constexpr bool may_mirror = c == NEARBY_AZIMUTH;
      if (may_mirror && any(models.is_mirrored))
        Vectors::run([&]() NEARBY_INLINE {
          weigh<c, may_mirror>(window, models, x, widening, is_mode, values, system);
        });
      else
        Vectors::run([&]() NEARBY_INLINE {
          weigh<c, false>(window, models, x, widening, is_mode, values, system);
        });
      Vectors::run([&]() NEARBY_INLINE {
        add_products<c>(window.measured[c], values, window.count[c], system);
      });
    }
  });
}

// MARK: - Fit

/// Starts of one window, and where their fits go: all of one kind stand one after the other.
struct Fits {
  const nearby_keyframe *keyframes;
  int keyframe_count;
  const nearby_fit_model *models;
  int count;
  double widest;
  double *states, *covariances, *inlier_shares, *log_evidences;
  int32_t *has_folded;

  /// The same without those before `first`, and with `most` of them at most.
  Fits from(int first, int most) const {
    const int size = models->has_heights ? NEARBY_HEIGHT_STATE_SIZE : NEARBY_STATE_SIZE;
    Fits rest = *this;
    rest.count = std::min(count - first, most);
    rest.models += first;
    rest.states += first * size;
    rest.covariances += first * size * (size + 1) / 2;
    rest.inlier_shares += first * NEARBY_COMPONENTS;
    rest.log_evidences += first;
    rest.has_folded += first;
    return rest;
  }
};

/// What the fits' priors of the position say before the first step.
struct Priors {
  /// Steps of the position are at most so long: a longer one would leave the valley. Zero for a fit
  /// that is not to be tried.
  double reach[NEARBY_FITS] = {};
  double half_log_determinant[NEARBY_FITS] = {};

  explicit Priors(const Fits &fits);
};

/// Writes the results of each fit to its place.
template <int States, class Lanes>
NEARBY_INLINE inline void hand_out(const Fits &fits, const Priors &priors, const Lanes *x,
                                   const System<States, Lanes> &system,
                                   const Triangle<States, Lanes> &covariance, Lanes loss,
                                   Bits<Lanes> is_solved) {
  using P = Parameters<States>;
  constexpr int triangle = States * (States + 1) / 2;
  for (int lane = 0; lane < fits.count; ++lane) {
    fits.has_folded[lane] = system.has_folded[lane] != 0;
    fits.log_evidences[lane] = -std::numeric_limits<double>::infinity();
    if (!is_solved[lane]) continue;
    fits.log_evidences[lane] = priors.half_log_determinant[lane] - loss[lane];
    each<States>([&](auto c) NEARBY_INLINE {
      fits.states[lane * States + c] = x[P::of(c)][lane];
      each<c + 1>([&](auto r) NEARBY_INLINE {
        constexpr int place = packed(r, c);
        fits.covariances[lane * triangle + place] = element<P::of(r), P::of(c)>(covariance)[lane];
      });
    });
    each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
      fits.inlier_shares[lane * NEARBY_COMPONENTS + c] = system.inlier_share[c][lane];
    });
  }
}

/// Fits states side by side, at most one in each lane; lanes beyond them go with the last, to no
/// effect.
///
/// Performance: the parts are not inlined into one another, as a function of half a megabyte takes
/// minutes to compile and is no faster.
template <int States, class Vectors>
NEARBY_INLINE inline void fit(const Fits &fits, const Priors &priors) {
  using P = Parameters<States>;
  using Lanes = typename Vectors::Lanes;
  // Noise widened by these factors of variance, step by step.
  constexpr double schedule[] = {400, 100, 30, 10, 3, 1, 1, 1, 1};
  constexpr int steps = sizeof schedule / sizeof *schedule;
  Window window;
  Vectors::run([&]() NEARBY_INLINE { window.fill(fits.keyframes, fits.keyframe_count); });
  Models<Lanes> models;
  Vectors::run([&]() NEARBY_INLINE { models.fill(fits.models, fits.count); });
  const Lanes reach = at<Lanes>(priors.reach);
  Value<States, Lanes> values[NEARBY_FIT_CAPACITY];
  System<States, Lanes> system;
  system.has_folded = Bits<Lanes>(0);
  Lanes x[P::size];
  each<4>([&](auto i) NEARBY_INLINE { x[P::drift + i] = Lanes(0); });
  for (int lane = 0; lane < width<Lanes>; ++lane) {
    const double *state = fits.states + std::min(lane, fits.count - 1) * States;
    each<States>([&](auto i) NEARBY_INLINE { x[P::of(i)][lane] = state[i]; });
  }
  Bits<Lanes> goes_on = reach > 0, is_solved = goes_on;
  int step = 0;
  while (step < steps && schedule[step] > fits.widest) ++step;
  for (;; ++step) {
    const bool is_mode = step == steps || !any(goes_on);
    const double widening = is_mode ? 1 : schedule[step];
    linearize_all<States, Vectors>(window, models, x, widening, is_mode, values, system);
    Factorization<States, Lanes> factorization;
    Vectors::run([&]() NEARBY_INLINE { factorization.factorize(system.information); });
    is_solved &= factorization.is_positive;
    if (is_mode) {
      // The negative logarithm of the posterior's density at the mode, plus half that of the
      // information's determinant.
      Lanes loss;
      Vectors::run(
          [&]() NEARBY_INLINE { loss = system.cost + 0.5 * factorization.log_determinant(); });
      Triangle<States, Lanes> covariance;
      Vectors::run([&]() NEARBY_INLINE { factorization.invert(covariance); });
      // A parameter that is no number makes the loss none.
      is_solved &= magnitude(loss) < std::numeric_limits<double>::infinity();
      Vectors::run([&]() NEARBY_INLINE {
        hand_out<States>(fits, priors, x, system, covariance, loss, is_solved);
      });
      return;
    }
    goes_on &= is_solved;
    Lanes by[P::size];
    Vectors::run([&]() NEARBY_INLINE { factorization.solve(system.gradient, by); });
    const Lanes length =
        root(Lanes(by[P::position] * by[P::position] + by[P::position + 1] * by[P::position + 1] +
                   by[P::position + 2] * by[P::position + 2]));
    const Lanes part = length > reach ? reach / length : Lanes(1);
    each<P::size>([&](auto i) NEARBY_INLINE { x[i] = goes_on ? x[i] + part * by[i] : x[i]; });
    if (widening == 1) goes_on &= !(length < 1e-4);
  }
}

/// Fits states of one size with some vectors: with those of eight numbers as many fits as they
/// hold, else as many as others do.
///
/// Performance: each size is compiled in a file of its own, beside the others.
template <int States>
void fit_with(nearby_vectors vectors, const Fits &fits, const Priors &priors) {
  if (vectors == NEARBY_VECTORS_OF_EIGHT)
    VectorsOfEight::run([&]() NEARBY_INLINE { fit<States, VectorsOfEight>(fits, priors); });
  else if (vectors == NEARBY_VECTORS_OF_FOUR)
    VectorsOfFour::run([&]() NEARBY_INLINE { fit<States, VectorsOfFour>(fits, priors); });
  else
    VectorsOfAny::run([&]() NEARBY_INLINE { fit<States, VectorsOfAny>(fits, priors); });
}
extern template void fit_with<NEARBY_STATE_SIZE>(nearby_vectors, const Fits &, const Priors &);
extern template void fit_with<NEARBY_HEIGHT_STATE_SIZE>(nearby_vectors, const Fits &,
                                                        const Priors &);

}  // namespace nearby::fitting
