// SPDX-License-Identifier: Apache-2.0

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "Terms.hpp"

namespace {

using namespace nearby::chain;

constexpr double infinity = std::numeric_limits<double>::infinity();

void axpy(double f, const double *x, double *y, int count) {
  for (int i = 0; i < count; ++i) y[i] += f * x[i];
}
void scale(double f, double *x, int count) {
  for (int i = 0; i < count; ++i) x[i] *= f;
}

/// Everything in the workspace.
template <class S>
struct Work {
  S shape;
  System<S> linear, factor;
  double *state, *step, *scratch;
  /// Of each peer the sum of the probabilities that a value is no outlier, and their number.
  double *inliers;
  Turn *turns;

  static int64_t size(S shape) {
    return 2 * System<S>::size(shape) + 2 * int64_t(shape.states()) + 2 * shape.dense() +
           2 * int64_t(shape.peers) + 2 * int64_t(shape.knots);
  }
  Work(S shape, double *memory)
      : shape(shape), linear(shape, memory), factor(shape, memory + System<S>::size(shape)) {
    state = memory + 2 * System<S>::size(shape);
    step = state + shape.states();
    scratch = step + shape.states();
    inliers = scratch + 2 * shape.dense();
    turns = reinterpret_cast<Turn *>(inliers + 2 * shape.peers);
  }

  /// The normal equations at a state, and its cost.
  double linearize(const nearby_chain_problem &problem, const double *x) {
    for (int k = 0; k < shape.knots; ++k) turns[k] = turn_by(x[int64_t(shape.block()) * k + 3]);
    const Point<S> at{shape, x, turns};
    linear.clear();
    std::fill_n(inliers, 2 * shape.peers, 0.0);
    double cost = add_prior(problem, at, linear, scratch);
    cost += add_odometry(problem, at, linear);
    if (shape.movers > 0) cost += add_motions(problem, at, linear);
    for (int i = 0; i < problem.cell_count; ++i)
      cost += add_cell(problem, problem.cells[i], at, linear, inliers);
    if (problem.held_peer >= 0) cost += add_hold(problem, at, linear);
    return cost;
  }

  /// Cholesky's factor of a knot's block, by which the same rows of all that lies to the right are
  /// divided. `false` when the block is singular.
  bool factorize(int k) {
    const int b = shape.block(), border = shape.border();
    double *l = factor.block(k), *tie = factor.tie(k), *rhs = factor.rhs(k);
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
      for (int m = 0; m < j; ++m) {
        const double f = l[j * b + m];
        if (f == 0) continue;
        axpy(-f, tie + m * b, tie + j * b, b);
        axpy(-f, factor.row(k, m), factor.row(k, j), border);
        rhs[j] -= f * rhs[m];
      }
      scale(inverse, tie + j * b, b);
      scale(inverse, factor.row(k, j), border);
      rhs[j] *= inverse;
    }
    return true;
  }

  /// Eliminates all knots but the last by their Schur complements, which leaves dense normal
  /// equations of the last knot and the border. `false` when a block is singular.
  bool eliminate(double damping) {
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
      double *later = factor.block(k + 1);
      for (int m = 0; m < b; ++m)
        for (int i = 0; i < b; ++i) {
          const double f = tie[m * b + i];
          if (f == 0) continue;
          axpy(-f, tie + m * b, later + i * b, b);
          axpy(-f, factor.row(k, m), factor.row(k + 1, i), border);
          factor.rhs(k + 1)[i] -= f * rhs[m];
        }
    }
    const int last = shape.knots - 1, size = shape.dense();
    const Rows rows(factor.border, int64_t(b) * last, border);
    const Column rhs(factor.gradient, int64_t(b) * last);
    auto matrix = factor.matrix();
    matrix.bottomRightCorner(border, border)
        .template selfadjointView<Eigen::Lower>()
        .rankUpdate(rows.transpose(), -1);
    factor.vector().tail(border).noalias() -= rows.transpose() * rhs;
    for (int i = 0; i < b; ++i) {
      for (int j = 0; j < b; ++j)
        factor.dense[int64_t(j) * size + i] = factor.block(last)[i * b + j];
      for (int j = 0; j < border; ++j)
        factor.dense[int64_t(i) * size + b + j] = factor.row(last, i)[j];
      factor.dense_gradient[i] = factor.rhs(last)[i];
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
    const int b = shape.block(), last = shape.knots - 1, border = shape.border();
    const auto lower = factor.matrix().template triangularView<Eigen::Lower>();
    auto rhs = factor.vector();
    lower.solveInPlace(rhs);
    lower.transpose().solveInPlace(rhs);
    double *constants = step + int64_t(b) * shape.knots;
    std::copy_n(factor.dense_gradient, b, step + int64_t(b) * last);
    std::copy_n(factor.dense_gradient + b, border, constants);
    for (int k = last - 1; k >= 0; --k) {
      const double *l = factor.block(k), *later = step + int64_t(b) * (k + 1);
      double *own = step + int64_t(b) * k;
      for (int i = b - 1; i >= 0; --i) {
        double sum = factor.rhs(k)[i];
        for (int j = 0; j < b; ++j) sum -= factor.tie(k)[i * b + j] * later[j];
        const double *row = factor.row(k, i);
        for (int j = 0; j < border; ++j) sum -= row[j] * constants[j];
        for (int j = i + 1; j < b; ++j) sum -= l[j * b + i] * own[j];
        own[i] = sum / l[i * b + i];
      }
    }
    double promise = 0;
    for (int64_t i = 0; i < int64_t(b) * shape.knots; ++i) promise += step[i] * linear.gradient[i];
    for (int i = 0; i < border; ++i) promise += constants[i] * linear.own_rhs(i);
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
    const int b = shape.block(), border = shape.border(), size = shape.dense();
    const int64_t stride = int64_t(b) * size;
    Square sigma(covariance, size, size);
    Rows(knots + stride * (shape.knots - 1), b, size) = sigma.topRows(b);
    // The equations that were factorised are not needed any more.
    Rows tied(linear.diagonal, b, size), product(linear.diagonal + stride, b, size);
    Square transposed(linear.diagonal + 2 * stride, b, b);
    for (int k = shape.knots - 2; k >= 0; --k) {
      tied.leftCols(b) = Rows(factor.tie(k), b, b);
      tied.rightCols(border) = Rows(factor.row(k, 0), b, border);
      product.noalias() = tied * sigma;
      Rows out(knots + stride * k, b, size);
      out.leftCols(b).setIdentity();
      out.leftCols(b).noalias() += product * tied.transpose();
      out.rightCols(border) = -product.rightCols(border);
      const Rows block(factor.block(k), b, b);
      const auto lower = block.template triangularView<Eigen::Lower>();
      lower.transpose().solveInPlace(out);
      transposed = out.leftCols(b).transpose();
      lower.transpose().solveInPlace(transposed);
      out.leftCols(b) = transposed;
      sigma.topRows(b) = out;
      sigma.leftCols(b).bottomRows(border) = out.rightCols(border).transpose();
    }
  }
};

/// Calls a function with the workspace of a problem.
template <class Body>
auto with_work(const nearby_chain_problem &problem, double *workspace, Body body) {
  const Constants constants(problem.constants);
  if (problem.mover_count > 0) {
    using S = Shape<true>;
    return body(Work<S>(S{problem.knot_count, problem.peer_count, problem.mover_count, constants},
                        workspace));
  }
  using S = Shape<false>;
  return body(Work<S>(S{problem.knot_count, problem.peer_count, 0, constants}, workspace));
}

template <class S>
nearby_chain_result fit(Work<S> &work, const nearby_chain_problem &problem, double *state,
                        int most_iterations, double tolerance, double *covariance,
                        double *inlier_shares) {
  const int states = work.shape.states();
  nearby_chain_result result{work.linearize(problem, state), 0, 0};
  constexpr double first_damping = 1e-3, most_damping = 1e6;
  double damping = 0;
  while (std::isfinite(result.cost)) {
    const double promise = work.solve(damping);
    if (promise <= tolerance) {
      // So small a step is as good as its linearisation.
      for (int i = 0; i < states; ++i) state[i] += work.step[i];
      result.cost -= promise;
      result.has_converged = 1;
      break;
    }
    if (result.iterations == most_iterations) break;
    ++result.iterations;
    double trial_cost = infinity;
    if (std::isfinite(promise)) {
      for (int i = 0; i < states; ++i) work.state[i] = state[i] + work.step[i];
      trial_cost = work.linearize(problem, work.state);
    }
    if (trial_cost < result.cost) {
      std::copy_n(work.state, states, state);
      result.cost = trial_cost;
      damping = damping > first_damping ? 0.1 * damping : 0;
    } else {
      damping = std::max(first_damping, 10 * damping);
      if (damping > most_damping) break;
      work.linearize(problem, state);
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
  return with_work(*problem, nullptr, [](const auto &work) { return work.size(work.shape); });
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
