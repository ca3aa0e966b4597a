// SPDX-License-Identifier: Apache-2.0
//
// The cells of a chain, as many side by side as there are lanes.

#pragma once

#include "../models/Faults.hpp"
#include "../models/Models.hpp"
#include "Terms.hpp"

namespace nearby::chain {

/// The cost of values of a kind, their weights in the normal equations, and the derivatives of the
/// cost by their innovations.
template <int component>
NEARBY_INLINE inline Lanes value_cost(const nearby_chain_problem &problem, Lanes variance,
                                      Lanes power, Lanes outliers, Lanes innovation, Lanes &weight,
                                      Lanes &force) {
  const Lanes precision = 1.0 / (variance * problem.widening);
  const Lanes inlier = (1.0 - outliers) * normalizer * root(precision) *
                       power_of_two(Lanes(half_square * innovation * innovation * precision));
  Lanes fall;
  const Lanes outlier = outlier_density<component>(innovation, Lanes(1 / problem.range_excess),
                                                   Lanes(1 / problem.field_of_view), fall);
  const Lanes density = inlier + outliers * outlier, share = power / density;
  weight = share * inlier * precision;
  force = weight * innovation + share * outliers * fall;
  return -power * logarithm(density);
}

/// The gradient of a prediction by the drift at two neighbouring knots, and by a peer's place,
/// range bias and range scale.
struct Gradient {
  Lanes here, there;
  /// By the place and the bias.
  Lanes peer;
  double scale;
};

/// Adds a scalar of a peer at rest: `weight · hᵀ h` to the matrix, `force · hᵀ` to the right-hand
/// side.
///
/// Of the peer's own block what stands above the diagonal is written, too, and never read.
template <class S>
NEARBY_INLINE inline void add_at_rest(const System<S> &system, int knot, int peer,
                                      const Gradient &h, double force, double weight) {
  static_assert(drift_size == lane_count && peer_size == lane_count + 1, "as many as lanes");
  const int b = system.shape.block(), first = system.shape.peer(peer);
  double *const tie = system.tie(knot);
  each<2>([&](auto side) NEARBY_INLINE {
    const Lanes drift = side ? h.there : h.here, scaled = weight * drift;
    double *block = system.block(knot + side);
    at<Lanes>(system.rhs(knot + side)) += force * drift;
    each<drift_size>([&](auto i) NEARBY_INLINE {
      const Lanes f = Lanes(scaled[i.value]);
      at<Lanes>(block + i * b) += f * drift;
      if (side == 0) at<Lanes>(tie + i * b) += f * h.there;
      double *border = system.row(knot + side, i) + first;
      at<Lanes>(border) += f * h.peer;
      border[lane_count] += scaled[i.value] * h.scale;
    });
  });
  const Lanes scaled = weight * h.peer;
  each<lane_count>([&](auto j) NEARBY_INLINE {
    at<Lanes>(&system.own(first, first + j)) += Lanes(scaled[j.value]) * h.peer;
    system.own(first + lane_count, first + j) += scaled[j.value] * h.scale;
  });
  system.own(first + lane_count, first + lane_count) += weight * h.scale * h.scale;
  at<Lanes>(&system.own_rhs(first)) += force * h.peer;
  system.own_rhs(first + lane_count) += force * h.scale;
}

/// The derivatives of a prediction by the device's constants, and zeros behind them.
///
/// Performance: whole vectors are added, so the last one adds zeros to the first peer's unknowns.
struct ByConstants {
  static constexpr int most = 4;
  Lanes vectors[most] = {};
  int count = 0;

  ByConstants() = default;
  static_assert(8 + direction_size <= most * lane_count, "room for every constant");
  explicit ByConstants(const Constants &constants)
      : count((constants.count + lane_count - 1) / lane_count) {}

  NEARBY_INLINE double &operator[](int i) { return reinterpret_cast<double *>(vectors)[i]; }
  NEARBY_INLINE double operator[](int i) const {
    return reinterpret_cast<const double *>(vectors)[i];
  }

  /// y += f d.
  NEARBY_INLINE void add_to(double *y, double f, int first = 0) const {
    for (int n = first; n < count; ++n) at<Lanes>(y + lane_count * n) += f * vectors[n];
  }
};

/// Adds to `add_at_rest` what the derivatives by the device's constants bring.
///
/// Above the diagonal something is written, too, and never read.
template <class S>
NEARBY_INLINE inline void add_constants(const System<S> &system, int knot, int peer,
                                        const Gradient &h, const ByConstants &constants,
                                        double force, double weight) {
  const int first = system.shape.peer(peer);
  each<drift_size>([&](auto i) NEARBY_INLINE {
    constants.add_to(system.row(knot, i), weight * h.here[i.value]);
    constants.add_to(system.row(knot + 1, i), weight * h.there[i.value]);
  });
  for (int c = 0; c < system.shape.constants.count; ++c) {
    const double scaled = weight * constants[c];
    at<Lanes>(&system.own(first, c)) += scaled * h.peer;
    system.own(first + lane_count, c) += scaled * h.scale;
    constants.add_to(&system.own(0, c), scaled, c / lane_count);
  }
  constants.add_to(&system.own_rhs(0), force);
}

/// Adds to `add_at_rest` and `add_constants` what the derivatives by the errors of ranges at both
/// knots bring: the one that all ranges share, and the peer's that depends on the place.
template <class S>
NEARBY_INLINE inline void add_errors(const System<S> &system, const nearby_chain_cell &cell,
                                     const Gradient &h, const ByConstants &constants, double force,
                                     double weight) {
  const S &shape = system.shape;
  const int b = shape.block(), first = shape.peer(cell.peer), knot = cell.knot;
  const int errors[2] = {shape.common_error(), shape.place_error(cell.peer)};
  const double shares[2] = {1 - cell.share, cell.share};
  double *const tie = system.tie(knot);
  each<2>([&](auto side) NEARBY_INLINE {
    double *const block = system.block(knot + side);
    const double scaled = weight * shares[side];
    const Lanes drift = scaled * (side ? h.there : h.here),
                other = scaled * (side ? h.here : h.there);
    for (const int error : errors) {
      at<Lanes>(block + error * b) += drift;
      if (side == 0) at<Lanes>(tie + error * b) += other;
      each<drift_size>([&](auto i) NEARBY_INLINE {
        block[i * b + error] += drift[i.value];
        if (side == 1) tie[i * b + error] += other[i.value];
      });
      for (const int second : errors) {
        block[error * b + second] += scaled * shares[side];
        if (side == 0) tie[error * b + second] += scaled * shares[1];
      }
      double *const border = system.row(knot + side, error);
      at<Lanes>(border + first) += scaled * h.peer;
      border[first + lane_count] += scaled * h.scale;
      constants.add_to(border, scaled);
      system.rhs(knot + side)[error] += force * shares[side];
    }
  });
}

/// Adds a scalar of a peer that moves; `seconds` is the time from the knot to the cell.
template <class S>
void add_moving(const System<S> &system, const nearby_chain_cell &cell, double seconds,
                const Gradient &h, Row row, double force, double weight) {
  for (int i = 0; i < drift_size; ++i) {
    row.append(Row::here, i, h.here[i]);
    row.append(Row::there, i, h.there[i]);
  }
  const int first = drift_size + motion_size * cell.mover, peer = system.shape.peer(cell.peer);
  for (int i = 0; i < 3; ++i) {
    row.append(Row::here, first + i, h.peer[i]);
    row.append(Row::here, first + 3 + i, seconds * h.peer[i]);
  }
  row.append(Row::border, peer + 3, h.peer[3]);
  row.append(Row::border, peer + 4, h.scale);
  add(system, cell.knot, row, force, weight);
}

/// Four vectors become the columns of what they were the rows of.
NEARBY_INLINE inline void transpose(Lanes &a, Lanes &b, Lanes &c, Lanes &d) {
  const Lanes ab = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const Lanes ba = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Lanes cd = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const Lanes dc = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  a = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  b = __builtin_shufflevector(ba, dc, 0, 1, 4, 5);
  c = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  d = __builtin_shufflevector(ba, dc, 2, 3, 6, 7);
}

/// Cells as they are seen at a state.
///
/// With an offset b of the radio's clock and a lever arm l the antenna of the odometry's world is
/// at `a - b v + R l`, where v is its velocity and R the device's rotation; the sight s of it turns
/// to `s + b ω × s` with the device's turn rate ω. Both are of first order in b.
template <class S>
struct Sights {
  const nearby_chain_problem &problem;
  const Point<S> &at;
  /// The cells; behind the last one it comes again.
  const nearby_chain_cell *cells[lane_count];
  int count;
  Lanes shares[2];
  /// How the antenna in the fixed world swings with the yaw at either knot: along x and along z.
  Lanes swing[2][2];
  /// From the antenna to the peer.
  Lanes way[3];
  /// Of each cell the derivatives of a range by the factors of the direction error.
  double harmonics[lane_count][direction_size];
  /// The gradient of the direction error by the peer's place.
  Lanes slope[3] = {0, 0, 0};

  NEARBY_INLINE Sights(const nearby_chain_problem &problem, const Point<S> &at, int first,
                       int count)
      : problem(problem), at(at), count(count) {
    for (int lane = 0; lane < lane_count; ++lane)
      cells[lane] = problem.cells + first + std::min(lane, count - 1);
    shares[1] = gather([](const auto &cell) NEARBY_INLINE { return cell.share; });
    shares[0] = 1.0 - shares[1];
    double from[lane_count][3], target[lane_count][3];
    for (int lane = 0; lane < lane_count; ++lane) {
      find_antenna(*cells[lane], from[lane]);
      find_peer(*cells[lane], target[lane]);
    }
    each<3>([&](auto i) NEARBY_INLINE {
      each<lane_count>([&](auto lane) NEARBY_INLINE { way[i][lane.value] = target[lane][i]; });
    });
    each<2>([&](auto side) NEARBY_INLINE {
      Lanes corrected[3], away[3], sine, cosine;
      each<lane_count>([&](auto lane) NEARBY_INLINE {
        const int knot = cells[lane]->knot + side;
        const double *state = at.knot(knot), *place = problem.knots[knot].place;
        each<3>([&](auto i) NEARBY_INLINE {
          corrected[i][lane.value] = state[i];
          away[i][lane.value] = from[lane][i] - place[i];
        });
        sine[lane.value] = at.turns[knot].sine;
        cosine[lane.value] = at.turns[knot].cosine;
      });
      swing[side][0] = cosine * away[2] - sine * away[0];
      const Lanes along = cosine * away[0] + sine * away[2];
      swing[side][1] = -along;
      way[0] -= shares[side] * (corrected[0] + along);
      way[1] -= shares[side] * (corrected[1] + away[1]);
      way[2] -= shares[side] * (corrected[2] + swing[side][0]);
    });
  }

  template <class Value>
  NEARBY_INLINE Lanes gather(const Value &value) const {
    Lanes gathered;
    each<lane_count>([&](auto lane) NEARBY_INLINE { gathered[lane.value] = value(*cells[lane]); });
    return gathered;
  }

  /// The kinds of value that any of the cells has.
  NEARBY_INLINE int present() const {
    int bits = 0;
    for (int lane = 0; lane < count; ++lane) bits |= cells[lane]->present;
    return bits;
  }

  NEARBY_INLINE bool moves(const nearby_chain_cell &cell) const {
    return at.shape.movers > 0 && cell.mover >= 0;
  }
  double clock_offset() const { return at.constant(at.shape.constants.clock); }

  /// Finds the errors of the ranges of cells but for the peers' constant ones. `way` is from the
  /// antenna to the peer.
  NEARBY_INLINE Lanes range_errors() {
    Lanes errors = 0;
    for (int lane = 0; lane < count; ++lane) {
      const nearby_chain_cell &cell = *cells[lane];
      if (at.shape.has_errors) {
        const double *here = at.knot(cell.knot), *there = at.knot(cell.knot + 1);
        for (const int error : {at.shape.common_error(), at.shape.place_error(cell.peer)})
          errors[lane] += (1 - cell.share) * here[error] + cell.share * there[error];
      }
      if (at.shape.constants.direction < 0) continue;
      const double *factors = at.border() + at.shape.constants.direction;
      find_harmonics(lane);
      double by_azimuth = 0;
      for (int m = 0; m < direction_size; m += 2) {
        const double *h = harmonics[lane] + m;
        errors[lane] += factors[m] * h[0] + factors[m + 1] * h[1];
        by_azimuth += (m / 2 + 1) * (factors[m + 1] * h[0] - factors[m] * h[1]);
      }
      for (int i = 0; i < 3; ++i) slope[i][lane] *= by_azimuth;
    }
    return errors;
  }

  /// The cosines and sines of multiples of the azimuth, and for the slope the gradient of the
  /// azimuth.
  void find_harmonics(int lane) {
    const nearby_chain_cell &cell = *cells[lane];
    const double sight[3] = {way[0][lane], way[1][lane], way[2][lane]};
    const double yaw =
        (1 - cell.share) * at.knot(cell.knot)[3] + cell.share * at.knot(cell.knot + 1)[3];
    double seen[3];
    const Turn turn = turn_by(yaw);
    turn.act_back(sight, seen);
    const auto along = [&](int j) {
      const double *axis = device_axis(cell, j);
      return axis[0] * seen[0] + axis[1] * seen[1] + axis[2] * seen[2];
    };
    const double right = along(0), ahead = -along(2);
    const double level = std::max(std::sqrt(right * right + ahead * ahead), 1e-3);
    // By the angles' sums: cos (m + 1) α = cos mα cos α - sin mα sin α.
    const double cosine = ahead / level, sine = right / level;
    // dα = (cos α d right - sin α d ahead) / level.
    double inner[3], gradient[3];
    for (int i = 0; i < 3; ++i)
      inner[i] = (cosine * device_axis(cell, 0)[i] + sine * device_axis(cell, 2)[i]) / level;
    turn.act(inner, gradient);
    for (int i = 0; i < 3; ++i) slope[i][lane] = gradient[i];
    double *h = harmonics[lane];
    h[0] = cosine;
    h[1] = sine;
    for (int m = 2; m < direction_size; m += 2) {
      h[m] = h[m - 2] * cosine - h[m - 1] * sine;
      h[m + 1] = h[m - 1] * cosine + h[m - 2] * sine;
    }
  }
  const nearby_chain_rate &rate(const nearby_chain_cell &cell) const {
    return problem.rates[&cell - problem.cells];
  }
  /// How long a cell is after its knot.
  double seconds(const nearby_chain_cell &cell) const { return cell.seconds - clock_offset(); }
  /// An axis of the device in the odometry's world.
  static const double *device_axis(const nearby_chain_cell &cell, int j) {
    return cell.from.device_from_world + 3 * j;
  }

  /// The antenna in the odometry's world.
  NEARBY_INLINE void find_antenna(const nearby_chain_cell &cell, double place[3]) const {
    const Constants &constants = at.shape.constants;
    for (int i = 0; i < 3; ++i) place[i] = cell.from.antenna_in_world[i];
    for (int j = 0; constants.lever >= 0 && j < 3; ++j)
      for (int i = 0; i < 3; ++i)
        place[i] += at.constant(constants.lever + j) * device_axis(cell, j)[i];
    for (int i = 0; constants.clock >= 0 && i < 3; ++i)
      place[i] -= clock_offset() * rate(cell).velocity[i];
  }

  /// The peer in the fixed world.
  NEARBY_INLINE void find_peer(const nearby_chain_cell &cell, double place[3]) const {
    if (moves(cell)) {
      const double *motion = at.motion(cell.knot, cell.mover);
      for (int i = 0; i < 3; ++i) place[i] = motion[i] + seconds(cell) * motion[3 + i];
    } else {
      for (int i = 0; i < 3; ++i) place[i] = at.peer(cell.peer)[i];
    }
  }

  /// Adds values of a kind whose predictions have this gradient by the peer's place; angles turn
  /// with the odometry's world. `scale` is the derivative by the range's scale, `turning` that by a
  /// turn of the device in a clock's offset of one second.
  template <int kind>
  NEARBY_INLINE double add(const System<S> &system, const Lanes gradient[3], Lanes predicted,
                           Lanes scale, Lanes turning, double *inliers) const {
    constexpr bool is_angle = Kind<kind>::is_angle, is_range = kind == NEARBY_RANGE;
    Lanes innovation =
        gather([](const auto &cell) NEARBY_INLINE { return cell.value[kind]; }) - predicted;
    if constexpr (is_angle) innovation = wrapped(innovation);
    const Lanes variance =
        gather([](const auto &cell) NEARBY_INLINE { return cell.variance[kind]; });
    Lanes power;
    each<lane_count>([&](auto lane) NEARBY_INLINE {
      power[lane.value] = has(lane, kind) ? cells[lane]->power[kind] : 0;
    });
    const Lanes outliers =
        is_range ? gather([](const auto &cell) NEARBY_INLINE { return cell.range_outlier_share; })
                 : Lanes(problem.outlier_share[kind]);
    Lanes weight, force;
    const double cost =
        sum(value_cost<kind>(problem, variance, power, outliers, innovation, weight, force));
    const Lanes certainty = weight * variance * problem.widening / power;

    // Turning the odometry's world turns the sight the other way.
    // Of a range only the direction error turns.
    const Lanes x = is_angle ? gradient[0] : slope[0], z = is_angle ? gradient[2] : slope[2];
    const Lanes turned = is_angle || is_range ? z * way[0] - x * way[2] : Lanes(0);
    Lanes drift[2][drift_size],
        peer[4] = {gradient[0], gradient[1], gradient[2], Lanes(is_range ? 1 : 0)};
    each<2>([&](auto side) NEARBY_INLINE {
      each<3>([&](auto i) NEARBY_INLINE { drift[side][i] = -shares[side] * gradient[i]; });
      const Lanes swung = gradient[0] * swing[side][0] + gradient[2] * swing[side][1];
      drift[side][3] = shares[side] * (turned - swung);
      transpose(drift[side][0], drift[side][1], drift[side][2], drift[side][3]);
    });
    transpose(peer[0], peer[1], peer[2], peer[3]);
    each<lane_count>([&](auto lane) NEARBY_INLINE {
      constexpr int i = lane.value;
      if (!has(i, kind)) return;
      const nearby_chain_cell &cell = *cells[i];
      inliers[2 * cell.peer] += certainty[i];
      inliers[2 * cell.peer + 1] += 1;
      const Gradient h = {drift[0][i], drift[1][i], peer[i], scale[i]};
      const bool is_seen = at.shape.constants.are_seen();
      ByConstants constants;
      if (is_seen) constants = by_constants(cell, h, turning[i]);
      if (is_range && at.shape.constants.direction >= 0)
        for (int m = 0; m < direction_size; ++m)
          constants[at.shape.constants.direction + m] = harmonics[i][m];
      if (moves(cell)) {
        Row row;
        for (int c = 0; is_seen && c < at.shape.constants.count; ++c)
          row.append(Row::border, c, constants[c]);
        if (is_range && at.shape.has_errors) {
          for (const int error : {at.shape.common_error(), at.shape.place_error(cell.peer)}) {
            row.append(Row::here, error, 1 - cell.share);
            row.append(Row::there, error, cell.share);
          }
        }
        add_moving(system, cell, seconds(cell), h, row, force[i], weight[i]);
        return;
      }
      add_at_rest(system, cell.knot, cell.peer, h, force[i], weight[i]);
      if (is_seen) add_constants(system, cell.knot, cell.peer, h, constants, force[i], weight[i]);
      if (is_range && at.shape.has_errors)
        add_errors(system, cell, h, constants, force[i], weight[i]);
    });
    return cost;
  }

  NEARBY_INLINE bool has(int lane, int kind) const {
    return lane < count && (cells[lane]->present & 1 << kind);
  }

  /// The derivatives by the constants.
  ByConstants by_constants(const nearby_chain_cell &cell, const Gradient &h, double turning) const {
    const Constants &constants = at.shape.constants;
    const double gradient[3] = {h.peer[0], h.peer[1], h.peer[2]};
    // The gradient by the antenna's place in the odometry's world.
    double by_antenna[3] = {0, 0, 0};
    for (int side = 0; side < 2; ++side) {
      double back[3];
      at.turns[cell.knot + side].act_back(gradient, back);
      const double share = side ? cell.share : 1 - cell.share;
      for (int i = 0; i < 3; ++i) by_antenna[i] -= share * back[i];
    }
    const auto along = [&](const double v[3]) {
      return by_antenna[0] * v[0] + by_antenna[1] * v[1] + by_antenna[2] * v[2];
    };
    ByConstants derivatives(constants);
    if (constants.clock >= 0) {
      double derivative = turning - along(rate(cell).velocity);
      for (int i = 0; moves(cell) && i < 3; ++i)
        derivative -= gradient[i] * at.motion(cell.knot, cell.mover)[3 + i];
      derivatives[constants.clock] = derivative;
    }
    for (int j = 0; constants.lever >= 0 && j < 3; ++j)
      derivatives[constants.lever + j] = along(device_axis(cell, j));
    if (constants.scale >= 0) derivatives[constants.scale] = h.scale;
    return derivatives;
  }
};

NEARBY_INLINE inline void cross(const Lanes a[3], const Lanes b[3], Lanes result[3]) {
  result[0] = a[1] * b[2] - a[2] * b[1];
  result[1] = a[2] * b[0] - a[0] * b[2];
  result[2] = a[0] * b[1] - a[1] * b[0];
}

/// The angles of cells, which are seen in the odometry's world as it is turned at them.
template <class S>
NEARBY_INLINE inline double add_angles(const Sights<S> &sights, int present,
                                       Hypothesis<Lanes, NEARBY_HEIGHT_STATE_SIZE> &state,
                                       const System<S> &system, double *inliers) {
  struct {
    Lanes antenna_in_world[3] = {0, 0, 0}, device_from_world[9];
  } from;
  each<9>([&](auto i) NEARBY_INLINE {
    from.device_from_world[i] = sights.gather(
        [=](const auto &cell) NEARBY_INLINE { return cell.from.device_from_world[i]; });
  });
  const auto &way = sights.way;
  Lanes sine, cosine;
  each<lane_count>([&](auto lane) NEARBY_INLINE {
    const nearby_chain_cell &cell = *sights.cells[lane];
    const Turn turn = turn_by((1 - cell.share) * sights.at.knot(cell.knot)[3] +
                              cell.share * sights.at.knot(cell.knot + 1)[3]);
    sine[lane.value] = turn.sine;
    cosine[lane.value] = turn.cosine;
  });
  const Lanes sight[3] = {cosine * way[0] - sine * way[2], way[1], cosine * way[2] + sine * way[0]};
  // What the device turns in the clock's offset.
  const bool has_clock = sights.at.shape.constants.clock >= 0;
  Lanes rate[3] = {0, 0, 0}, turned[3] = {0, 0, 0};
  const double offset = sights.clock_offset();
  if (has_clock) {
    each<3>([&](auto i) NEARBY_INLINE {
      rate[i] =
          sights.gather([&](const auto &cell) NEARBY_INLINE { return sights.rate(cell).turn[i]; });
    });
    cross(rate, sight, turned);
  }
  each<3>([&](auto i) NEARBY_INLINE { state.mean(i) = sight[i] + offset * turned[i]; });
  double cost = 0;
  each<NEARBY_COMPONENTS>([&](auto component) NEARBY_INLINE {
    if constexpr (Kind<component>::is_angle) {
      if (!(present & 1 << component)) return;
      Lanes scale = 0, back[3];
      const auto z = linearized<component, false, Lanes>(state, from, scale);
      Lanes inner[3] = {z.gradient(0), z.gradient(1), z.gradient(2)};
      const Lanes turning = dot(inner, turned);
      if (has_clock) {
        cross(inner, rate, back);
        each<3>([&](auto i) NEARBY_INLINE { inner[i] += offset * back[i]; });
      }
      const Lanes gradient[3] = {cosine * inner[0] + sine * inner[2], inner[1],
                                 cosine * inner[2] - sine * inner[0]};
      cost +=
          sights.template add<component>(system, gradient, z.predicted, scale, turning, inliers);
    }
  });
  return cost;
}

/// The antenna pose of a range: the state's position is relative to the antenna, so it is at the
/// origin.
struct AntennaAtOrigin {
  double antenna_in_world[3] = {0, 0, 0};
};

/// The state that the range model predicts the ranges of cells from: the vector from the antenna to
/// the peer, the sum of all range errors as the bias, and the sum of the scale errors.
template <class S>
NEARBY_INLINE inline Hypothesis<Lanes, NEARBY_HEIGHT_STATE_SIZE> range_state(Sights<S> &sights) {
  const Point<S> &at = sights.at;
  Hypothesis<Lanes, NEARBY_HEIGHT_STATE_SIZE> state{};
  state.mean(NEARBY_STATE_RANGE_BIAS) =
      sights.gather([&](const auto &cell) NEARBY_INLINE { return at.peer(cell.peer)[3]; });
  if (at.shape.has_errors || at.shape.constants.direction >= 0)
    state.mean(NEARBY_STATE_RANGE_BIAS) += sights.range_errors();
  state.mean(NEARBY_STATE_RANGE_SCALE) = sights.gather([&](const auto &cell) NEARBY_INLINE {
    return at.peer(cell.peer)[4];
  }) + at.constant(at.shape.constants.scale);
  // What is no angle is the same in the turned world.
  each<3>([&](auto i) NEARBY_INLINE { state.mean(i) = sights.way[i]; });
  return state;
}

/// Finds of each cell measured minus predicted of its range.
template <class S>
NEARBY_INLINE inline void find_range_residuals(const nearby_chain_problem &problem,
                                               const Point<S> &at, double *residuals) {
  const AntennaAtOrigin here;
  for (int first = 0; first < problem.cell_count; first += lane_count) {
    Sights<S> sights(problem, at, first, std::min(lane_count, problem.cell_count - first));
    auto state = range_state(sights);
    Lanes scale = 0;
    const auto z = linearized<NEARBY_RANGE, false, Lanes>(state, here, scale);
    for (int lane = 0; lane < sights.count; ++lane)
      residuals[first + lane] = sights.cells[lane]->value[NEARBY_RANGE] - z.predicted[lane];
  }
}

/// Adds the values of the cells before `end`, from `first` on. `inliers` gets of each peer the sum
/// of the probabilities that a value is no outlier, and their number.
template <class S>
NEARBY_INLINE inline double add_cells(const nearby_chain_problem &problem, int first, int end,
                                      const Point<S> &at, const System<S> &system,
                                      double *inliers) {
  const AntennaAtOrigin here;
  double cost = 0;
  for (; first < end; first += lane_count) {
    Sights<S> sights(problem, at, first, std::min(lane_count, end - first));
    const int present = sights.present();
    auto state = range_state(sights);
    each<NEARBY_COMPONENTS>([&](auto component) NEARBY_INLINE {
      if constexpr (!Kind<component>::is_angle) {
        if (!(present & 1 << component)) return;
        Lanes scale = 0;
        const auto z = linearized<component, false, Lanes>(state, here, scale);
        Lanes gradient[3] = {z.gradient(0), z.gradient(1), z.gradient(2)};
        if constexpr (component == NEARBY_RANGE)
          for (int i = 0; i < 3; ++i) gradient[i] += sights.slope[i];
        cost +=
            sights.template add<component>(system, gradient, z.predicted, scale, Lanes(0), inliers);
      }
    });
    if (present & angle_kinds) cost += add_angles(sights, present, state, system, inliers);
  }
  return cost;
}

}  // namespace nearby::chain
