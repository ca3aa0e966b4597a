// SPDX-License-Identifier: Apache-2.0
//
// The terms of a chain's cost but for its cells: what is known from before, the odometry, moving
// peers, and a peer that is held.

#pragma once

#include <algorithm>
#include <cmath>

#include "System.hpp"

namespace nearby::chain {

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

inline Turn turn_by(double radians) { return {std::sin(radians), std::cos(radians)}; }

/// A state, and the turns at its knots.
template <class S>
struct Point {
  S shape;
  const double *state;
  const Turn *turns;

  const double *knot(int k) const { return state + int64_t(shape.block()) * k; }
  /// A moving peer at a knot: place and velocity.
  const double *motion(int k, int mover) const {
    return knot(k) + drift_size + motion_size * mover;
  }
  const double *border() const { return state + int64_t(shape.block()) * shape.knots; }
  const double *peer(int p) const { return border() + shape.peer(p); }
  /// A constant of the device by its place in the border; zero if it is not unknown.
  double constant(int place) const { return place < 0 ? 0 : border()[place]; }
};

/// What an interval says of an innovation: its value at a state, its variance, and its derivatives.
struct Innovation {
  double value, variance;
  Row row;
};

/// The odometry from a knot to the next, with s its scale error and ω its steady turn, over a time
/// t: (c' - c) / (1 + s) = R(ψ + ω t / 2) Δ, where Δ is the step, and ψ' = ψ + ω t, each with its
/// variance. Calls `use(i, innovation)` for the three of the place and that of yaw.
template <class S, class Use>
void odometry_innovations(const nearby_chain_problem &problem, const Point<S> &at, int k, Use use) {
  const int errors = at.shape.constants.odometry;
  const bool has_errors = errors >= 0;
  const double turn_rate = at.constant(errors);
  const double scale = 1 + (has_errors ? at.border()[errors + 1] : 0);
  const nearby_chain_knot &from = problem.knots[k];
  const double *a = at.knot(k), *b = at.knot(k + 1);
  double moved[3];
  const Turn turn = has_errors ? turn_by(a[3] + 0.5 * turn_rate * from.seconds) : at.turns[k];
  turn.act(from.step, moved);
  // up × moved, its derivative by yaw.
  const double swing[3] = {moved[2], 0, -moved[0]};
  const double shrink = 1 / scale;
  for (int i = 0; i < 3; ++i) {
    const double way = shrink * (b[i] - a[i]);
    Innovation found{
        way - moved[i], i == 1 ? from.vertical_variance : from.horizontal_variance, {}};
    found.row.append(Row::here, i, -shrink);
    found.row.append(Row::here, 3, -swing[i]);
    found.row.append(Row::there, i, shrink);
    if (has_errors) {
      found.row.append(Row::border, errors, -0.5 * from.seconds * swing[i]);
      found.row.append(Row::border, errors + 1, -shrink * way);
    }
    use(i, found);
  }
  Innovation found{b[3] - a[3] - turn_rate * from.seconds, from.yaw_variance, {}};
  found.row.append(Row::here, 3, -1);
  found.row.append(Row::there, 3, 1);
  if (has_errors) found.row.append(Row::border, errors, -from.seconds);
  use(3, found);
}

/// The errors of ranges from a knot to the next: the one that all ranges share walks at random,
/// those that depend on the place are Gauss-Markov processes. Calls `use(i, innovation)`, the first
/// for the common one.
template <class S, class Use>
void error_innovations(const nearby_chain_problem &problem, const Point<S> &at, int k, Use use) {
  const nearby_chain_knot &from = problem.knots[k];
  for (int i = 0; i < 1 + at.shape.peers; ++i) {
    const int index = at.shape.common_error() + i;
    const double correlation = i == 0 ? 1 : from.place_correlation;
    Innovation found{at.knot(k + 1)[index] - correlation * at.knot(k)[index],
                     i == 0 ? from.common_innovation : from.place_innovation,
                     {}};
    found.row.append(Row::here, index, -correlation);
    found.row.append(Row::there, index, 1);
    use(i, found);
  }
}

/// Adds what the odometry says between knots, and how the errors of ranges change.
template <class S>
double add_process(const nearby_chain_problem &problem, const Point<S> &at,
                   const System<S> &system) {
  double cost = 0;
  for (int k = 0; k + 1 < problem.knot_count; ++k) {
    const auto use = [&](int, const Innovation &found) {
      const double weight = 1 / found.variance;
      add(system, k, found.row, -weight * found.value, weight);
      cost += 0.5 * found.value * found.value * weight;
    };
    odometry_innovations(problem, at, k, use);
    if (at.shape.has_errors) error_innovations(problem, at, k, use);
  }
  return cost;
}

/// Adds the priors of constants and of the first knot's place errors whose variances are given
/// apart.
template <class S>
double add_variances(const nearby_chain_problem &problem, const Point<S> &at,
                     const System<S> &system) {
  double cost = 0;
  const int constants = problem.constant_variance ? at.shape.constants.count : 0;
  for (int i = 0; i < constants; ++i) {
    if (problem.constant_variance[i] <= 0) continue;
    const double weight = 1 / problem.constant_variance[i], value = at.border()[i];
    system.own(i, i) += weight;
    system.own_rhs(i) -= weight * value;
    cost += 0.5 * weight * value * value;
  }
  if (!at.shape.has_errors || !problem.first_error_variance) return cost;
  const int b = at.shape.block();
  for (int p = 0; p < at.shape.peers; ++p) {
    if (problem.first_error_variance[p] <= 0) continue;
    const int index = at.shape.place_error(p);
    const double weight = 1 / problem.first_error_variance[p], value = at.knot(0)[index];
    system.block(0)[index * b + index] += weight;
    system.rhs(0)[index] -= weight * value;
    cost += 0.5 * weight * value * value;
  }
  return cost;
}

/// The information of the step of a place and its velocity from one knot to the next.
///
/// With `s = v' - φ v` and `r = p' - p - ρ v` of covariance Q the cost is that of `s`, of variance
/// Q_ss, and of `r - k s`, k = Q_rs/Q_ss, of variance Q_rr - k Q_rs: two rows that are independent
/// of each other.
struct Step {
  double correlation, reach, coupling, place_variance, velocity_variance;
};

/// Adds the step of a place and its velocity, which stand at `p` and `v` in the blocks of a knot
/// and the next.
template <class S>
double add_step(const System<S> &system, int knot, const double *here, const double *there, int p,
                int v, const Step &step) {
  const double changed = there[v] - step.correlation * here[v];
  const double displaced = there[p] - here[p] - step.reach * here[v];
  Row place, velocity;
  place.append(Row::here, p, -1);
  place.append(Row::here, v, step.coupling * step.correlation - step.reach);
  place.append(Row::there, p, 1);
  place.append(Row::there, v, -step.coupling);
  velocity.append(Row::here, v, -step.correlation);
  velocity.append(Row::there, v, 1);
  const double innovations[2] = {step.coupling * changed - displaced, -changed};
  const double weights[2] = {1 / step.place_variance, 1 / step.velocity_variance};
  add(system, knot, place, weights[0] * innovations[0], weights[0]);
  add(system, knot, velocity, weights[1] * innovations[1], weights[1]);
  double cost = 0;
  for (int j = 0; j < 2; ++j) cost += 0.5 * innovations[j] * innovations[j] * weights[j];
  return cost;
}

/// Moving peers between knots: an Ornstein-Uhlenbeck velocity.
template <class S>
double add_motions(const nearby_chain_problem &problem, const Point<S> &at,
                   const System<S> &system) {
  double cost = 0;
  for (int k = 0; k + 1 < problem.knot_count; ++k) {
    const nearby_chain_motion &motion = problem.motions[k];
    for (int mover = 0; mover < problem.mover_count; ++mover) {
      const int first = drift_size + motion_size * mover;
      for (int i = 0; i < 3; ++i)
        cost += add_step(system, k, at.knot(k), at.knot(k + 1), first + i, first + 3 + i,
                         {motion.correlation, motion.reach, motion.coupling,
                          problem.speed_variance[i] * motion.position_variance,
                          problem.speed_variance[i] * motion.velocity_variance});
    }
  }
  return cost;
}

/// Clocks between knots: a rate that walks at random, with q its variance per second. Over a time t
/// the covariance of error and rate is q [t³/3, t²/2; t²/2, t].
template <class S>
double add_clocks(const nearby_chain_problem &problem, const Point<S> &at,
                  const System<S> &system) {
  // Never taken for surer than this: 1 µm and 1 µm/s.
  constexpr double least_variance = 1e-12;
  double cost = 0;
  for (int k = 0; k + 1 < problem.knot_count; ++k) {
    const double t = problem.knots[k].seconds, walk = problem.clock_walk * t;
    const Step step = {1, t, t / 2, std::max(walk * t * t / 12, least_variance),
                       std::max(walk, least_variance)};
    for (int clock = 0; clock < problem.clock_count; ++clock) {
      const int first = system.shape.clock(clock);
      cost += add_step(system, k, at.knot(k), at.knot(k + 1), first, first + 1, step);
    }
  }
  return cost;
}

/// Adds what is known from before of the first knot and of the border.
template <class S>
double add_prior(const nearby_chain_problem &problem, const Point<S> &at, const System<S> &system,
                 double *scratch) {
  const int size = system.shape.dense(), b = system.shape.block();
  double *away = scratch, *force = scratch + size;
  for (int i = 0; i < size; ++i)
    away[i] = (i < b ? at.state[i] : at.border()[i - b]) - problem.origin[i];
  const Eigen::Map<const Eigen::MatrixXd> information(problem.information, size, size);
  const Eigen::Map<const Eigen::VectorXd> gradient(problem.gradient, size);
  const Column a(away, size);
  Column f(force, size);
  f.noalias() = information * a;
  const double cost = 0.5 * a.dot(f) - gradient.dot(a);
  f = gradient - f;
  for (int i = 0; i < b; ++i) {
    for (int j = 0; j < b; ++j) system.block(0)[i * b + j] += information(i, j);
    for (int j = b; j < size; ++j) system.row(0, i)[j - b] += information(i, j);
    system.rhs(0)[i] += force[i];
  }
  for (int j = b; j < size; ++j) {
    for (int i = j; i < size; ++i) system.own(i - b, j - b) += information(i, j);
    system.own_rhs(j - b) += force[j];
  }
  return cost;
}

/// Holds a peer along a direction, as if it were known to a tenth of a millimetre there.
template <class S>
double add_hold(const nearby_chain_problem &problem, const Point<S> &at, const System<S> &system) {
  constexpr double held_information = 1e8;
  const double *peer = at.peer(problem.held_peer), *n = problem.held_direction;
  const int first = system.shape.peer(problem.held_peer);
  const double off = problem.held_place - (n[0] * peer[0] + n[1] * peer[1] + n[2] * peer[2]);
  for (int column = 0; column < 3; ++column) {
    for (int row = column; row < 3; ++row)
      system.own(first + row, first + column) += held_information * n[row] * n[column];
    system.own_rhs(first + column) += held_information * n[column] * off;
  }
  return 0.5 * held_information * off * off;
}

}  // namespace nearby::chain
