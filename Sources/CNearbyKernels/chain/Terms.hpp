// SPDX-License-Identifier: Apache-2.0
//
// The terms of a chain's cost: what is known from before, the odometry, moving peers, and cells.

#pragma once

#include <algorithm>
#include <cmath>

#include "../models/Faults.hpp"
#include "../models/Models.hpp"
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

/// The odometry between knots, with s its scale error and ω its steady turn, over a time t:
/// c' - c = (1 + s) R(ψ + ω t / 2) Δ, where Δ is the step, and ψ' = ψ + ω t, each with its
/// variance.
template <class S>
double add_odometry(const nearby_chain_problem &problem, const Point<S> &at,
                    const System<S> &system) {
  double cost = 0;
  const int errors = at.shape.constants.odometry;
  const bool has_errors = errors >= 0;
  const double turn_rate = at.constant(errors);
  const double scale = 1 + (has_errors ? at.border()[errors + 1] : 0);
  for (int k = 0; k + 1 < problem.knot_count; ++k) {
    const nearby_chain_knot &from = problem.knots[k];
    const double *a = at.knot(k), *b = at.knot(k + 1);
    double moved[3];
    const Turn turn = has_errors ? turn_by(a[3] + 0.5 * turn_rate * from.seconds) : at.turns[k];
    turn.act(from.step, moved);
    // up × moved, its derivative by yaw.
    const double swing[3] = {scale * moved[2], 0, -scale * moved[0]};
    for (int i = 0; i < 3; ++i) {
      Row row;
      row.append(Row::here, i, -1);
      row.append(Row::here, 3, -swing[i]);
      row.append(Row::there, i, 1);
      if (has_errors) {
        row.append(Row::border, errors, -0.5 * from.seconds * swing[i]);
        row.append(Row::border, errors + 1, -moved[i]);
      }
      const double innovation = scale * moved[i] - (b[i] - a[i]);
      const double weight = 1 / (i == 1 ? from.vertical_variance : from.horizontal_variance);
      add(system, k, row, innovation, weight);
      cost += 0.5 * innovation * innovation * weight;
    }
    Row row;
    row.append(Row::here, 3, -1);
    row.append(Row::there, 3, 1);
    if (has_errors) row.append(Row::border, errors, -from.seconds);
    const double innovation = a[3] + turn_rate * from.seconds - b[3];
    const double weight = 1 / from.yaw_variance;
    add(system, k, row, innovation, weight);
    cost += 0.5 * innovation * innovation * weight;
  }
  return cost;
}

/// Moving peers between knots: an Ornstein-Uhlenbeck velocity.
///
/// With `s = v' - φ v` and `r = p' - p - ρ v` of covariance Q the cost is that of `s`, of variance
/// Q_ss, and of `r - k s`, k = Q_rs/Q_ss, of variance Q_rr - k Q_rs: two rows for each axis that
/// are independent of each other.
template <class S>
double add_motions(const nearby_chain_problem &problem, const Point<S> &at,
                   const System<S> &system) {
  double cost = 0;
  for (int k = 0; k + 1 < problem.knot_count; ++k) {
    const nearby_chain_motion &motion = problem.motions[k];
    for (int mover = 0; mover < problem.mover_count; ++mover) {
      const double *a = at.motion(k, mover), *b = at.motion(k + 1, mover);
      const int first = drift_size + motion_size * mover;
      for (int i = 0; i < 3; ++i) {
        const double changed = b[3 + i] - motion.correlation * a[3 + i];
        const double displaced = b[i] - a[i] - motion.reach * a[3 + i];
        Row place, velocity;
        place.append(Row::here, first + i, -1);
        place.append(Row::here, first + 3 + i, motion.coupling * motion.correlation - motion.reach);
        place.append(Row::there, first + i, 1);
        place.append(Row::there, first + 3 + i, -motion.coupling);
        velocity.append(Row::here, first + 3 + i, -motion.correlation);
        velocity.append(Row::there, first + 3 + i, 1);
        const double innovations[2] = {motion.coupling * changed - displaced, -changed};
        const double weights[2] = {1 / (problem.speed_variance[i] * motion.position_variance),
                                   1 / (problem.speed_variance[i] * motion.velocity_variance)};
        add(system, k, place, innovations[0], weights[0]);
        add(system, k, velocity, innovations[1], weights[1]);
        for (int j = 0; j < 2; ++j) cost += 0.5 * innovations[j] * innovations[j] * weights[j];
      }
    }
  }
  return cost;
}

/// The cost of one value, and its weight in the normal equations.
template <int component>
double value_cost(const nearby_chain_problem &problem, const nearby_chain_cell &cell,
                  double innovation, double &weight) {
  const double power = cell.power[component];
  const double outliers =
      component == NEARBY_RANGE ? cell.range_outlier_share : problem.outlier_share[component];
  const double precision = 1 / (cell.variance[component] * problem.widening);
  const double inlier = (1 - outliers) * normalizer * std::sqrt(precision) *
                        std::exp(-0.5 * innovation * innovation * precision);
  const double outlier =
      outlier_density<component>(innovation, 1 / problem.range_excess, 1 / problem.field_of_view);
  const double density = inlier + outliers * outlier;
  weight = power * (inlier / density) * precision;
  return -power * std::log(density);
}

/// A cell as it is seen at a state.
///
/// With an offset b of the radio's clock and a lever arm l the antenna of the odometry's world is
/// at `a - b v + R l`, where v is its velocity and R the device's rotation; the sight s of it turns
/// to `s + b ω × s` with the device's turn rate ω. Both are of first order in b.
template <class S>
struct Sight {
  const nearby_chain_cell &cell;
  const Point<S> &at;
  double shares[2];
  /// How the antenna in the fixed world swings with the yaw at either knot.
  double swing[2][3];
  /// From the antenna to the peer.
  double way[3];
  /// How long after the knot.
  double seconds;
  /// How the device moves; null unless the clock's offset is unknown.
  const nearby_chain_rate *rate = nullptr;

  Sight(const nearby_chain_problem &problem, const nearby_chain_cell &cell, const Point<S> &at)
      : cell(cell), at(at), shares{1 - cell.share, cell.share}, seconds(cell.seconds) {
    const Constants &constants = at.shape.constants;
    double from[3], antenna[3] = {0, 0, 0};
    for (int i = 0; i < 3; ++i) from[i] = cell.from.antenna_in_world[i];
    if (constants.lever >= 0)
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) from[i] += at.constant(constants.lever + j) * device_axis(j)[i];
    if (constants.clock >= 0) {
      rate = &problem.rates[&cell - problem.cells];
      for (int i = 0; i < 3; ++i) from[i] -= clock_offset() * rate->velocity[i];
      seconds -= clock_offset();
    }
    for (int side = 0; side < 2; ++side) {
      const double *corrected = at.knot(cell.knot + side);
      double away[3], turned[3];
      for (int i = 0; i < 3; ++i) away[i] = from[i] - problem.knots[cell.knot + side].place[i];
      at.turns[cell.knot + side].act(away, turned);
      for (int i = 0; i < 3; ++i) antenna[i] += shares[side] * (corrected[i] + turned[i]);
      swing[side][0] = turned[2], swing[side][1] = 0, swing[side][2] = -turned[0];
    }
    for (int i = 0; i < 3; ++i) way[i] = -antenna[i];
    if (moves()) {
      const double *motion = at.motion(cell.knot, cell.mover);
      for (int i = 0; i < 3; ++i) way[i] += motion[i] + seconds * motion[3 + i];
    } else {
      const double *peer = at.peer(cell.peer);
      for (int i = 0; i < 3; ++i) way[i] += peer[i];
    }
  }

  bool moves() const { return at.shape.movers > 0 && cell.mover >= 0; }
  double clock_offset() const { return at.constant(at.shape.constants.clock); }
  /// An axis of the device in the odometry's world.
  const double *device_axis(int j) const { return cell.from.device_from_world + 3 * j; }

  /// Turns a sight s in the odometry's world by what the device turns in the clock's offset.
  void turn(double s[3]) const {
    if (!rate) return;
    double turned[3];
    cross(rate->turn, s, turned);
    for (int i = 0; i < 3; ++i) s[i] += clock_offset() * turned[i];
  }

  /// Makes the gradient g by a sight that was turned one by the sight s before, and returns the
  /// derivative by the clock's offset, g · (ω × s).
  double turn_gradient(const double s[3], double g[3]) const {
    if (!rate) return 0;
    double turned[3], back[3];
    cross(rate->turn, s, turned);
    const double derivative = g[0] * turned[0] + g[1] * turned[1] + g[2] * turned[2];
    cross(g, rate->turn, back);
    for (int i = 0; i < 3; ++i) g[i] += clock_offset() * back[i];
    return derivative;
  }

  static void cross(const double a[3], const double b[3], double result[3]) {
    result[0] = a[1] * b[2] - a[2] * b[1];
    result[1] = a[2] * b[0] - a[0] * b[2];
    result[2] = a[0] * b[1] - a[1] * b[0];
  }

  /// Adds a value whose prediction has this gradient by the peer's place, and turns with the
  /// odometry's world if it is an angle; `turning` is its derivative by a turn of the device in a
  /// clock's offset of one second.
  void add(const System<S> &system, const double gradient[3], bool is_angle, double bias,
           double scale, double turning, double innovation, double weight) const {
    // Turning the odometry's world turns the sight the other way.
    const double turned = is_angle ? -(gradient[0] * way[2] - gradient[2] * way[0]) : 0;
    double drift[2 * drift_size];
    for (int side = 0; side < 2; ++side) {
      double swung = 0;
      for (int i = 0; i < 3; ++i) {
        drift[side * drift_size + i] = -shares[side] * gradient[i];
        swung += gradient[i] * swing[side][i];
      }
      drift[side * drift_size + 3] = shares[side] * (turned - swung);
    }
    Row row;
    if (at.shape.constants.are_seen()) append_constants(row, gradient, scale, turning);
    if (!moves()) {
      const double own[peer_size] = {gradient[0], gradient[1], gradient[2], bias, scale};
      add_at_rest(system, cell.knot, cell.peer, drift, own, innovation, weight);
      if (row.count > 0)
        add_constants(system, cell.knot, cell.peer, drift, own, row, innovation, weight);
      return;
    }
    for (int i = 0; i < drift_size; ++i) {
      row.append(Row::here, i, drift[i]);
      row.append(Row::there, i, drift[drift_size + i]);
    }
    const int first = drift_size + motion_size * cell.mover, peer = at.shape.peer(cell.peer);
    for (int i = 0; i < 3; ++i) {
      row.append(Row::here, first + i, gradient[i]);
      row.append(Row::here, first + 3 + i, seconds * gradient[i]);
    }
    row.append(Row::border, peer + 3, bias);
    row.append(Row::border, peer + 4, scale);
    chain::add(system, cell.knot, row, innovation, weight);
  }

  /// The derivatives by the constants.
  void append_constants(Row &row, const double gradient[3], double scale, double turning) const {
    const Constants &constants = at.shape.constants;
    // The gradient by the antenna's place in the odometry's world.
    double by_antenna[3] = {0, 0, 0};
    for (int side = 0; side < 2; ++side) {
      double back[3];
      at.turns[cell.knot + side].act_back(gradient, back);
      for (int i = 0; i < 3; ++i) by_antenna[i] -= shares[side] * back[i];
    }
    const auto along = [&](const double v[3]) {
      return by_antenna[0] * v[0] + by_antenna[1] * v[1] + by_antenna[2] * v[2];
    };
    if (constants.clock >= 0) {
      double derivative = turning - along(rate->velocity);
      for (int i = 0; moves() && i < 3; ++i)
        derivative -= gradient[i] * at.motion(cell.knot, cell.mover)[3 + i];
      row.append(Row::border, constants.clock, derivative);
    }
    for (int j = 0; constants.lever >= 0 && j < 3; ++j)
      row.append(Row::border, constants.lever + j, along(device_axis(j)));
    if (constants.scale >= 0) row.append(Row::border, constants.scale, scale);
  }
};

/// Adds the values of a cell. `inliers` gets of its peer the sum of the probabilities that a value
/// is no outlier, and their number.
template <class S>
double add_cell(const nearby_chain_problem &problem, const nearby_chain_cell &cell,
                const Point<S> &at, const System<S> &system, double *inliers) {
  const Sight<S> sight(problem, cell, at);
  const double *peer = at.peer(cell.peer);
  Hypothesis<double, NEARBY_HEIGHT_STATE_SIZE> state{};
  state.mean(NEARBY_STATE_RANGE_BIAS) = peer[3];
  state.mean(NEARBY_STATE_RANGE_SCALE) = peer[4] + at.constant(at.shape.constants.scale);
  nearby_antenna_pose from = cell.from;
  for (double &coordinate : from.antenna_in_world) coordinate = 0;

  double cost = 0;
  const auto add = [&](auto component, const double gradient[3], double predicted, double range,
                       double turning) {
    constexpr int kind = component.value;
    constexpr bool is_angle = Kind<kind>::is_angle;
    double innovation = cell.value[kind] - predicted;
    if constexpr (is_angle) innovation = wrapped(innovation);
    double weight;
    cost += value_cost<kind>(problem, cell, innovation, weight);
    inliers[2 * cell.peer] += weight * cell.variance[kind] * problem.widening / cell.power[kind];
    inliers[2 * cell.peer + 1] += 1;
    sight.add(system, gradient, is_angle, kind == NEARBY_RANGE, range, turning, innovation, weight);
  };

  // What is no angle is the same in the turned world.
  for (int i = 0; i < 3; ++i) state.mean(i) = sight.way[i];
  each<NEARBY_COMPONENTS>([&](auto component) {
    if constexpr (!Kind<component>::is_angle) {
      if (!(cell.present & 1 << component)) return;
      double scale = 0;
      const auto z = linearized<component, false, double>(state, from, scale);
      const double gradient[3] = {z.gradient(0), z.gradient(1), z.gradient(2)};
      add(component, gradient, z.predicted, scale, 0);
    }
  });
  if (!(cell.present & angle_kinds)) return cost;
  const Turn turn = turn_by(sight.shares[0] * at.knot(cell.knot)[3] +
                            sight.shares[1] * at.knot(cell.knot + 1)[3]);
  double in_odometry[3];
  turn.act_back(sight.way, in_odometry);
  std::copy_n(in_odometry, 3, state.means);
  sight.turn(state.means);
  each<NEARBY_COMPONENTS>([&](auto component) {
    if constexpr (Kind<component>::is_angle) {
      if (!(cell.present & 1 << component)) return;
      double scale = 0;
      const auto z = linearized<component, false, double>(state, from, scale);
      double inner[3] = {z.gradient(0), z.gradient(1), z.gradient(2)};
      const double turning = sight.turn_gradient(in_odometry, inner);
      double gradient[3];
      turn.act(inner, gradient);
      add(component, gradient, z.predicted, 0, turning);
    }
  });
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
