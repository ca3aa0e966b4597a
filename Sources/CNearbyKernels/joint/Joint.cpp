// SPDX-License-Identifier: Apache-2.0

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../models/Faults.hpp"
#include "../models/Models.hpp"

namespace {

constexpr int knot_size = NEARBY_JOINT_KNOT_SIZE, peer_size = NEARBY_JOINT_PEER_SIZE;
constexpr double infinity = std::numeric_limits<double>::infinity();
/// A peer is held along a direction as if it were known to a tenth of a millimetre there.
constexpr double held_information = 1e8;

using Rows = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using Square = Eigen::Map<Eigen::MatrixXd>;
using Column = Eigen::Map<Eigen::VectorXd>;

/// How many unknowns there are.
struct Shape {
  int knots, peers;

  int border() const { return peer_size * peers; }
  /// The last knot and the peers: what is not eliminated.
  int dense() const { return knot_size + border(); }
  int states() const { return knot_size * knots + border(); }
};

/// The normal equations H s = g: of each knot its block, the block that ties it to the next one and
/// those that tie it to the peers; then the peers' own. Row-major but for the last, which is the
/// lower triangle, column by column, with room for the last knot before it.
struct System {
  Shape shape;
  double *diagonal, *next, *border, *gradient, *dense, *dense_gradient;

  static int64_t size(Shape shape) {
    return int64_t(shape.knots) * (2 * knot_size * knot_size + knot_size * (shape.border() + 1)) +
           int64_t(shape.dense()) * (shape.dense() + 1);
  }

  System(Shape shape, double *memory) : shape(shape) {
    const int64_t blocks = int64_t(shape.knots) * knot_size * knot_size;
    diagonal = memory;
    next = diagonal + blocks;
    border = next + blocks;
    gradient = border + int64_t(shape.knots) * knot_size * shape.border();
    dense = gradient + int64_t(shape.knots) * knot_size;
    dense_gradient = dense + int64_t(shape.dense()) * shape.dense();
  }

  void clear() { std::memset(diagonal, 0, size(shape) * sizeof(double)); }
  void copy(const System &other) {
    std::memcpy(diagonal, other.diagonal, size(shape) * sizeof(double));
  }

  double *block(int knot) const { return diagonal + knot * knot_size * knot_size; }
  double *tie(int knot) const { return next + knot * knot_size * knot_size; }
  /// The row of one unknown of a knot in the border.
  double *row(int knot, int i) const {
    return border + int64_t(knot * knot_size + i) * shape.border();
  }
  double *rhs(int knot) const { return gradient + knot * knot_size; }
  Square matrix() const { return Square(dense, shape.dense(), shape.dense()); }
  Column vector() const { return Column(dense_gradient, shape.dense()); }
};

/// A turn about gravity.
struct Turn {
  double sine, cosine;

  void act(const double v[3], double result[3]) const {
    result[0] = cosine * v[0] + sine * v[2];
    result[1] = v[1];
    result[2] = cosine * v[2] - sine * v[0];
  }
  void act_back(const double v[3], double result[3]) const {
    result[0] = cosine * v[0] - sine * v[2];
    result[1] = v[1];
    result[2] = cosine * v[2] + sine * v[0];
  }
};

Turn turn_by(double radians) { return {std::sin(radians), std::cos(radians)}; }

/// A state, and what follows from it for all cells of a knot.
struct Point {
  const double *knots, *peers;
  const Turn *turns;

  const double *knot(int k) const { return knots + knot_size * k; }
  const double *peer(int p) const { return peers + peer_size * p; }
};

/// The derivatives of one prediction by the knots about it and by its peer.
struct Row {
  double knots[2 * knot_size], peer[peer_size];
};

/// Adds a Gaussian of two neighbouring knots; `row` is its derivative by them.
void add_step(const System &system, int knot, const double *row, double innovation, double weight) {
  double *blocks[2] = {system.block(knot), system.block(knot + 1)};
  for (int i = 0; i < 2 * knot_size; ++i) {
    const double scaled = weight * row[i];
    if (scaled == 0) continue;
    const int side = i / knot_size, r = i % knot_size;
    for (int j = 0; j < knot_size; ++j)
      blocks[side][r * knot_size + j] += scaled * row[side * knot_size + j];
    if (side == 0)
      for (int j = 0; j < knot_size; ++j)
        system.tie(knot)[r * knot_size + j] += scaled * row[knot_size + j];
    system.rhs(knot + side)[r] += scaled * innovation;
  }
}

/// Adds one value of a cell.
void add_value(const System &system, int knot, int peer, const Row &row, double innovation,
               double weight) {
  add_step(system, knot, row.knots, innovation, weight);
  const int first = peer_size * peer;
  for (int i = 0; i < 2 * knot_size; ++i) {
    const double scaled = weight * row.knots[i];
    double *border = system.row(knot + i / knot_size, i % knot_size) + first;
    for (int j = 0; j < peer_size; ++j) border[j] += scaled * row.peer[j];
  }
  const int start = knot_size + first, size = system.shape.dense();
  for (int j = 0; j < peer_size; ++j) {
    const double scaled = weight * row.peer[j];
    double *column = system.dense + int64_t(start + j) * size + start;
    for (int i = j; i < peer_size; ++i) column[i] += scaled * row.peer[i];
    system.dense_gradient[start + j] += scaled * innovation;
  }
}

/// The odometry between knots: c' - c = R(ψ) (d' - d) and ψ' = ψ, each with its variance.
double add_steps(const nearby_joint_problem &problem, const Point &at, const System &system) {
  double cost = 0;
  for (int k = 0; k + 1 < problem.knot_count; ++k) {
    const nearby_joint_knot &from = problem.knots[k], &to = problem.knots[k + 1];
    const double *a = at.knot(k), *b = at.knot(k + 1);
    double step[3], moved[3];
    for (int i = 0; i < 3; ++i) step[i] = to.place[i] - from.place[i];
    at.turns[k].act(step, moved);
    const double swing[3] = {moved[2], 0, -moved[0]};  // up × moved, its derivative by yaw
    for (int i = 0; i < 3; ++i) {
      double row[2 * knot_size] = {};
      row[i] = -1;
      row[3] = -swing[i];
      row[knot_size + i] = 1;
      const double innovation = moved[i] - (b[i] - a[i]);
      const double weight = 1 / (i == 1 ? from.vertical_variance : from.horizontal_variance);
      add_step(system, k, row, innovation, weight);
      cost += 0.5 * innovation * innovation * weight;
    }
    double row[2 * knot_size] = {};
    row[3] = -1;
    row[knot_size + 3] = 1;
    const double innovation = a[3] - b[3], weight = 1 / from.yaw_variance;
    add_step(system, k, row, innovation, weight);
    cost += 0.5 * innovation * innovation * weight;
  }
  return cost;
}

/// The cost of one value, and its weight in the normal equations.
template <int component>
double value_cost(const nearby_joint_problem &problem, const nearby_joint_cell &cell,
                  double innovation, double &weight) {
  const double variance = cell.variance[component], power = cell.power[component];
  const double outliers =
      component == NEARBY_RANGE ? cell.range_outlier_share : problem.outlier_share[component];
  const double precision = 1 / variance;
  const double inlier = (1 - outliers) * nearby::normalizer * std::sqrt(precision) *
                        std::exp(-0.5 * innovation * innovation * precision);
  const double outlier = nearby::outlier_density<component>(innovation, 1 / problem.range_excess,
                                                            1 / problem.field_of_view);
  const double density = inlier + outliers * outlier;
  weight = power * (inlier / density) * precision;
  return -power * std::log(density);
}

/// Adds the values of a cell.
double add_cell(const nearby_joint_problem &problem, const nearby_joint_cell &cell, const Point &at,
                const System &system, double *inliers) {
  const int k = cell.knot;
  const double shares[2] = {1 - cell.share, cell.share};
  // The antenna in the fixed world, and how it swings with the yaw at either knot.
  double antenna[3] = {0, 0, 0}, swing[2][3];
  for (int side = 0; side < 2; ++side) {
    const double *corrected = at.knot(k + side);
    double away[3], turned[3];
    for (int i = 0; i < 3; ++i)
      away[i] = cell.from.antenna_in_world[i] - problem.knots[k + side].place[i];
    at.turns[k + side].act(away, turned);
    for (int i = 0; i < 3; ++i) antenna[i] += shares[side] * (corrected[i] + turned[i]);
    swing[side][0] = turned[2], swing[side][1] = 0, swing[side][2] = -turned[0];
  }
  const double *peer = at.peer(cell.peer);
  double sight[3];
  for (int i = 0; i < 3; ++i) sight[i] = peer[i] - antenna[i];

  nearby::Hypothesis<double, NEARBY_HEIGHT_STATE_SIZE> state{};
  state.mean(NEARBY_STATE_RANGE_BIAS) = peer[3];
  state.mean(NEARBY_STATE_RANGE_SCALE) = peer[4];
  nearby_antenna_pose from = cell.from;
  for (double &coordinate : from.antenna_in_world) coordinate = 0;

  double cost = 0;
  const auto add = [&](auto component, const double *gradient, double predicted, bool is_turned,
                       double range) {
    constexpr int kind = component.value;
    double innovation = cell.value[kind] - predicted;
    if constexpr (kind == NEARBY_AZIMUTH || kind == NEARBY_ELEVATION)
      innovation = nearby::wrapped(innovation);
    double weight;
    cost += value_cost<kind>(problem, cell, innovation, weight);
    inliers[2 * cell.peer] += weight * cell.variance[kind] / cell.power[kind];
    inliers[2 * cell.peer + 1] += 1;
    Row row{};
    // Turning the odometry's world turns the sight the other way.
    const double turned = is_turned ? -(gradient[0] * sight[2] - gradient[2] * sight[0]) : 0;
    for (int side = 0; side < 2; ++side) {
      double *knot = row.knots + side * knot_size;
      double swung = 0;
      for (int i = 0; i < 3; ++i) {
        knot[i] = -shares[side] * gradient[i];
        swung += gradient[i] * swing[side][i];
      }
      knot[3] = shares[side] * (turned - swung);
    }
    for (int i = 0; i < 3; ++i) row.peer[i] = gradient[i];
    if constexpr (kind == NEARBY_RANGE) {
      row.peer[3] = 1;
      row.peer[4] = range;
    }
    add_value(system, k, cell.peer, row, innovation, weight);
  };

  // Ranges and height differences are the same in the turned world.
  for (int i = 0; i < 3; ++i) state.mean(i) = sight[i];
  if (cell.present & 1 << NEARBY_RANGE) {
    double range;
    const auto z = nearby::RangeModel<double>::at<false>(state, from, range);
    const double gradient[3] = {z.gradient(0), z.gradient(1), z.gradient(2)};
    add(std::integral_constant<int, NEARBY_RANGE>(), gradient, z.predicted, false, range);
  }
  if (cell.present & 1 << NEARBY_HEIGHT_DIFFERENCE) {
    const auto z = nearby::HeightDifferenceModel<double>::at<false>(state, from);
    const double gradient[3] = {z.gradient(0), z.gradient(1), z.gradient(2)};
    add(std::integral_constant<int, NEARBY_HEIGHT_DIFFERENCE>(), gradient, z.predicted, false, 0);
  }
  if (cell.present & (1 << NEARBY_AZIMUTH | 1 << NEARBY_ELEVATION)) {
    const Turn turn = turn_by(shares[0] * at.knot(k)[3] + shares[1] * at.knot(k + 1)[3]);
    double in_odometry[3];
    turn.act_back(sight, in_odometry);
    for (int i = 0; i < 3; ++i) state.mean(i) = in_odometry[i];
    const auto add_angle = [&](auto component, const auto &z) {
      const double inner[3] = {z.gradient(0), z.gradient(1), z.gradient(2)};
      double gradient[3];
      turn.act(inner, gradient);
      add(component, gradient, z.predicted, true, 0);
    };
    if (cell.present & 1 << NEARBY_AZIMUTH)
      add_angle(std::integral_constant<int, NEARBY_AZIMUTH>(),
                nearby::AzimuthModel<double>::at<false>(state, from));
    if (cell.present & 1 << NEARBY_ELEVATION)
      add_angle(std::integral_constant<int, NEARBY_ELEVATION>(),
                nearby::ElevationModel<double>::at<false>(state, from));
  }
  return cost;
}

/// Adds what is known from before.
double add_anchor(const nearby_joint_problem &problem, const Point &at, const System &system,
                  double *scratch) {
  const int size = system.shape.dense(), border = system.shape.border();
  double *away = scratch, *force = scratch + size;
  for (int i = 0; i < size; ++i)
    away[i] = (i < knot_size ? at.knots[i] : at.peers[i - knot_size]) - problem.origin[i];
  const Eigen::Map<const Eigen::MatrixXd> information(problem.information, size, size);
  const Eigen::Map<const Eigen::VectorXd> gradient(problem.gradient, size);
  const Column a(away, size);
  Column f(force, size);
  f.noalias() = information * a;
  const double cost = 0.5 * a.dot(f) - gradient.dot(a);
  f = gradient - f;
  for (int i = 0; i < knot_size; ++i) {
    for (int j = 0; j < knot_size; ++j) system.block(0)[i * knot_size + j] += information(i, j);
    for (int j = 0; j < border; ++j) system.row(0, i)[j] += information(i, knot_size + j);
    system.rhs(0)[i] += force[i];
  }
  for (int j = knot_size; j < size; ++j) {
    for (int i = j; i < size; ++i) system.dense[int64_t(j) * size + i] += information(i, j);
    system.dense_gradient[j] += force[j];
  }
  return cost;
}

/// Everything in the workspace.
struct Work {
  Shape shape;
  System linear, factor;
  double *state, *step, *scratch;
  /// Of each peer the sum of the probabilities that a value is no outlier, and their number.
  double *inliers;
  Turn *turns;

  static int64_t size(Shape shape) {
    return 2 * System::size(shape) + 2 * int64_t(shape.states()) + 2 * shape.dense() +
           2 * int64_t(shape.peers) + 2 * int64_t(shape.knots);
  }
  Work(Shape shape, double *memory)
      : shape(shape), linear(shape, memory), factor(shape, memory + System::size(shape)) {
    state = memory + 2 * System::size(shape);
    step = state + shape.states();
    scratch = step + shape.states();
    inliers = scratch + 2 * shape.dense();
    turns = reinterpret_cast<Turn *>(inliers + 2 * shape.peers);
  }

  /// The normal equations at a state, and its cost.
  double linearize(const nearby_joint_problem &problem, const double *x) {
    for (int k = 0; k < shape.knots; ++k) turns[k] = turn_by(x[knot_size * k + 3]);
    const Point at{x, x + knot_size * shape.knots, turns};
    linear.clear();
    std::fill_n(inliers, 2 * shape.peers, 0.0);
    double cost = add_anchor(problem, at, linear, scratch);
    cost += add_steps(problem, at, linear);
    for (int i = 0; i < problem.cell_count; ++i)
      cost += add_cell(problem, problem.cells[i], at, linear, inliers);
    if (problem.held_peer >= 0) hold(problem, at.peer(problem.held_peer));
    return cost;
  }

  /// Holds a peer along a direction.
  void hold(const nearby_joint_problem &problem, const double *peer) {
    const int first = knot_size + peer_size * problem.held_peer;
    const double *n = problem.held_direction;
    const double off = problem.held_place - (n[0] * peer[0] + n[1] * peer[1] + n[2] * peer[2]);
    for (int column = 0; column < 3; ++column) {
      for (int row = column; row < 3; ++row)
        linear.dense[int64_t(first + column) * shape.dense() + first + row] +=
            held_information * n[row] * n[column];
      linear.dense_gradient[first + column] += held_information * n[column] * off;
    }
  }

  /// Eliminates all knots but the last: what is left is dense. `false` when it is singular.
  bool eliminate(double damping) {
    factor.copy(linear);
    const int border = shape.border();
    if (damping > 0) {
      for (int k = 0; k < shape.knots; ++k)
        for (int i = 0; i < knot_size; ++i) factor.block(k)[i * knot_size + i] *= 1 + damping;
      for (int i = 0; i < shape.dense(); ++i)
        factor.dense[int64_t(i) * shape.dense() + i] *= 1 + damping;
    }
    for (int k = 0; k + 1 < shape.knots; ++k) {
      double *l = factor.block(k), *tie = factor.tie(k), *rhs = factor.rhs(k);
      for (int j = 0; j < knot_size; ++j) {
        double pivot = l[j * knot_size + j];
        for (int m = 0; m < j; ++m) pivot -= l[j * knot_size + m] * l[j * knot_size + m];
        if (!(pivot > 0)) return false;
        const double root = std::sqrt(pivot), inverse = 1 / root;
        l[j * knot_size + j] = root;
        for (int i = j + 1; i < knot_size; ++i) {
          double sum = l[i * knot_size + j];
          for (int m = 0; m < j; ++m) sum -= l[i * knot_size + m] * l[j * knot_size + m];
          l[i * knot_size + j] = sum * inverse;
        }
        // The same row of everything to the right.
        for (int m = 0; m < j; ++m) {
          const double f = l[j * knot_size + m];
          for (int i = 0; i < knot_size; ++i) tie[j * knot_size + i] -= f * tie[m * knot_size + i];
          axpy(-f, factor.row(k, m), factor.row(k, j), border);
          rhs[j] -= f * rhs[m];
        }
        for (int i = 0; i < knot_size; ++i) tie[j * knot_size + i] *= inverse;
        scale(inverse, factor.row(k, j), border);
        rhs[j] *= inverse;
      }
      double *later = factor.block(k + 1);
      for (int m = 0; m < knot_size; ++m)
        for (int i = 0; i < knot_size; ++i) {
          const double f = tie[m * knot_size + i];
          if (f == 0) continue;
          for (int j = 0; j < knot_size; ++j)
            later[i * knot_size + j] -= f * tie[m * knot_size + j];
          axpy(-f, factor.row(k, m), factor.row(k + 1, i), border);
          factor.rhs(k + 1)[i] -= f * rhs[m];
        }
    }
    const int last = shape.knots - 1, size = shape.dense();
    const Rows rows(factor.border, knot_size * last, border);
    const Column rhs(factor.gradient, knot_size * last);
    auto matrix = factor.matrix();
    matrix.bottomRightCorner(border, border)
        .selfadjointView<Eigen::Lower>()
        .rankUpdate(rows.transpose(), -1);
    factor.vector().tail(border).noalias() -= rows.transpose() * rhs;
    for (int i = 0; i < knot_size; ++i) {
      for (int j = 0; j < knot_size; ++j)
        factor.dense[int64_t(j) * size + i] = factor.block(last)[i * knot_size + j];
      for (int j = 0; j < border; ++j)
        factor.dense[int64_t(i) * size + knot_size + j] = factor.row(last, i)[j];
      factor.dense_gradient[i] = factor.rhs(last)[i];
    }
    return true;
  }

  /// Solves the normal equations for `step`; returns half of its product with the gradient, which
  /// is how much it promises to lower the cost. Not a number when they are singular.
  double solve(double damping) {
    if (!eliminate(damping)) return NAN;
    auto matrix = factor.matrix();
    Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> cholesky(matrix);
    if (cholesky.info() != Eigen::Success) return NAN;
    const int last = shape.knots - 1, border = shape.border();
    auto rhs = factor.vector();
    cholesky.matrixL().solveInPlace(rhs);
    cholesky.matrixU().solveInPlace(rhs);
    std::copy_n(factor.dense_gradient, knot_size, step + knot_size * last);
    std::copy_n(factor.dense_gradient + knot_size, border, step + knot_size * shape.knots);
    const double *peers = step + knot_size * shape.knots;
    for (int k = last - 1; k >= 0; --k) {
      const double *l = factor.block(k), *later = step + knot_size * (k + 1);
      double *own = step + knot_size * k;
      for (int i = knot_size - 1; i >= 0; --i) {
        double sum = factor.rhs(k)[i];
        for (int j = 0; j < knot_size; ++j) sum -= factor.tie(k)[i * knot_size + j] * later[j];
        const double *row = factor.row(k, i);
        for (int j = 0; j < border; ++j) sum -= row[j] * peers[j];
        for (int j = i + 1; j < knot_size; ++j) sum -= l[j * knot_size + i] * own[j];
        own[i] = sum / l[i * knot_size + i];
      }
    }
    double promise = 0;
    for (int i = 0; i < knot_size * shape.knots; ++i) promise += step[i] * linear.gradient[i];
    for (int i = 0; i < border; ++i) promise += peers[i] * linear.dense_gradient[knot_size + i];
    return 0.5 * promise;
  }

  static void axpy(double f, const double *x, double *y, int count) {
    for (int i = 0; i < count; ++i) y[i] += f * x[i];
  }
  static void scale(double f, double *x, int count) {
    for (int i = 0; i < count; ++i) x[i] *= f;
  }
};

Shape shape_of(const nearby_joint_problem &problem) {
  return {problem.knot_count, problem.peer_count};
}

}  // namespace

int64_t nearby_joint_workspace(int32_t knots, int32_t peers) { return Work::size({knots, peers}); }

double nearby_joint_cost(const nearby_joint_problem *problem, const double *state,
                         double *workspace, double *gradient) {
  Work work(shape_of(*problem), workspace);
  const double cost = work.linearize(*problem, state);
  // The normal equations have it with the other sign.
  const int knots = knot_size * work.shape.knots;
  for (int i = 0; i < knots; ++i) gradient[i] = -work.linear.gradient[i];
  for (int i = 0; i < work.shape.border(); ++i)
    gradient[knots + i] = -work.linear.dense_gradient[knot_size + i];
  return cost;
}

nearby_joint_result nearby_joint_fit(const nearby_joint_problem *problem, double *state,
                                     int32_t most_iterations, double tolerance, double *workspace,
                                     double *covariance, double *inlier_shares) {
  Work work(shape_of(*problem), workspace);
  const int states = work.shape.states();
  nearby_joint_result result{work.linearize(*problem, state), 0, 0};
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
      trial_cost = work.linearize(*problem, work.state);
    }
    if (trial_cost < result.cost) {
      std::copy_n(work.state, states, state);
      result.cost = trial_cost;
      damping = damping > first_damping ? 0.1 * damping : 0;
    } else {
      damping = std::max(first_damping, 10 * damping);
      if (damping > most_damping) break;
      work.linearize(*problem, state);
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
  const int size = work.shape.dense();
  Square inverse(covariance, size, size);
  inverse.setIdentity();
  const auto lower = work.factor.matrix().triangularView<Eigen::Lower>();
  lower.solveInPlace(inverse);
  lower.transpose().solveInPlace(inverse);
  return result;
}

int32_t nearby_joint_marginalize(const nearby_joint_problem *problem, const double *state,
                                 double *workspace, double *information, double *gradient) {
  Work work(shape_of(*problem), workspace);
  if (!std::isfinite(work.linearize(*problem, state)) || !work.eliminate(0)) return 0;
  const int size = work.shape.dense();
  Square full(information, size, size);
  full = work.factor.matrix().selfadjointView<Eigen::Lower>();
  std::copy_n(work.factor.dense_gradient, size, gradient);
  return 1;
}
