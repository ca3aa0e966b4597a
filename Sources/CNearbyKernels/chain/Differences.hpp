// SPDX-License-Identifier: Apache-2.0
//
// Differences of the ranges to two peers of the border, as a receiver of anchors' messages has
// them.

#pragma once

#include "../models/Faults.hpp"
#include "../models/Models.hpp"
#include "Terms.hpp"

namespace nearby::chain {

/// The cost of a difference, its weight in the normal equations, and the derivative of the cost by
/// the innovation.
///
/// An outlier is that of a range to either peer: too long by an exponential excess, or anything. In
/// logarithms, so that a difference has a slope however far off a start is.
inline double difference_cost(const nearby_chain_problem &problem, double variance,
                              double innovation, double &certainty, double &weight, double &force) {
  const double wide = variance * problem.widening, precision = 1 / wide;
  const double share = problem.difference_outlier_share, rate = 1 / problem.range_excess;
  const double inlier = std::log((1 - share) * normalizer * std::sqrt(precision)) -
                        0.5 * innovation * innovation * precision;
  certainty = 1;
  weight = precision;
  force = precision * innovation;
  if (share <= 0) return -inlier;
  double falls_late, falls_early;
  const double late = outlier_density<NEARBY_RANGE>(innovation, rate, 0.0, falls_late);
  const double early = outlier_density<NEARBY_RANGE>(-innovation, rate, 0.0, falls_early);
  const double density = 0.5 * (late + early), outlier = std::log(share * density);
  const double most = std::max(inlier, outlier);
  const double all = most + std::log(std::exp(inlier - most) + std::exp(outlier - most));
  certainty = std::exp(inlier - all);
  weight = certainty * precision;
  force = weight * innovation + (1 - certainty) * 0.5 * (falls_late - falls_early) / density;
  return -all;
}

/// Where the antenna of a difference is in the fixed world, and how it swings with the yaw at
/// either knot: along x and along z.
struct DifferenceSight {
  double antenna_in_world[3] = {0, 0, 0}, swing[2][2];

  template <class S>
  DifferenceSight(const nearby_chain_problem &problem, const Point<S> &at,
                  const nearby_chain_difference &difference) {
    const double shares[2] = {1 - difference.share, difference.share};
    for (int side = 0; side < 2; ++side) {
      const int knot = difference.knot + side;
      const double *state = at.knot(knot), *place = problem.knots[knot].place;
      double away[3], turned[3];
      for (int i = 0; i < 3; ++i) away[i] = difference.antenna_in_world[i] - place[i];
      at.turns[knot].act(away, turned);
      for (int i = 0; i < 3; ++i) antenna_in_world[i] += shares[side] * (state[i] + turned[i]);
      swing[side][0] = turned[2];
      swing[side][1] = -turned[0];
    }
  }
};

/// Adds all differences. `inliers` gets of both peers of each the probability that it is no
/// outlier.
///
/// Between knots the error of a clock whose rate walks at random is Hermite's cubic of errors and
/// rates at both: its mean given those.
template <class S>
double add_differences(const nearby_chain_problem &problem, const Point<S> &at,
                       const System<S> &system, double *inliers) {
  double cost = 0;
  for (int index = 0; index < problem.difference_count; ++index) {
    const nearby_chain_difference &difference = problem.differences[index];
    const DifferenceSight from(problem, at, difference);
    const double shares[2] = {1 - difference.share, difference.share};
    const double f = difference.elapsed, t = problem.knots[difference.knot].seconds;
    const double by_clock[2][clock_size] = {
        {(1 + 2 * f) * (1 - f) * (1 - f), t * f * (1 - f) * (1 - f)},
        {f * f * (3 - 2 * f), t * f * f * (f - 1)}};
    const int peers[2] = {difference.peer, difference.other};
    const int clocks[2] = {difference.clock, difference.other_clock};
    Row row;
    double predicted = 0, by_antenna[3] = {0, 0, 0};
    for (int end = 0; end < 2; ++end) {
      const double sign = end ? -1 : 1;
      const double *peer = at.peer(peers[end]);
      Hypothesis<double, NEARBY_STATE_SIZE> state{};
      for (int i = 0; i < 3; ++i) state.mean(i) = peer[i];
      state.mean(NEARBY_STATE_RANGE_BIAS) = peer[3];
      state.mean(NEARBY_STATE_RANGE_SCALE) = peer[4];
      double range = 0;
      const auto z = linearized<NEARBY_RANGE, false, double>(state, from, range);
      predicted += sign * z.predicted;
      const int first = system.shape.peer(peers[end]);
      for (int i = 0; i < 3; ++i) {
        by_antenna[i] -= sign * z.gradient(i);
        row.append(Row::border, first + i, sign * z.gradient(i));
      }
      row.append(Row::border, first + 3, sign);
      row.append(Row::border, first + 4, sign * range);
      for (int side = 0; clocks[end] >= 0 && side < 2; ++side) {
        const int clock = system.shape.clock(clocks[end]);
        for (int i = 0; i < clock_size; ++i) {
          const double derivative = sign * by_clock[side][i];
          predicted += derivative * at.knot(difference.knot + side)[clock + i];
          row.append(side ? Row::there : Row::here, clock + i, derivative);
        }
      }
    }
    for (int side = 0; side < 2; ++side) {
      const Row::Part part = side ? Row::there : Row::here;
      for (int i = 0; i < 3; ++i) row.append(part, i, shares[side] * by_antenna[i]);
      const auto &swing = from.swing[side];
      row.append(part, 3, shares[side] * (by_antenna[0] * swing[0] + by_antenna[2] * swing[1]));
    }
    double certainty, weight, force;
    cost += difference_cost(problem, difference.variance, difference.value - predicted, certainty,
                            weight, force);
    for (int end = 0; end < 2; ++end) {
      inliers[2 * peers[end]] += certainty;
      inliers[2 * peers[end] + 1] += 1;
    }
    add(system, difference.knot, row, force, weight);
  }
  return cost;
}

}  // namespace nearby::chain
