// SPDX-License-Identifier: Apache-2.0
//
// The normal equations of a chain: where its unknowns stand, and how a value is added.

#pragma once

#include <Eigen/Core>
#include <cstring>

#include "../include/CNearbyKernels.h"

namespace nearby::chain {

constexpr int drift_size = NEARBY_CHAIN_DRIFT_SIZE, motion_size = NEARBY_CHAIN_MOTION_SIZE,
              clock_size = NEARBY_CHAIN_CLOCK_SIZE, peer_size = NEARBY_CHAIN_PEER_SIZE,
              direction_size = NEARBY_CHAIN_DIRECTION_SIZE;

using Rows = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using Square = Eigen::Map<Eigen::MatrixXd>;
using Column = Eigen::Map<Eigen::VectorXd>;

/// Where the constants of the device stand in the border; -1 for one that is not asked for.
struct Constants {
  int count = 0, odometry, clock, lever, scale, direction;

  explicit Constants(int asked)
      : odometry(place(asked & NEARBY_CHAIN_ODOMETRY_ERRORS, 2)),
        clock(place(asked & NEARBY_CHAIN_CLOCK_OFFSET, 1)),
        lever(place(asked & NEARBY_CHAIN_LEVER_ARM, 3)),
        scale(place(asked & NEARBY_CHAIN_RANGE_SCALE, 1)),
        direction(place(asked & NEARBY_CHAIN_DIRECTION_ERROR, direction_size)) {}

  /// Whether a prediction depends on any.
  bool are_seen() const { return clock >= 0 || lever >= 0 || scale >= 0 || direction >= 0; }

 private:
  int place(int is_asked, int size) {
    if (!is_asked) return -1;
    count += size;
    return count - size;
  }
};

/// How many unknowns there are.
///
/// Performance: without peers that move, clocks that wander and range errors the block of a knot
/// has a size that the compiler knows.
template <bool varies>
struct Shape {
  int knots, peers, movers, clocks;
  Constants constants;
  bool has_errors;

  /// Unknowns of one knot: the odometry's drift, then each moving peer, then each clock, then the
  /// errors of ranges.
  int block() const {
    if constexpr (varies)
      return has_errors ? place_error(peers) : clock(clocks);
    else
      return drift_size;
  }
  /// The error that all ranges share, and that of a peer which depends on the place, within a
  /// block.
  int common_error() const { return clock(clocks); }
  int place_error(int p) const { return common_error() + 1 + p; }
  /// How many innovations an interval has whose moments are asked for.
  int innovations() const { return drift_size + (has_errors ? 1 + peers : 0); }
  /// The first unknown of a clock within a block.
  int clock(int c) const { return drift_size + motion_size * movers + clock_size * c; }
  /// The unknowns that are the same at all knots: the device's constants, then each peer's.
  int border() const { return constants.count + peer_size * peers; }
  /// The first unknown of a peer in the border.
  int peer(int p) const { return constants.count + peer_size * p; }
  /// The last knot and the border: the dense part.
  int dense() const { return block() + border(); }
  int states() const { return block() * knots + border(); }
};

/// The normal equations H s = g: of each knot its block, the block that ties it to the next one and
/// those that tie it to the border; then the border's own. Row-major but for the last, which is the
/// lower triangle, column by column, with room for the last knot before it.
template <class S>
struct System {
  S shape;
  double *diagonal, *next, *border, *gradient, *dense, *dense_gradient;

  static int64_t size(S shape) {
    const int64_t b = shape.block();
    return shape.knots * (2 * b * b + b * (shape.border() + 1)) +
           int64_t(shape.dense()) * (shape.dense() + 1);
  }

  System(S shape, double *memory) : shape(shape) {
    const int64_t b = shape.block(), blocks = shape.knots * b * b;
    diagonal = memory;
    next = diagonal + blocks;
    border = next + blocks;
    gradient = border + shape.knots * b * shape.border();
    dense = gradient + shape.knots * b;
    dense_gradient = dense + int64_t(shape.dense()) * shape.dense();
  }

  void clear() { std::memset(diagonal, 0, size(shape) * sizeof(double)); }
  void copy(const System &other) {
    std::memcpy(diagonal, other.diagonal, size(shape) * sizeof(double));
  }

  double *block(int knot) const { return diagonal + int64_t(knot) * shape.block() * shape.block(); }
  double *tie(int knot) const { return next + int64_t(knot) * shape.block() * shape.block(); }
  /// The row of one unknown of a knot in the border.
  double *row(int knot, int i) const {
    return border + (int64_t(knot) * shape.block() + i) * shape.border();
  }
  double *rhs(int knot) const { return gradient + int64_t(knot) * shape.block(); }
  /// An element of the border's lower triangle: row and column count from its first unknown.
  double &own(int row, int column) const {
    const int b = shape.block();
    return dense[int64_t(b + column) * shape.dense() + b + row];
  }
  double &own_rhs(int row) const { return dense_gradient[shape.block() + row]; }
  Square matrix() const { return Square(dense, shape.dense(), shape.dense()); }
  Column vector() const { return Column(dense_gradient, shape.dense()); }
};

/// The derivatives of one prediction by two neighbouring knots and by the border.
struct Row {
  static constexpr int most = 40;
  enum Part { here, there, border };
  int count = 0;
  Part part[most];
  int index[most];
  double value[most];

  void append(Part where, int i, double derivative) {
    part[count] = where;
    index[count] = i;
    value[count++] = derivative;
  }
};

/// Adds a scalar: `weight · hᵀ h` to the matrix, `force · hᵀ` to the right-hand side. Of a Gaussian
/// the force is `weight · innovation`.
template <class S>
void add(const System<S> &system, int knot, const Row &row, double force, double weight) {
  const int b = system.shape.block();
  for (int i = 0; i < row.count; ++i) {
    const double scaled = weight * row.value[i];
    const int r = row.index[i];
    if (row.part[i] == Row::border) {
      for (int j = 0; j < row.count; ++j)
        if (row.part[j] == Row::border && row.index[j] <= r)
          system.own(r, row.index[j]) += scaled * row.value[j];
      system.own_rhs(r) += force * row.value[i];
      continue;
    }
    const int side = row.part[i];
    for (int j = 0; j < row.count; ++j) {
      const double product = scaled * row.value[j];
      if (row.part[j] == Row::border)
        system.row(knot + side, r)[row.index[j]] += product;
      else if (row.part[j] == side)
        system.block(knot + side)[r * b + row.index[j]] += product;
      else if (side == Row::here)
        system.tie(knot)[r * b + row.index[j]] += product;
    }
    system.rhs(knot + side)[r] += force * row.value[i];
  }
}

}  // namespace nearby::chain
