// SPDX-License-Identifier: Apache-2.0

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "Cells.hpp"
#include "Differences.hpp"

namespace {

using namespace nearby;
using namespace nearby::chain;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// y += f x, for vectors of `count` elements.
NEARBY_INLINE inline void axpy(double f, const double *x, double *y, int count) {
  int i = 0;
  for (; i + lane_count <= count; i += lane_count) at<Lanes>(y + i) += f * at<Lanes>(x + i);
  for (; i < count; ++i) y[i] += f * x[i];
}
NEARBY_INLINE inline double product(const double *x, const double *y, int count) {
  Lanes lanes = 0;
  int i = 0;
  for (; i + lane_count <= count; i += lane_count) lanes += at<Lanes>(x + i) * at<Lanes>(y + i);
  double rest = sum(lanes);
  for (; i < count; ++i) rest += x[i] * y[i];
  return rest;
}
/// c -= aᵀ b for some rows of c, from a column on; a and b have `depth` rows.
///
/// Performance: what is summed up stays in registers.
template <int rows>
NEARBY_INLINE inline void subtract_rows(const double *a, int a_stride, const double *b,
                                        int b_stride, double *c, int64_t c_stride, int depth,
                                        int first, int columns) {
  const auto subtract = [&](int j, auto chunks) NEARBY_INLINE {
    Lanes sums[rows][chunks.value];
    each<rows>([&](auto i) NEARBY_INLINE {
      each<chunks.value>([&](auto n) NEARBY_INLINE { sums[i.value][n.value] = 0; });
    });
    for (int m = 0; m < depth; ++m) {
      each<chunks.value>([&](auto n) NEARBY_INLINE {
        const Lanes right = at<Lanes>(b + m * b_stride + j + lane_count * n.value);
        each<rows>([&](auto i) NEARBY_INLINE {
          sums[i.value][n.value] += a[m * a_stride + i.value] * right;
        });
      });
    }
    each<rows>([&](auto i) NEARBY_INLINE {
      each<chunks.value>([&](auto n) NEARBY_INLINE {
        at<Lanes>(c + i.value * c_stride + j + lane_count * n.value) -= sums[i.value][n.value];
      });
    });
  };
  int j = first;
  for (; j + 2 * lane_count <= columns; j += 2 * lane_count)
    subtract(j, std::integral_constant<int, 2>());
  for (; j + lane_count <= columns; j += lane_count) subtract(j, std::integral_constant<int, 1>());
  for (; j < columns; ++j)
    for (int i = 0; i < rows; ++i)
      for (int m = 0; m < depth; ++m)
        c[i * c_stride + j] -= a[m * a_stride + i] * b[m * b_stride + j];
}

/// c -= aᵀ b, row-major; a and b have `depth` rows. With `is_symmetric` a and b are the same, and
/// of c only what is not left of the diagonal is wanted: left of it anything may be written.
NEARBY_INLINE inline void subtract_product(const double *a, int rows, const double *b, int columns,
                                           double *c, int64_t c_stride, int depth,
                                           bool is_symmetric = false) {
  int i = 0;
  const auto first = [&] { return is_symmetric ? i : 0; };
  for (; i + lane_count <= rows; i += lane_count)
    subtract_rows<lane_count>(a + i, rows, b, columns, c + i * c_stride, c_stride, depth, first(),
                              columns);
  for (; i < rows; ++i)
    subtract_rows<1>(a + i, rows, b, columns, c + i * c_stride, c_stride, depth, first(), columns);
}

/// x = l⁻¹ x for the rows of x, where l is Cholesky's factor of a block; all row-major.
NEARBY_INLINE inline void divide_rows(const double *l, int size, double *x, int columns) {
  const auto divide = [&](int column, auto chunks) NEARBY_INLINE {
    for (int j = 0; j < size; ++j) {
      double *own = x + j * columns + column;
      Lanes sums[chunks.value];
      each<chunks.value>(
          [&](auto n) NEARBY_INLINE { sums[n.value] = at<Lanes>(own + lane_count * n.value); });
      for (int m = 0; m < j; ++m)
        each<chunks.value>([&](auto n) NEARBY_INLINE {
          sums[n.value] -=
              l[j * size + m] * at<Lanes>(x + m * columns + column + lane_count * n.value);
        });
      const double inverse = 1 / l[j * size + j];
      each<chunks.value>([&](auto n) NEARBY_INLINE {
        at<Lanes>(own + lane_count * n.value) = inverse * sums[n.value];
      });
    }
  };
  int column = 0;
  for (; column + 4 * lane_count <= columns; column += 4 * lane_count)
    divide(column, std::integral_constant<int, 4>());
  for (; column + lane_count <= columns; column += lane_count)
    divide(column, std::integral_constant<int, 1>());
  for (; column < columns; ++column)
    for (int j = 0; j < size; ++j) {
      double &own = x[j * columns + column];
      for (int m = 0; m < j; ++m) own -= l[j * size + m] * x[m * columns + column];
      own /= l[j * size + j];
    }
}

/// Everything in the workspace.
template <class S>
struct Work {
  S shape;
  System<S> linear, factor;
  double *state, *step, *scratch;
  /// Of each peer the sum of the probabilities that a value is no outlier, and their number; and
  /// the same of a trial.
  double *inliers, *trial_inliers;
  Turn *turns;
  /// The cells that are linearised at each state.
  int first_live = 0, end_live;
  /// All other cells and the prior as they were linearised, where that was, and their cost there.
  System<S> frozen;
  double *frozen_state, *frozen_cost;

  static int64_t size(const nearby_chain_problem &problem, S shape) {
    const int64_t system = System<S>::size(shape), states = shape.states();
    return 2 * system + 2 * states + 2 * shape.dense() + 4 * int64_t(shape.peers) +
           2 * int64_t(shape.knots) + (problem.live_peer >= 0 ? system + states + 1 : 0);
  }
  Work(const nearby_chain_problem &problem, S shape, double *memory)
      : shape(shape),
        linear(shape, memory),
        factor(shape, memory + System<S>::size(shape)),
        end_live(problem.cell_count),
        frozen(linear) {
    state = memory + 2 * System<S>::size(shape);
    step = state + shape.states();
    scratch = step + shape.states();
    inliers = scratch + 2 * shape.dense();
    trial_inliers = inliers + 2 * shape.peers;
    turns = reinterpret_cast<Turn *>(trial_inliers + 2 * shape.peers);
    if (problem.live_peer < 0 || !memory) return;
    frozen = System<S>(shape, trial_inliers + 2 * shape.peers + 2 * int64_t(shape.knots));
    frozen_state = frozen.diagonal + System<S>::size(shape);
    frozen_cost = frozen_state + shape.states();
    const auto is_live = [&](int cell) { return problem.cells[cell].peer == problem.live_peer; };
    while (first_live < end_live && !is_live(first_live)) ++first_live;
    while (end_live > first_live && !is_live(end_live - 1)) --end_live;
  }

  Point<S> point(const double *x) const {
    for (int k = 0; k < shape.knots; ++k) turns[k] = turn_by(x[int64_t(shape.block()) * k + 3]);
    return {shape, x, turns};
  }

  /// Adds cells to a system.
  double add(const nearby_chain_problem &problem, int first, int end, const Point<S> &at,
             const System<S> &system) {
    double cost = 0;
    on_this_processor(
        [&]() NEARBY_INLINE { cost = add_cells(problem, first, end, at, system, inliers); });
    return cost;
  }

  /// The normal equations at a state, and its cost.
  double linearize(const nearby_chain_problem &problem, const double *x) {
    const Point<S> at = point(x);
    std::fill_n(inliers, 2 * shape.peers, 0.0);
    double cost = 0;
    if (problem.live_peer < 0) {
      linear.clear();
      cost = add_prior(problem, at, linear, scratch) + add_variances(problem, at, linear);
    } else {
      linear.copy(frozen);
      on_this_processor([&]() NEARBY_INLINE { cost = *frozen_cost + leave_frozen(x); });
    }
    cost += add_process(problem, at, linear);
    if (shape.movers > 0) cost += add_motions(problem, at, linear);
    if (shape.clocks > 0) cost += add_clocks(problem, at, linear);
    cost += add(problem, first_live, end_live, at, linear);
    if (problem.difference_count > 0) cost += add_differences(problem, at, linear, inliers);
    if (problem.held_peer >= 0) cost += add_hold(problem, at, linear);
    return cost;
  }

  /// Linearises at the state that the step leads to; returns the cost there.
  ///
  /// Performance: the factor is not needed any more, and its memory gets the normal equations.
  double attempt(const nearby_chain_problem &problem, const double *from) {
    for (int i = 0; i < shape.states(); ++i) state[i] = from[i] + step[i];
    exchange();
    const double cost = linearize(problem, state);
    exchange();
    return cost;
  }

  /// Makes the normal equations of an attempt those that are solved.
  void exchange() {
    std::swap(linear, factor);
    std::swap(inliers, trial_inliers);
  }

  /// Linearises at a state what is not live.
  void freeze(const nearby_chain_problem &problem, const double *x) {
    const Point<S> at = point(x);
    std::copy_n(x, shape.states(), frozen_state);
    frozen.clear();
    *frozen_cost = add_prior(problem, at, frozen, scratch) + add_variances(problem, at, frozen) +
                   add(problem, 0, first_live, at, frozen) +
                   add(problem, end_live, problem.cell_count, at, frozen);
  }

  /// The gradient of what is frozen at another state: H d is taken from it, where d is the way
  /// there. Returns by how much its cost changes.
  NEARBY_INLINE double leave_frozen(const double *x) {
    const int b = shape.block(), border = shape.border(), states = shape.states();
    double *way = step, *ways = step + int64_t(b) * shape.knots, *own = &linear.own_rhs(0);
    for (int i = 0; i < states; ++i) way[i] = x[i] - frozen_state[i];
    for (int k = 0; k < shape.knots; ++k) {
      const bool has_next = k + 1 < shape.knots;
      for (int i = 0; i < b; ++i) {
        const double moved = way[k * b + i];
        double pull = product(frozen.block(k) + i * b, way + k * b, b) +
                      product(frozen.row(k, i), ways, border);
        if (has_next) {
          pull += product(frozen.tie(k) + i * b, way + (k + 1) * b, b);
          axpy(-moved, frozen.tie(k) + i * b, linear.rhs(k + 1), b);
        }
        linear.rhs(k)[i] -= pull;
        axpy(-moved, frozen.row(k, i), own, border);
      }
    }
    for (int j = 0; j < border; ++j) {
      const int below = border - j - 1;
      const double *column = &frozen.own(j, j);
      own[j] -= column[0] * ways[j] + product(column + 1, ways + j + 1, below);
      axpy(-ways[j], column + 1, own + j + 1, below);
    }
    // The gradient is linear in between: its mean times the way.
    const auto gained = [](const double *x, const double *a, const double *b, int count) {
      double gain = 0;
      for (int i = 0; i < count; ++i) gain += 0.5 * x[i] * (a[i] + b[i]);
      return gain;
    };
    return -gained(way, frozen.gradient, linear.gradient, b * shape.knots) -
           gained(ways, &frozen.own_rhs(0), own, border);
  }

  /// Cholesky's factor of a knot's block, by which the same rows of all that lies to the right are
  /// divided. `false` when the block is singular.
  NEARBY_INLINE bool factorize(int k) {
    const int b = shape.block(), border = shape.border();
    double *l = factor.block(k);
    for (int j = 0; j < b; ++j) {
      double pivot = l[j * b + j];
      for (int m = 0; m < j; ++m) pivot -= l[j * b + m] * l[j * b + m];
      if (!(pivot > 0)) return false;
      const double root = std::sqrt(pivot), inverse = 1 / root;
      l[j * b + j] = root;
      for (int i = j + 1; i < b; ++i) {
        double sum = l[i * b + j];
        for (int m = 0; m < j; ++m) sum -= l[i * b + m] * l[j * b + m];
        l[i * b + j] = sum * inverse;
      }
    }
    divide_rows(l, b, factor.tie(k), b);
    divide_rows(l, b, factor.row(k, 0), border);
    divide_rows(l, b, factor.rhs(k), 1);
    return true;
  }

  /// Takes from the border's own equations what a knot has explained of them: the rows of the knot
  /// in the border, each times itself.
  ///
  /// What stands above the diagonal is written, too, and never read.
  NEARBY_INLINE void reduce_border(int k) {
    const int b = shape.block(), border = shape.border();
    const double *rows = factor.row(k, 0), *rhs = factor.rhs(k);
    subtract_product(rows, border, rows, border, &factor.own(0, 0), shape.dense(), b, true);
    for (int m = 0; m < b; ++m) axpy(-rhs[m], rows + m * border, &factor.own_rhs(0), border);
  }

  /// Eliminates all knots but the last by their Schur complements, which leaves dense normal
  /// equations of the last knot and the border. `false` when a block is singular.
  bool eliminate(double damping) {
    bool is_regular = true;
    on_this_processor([&]() NEARBY_INLINE { is_regular = eliminate_knots(damping); });
    if (!is_regular) return false;
    const int b = shape.block(), border = shape.border();
    const int last = shape.knots - 1, size = shape.dense();
    for (int i = 0; i < b; ++i) {
      for (int j = 0; j < b; ++j)
        factor.dense[int64_t(j) * size + i] = factor.block(last)[i * b + j];
      for (int j = 0; j < border; ++j)
        factor.dense[int64_t(i) * size + b + j] = factor.row(last, i)[j];
      factor.dense_gradient[i] = factor.rhs(last)[i];
    }
    return true;
  }

  NEARBY_INLINE bool eliminate_knots(double damping) {
    factor.copy(linear);
    const int b = shape.block(), border = shape.border();
    if (damping > 0) {
      for (int k = 0; k < shape.knots; ++k)
        for (int i = 0; i < b; ++i) factor.block(k)[i * b + i] *= 1 + damping;
      for (int i = 0; i < border; ++i) factor.own(i, i) *= 1 + damping;
    }
    for (int k = 0; k + 1 < shape.knots; ++k) {
      if (!factorize(k)) return false;
      const double *tie = factor.tie(k), *rhs = factor.rhs(k);
      subtract_product(tie, b, tie, b, factor.block(k + 1), b, b);
      subtract_product(tie, b, factor.row(k, 0), border, factor.row(k + 1, 0), border, b);
      for (int m = 0; m < b; ++m) axpy(-rhs[m], tie + m * b, factor.rhs(k + 1), b);
      reduce_border(k);
    }
    return true;
  }

  /// Cholesky's factor of all. `false` when the equations are singular.
  bool factorize_all(double damping) {
    if (!eliminate(damping)) return false;
    auto matrix = factor.matrix();
    return Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(matrix).info() == Eigen::Success;
  }

  /// Solves the normal equations for `step`; returns half of its product with the gradient, which
  /// is how much it promises to lower the cost. Not a number when they are singular.
  double solve(double damping) {
    if (!factorize_all(damping)) return NAN;
    const auto lower = factor.matrix().template triangularView<Eigen::Lower>();
    auto rhs = factor.vector();
    lower.solveInPlace(rhs);
    lower.transpose().solveInPlace(rhs);
    double promise = 0;
    on_this_processor([&]() NEARBY_INLINE { promise = substitute(); });
    return promise;
  }

  /// The step of all knots from that of the last one and the border.
  NEARBY_INLINE double substitute() {
    const int b = shape.block(), last = shape.knots - 1, border = shape.border();
    double *constants = step + int64_t(b) * shape.knots;
    std::copy_n(factor.dense_gradient, b, step + int64_t(b) * last);
    std::copy_n(factor.dense_gradient + b, border, constants);
    for (int k = last - 1; k >= 0; --k) {
      const double *l = factor.block(k), *later = step + int64_t(b) * (k + 1);
      double *own = step + int64_t(b) * k;
      for (int i = b - 1; i >= 0; --i) {
        double sum = factor.rhs(k)[i] - product(factor.tie(k) + i * b, later, b) -
                     product(factor.row(k, i), constants, border);
        for (int j = i + 1; j < b; ++j) sum -= l[j * b + i] * own[j];
        own[i] = sum / l[i * b + i];
      }
    }
    const double promise = product(step, linear.gradient, b * shape.knots) +
                           product(constants, &linear.own_rhs(0), border);
    return 0.5 * promise;
  }

  /// The covariance of the last knot and the border, by the factor that is at hand.
  void invert(double *covariance) {
    Square inverse(covariance, shape.dense(), shape.dense());
    inverse.setIdentity();
    const auto lower = factor.matrix().template triangularView<Eigen::Lower>();
    lower.solveInPlace(inverse);
    lower.transpose().solveInPlace(inverse);
  }

  double log_determinant() const {
    const int b = shape.block();
    double sum = 0;
    for (int k = 0; k + 1 < shape.knots; ++k)
      for (int i = 0; i < b; ++i) sum += std::log(factor.block(k)[i * b + i]);
    for (int i = 0; i < shape.dense(); ++i)
      sum += std::log(factor.dense[int64_t(i) * shape.dense() + i]);
    return 2 * sum;
  }

  /// The covariances of each knot, and of it with the border, from the last knot to the first.
  ///
  /// With L the factor of a knot's block and W what ties it to the next knot and the border, whose
  /// covariance is Σ: `x = L⁻ᵀ (r - W y)`, hence `L⁻ᵀ (I + W Σ Wᵀ) L⁻¹` for the knot and
  /// `-L⁻ᵀ W Σ` with those. `covariance` is that of the last knot and the border, and is used up.
  void marginals(double *covariance, double *knots) {
    const int64_t stride = int64_t(shape.block()) * shape.dense();
    const Square sigma(covariance, shape.dense(), shape.dense());
    Rows(knots + stride * (shape.knots - 1), shape.block(), shape.dense()) =
        sigma.topRows(shape.block());
    go_back(covariance, [&](int k, const Rows &own, const Rows &) {
      Rows(knots + stride * k, shape.block(), shape.dense()) = own;
    });
  }

  /// Goes from the last knot but one to the first. Calls `use(k, own, tied)` with the covariances
  /// of a knot with itself and the border, and with the next knot and the border. `covariance` is
  /// that of the last knot and the border, and becomes that of the first.
  template <class Use>
  void go_back(double *covariance, Use use) {
    const int b = shape.block(), border = shape.border(), size = shape.dense();
    const int64_t stride = int64_t(b) * size;
    Square sigma(covariance, size, size);
    // The equations that were factorised are not needed any more.
    Rows tied(linear.diagonal, b, size), product(linear.diagonal + stride, b, size);
    Rows out(linear.diagonal + 2 * stride, b, size);
    Square transposed(linear.diagonal + 3 * stride, b, b);
    for (int k = shape.knots - 2; k >= 0; --k) {
      tied.leftCols(b) = Rows(factor.tie(k), b, b);
      tied.rightCols(border) = Rows(factor.row(k, 0), b, border);
      product.noalias() = tied * sigma;
      out.leftCols(b).setIdentity();
      out.leftCols(b).noalias() += product * tied.transpose();
      out.rightCols(border) = -product.rightCols(border);
      const Rows block(factor.block(k), b, b);
      const auto lower = block.template triangularView<Eigen::Lower>();
      lower.transpose().solveInPlace(out);
      transposed = out.leftCols(b).transpose();
      lower.transpose().solveInPlace(transposed);
      out.leftCols(b) = transposed;
      product = -product;
      lower.transpose().solveInPlace(product);
      use(k, out, product);
      sigma.topRows(b) = out;
      sigma.leftCols(b).bottomRows(border) = out.rightCols(border).transpose();
    }
  }

  /// The posterior means and variances of the innovations between knots
  /// (`nearby_chain_innovations`).
  void measure(const nearby_chain_problem &problem, const double *x, double *covariance,
               double *innovations, double *first) {
    const Point<S> at = point(x);
    const int b = shape.block(), size = shape.dense(), count = shape.innovations();
    // The covariance of the next knot and the border.
    const Square next(covariance, size, size);
    go_back(covariance, [&](int k, const Rows &own, const Rows &tied) {
      const auto covary = [&](Row::Part p, int i, Row::Part q, int j) {
        if (p == Row::border && q == Row::border) return next(b + i, b + j);
        if (p == Row::border) std::swap(p, q), std::swap(i, j);
        if (q == Row::border) return p == Row::here ? own(i, b + j) : next(i, b + j);
        if (p != q) return p == Row::here ? tied(i, j) : tied(j, i);
        return p == Row::here ? own(i, j) : next(i, j);
      };
      double *out = innovations + 2 * int64_t(count) * k;
      const auto use = [&](int i, const Innovation &found) {
        double variance = 0;
        const Row &row = found.row;
        for (int m = 0; m < row.count; ++m)
          for (int n = 0; n < row.count; ++n)
            variance += row.value[m] * row.value[n] *
                        covary(row.part[m], row.index[m], row.part[n], row.index[n]);
        out[2 * i] = found.value;
        out[2 * i + 1] = variance;
      };
      odometry_innovations(problem, at, k, use);
      if (shape.has_errors)
        error_innovations(problem, at, k,
                          [&](int i, const Innovation &found) { use(drift_size + i, found); });
    });
    for (int p = 0; shape.has_errors && p < shape.peers; ++p)
      first[p] = next(shape.place_error(p), shape.place_error(p));
  }
};

/// Calls a function with the workspace of a problem.
template <class Body>
auto with_work(const nearby_chain_problem &problem, double *workspace, Body body) {
  const Constants constants(problem.constants);
  if (problem.mover_count > 0 || problem.clock_count > 0 || problem.has_range_errors) {
    using S = Shape<true>;
    return body(Work<S>(problem,
                        S{problem.knot_count, problem.peer_count, problem.mover_count,
                          problem.clock_count, constants, problem.has_range_errors != 0},
                        workspace));
  }
  using S = Shape<false>;
  return body(Work<S>(problem, S{problem.knot_count, problem.peer_count, 0, 0, constants, false},
                      workspace));
}

template <class S>
nearby_chain_result fit(Work<S> &work, const nearby_chain_problem &problem, double *state,
                        int most_iterations, double tolerance, double *covariance,
                        double *inlier_shares) {
  nearby_chain_result result{work.linearize(problem, state), 0, 0};
  // Where a place enters at second order a step is easily too long by a hundred, and the next one,
  // too: damping grows fast, and stays while steps gain much less than they promise.
  constexpr double first_damping = 1e-3, most_damping = 1e6, more = 100, less = 0.03;
  constexpr double poor_gain = 0.25;
  double damping = 0;
  while (std::isfinite(result.cost)) {
    const double promise = work.solve(damping);
    if (promise <= tolerance) {
      // So small a step is as good as its linearisation.
      for (int i = 0; i < work.shape.states(); ++i) state[i] += work.step[i];
      result.cost -= promise;
      result.has_converged = 1;
      break;
    }
    if (result.iterations == most_iterations) break;
    ++result.iterations;
    const double trial_cost = std::isfinite(promise) ? work.attempt(problem, state) : infinity;
    if (trial_cost < result.cost) {
      const double gain = (result.cost - trial_cost) / promise;
      std::copy_n(work.state, work.shape.states(), state);
      work.exchange();
      result.cost = trial_cost;
      if (gain > poor_gain) damping = damping > first_damping ? less * damping : 0;
    } else {
      damping = std::max(first_damping, more * damping);
      if (damping > most_damping) break;
    }
  }
  if (inlier_shares)
    for (int i = 0; i < work.shape.peers; ++i)
      inlier_shares[i] = work.inliers[2 * i] / std::max(work.inliers[2 * i + 1], 1.0);
  if (!covariance) return result;
  const bool is_solved = result.has_converged && damping == 0;
  if (!std::isfinite(result.cost) || (!is_solved && !std::isfinite(work.solve(0)))) {
    result.cost = infinity;
    return result;
  }
  // The factor is that of the last solution.
  work.invert(covariance);
  return result;
}

}  // namespace

int64_t nearby_chain_workspace(const nearby_chain_problem *problem) {
  return with_work(*problem, nullptr,
                   [&](const auto &work) { return work.size(*problem, work.shape); });
}

void nearby_chain_freeze(const nearby_chain_problem *problem, const double *state,
                         double *workspace) {
  with_work(*problem, workspace, [&](auto work) { work.freeze(*problem, state); });
}

double nearby_chain_cost(const nearby_chain_problem *problem, const double *state,
                         double *workspace, double *gradient) {
  return with_work(*problem, workspace, [&](auto work) {
    const double cost = work.linearize(*problem, state);
    // The normal equations have it with the other sign.
    const int knots = work.shape.block() * work.shape.knots;
    for (int i = 0; i < knots; ++i) gradient[i] = -work.linear.gradient[i];
    for (int i = 0; i < work.shape.border(); ++i) gradient[knots + i] = -work.linear.own_rhs(i);
    return cost;
  });
}

void nearby_chain_range_residuals(const nearby_chain_problem *problem, const double *state,
                                  double *workspace, double *residuals) {
  with_work(*problem, workspace, [&](auto work) {
    const auto at = work.point(state);
    on_this_processor([&]() NEARBY_INLINE { find_range_residuals(*problem, at, residuals); });
  });
}

nearby_chain_result nearby_chain_fit(const nearby_chain_problem *problem, double *state,
                                     int32_t most_iterations, double tolerance, double *workspace,
                                     double *covariance, double *inlier_shares) {
  return with_work(*problem, workspace, [&](auto work) {
    return fit(work, *problem, state, most_iterations, tolerance, covariance, inlier_shares);
  });
}

int32_t nearby_chain_marginalize(const nearby_chain_problem *problem, const double *state,
                                 double *workspace, double *information, double *gradient) {
  return with_work(*problem, workspace, [&](auto work) {
    if (!std::isfinite(work.linearize(*problem, state)) || !work.eliminate(0)) return 0;
    const int size = work.shape.dense();
    Square full(information, size, size);
    full = work.factor.matrix().template selfadjointView<Eigen::Lower>();
    std::copy_n(work.factor.dense_gradient, size, gradient);
    return 1;
  });
}

nearby_chain_evidence nearby_chain_covariances(const nearby_chain_problem *problem,
                                               const double *state, double *workspace,
                                               double *covariance, double *knots) {
  return with_work(*problem, workspace, [&](auto work) {
    nearby_chain_evidence evidence{work.linearize(*problem, state), 0, 0};
    if (!std::isfinite(evidence.cost) || !work.factorize_all(0)) return evidence;
    evidence.log_determinant = work.log_determinant();
    evidence.is_regular = 1;
    work.invert(covariance);
    if (knots) work.marginals(covariance, knots);
    return evidence;
  });
}

nearby_chain_evidence nearby_chain_innovations(const nearby_chain_problem *problem,
                                               const double *state, double *workspace,
                                               double *covariance, double *innovations,
                                               double *first) {
  return with_work(*problem, workspace, [&](auto work) {
    nearby_chain_evidence evidence{work.linearize(*problem, state), 0, 0};
    if (!std::isfinite(evidence.cost) || !work.factorize_all(0)) return evidence;
    evidence.log_determinant = work.log_determinant();
    evidence.is_regular = 1;
    work.invert(covariance);
    work.measure(*problem, state, covariance, innovations, first);
    return evidence;
  });
}

int32_t nearby_is_positive_definite(int32_t size, const double *matrix) {
  // Row by row or column by column is the same, as it is symmetric.
  const Eigen::Map<const Eigen::MatrixXd> full(matrix, size, size);
  return Eigen::LLT<Eigen::MatrixXd>(full).info() == Eigen::Success;
}
