// SPDX-License-Identifier: Apache-2.0
//
// A chain in which radio and odometry err as they do: its normal equations, their solution, and the
// posterior moments by which the variances that were assumed are judged.

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "../include/CNearbyKernels.h"

namespace {

constexpr int drift = NEARBY_ERROR_DRIFT_SIZE, peer_size = NEARBY_ERROR_PEER_SIZE,
              harmonics = NEARBY_ERROR_HARMONICS, common_size = NEARBY_ERROR_COMMON_SIZE, kinds = 3;
constexpr double infinity = std::numeric_limits<double>::infinity();
/// The first knot, where the fixed world is the odometry's, is held to 0.1 mm and 0.1 mrad.
constexpr double held_variance = 1e-8;
/// Nearer than this there is no direction, m².
constexpr double singular_square = 1e-4;

using Matrix = Eigen::Map<Eigen::MatrixXd>;
using Vector = Eigen::Map<Eigen::VectorXd>;

/// Where the unknowns stand.
struct Layout {
  int knots, peers;

  int block() const { return drift + peers + 1; }
  int place_error(int peer) const { return drift + peer; }
  int common_error() const { return drift + peers; }
  int border() const { return peer_size * peers + common_size; }
  int peer(int p) const { return peer_size * p; }
  int scale() const { return peer_size * peers; }
  int clock() const { return scale() + 1; }
  int antenna() const { return scale() + 2; }
  int turn() const { return scale() + 5; }
  int harmonic(int i) const { return scale() + 6 + i; }
  int states() const { return knots * block() + border(); }
};

/// The normal equations: of each knot its block D, the block U that ties it to the next, the block
/// E that ties it to the border, and its right-hand side; then the border's own.
struct System {
  Layout layout;
  double *memory;

  static int64_t knot_size(Layout l) {
    const int64_t b = l.block();
    return b * (2 * b + l.border() + 1);
  }
  static int64_t size(Layout l) {
    return l.knots * knot_size(l) + int64_t(l.border()) * (l.border() + 1);
  }
  double *at(int knot) const { return memory + knot * knot_size(layout); }
  Matrix own(int knot) const { return Matrix(at(knot), layout.block(), layout.block()); }
  Matrix next(int knot) const {
    const int b = layout.block();
    return Matrix(at(knot) + b * b, b, b);
  }
  Matrix border(int knot) const {
    const int b = layout.block();
    return Matrix(at(knot) + 2 * b * b, b, layout.border());
  }
  Vector rhs(int knot) const {
    const int b = layout.block();
    return Vector(at(knot) + 2 * b * b + b * layout.border(), b);
  }
  Matrix dense() const {
    return Matrix(memory + layout.knots * knot_size(layout), layout.border(), layout.border());
  }
  Vector dense_rhs() const {
    return Vector(
        memory + layout.knots * knot_size(layout) + int64_t(layout.border()) * layout.border(),
        layout.border());
  }
};

/// The derivatives of one scalar by two neighbouring knots and by the border.
struct Row {
  static constexpr int most = 40;
  enum Part { here, there, border };
  int count = 0;
  int part[most], index[most];
  double value[most];

  void add(int where, int i, double derivative) {
    if (derivative == 0) return;
    part[count] = where;
    index[count] = i;
    value[count++] = derivative;
  }
};

/// Adds `weight · h hᵀ` to the matrix and `force · h` to the right-hand side; there is a next knot.
void add(const System &system, int knot, const Row &row, double weight, double force) {
  Matrix blocks[2] = {system.own(knot), system.own(knot + 1)};
  Matrix borders[2] = {system.border(knot), system.border(knot + 1)};
  Matrix tie = system.next(knot), dense = system.dense();
  Vector dense_rhs = system.dense_rhs();
  for (int i = 0; i < row.count; ++i) {
    const double scaled = weight * row.value[i];
    const int r = row.index[i];
    if (row.part[i] == Row::border) {
      for (int j = 0; j < row.count; ++j)
        if (row.part[j] == Row::border && row.index[j] <= r)
          dense(r, row.index[j]) += scaled * row.value[j];
      dense_rhs[r] += force * row.value[i];
      continue;
    }
    const int side = row.part[i];
    for (int j = 0; j < row.count; ++j) {
      const double product = scaled * row.value[j];
      const int c = row.index[j];
      if (row.part[j] == Row::border)
        borders[side](r, c) += product;
      else if (row.part[j] == side) {
        // Only the lower triangle is read.
        if (c <= r) blocks[side](r, c) += product;
      } else if (side == Row::here)
        tie(r, c) += product;
    }
    system.rhs(knot + side)[r] += force * row.value[i];
  }
}

/// The normal equations of all cells of one peer in one interval, of the unknowns that their
/// predictions depend on: drift, place error and common error at both knots, the peer's own, and
/// what is common.
///
/// Performance: they have the same unknowns, so they are summed densely, and added to the system
/// once.
struct Sum {
  static constexpr int own = drift + 2, first_peer = 2 * own, first_common = first_peer + peer_size,
                       size = first_common + common_size;
  // Unaligned, as the workspace is.
  using Square = Eigen::Matrix<double, size, size, Eigen::DontAlign>;
  using Column = Eigen::Matrix<double, size, 1, Eigen::DontAlign>;

  Square matrix;
  Column rhs;
  bool is_empty = true;

  static int place(const Layout &l, int peer, int part, int index) {
    if (part == Row::border)
      return index >= l.scale() ? first_common + index - l.scale()
                                : first_peer + index - l.peer(peer);
    const int inside = index < drift ? index : index == l.common_error() ? drift + 1 : drift;
    return part * own + inside;
  }

  void add(const Layout &l, int peer, const Row &row, double weight, double force) {
    if (is_empty) {
      matrix.setZero();
      rhs.setZero();
      is_empty = false;
    }
    Column h = Column::Zero();
    for (int i = 0; i < row.count; ++i)
      h[place(l, peer, row.part[i], row.index[i])] += row.value[i];
    const Column scaled = weight * h;
    for (int column = 0; column < size; ++column) matrix.col(column) += scaled[column] * h;
    rhs += force * h;
  }

  void flush(const System &system, int knot, int peer) {
    if (is_empty) return;
    is_empty = true;
    const Layout &l = system.layout;
    int part[size], index[size];
    for (int i = 0; i < size; ++i) {
      part[i] = i < own ? Row::here : i < first_peer ? Row::there : Row::border;
      const int inside = i % own;
      index[i] = i >= first_common ? l.scale() + i - first_common
                 : i >= first_peer ? l.peer(peer) + i - first_peer
                 : inside < drift  ? inside
                 : inside == drift ? l.place_error(peer)
                                   : l.common_error();
    }
    Matrix blocks[2] = {system.own(knot), system.own(knot + 1)};
    Matrix borders[2] = {system.border(knot), system.border(knot + 1)};
    Matrix tie = system.next(knot), dense = system.dense();
    Vector dense_rhs = system.dense_rhs();
    for (int i = 0; i < size; ++i) {
      const int r = index[i];
      if (part[i] == Row::border) {
        for (int j = first_peer; j < size; ++j)
          if (index[j] <= r) dense(r, index[j]) += matrix(i, j);
        dense_rhs[r] += rhs[i];
        continue;
      }
      for (int j = 0; j < size; ++j) {
        const int c = index[j];
        if (part[j] == Row::border)
          borders[part[i]](r, c) += matrix(i, j);
        else if (part[j] == part[i])
          blocks[part[i]](r, c) += matrix(i, j);
        else if (part[i] == Row::here)
          tie(r, c) += matrix(i, j);
      }
      system.rhs(knot + part[i])[r] += rhs[i];
    }
  }
};

void cross_up(const double v[3], double result[3]) {
  result[0] = v[2];
  result[1] = 0;
  result[2] = -v[0];
}

void turned(double yaw, const double v[3], double result[3]) {
  const double s = std::sin(yaw), c = std::cos(yaw);
  result[0] = c * v[0] + s * v[2];
  result[1] = v[1];
  result[2] = c * v[2] - s * v[0];
}

/// What the process from knot to knot says: the innovations of an interval with their derivatives
/// and variances.
struct Process {
  Layout layout;
  const nearby_error_problem &problem;
  const double *state;

  const double *knot(int k) const { return state + int64_t(k) * layout.block(); }
  const double *border() const { return state + int64_t(layout.knots) * layout.block(); }
  int count() const { return layout.block(); }

  /// One of them by its place in a block.
  Row row(int k, int i, double &innovation, double &variance) const {
    const nearby_error_knot &from = problem.knots[k];
    const double *a = knot(k), *b = knot(k + 1);
    Row row;
    if (i < 3) {
      const double rate = border()[layout.turn()];
      double moved[3], swing[3];
      turned(a[3] + 0.5 * rate * from.seconds, from.step, moved);
      cross_up(moved, swing);
      row.add(Row::there, i, 1);
      row.add(Row::here, i, -1);
      row.add(Row::here, 3, -swing[i]);
      row.add(Row::border, layout.turn(), -0.5 * from.seconds * swing[i]);
      innovation = b[i] - a[i] - moved[i];
      variance = i == 1 ? from.vertical_variance : from.horizontal_variance;
    } else if (i == 3) {
      row.add(Row::there, 3, 1);
      row.add(Row::here, 3, -1);
      row.add(Row::border, layout.turn(), -from.seconds);
      innovation = b[3] - a[3] - border()[layout.turn()] * from.seconds;
      variance = from.yaw_variance;
    } else {
      const bool is_common = i == layout.common_error();
      const double correlation = is_common ? 1 : from.place_correlation;
      row.add(Row::there, i, 1);
      row.add(Row::here, i, -correlation);
      innovation = b[i] - correlation * a[i];
      variance = is_common ? from.common_variance : from.place_innovation;
    }
    return row;
  }
};

/// The residual of one value of a cell, with its derivatives: of the residual, not the prediction.
struct Residual {
  double value;
  Row row;
};

struct Geometry {
  double here[3], there[3];  // R(ψ) (device - place) at the two knots
  double sight[3];           // from the device to the peer, in the fixed world
  double rotation[9];        // device to the fixed world
  double offset[3];          // from the antenna to the peer, device axes
  double velocity[3], turn[3];
  double square, level_square;
};

Geometry geometry(const Process &at, const nearby_error_cell &cell) {
  const Layout l = at.layout;
  const nearby_error_knot *knots = at.problem.knots + cell.knot;
  const double *a = at.knot(cell.knot), *b = at.knot(cell.knot + 1), f = cell.share;
  const double *peer = at.border() + l.peer(cell.peer), *antenna = at.border() + l.antenna();
  Geometry g;
  double away[3];
  for (int i = 0; i < 3; ++i) away[i] = cell.device[i] - knots[0].place[i];
  turned(a[3], away, g.here);
  for (int i = 0; i < 3; ++i) away[i] = cell.device[i] - knots[1].place[i];
  turned(b[3], away, g.there);
  const double yaw = (1 - f) * a[3] + f * b[3];
  for (int i = 0; i < 3; ++i)
    g.sight[i] = peer[i] - (1 - f) * (a[i] + g.here[i]) - f * (b[i] + g.there[i]);
  for (int column = 0; column < 3; ++column) {
    const double in[3] = {cell.rotation[column], cell.rotation[3 + column],
                          cell.rotation[6 + column]};
    double out[3];
    turned(yaw, in, out);
    for (int i = 0; i < 3; ++i) g.rotation[3 * i + column] = out[i];
  }
  for (int j = 0; j < 3; ++j)
    g.offset[j] = g.rotation[j] * g.sight[0] + g.rotation[3 + j] * g.sight[1] +
                  g.rotation[6 + j] * g.sight[2] - antenna[j];
  turned(yaw, cell.velocity, g.velocity);
  turned(yaw, cell.turn, g.turn);
  const double *d = g.offset;
  g.level_square = std::max(d[0] * d[0] + d[2] * d[2], singular_square);
  g.square = std::max(g.level_square + d[1] * d[1], singular_square);
  return g;
}

double wrapped(double angle) { return std::remainder(angle, 2 * M_PI); }

Residual residual(const Process &at, const nearby_error_cell &cell, const Geometry &g, int kind) {
  const Layout l = at.layout;
  const double *a = at.knot(cell.knot), *b = at.knot(cell.knot + 1), f = cell.share;
  const double *border = at.border(), *peer = border + l.peer(cell.peer);
  const double *d = g.offset, distance = std::sqrt(g.square), level = std::sqrt(g.level_square);
  const double azimuth = std::atan2(d[0], -d[2]);
  // The gradient by the offset, in device axes.
  double gradient[3], predicted;
  if (kind == NEARBY_RANGE) {
    const double scale = 1 + border[l.scale()];
    for (int i = 0; i < 3; ++i) gradient[i] = scale * d[i] / distance;
    predicted = scale * distance + peer[3] + (1 - f) * a[l.place_error(cell.peer)] +
                f * b[l.place_error(cell.peer)] + (1 - f) * a[l.common_error()] +
                f * b[l.common_error()];
    for (int m = 0; m < harmonics / 2; ++m)
      predicted += border[l.harmonic(2 * m)] * std::cos((m + 1) * azimuth) +
                   border[l.harmonic(2 * m + 1)] * std::sin((m + 1) * azimuth);
  } else if (kind == NEARBY_AZIMUTH) {
    gradient[0] = -d[2] / g.level_square;
    gradient[1] = 0;
    gradient[2] = d[0] / g.level_square;
    predicted = azimuth + peer[4];
  } else {
    gradient[0] = -d[0] * d[1] / (g.square * level);
    gradient[1] = level / g.square;
    gradient[2] = -d[2] * d[1] / (g.square * level);
    predicted = std::atan2(d[1], level) + peer[5];
  }
  Residual r;
  r.value = cell.value[kind] - predicted;
  if (kind == NEARBY_AZIMUTH) r.value = wrapped(r.value);
  // The same in the fixed world. The peer's place moves the line of sight, the device's opposes it,
  // and a turn of the device turns it back.
  double w[3], swing[3], spun[3];
  for (int i = 0; i < 3; ++i)
    w[i] = g.rotation[3 * i] * gradient[0] + g.rotation[3 * i + 1] * gradient[1] +
           g.rotation[3 * i + 2] * gradient[2];
  auto dot = [&](const double *v) { return w[0] * v[0] + w[1] * v[1] + w[2] * v[2]; };
  cross_up(g.sight, swing);
  const double turning = dot(swing);
  for (int i = 0; i < 3; ++i) {
    r.row.add(Row::here, i, (1 - f) * w[i]);
    r.row.add(Row::there, i, f * w[i]);
    r.row.add(Row::border, l.peer(cell.peer) + i, -w[i]);
    r.row.add(Row::border, l.antenna() + i, gradient[i]);
  }
  cross_up(g.here, swing);
  r.row.add(Row::here, 3, (1 - f) * (dot(swing) + turning));
  cross_up(g.there, swing);
  r.row.add(Row::there, 3, f * (dot(swing) + turning));
  // With the clock ahead by τ the device stood where it was τ earlier.
  spun[0] = g.turn[1] * g.sight[2] - g.turn[2] * g.sight[1];
  spun[1] = g.turn[2] * g.sight[0] - g.turn[0] * g.sight[2];
  spun[2] = g.turn[0] * g.sight[1] - g.turn[1] * g.sight[0];
  r.row.add(Row::border, l.clock(), -dot(g.velocity) - dot(spun));
  if (kind != NEARBY_RANGE) {
    r.row.add(Row::border, l.peer(cell.peer) + 3 + kind, -1);
    return r;
  }
  r.row.add(Row::border, l.peer(cell.peer) + 3, -1);
  r.row.add(Row::here, l.place_error(cell.peer), f - 1);
  r.row.add(Row::there, l.place_error(cell.peer), -f);
  r.row.add(Row::here, l.common_error(), f - 1);
  r.row.add(Row::there, l.common_error(), -f);
  r.row.add(Row::border, l.scale(), -distance);
  for (int m = 0; m < harmonics / 2; ++m) {
    r.row.add(Row::border, l.harmonic(2 * m), -std::cos((m + 1) * azimuth));
    r.row.add(Row::border, l.harmonic(2 * m + 1), -std::sin((m + 1) * azimuth));
  }
  return r;
}

/// The probability of no outlier, and the cost.
double mixture(const nearby_error_problem &problem, int kind, double residual, double variance,
               double &certainty) {
  const double share = problem.outlier_share[kind];
  const double inlier = (1 - share) * std::exp(-0.5 * residual * residual / variance) /
                        std::sqrt(2 * M_PI * variance);
  const double outlier = share * problem.outlier_density[kind];
  certainty = inlier / (inlier + outlier);
  return -std::log(inlier + outlier);
}

/// Adds all that is known; the cost.
double assemble(const Process &at, const System &system, Sum *sums, bool adds) {
  const Layout l = at.layout;
  const nearby_error_problem &problem = at.problem;
  if (adds) std::memset(system.memory, 0, System::size(l) * sizeof(double));
  double cost = 0;
  const auto prior = [&](int index, double deviation, double variance) {
    cost += 0.5 * (deviation * deviation / variance + std::log(variance));
    if (!adds) return;
    system.own(0)(index, index) += 1 / variance;
    system.rhs(0)[index] -= deviation / variance;
  };
  for (int i = 0; i < 3; ++i) prior(i, at.knot(0)[i] - problem.knots[0].place[i], held_variance);
  prior(3, at.knot(0)[3], held_variance);
  for (int p = 0; p < l.peers; ++p)
    prior(l.place_error(p), at.knot(0)[l.place_error(p)], problem.first_place_variance);
  prior(l.common_error(), at.knot(0)[l.common_error()], held_variance);
  for (int i = 0; i < l.border(); ++i) {
    const double deviation = at.border()[i] - problem.mean[i];
    cost += 0.5 * (deviation * deviation / problem.variance[i] + std::log(problem.variance[i]));
    if (!adds) continue;
    system.dense()(i, i) += 1 / problem.variance[i];
    system.dense_rhs()[i] -= deviation / problem.variance[i];
  }
  for (int k = 0; k + 1 < l.knots; ++k)
    for (int i = 0; i < at.count(); ++i) {
      double innovation, variance;
      const Row row = at.row(k, i, innovation, variance);
      cost += 0.5 * (innovation * innovation / variance + std::log(variance));
      if (adds) add(system, k, row, 1 / variance, -innovation / variance);
    }
  int knot = -1;
  const auto flush = [&] {
    for (int p = 0; p < l.peers; ++p) sums[p].flush(system, knot, p);
  };
  for (int c = 0; c < problem.cell_count; ++c) {
    const nearby_error_cell &cell = problem.cells[c];
    if (adds && cell.knot != knot) {
      if (knot >= 0) flush();
      knot = cell.knot;
    }
    const Geometry g = geometry(at, cell);
    for (int kind = 0; kind < kinds; ++kind) {
      if (!(cell.present & (1 << kind))) continue;
      const Residual r = residual(at, cell, g, kind);
      double certainty;
      cost += mixture(problem, kind, r.value, cell.variance[kind], certainty);
      const double weight = certainty / cell.variance[kind];
      if (adds) sums[cell.peer].add(l, cell.peer, r.row, weight, -weight * r.value);
    }
  }
  if (knot >= 0) flush();
  return cost;
}

/// Eliminates the knots in place: D becomes its Cholesky factor L, and U, E and the right-hand side
/// become L⁻¹ of themselves. Whether the information is regular.
bool eliminate(const System &system) {
  const Layout l = system.layout;
  Matrix dense = system.dense();
  Vector dense_rhs = system.dense_rhs();
  for (int k = 0; k < l.knots; ++k) {
    Matrix own = system.own(k), tie = system.next(k), border = system.border(k);
    Vector rhs = system.rhs(k);
    Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(own);
    if (factor.info() != Eigen::Success) return false;
    const auto lower = own.triangularView<Eigen::Lower>();
    lower.solveInPlace(border);
    lower.solveInPlace(rhs);
    if (k + 1 < l.knots) {
      lower.solveInPlace(tie);
      system.own(k + 1).noalias() -= tie.transpose() * tie;
      system.border(k + 1).noalias() -= tie.transpose() * border;
      system.rhs(k + 1).noalias() -= tie.transpose() * rhs;
    }
    dense.selfadjointView<Eigen::Lower>().rankUpdate(border.transpose(), -1);
    dense_rhs.noalias() -= border.transpose() * rhs;
  }
  Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(dense);
  return factor.info() == Eigen::Success;
}

/// The logarithm of the determinant of the information.
double log_determinant(const System &system) {
  double sum = 0;
  for (int k = 0; k < system.layout.knots; ++k)
    sum += 2 * system.own(k).diagonal().array().log().sum();
  return sum + 2 * system.dense().diagonal().array().log().sum();
}

/// The step, from the last unknown to the first.
void solve(const System &system, double *step) {
  const Layout l = system.layout;
  const int b = l.block();
  Vector border(step + int64_t(l.knots) * b, l.border());
  border = system.dense_rhs();
  const Matrix dense = system.dense();
  dense.triangularView<Eigen::Lower>().solveInPlace(border);
  dense.triangularView<Eigen::Lower>().transpose().solveInPlace(border);
  for (int k = l.knots - 1; k >= 0; --k) {
    Vector own(step + int64_t(k) * b, b);
    own = system.rhs(k);
    own.noalias() -= system.border(k) * border;
    if (k + 1 < l.knots) own.noalias() -= system.next(k) * Vector(step + int64_t(k + 1) * b, b);
    system.own(k).triangularView<Eigen::Lower>().transpose().solveInPlace(own);
  }
}

/// Covariances of two neighbouring knots and the border.
struct Covariances {
  Matrix here, there, tie, here_border, there_border, border;

  double variance(const Row &row) const {
    double sum = 0;
    for (int i = 0; i < row.count; ++i)
      for (int j = 0; j < row.count; ++j) {
        const int r = row.index[i], c = row.index[j];
        double covariance;
        if (row.part[i] == Row::border)
          covariance = row.part[j] == Row::border ? border(r, c)
                       : row.part[j] == Row::here ? here_border(c, r)
                                                  : there_border(c, r);
        else if (row.part[i] == Row::here)
          covariance = row.part[j] == Row::border ? here_border(r, c)
                       : row.part[j] == Row::here ? here(r, c)
                                                  : tie(r, c);
        else
          covariance = row.part[j] == Row::border ? there_border(r, c)
                       : row.part[j] == Row::here ? tie(c, r)
                                                  : there(r, c);
        sum += row.value[i] * covariance * row.value[j];
      }
    return sum;
  }
};

/// The covariances of neighbouring knots and of the border, by Takahashi's recursion backwards over
/// the knots, and the moments of each interval with them.
void measure(const Process &at, const System &system, const double *step,
             nearby_error_moments &moments, double *scratch) {
  const Layout l = system.layout;
  const int b = l.block(), size = l.border();
  Matrix border(moments.covariance, size, size);
  border.setIdentity();
  const Matrix dense = system.dense();
  dense.triangularView<Eigen::Lower>().solveInPlace(border);
  dense.triangularView<Eigen::Lower>().transpose().solveInPlace(border);
  double *memory = scratch;
  const auto take = [&](int rows, int columns) {
    Matrix matrix(memory, rows, columns);
    memory += rows * columns;
    return matrix;
  };
  Matrix here = take(b, b), there = take(b, b), tie = take(b, b), here_border = take(b, size),
         there_border = take(b, size), by_next = take(b, b), by_border = take(b, size);
  // What a scalar changes by with the step.
  const auto change = [&](int knot, const Row &row) {
    double sum = 0;
    for (int i = 0; step && i < row.count; ++i)
      sum += row.value[i] *
             step[row.part[i] == Row::border ? int64_t(l.knots) * b + row.index[i]
                                             : int64_t(knot + row.part[i]) * b + row.index[i]];
    return sum;
  };
  int cell = at.problem.cell_count - 1;
  for (int k = l.knots - 1; k >= 0; --k) {
    const auto upper = system.own(k).triangularView<Eigen::Lower>().transpose();
    by_border = system.border(k);
    upper.solveInPlace(by_border);
    here.setIdentity();
    system.own(k).triangularView<Eigen::Lower>().solveInPlace(here);
    upper.solveInPlace(here);
    here_border.noalias() = -by_border * border;
    if (k + 1 < l.knots) {
      by_next = system.next(k);
      upper.solveInPlace(by_next);
      here_border.noalias() -= by_next * there_border;
      tie.noalias() = -by_next * there;
      tie.noalias() -= by_border * there_border.transpose();
      here.noalias() -= by_next * tie.transpose();
    }
    here.noalias() -= by_border * here_border.transpose();
    if (k + 1 < l.knots) {
      const Covariances covariances{here, there, tie, here_border, there_border, border};
      for (int i = 0; i < b; ++i) {
        double innovation, variance;
        const Row row = at.row(k, i, innovation, variance);
        double *out = moments.innovations + 2 * (int64_t(k) * b + i);
        out[0] = innovation + change(k, row);
        out[1] = covariances.variance(row);
      }
      for (; cell >= 0 && at.problem.cells[cell].knot == k; --cell) {
        const nearby_error_cell &c = at.problem.cells[cell];
        const Geometry g = geometry(at, c);
        for (int kind = 0; kind < kinds; ++kind) {
          if (!(c.present & (1 << kind))) continue;
          const Residual r = residual(at, c, g, kind);
          double *out = moments.residuals + 3 * (kinds * int64_t(cell) + kind);
          out[0] = r.value + change(k, r.row);
          mixture(at.problem, kind, out[0], c.variance[kind], out[1]);
          // Of the ranges the sum of all follows from that of all others.
          out[2] = kind == NEARBY_RANGE ? 0 : covariances.variance(r.row);
        }
      }
    }
    if (k == 0)
      for (int i = 0; i < b; ++i) moments.first_variances[i] = here(i, i);
    there = here;
    there_border = here_border;
  }
}

}  // namespace

int64_t nearby_error_workspace(const nearby_error_problem *problem) {
  const Layout l{problem->knot_count, problem->peer_count};
  const int64_t b = l.block(), size = l.border();
  const int64_t sums = (l.peers * sizeof(Sum)) / sizeof(double) + 1;
  return System::size(l) + std::max(4 * b * b + 3 * b * size, sums);
}

double nearby_error_chain(const nearby_error_problem *problem, const double *state, double *step,
                          nearby_error_moments *moments, double *workspace) {
  const Layout layout{problem->knot_count, problem->peer_count};
  const System system{layout, workspace};
  const Process at{layout, *problem, state};
  const bool adds = step || moments;
  // The sums are done with before the moments need the same memory.
  double *const scratch = workspace + System::size(layout);
  Sum *const sums = reinterpret_cast<Sum *>(scratch);
  if (adds)
    for (int p = 0; p < layout.peers; ++p) sums[p].is_empty = true;
  const double cost = assemble(at, system, sums, adds);
  if (!adds) return cost;
  if (!eliminate(system)) return infinity;
  if (step) solve(system, step);
  if (moments) moments->log_evidence = -cost - 0.5 * log_determinant(system);
  if (moments) measure(at, system, step, *moments, scratch);
  return cost;
}
