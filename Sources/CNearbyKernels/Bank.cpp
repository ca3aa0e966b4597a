// SPDX-License-Identifier: Apache-2.0

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <limits>

#include "Hypothesis.hpp"

namespace {

using nearby::Hypothesis;
using nearby::packed;
using Vector = Eigen::Vector3d;
using Matrix = Eigen::Matrix3d;

/// One field of a bank, as a row over its hypotheses.
double *row(const nearby_bank &bank, int field) { return bank.fields + field * bank.stride; }

Vector position(const nearby_bank &bank, int i) {
  return {row(bank, 0)[i], row(bank, 1)[i], row(bank, 2)[i]};
}

Matrix position_covariance(const nearby_bank &bank, int i) {
  Matrix p;
  for (int r = 0; r < 3; ++r)
    for (int c = r; c < 3; ++c)
      p(r, c) = p(c, r) = row(bank, NEARBY_FIELD_COVARIANCE + packed(r, c))[i];
  return p;
}

int field_count(const nearby_bank &bank) {
  return bank.may_move ? NEARBY_MOVING_FIELD_COUNT : NEARBY_FIELD_COUNT;
}

/// Whether the peer moves under a hypothesis.
bool moves(const nearby_bank &bank, int i) {
  return bank.may_move && row(bank, NEARBY_FIELD_MOVES)[i] > 0;
}

void copy(const nearby_bank &bank, int from, int to) {
  if (from == to) return;
  for (int f = 0; f < field_count(bank); ++f) row(bank, f)[to] = row(bank, f)[from];
}

void exchange(const nearby_bank &bank, int a, int b) {
  if (a == b) return;
  for (int f = 0; f < field_count(bank); ++f) std::swap(row(bank, f)[a], row(bank, f)[b]);
}

/// The moments of a mixture of `a` parts of `x` and `b` parts of `y`; a + b = 1.
template <int N>
Hypothesis<double, N> mixture(double a, const Hypothesis<double, N> &x, double b,
                              const Hypothesis<double, N> &y) {
  Hypothesis<double, N> both;
  for (int c = 0; c < N; ++c)
    for (int r = 0; r <= c; ++r)
      both.cov(r, c) = a * x.cov(r, c) + b * y.cov(r, c) +
                       a * b * (x.mean[r] - y.mean[r]) * (x.mean[c] - y.mean[c]);
  for (int r = 0; r < N; ++r) both.mean[r] = a * x.mean[r] + b * y.mean[r];
  return both;
}

template <int N>
void merge_states(const nearby_bank &bank, int i, double a, int j, double b) {
  using State = Hypothesis<double, N>;
  mixture<N>(a, State::load(bank, i), b, State::load(bank, j)).store(bank, i);
}

/// Moment-matched union of `i` and `j` into `i`; shares are in `weight`.
void merge(const nearby_bank &bank, double *weight, int i, int j) {
  const double total = weight[i] + weight[j];
  const double a = weight[i] / total, b = weight[j] / total;
  if (bank.may_move)
    merge_states<NEARBY_MOVING_STATE_SIZE>(bank, i, a, j, b);
  else
    merge_states<NEARBY_STATE_SIZE>(bank, i, a, j, b);
  for (int f = NEARBY_FIELD_FAULT; f <= NEARBY_FIELD_RANGE_RESIDUAL; ++f)
    row(bank, f)[i] = a * row(bank, f)[i] + b * row(bank, f)[j];
  // The report is that of the heavier one: an average of innovations is nobody's innovation.
  if (b > a)
    for (int f = NEARBY_FIELD_INNOVATION; f < NEARBY_FIELD_COUNT; ++f)
      row(bank, f)[i] = row(bank, f)[j];
  weight[i] = total;
}

/// Runnalls' bound on what merging loses, per unit of the two shares.
double merging_loss(const Vector &mean_a, const Matrix &cov_a, double log_det_a, double a,
                    const Vector &mean_b, const Matrix &cov_b, double log_det_b, double b) {
  const Vector difference = mean_a - mean_b;
  const Matrix both = a * cov_a + b * cov_b + a * b * difference * difference.transpose();
  return 0.5 * (std::log(both.determinant()) - a * log_det_a - b * log_det_b);
}

}  // namespace

void nearby_bank_normalize(const nearby_bank *bank) {
  if (bank->count == 0) return;
  double *weight = row(*bank, NEARBY_FIELD_LOG_WEIGHT);
  const double top = *std::max_element(weight, weight + bank->count);
  double sum = 0;
  for (int i = 0; i < bank->count; ++i) sum += std::exp(weight[i] - top);
  const double evidence = top + std::log(sum);
  for (int i = 0; i < bank->count; ++i) weight[i] -= evidence;
}

int32_t nearby_bank_reduce(const nearby_bank *bank, int32_t most, double pruning_weight,
                           double merging_limit) {
  double weight[NEARBY_CAPACITY], sorted[NEARBY_CAPACITY];
  double *log_weight = row(*bank, NEARBY_FIELD_LOG_WEIGHT);
  const int total = std::min<int>(bank->count, NEARBY_CAPACITY);
  // Of those that weigh exactly as much as the last one that fits, only the first few may stay.
  double least = -std::numeric_limits<double>::infinity();
  int ties = total;
  if (total > most) {
    std::copy(log_weight, log_weight + total, sorted);
    std::nth_element(sorted, sorted + total - most, sorted + total);
    least = sorted[total - most];
    ties = most - int(std::count_if(log_weight, log_weight + total,
                                    [least](double w) { return w > least; }));
  }

  int count = 0;
  for (int i = 0; i < total; ++i) {
    const double w = std::exp(log_weight[i]);
    if (!(w >= pruning_weight) || log_weight[i] < least) continue;
    if (log_weight[i] == least && ties-- <= 0) continue;
    copy(*bank, i, count);
    weight[count++] = w;
  }

  // The heaviest takes in whom it can; then the next.
  for (int i = 0; i < count; ++i) {
    const int top = int(std::max_element(weight + i, weight + count) - weight);
    exchange(*bank, i, top);
    std::swap(weight[i], weight[top]);
    Vector mean = position(*bank, i);
    Matrix covariance = position_covariance(*bank, i);
    double log_det = std::log(covariance.determinant());
    for (int j = count - 1; j > i; --j) {
      if (moves(*bank, i) != moves(*bank, j)) continue;
      const Vector other = position(*bank, j);
      const Matrix other_covariance = position_covariance(*bank, j);
      // Two means that are four joint sigmas apart never merge; saves the determinants.
      const double reach = 16 * (covariance.trace() + other_covariance.trace());
      if ((mean - other).squaredNorm() > reach) continue;
      const double total = weight[i] + weight[j];
      const double loss =
          merging_loss(mean, covariance, log_det, weight[i] / total, other, other_covariance,
                       std::log(other_covariance.determinant()), weight[j] / total);
      if (!(loss < merging_limit)) continue;
      merge(*bank, weight, i, j);
      mean = position(*bank, i);
      covariance = position_covariance(*bank, i);
      log_det = std::log(covariance.determinant());
      --count;
      copy(*bank, count, j);
      weight[j] = weight[count];
    }
  }

  double sum = 0;
  for (int i = 0; i < count; ++i) sum += weight[i];
  for (int i = 0; i < count; ++i) log_weight[i] = std::log(weight[i] / sum);
  return count;
}

void nearby_bank_mix(const nearby_bank *bank, double start, double stop,
                     double horizontal_speed_variance, double vertical_speed_variance) {
  using State = Hypothesis<double, NEARBY_MOVING_STATE_SIZE>;
  double *log_weight = row(*bank, NEARBY_FIELD_LOG_WEIGHT);
  const double resting = std::exp(log_weight[0]), moving = std::exp(log_weight[1]);
  const double rests = resting * (1 - start) + moving * stop;
  const double moves = resting * start + moving * (1 - stop);

  const State still = State::load(*bank, 0), underway = State::load(*bank, 1);
  State stopped = underway, started = still;
  const double speed[3] = {horizontal_speed_variance, vertical_speed_variance,
                           horizontal_speed_variance};
  for (int axis = 0; axis < 3; ++axis) {
    const int velocity = NEARBY_STATE_VELOCITY + axis;
    stopped.mean[velocity] = 0;
    for (int i = 0; i < NEARBY_MOVING_STATE_SIZE; ++i) stopped.cov(i, velocity) = 0;
    started.cov(velocity, velocity) = speed[axis];
  }
  const double from_moving = moving * stop / rests, from_resting = resting * start / moves;
  mixture(1 - from_moving, still, from_moving, stopped).store(*bank, 0);
  mixture(1 - from_resting, underway, from_resting, started).store(*bank, 1);
  for (int f = NEARBY_FIELD_FAULT; f <= NEARBY_FIELD_RANGE_RESIDUAL; ++f) {
    const double a = row(*bank, f)[0], b = row(*bank, f)[1];
    row(*bank, f)[0] = a + from_moving * (b - a);
    row(*bank, f)[1] = b + from_resting * (a - b);
  }
  log_weight[0] = std::log(rests);
  log_weight[1] = std::log(moves);
}

void nearby_bank_moments(const nearby_bank *bank, double *mean, double *covariance) {
  Vector m = Vector::Zero();
  Matrix p = Matrix::Zero();
  if (bank->count == 1) {
    m = position(*bank, 0);
    p = position_covariance(*bank, 0);
  } else {
    const double *log_weight = row(*bank, NEARBY_FIELD_LOG_WEIGHT);
    for (int i = 0; i < bank->count; ++i) m += std::exp(log_weight[i]) * position(*bank, i);
    for (int i = 0; i < bank->count; ++i) {
      const Vector d = position(*bank, i) - m;
      p += std::exp(log_weight[i]) * (position_covariance(*bank, i) + d * d.transpose());
    }
  }
  for (int i = 0; i < 3; ++i) mean[i] = m[i];
  int k = 0;
  for (int r = 0; r < 3; ++r)
    for (int c = r; c < 3; ++c) covariance[k++] = p(r, c);
}
