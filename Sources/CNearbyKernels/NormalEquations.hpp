// SPDX-License-Identifier: Apache-2.0
//
// The normal equations of a fit and their solution, with every index a constant and four rows of a
// column side by side.
//
// The constant and the wandering error of a component meet no other component's: they are
// eliminated first, two at a time, and what is left is the core, which all components share. A
// component without values is not eliminated at all.

#pragma once

#include "Hypothesis.hpp"

namespace nearby {

/// The sum of each, as lanes.
NEARBY_INLINE inline Lanes sums(Lanes a, Lanes b, Lanes c, Lanes d) {
  const Lanes ab =
      __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Lanes cd =
      __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

/// The parameters that all components share: position, scale of ranges, the amplitudes of the
/// odometry's drift since the window began (x, y, z, yaw), and the velocity of a peer that moves;
/// filled up to whole lanes with one that nothing depends on.
template <int States>
struct Core {
  static constexpr bool moves = States > NEARBY_STATE_SIZE;
  static constexpr int scale = 3, drift = 4, velocity = 8;
  static constexpr int used = moves ? 11 : 8, size = moves ? 12 : 8, rows = size / lane_count;
  static_assert(scale == NEARBY_STATE_RANGE_SCALE, "the first four are the state's");

  /// One number for each parameter.
  struct Vector {
    Lanes lanes[rows];

    NEARBY_INLINE double operator[](int i) const { return lanes[i / lane_count][i % lane_count]; }
    NEARBY_INLINE double dot(const Vector &other) const {
      Lanes products = lanes[0] * other.lanes[0];
      each<rows - 1>([&](auto i) NEARBY_INLINE { products += lanes[i + 1] * other.lanes[i + 1]; });
      return sum(products);
    }
    /// Adds `factor * other` in the lanes from that of row `first` on.
    template <int first = 0>
    NEARBY_INLINE void add(Lanes factor, const Vector &other) {
      each<rows - first / lane_count>([&](auto i) NEARBY_INLINE {
        constexpr int row = first / lane_count + i;
        lanes[row] += factor * other.lanes[row];
      });
    }
    NEARBY_INLINE Vector operator*(double factor) const {
      Vector result;
      each<rows>([&](auto i) NEARBY_INLINE { result.lanes[i] = lanes[i] * factor; });
      return result;
    }
  };
};

/// What the fit estimates, or a step of it: the core, and each component's errors.
template <int States>
struct Estimate {
  typename Core<States>::Vector core;
  double bias[NEARBY_COMPONENTS], wander[NEARBY_COMPONENTS];
};

/// Information and gradient.
template <int States>
struct NormalEquations {
  static constexpr int size = Core<States>::size;
  using Vector = typename Core<States>::Vector;

  /// The columns of the core's information, of which the lower triangle counts, and its gradient.
  Vector column[size], gradient;

  /// The rows of one component's errors: with the core, among themselves, and their gradient.
  struct Errors {
    Vector bias, wander;
    double bias_bias, bias_wander, wander_wander, bias_gradient, wander_gradient;
    /// Whether there are values: without, the errors depend on nothing but their priors.
    bool is_measured;
  } errors[NEARBY_COMPONENTS];
};

/// L D Lᵀ of the information, and the gradient taken along.
///
/// About n³/6 multiplications for a core of n = 8 or 12, a quarter as many instructions.
template <int States>
struct Factorization {
  static constexpr int size = Core<States>::size;
  using Vector = typename Core<States>::Vector;

  /// The core: columns of L below its diagonal of ones, 1/D, and L⁻¹ times the gradient.
  Vector column[size];
  double inverse[size], forward[size];
  /// A component's errors: 1/D, L's one entry among themselves, and D⁻¹ L⁻¹ times their rows with
  /// the core and times their gradient.
  struct Errors {
    double bias_inverse, wander_inverse, mixed;
    Vector bias, wander;
    double bias_forward, wander_forward;
    bool is_measured;
  } errors[NEARBY_COMPONENTS];
  /// Whether the information is positive definite; without, nothing else is of use.
  bool is_positive;

  NEARBY_INLINE explicit Factorization(NormalEquations<States> equations) {
    is_positive = true;
    each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE { eliminate(equations, c); });
    each<size>([&](auto j) NEARBY_INLINE {
      const double pivot = equations.column[j][j];
      is_positive &= pivot > 0;
      inverse[j] = 1 / pivot;
      forward[j] = equations.gradient[j];
      const Vector lower = equations.column[j] * inverse[j];
      each<size - 1 - j>([&](auto i) NEARBY_INLINE {
        constexpr int k = j + 1 + i;
        equations.column[k].template add<k>(Lanes(-lower[k]), equations.column[j]);
      });
      equations.gradient.template add<j>(Lanes(-forward[j]), lower);
      column[j] = lower;
    });
  }

  /// Solves for the step that the gradient asks for.
  NEARBY_INLINE Estimate<States> step() const {
    Estimate<States> result;
    double x[size];
    each<size>([&](auto i) NEARBY_INLINE {
      constexpr int j = size - 1 - i;
      x[j] = forward[j] * inverse[j];
      // Those known longest first: only the last has to be waited for.
      each<i>([&](auto n) NEARBY_INLINE { x[j] -= column[j][size - 1 - n] * x[size - 1 - n]; });
    });
    each<size>([&](auto i)
                   NEARBY_INLINE { result.core.lanes[i / lane_count][i % lane_count] = x[i]; });
    each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
      const Errors &e = errors[c];
      result.wander[c] = e.wander_forward;
      result.bias[c] = e.bias_forward;
      if (e.is_measured) {
        result.wander[c] -= e.wander.dot(result.core);
        result.bias[c] -= e.bias.dot(result.core) + e.mixed * result.wander[c];
      }
    });
    return result;
  }

  /// The logarithm of the information's determinant.
  NEARBY_INLINE double log_determinant() const {
    Lanes logs = 0;
    each<size / lane_count>(
        [&](auto i) NEARBY_INLINE { logs -= logarithm(at<Lanes>(inverse + lane_count * i)); });
    each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
      logs -= logarithm(Lanes{errors[c].bias_inverse, errors[c].wander_inverse, 1, 1});
    });
    return sum(logs);
  }

  /// The inverse of the information, of which the drift is left out, packed.
  NEARBY_INLINE void covariance(double *packed_covariance) const {
    // Rows of L⁻¹, from above.
    Vector row[size];
    each<size>([&](auto i) NEARBY_INLINE {
      each<Core<States>::rows>([&](auto v) NEARBY_INLINE { row[i].lanes[v] = Lanes(0); });
      row[i].lanes[i / lane_count][i % lane_count] = 1;
      each<i>([&](auto j) NEARBY_INLINE {
        each<j / lane_count + 1>(
            [&](auto v) NEARBY_INLINE { row[i].lanes[v] -= column[j][i] * row[j].lanes[v]; });
      });
    });
    // L⁻ᵀ D⁻¹ L⁻¹, all of it.
    Vector core[size];
    each<size>([&](auto c) NEARBY_INLINE {
      core[c] = row[size - 1] * (row[size - 1][c] * inverse[size - 1]);
      each<size - 1 - c>([&](auto n) NEARBY_INLINE {
        constexpr int i = c + n;
        each<i / lane_count + 1>([&](auto v) NEARBY_INLINE {
          core[c].lanes[v] += row[i][c] * inverse[i] * row[i].lanes[v];
        });
      });
    });
    // Errors are what the core leaves of them: E = B⁻¹ (e - X c).
    Vector dependence[2 * NEARBY_COMPONENTS], shared[2 * NEARBY_COMPONENTS];
    const auto with_core = [&](const Vector &depends) NEARBY_INLINE {
      Vector result = core[0] * -depends[0];
      each<Core<States>::used - 1>(
          [&](auto k) NEARBY_INLINE { result.add(Lanes(-depends[k + 1]), core[k + 1]); });
      return result;
    };
    const Vector none = core[0] * 0;
    each<NEARBY_COMPONENTS>([&](auto c) NEARBY_INLINE {
      const Errors &e = errors[c];
      Vector &bias = dependence[c], &wander = dependence[NEARBY_COMPONENTS + c];
      bias = wander = shared[c] = shared[NEARBY_COMPONENTS + c] = none;
      if (!e.is_measured) return;
      wander = e.wander;
      bias = e.bias;
      bias.add(Lanes(-e.mixed), e.wander);
      shared[c] = with_core(bias);
      shared[NEARBY_COMPONENTS + c] = with_core(wander);
    });
    constexpr int first_error = NEARBY_STATE_RANGE_BIAS;
    constexpr auto is_error = [](int state) {
      return state >= first_error && state < NEARBY_STATE_VELOCITY;
    };
    constexpr auto core_index = [](int state) {
      return state < first_error ? state : Core<States>::velocity + state - NEARBY_STATE_VELOCITY;
    };
    each<States>([&](auto c) NEARBY_INLINE {
      each<c + 1>([&](auto r) NEARBY_INLINE {
        double &entry = packed_covariance[packed(r, c)];
        if constexpr (!is_error(c) && !is_error(r)) {
          entry = core[core_index(c)][core_index(r)];
        } else if constexpr (!is_error(r)) {
          entry = shared[c - first_error][core_index(r)];
        } else if constexpr (!is_error(c)) {
          entry = shared[r - first_error][core_index(c)];
        } else {
          constexpr int i = r - first_error, j = c - first_error;
          const Errors &e = errors[i % NEARBY_COMPONENTS];
          entry = -dependence[j].dot(shared[i]);
          if constexpr (i == j && i < NEARBY_COMPONENTS)
            entry += e.bias_inverse + e.mixed * e.mixed * e.wander_inverse;
          else if constexpr (i == j)
            entry += e.wander_inverse;
          else if constexpr (i + NEARBY_COMPONENTS == j)
            entry -= e.mixed * e.wander_inverse;
        }
      });
    });
  }

 private:
  NEARBY_INLINE void eliminate(NormalEquations<States> &equations, int component) {
    const auto &from = equations.errors[component];
    Errors &to = errors[component];
    to.is_measured = from.is_measured;
    to.bias_inverse = 1 / from.bias_bias;
    to.mixed = from.bias_wander * to.bias_inverse;
    const double wander = from.wander_wander - to.mixed * from.bias_wander;
    is_positive &= (from.bias_bias > 0) & (wander > 0);
    to.wander_inverse = 1 / wander;
    to.bias_forward = from.bias_gradient * to.bias_inverse;
    to.wander_forward = (from.wander_gradient - to.mixed * from.bias_gradient) * to.wander_inverse;
    if (!from.is_measured) return;
    Vector rest = from.wander;
    rest.add(Lanes(-to.mixed), from.bias);
    to.bias = from.bias * to.bias_inverse;
    to.wander = rest * to.wander_inverse;
    each<size>([&](auto k) NEARBY_INLINE {
      equations.column[k].template add<k>(Lanes(-to.bias[k]), from.bias);
      equations.column[k].template add<k>(Lanes(-to.wander[k]), rest);
    });
    equations.gradient.add(Lanes(-to.bias_forward), from.bias);
    equations.gradient.add(Lanes(-to.wander_forward), rest);
  }
};

}  // namespace nearby
