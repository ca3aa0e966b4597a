// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>

#include "Hypothesis.hpp"

namespace {

using nearby::at;
using nearby::each;
using nearby::Hypothesis;
using nearby::lane_count;
using nearby::LaneBits;
using nearby::Lanes;
using nearby::packed;

/// One number of each hypothesis of a bank, in whole lanes.
constexpr int whole_lanes = (NEARBY_CAPACITY + lane_count - 1) / lane_count * lane_count;
using Numbers = double[whole_lanes];

/// One field of a bank, as a row over its hypotheses.
double *row(const nearby_bank &bank, int field) { return bank.fields + field * bank.stride; }

int field_count(const nearby_bank &bank) {
  int count = 0;
  nearby::with_states(bank.states, [&](auto size) {
    count = nearby::has_velocity<size> ? NEARBY_MOVING_FIELD_COUNT
            : nearby::has_height<size> ? NEARBY_HEIGHT_FIELD_COUNT
                                       : NEARBY_FIELD_COUNT;
  });
  return count;
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
                       a * b * (x.mean(r) - y.mean(r)) * (x.mean(c) - y.mean(c));
  for (int r = 0; r < N; ++r) both.mean(r) = a * x.mean(r) + b * y.mean(r);
  return both;
}

template <int N>
void merge_states(const nearby_bank &bank, int i, double a, int j, double b) {
  using State = Hypothesis<double, N>;
  mixture<N>(a, State::load({bank, i}), b, State::load({bank, j})).store({bank, i});
}

/// Moment-matched union of `i` and `j` into `i`; shares are in `weight`.
void merge(const nearby_bank &bank, double *weight, int i, int j) {
  const double total = weight[i] + weight[j];
  const double a = weight[i] / total, b = weight[j] / total;
  nearby::with_states(bank.states, [&](auto size) { merge_states<size>(bank, i, a, j, b); });
  for (int f = NEARBY_FIELD_FAULT; f <= NEARBY_FIELD_RANGE_RESIDUAL; ++f)
    row(bank, f)[i] = a * row(bank, f)[i] + b * row(bank, f)[j];
  // The report is that of the heavier one: an average of innovations is the
  // innovation of no hypothesis.
  if (b > a)
    for (int f = NEARBY_FIELD_INNOVATION; f < NEARBY_FIELD_COUNT; ++f)
      row(bank, f)[i] = row(bank, f)[j];
  weight[i] = total;
}

/// Which of the hypotheses that stand in lanes from `first` on are from `begin` on and before
/// `end`.
NEARBY_INLINE inline LaneBits within(int begin, int end, int first) {
  LaneBits index;
  each<lane_count>([&](auto i) NEARBY_INLINE { index[i.value] = i + first; });
  return (index >= begin) & (index < end);
}

/// exp(x - offset) of `count` numbers, zero in the lanes beyond them. Returns the sum.
NEARBY_INLINE inline double exponentials(const double *x, double offset, int count,
                                         double *result) {
  Lanes sum = 0;
  for (int first = 0; first < count; first += lane_count) {
    Lanes exponents = 0;
    if (first + lane_count <= count)
      exponents = at<Lanes>(x + first);
    else
      each<lane_count>([&](auto i) NEARBY_INLINE {
        if (first + i < count) exponents[i.value] = x[first + i];
      });
    const Lanes value = nearby::exponential(exponents - offset);
    sum += at<Lanes>(result + first) = within(0, count, first) ? value : Lanes(0);
  }
  return nearby::sum(sum);
}

/// The place of some hypotheses: moments of the position.
template <class T>
struct Place {
  T mean[3], covariance[6];

  static NEARBY_INLINE Place load(const nearby_bank &bank, int first) {
    const nearby::Fields<T> fields(bank, first);
    Place place;
    each<3>([&](auto i) NEARBY_INLINE { place.mean[i] = fields[NEARBY_FIELD_MEAN + i]; });
    each<6>([&](auto i)
                NEARBY_INLINE { place.covariance[i] = fields[NEARBY_FIELD_COVARIANCE + i]; });
    return place;
  }

  NEARBY_INLINE T trace() const {
    return covariance[packed(0, 0)] + covariance[packed(1, 1)] + covariance[packed(2, 2)];
  }
};

/// The determinant of a packed symmetric matrix.
template <class T>
NEARBY_INLINE inline T determinant(const T p[6]) {
  const T xx = p[packed(0, 0)], xy = p[packed(0, 1)], xz = p[packed(0, 2)];
  const T yy = p[packed(1, 1)], yz = p[packed(1, 2)], zz = p[packed(2, 2)];
  return xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
}

/// What the merging of one hypothesis with others is judged by.
struct Host {
  Place<double> place;
  double log_determinant, weight;

  NEARBY_INLINE Host(const nearby_bank &bank, int index, double weight)
      : place(Place<double>::load(bank, index)),
        log_determinant(nearby::logarithm(Lanes(determinant(place.covariance)))[0]),
        weight(weight) {}

  /// Which of the candidates lose less than `limit` when merged with it: Runnalls' bound on the
  /// loss, per unit of the two shares.
  ///
  /// Two means that are four joint sigmas apart never merge. Nor do those for which
  /// a b ‖d‖² > (exp(2 limit) - 1) tr(a A + b B): as the logarithm of a determinant is concave, the
  /// loss is at least ½ log(1 + a b dᵀ(a A + b B)⁻¹ d). Either saves the determinants.
  NEARBY_INLINE LaneBits takes_in(const Place<Lanes> &other, Lanes log_determinants, Lanes weights,
                                  LaneBits candidates, double limit, double stretch) const {
    Lanes d[3];
    each<3>([&](auto i) NEARBY_INLINE { d[i] = other.mean[i] - place.mean[i]; });
    const Lanes squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    const Lanes trace = other.trace();
    const Lanes total = weight + weights;
    candidates &= squared <= 16 * (place.trace() + trace);
    candidates &=
        weight * weights * squared <= stretch * total * (weight * place.trace() + weights * trace);
    if (!nearby::any(candidates)) return candidates;
    const Lanes a = weight / total, b = weights / total, ab = a * b;
    Lanes both[6];
    each<3>([&](auto c) NEARBY_INLINE {
      each<c + 1>([&](auto r) NEARBY_INLINE {
        constexpr int e = packed(r, c);
        both[e] = a * place.covariance[e] + b * other.covariance[e] + ab * d[r] * d[c];
      });
    });
    const Lanes loss =
        0.5 * (nearby::logarithm(determinant(both)) - a * log_determinant - b * log_determinants);
    return candidates & (loss < limit);
  }
};

/// Lets hypothesis `i` take in whom it can of those after it, the last one first; returns how many
/// are left.
NEARBY_INLINE inline int take_in(const nearby_bank &bank, int i, int count, double limit,
                                 double stretch, double *weight, double *log_determinant) {
  Host host(bank, i, weight[i]);
  for (int first = (count - 1) / lane_count * lane_count; first + lane_count > i + 1;
       first -= lane_count) {
    const auto others = Place<Lanes>::load(bank, first);
    LaneBits candidates = within(i + 1, count, first);
    if (bank.states == NEARBY_MOVING_STATE_SIZE) {
      const double *moving = row(bank, NEARBY_FIELD_MOVES);
      candidates &= at<Lanes>(moving + first) == moving[i];
    }
    for (;;) {
      const LaneBits taken = host.takes_in(others, at<Lanes>(log_determinant + first),
                                           at<Lanes>(weight + first), candidates, limit, stretch);
      if (!nearby::any(taken)) break;
      int j = first + lane_count - 1;
      while (!taken[j - first]) --j;
      merge(bank, weight, i, j);
      host = Host(bank, i, weight[i]);
      --count;
      copy(bank, count, j);
      weight[j] = weight[count];
      log_determinant[j] = log_determinant[count];
      candidates &= within(0, j, first);
    }
  }
  return count;
}

}  // namespace

void nearby_bank_normalize(const nearby_bank *bank) {
  if (bank->count == 0) return;
  double *weight = row(*bank, NEARBY_FIELD_LOG_WEIGHT);
  if (bank->count == 1) {
    weight[0] -= weight[0];
    return;
  }
  const double top = *std::max_element(weight, weight + bank->count);
  nearby::on_this_processor([&]() NEARBY_INLINE {
    Numbers shares;
    const double sum = exponentials(weight, top, bank->count, shares);
    const double evidence = top + nearby::logarithm(Lanes(sum))[0];
    for (int i = 0; i < bank->count; ++i) weight[i] -= evidence;
  });
}

int32_t nearby_bank_reduce(const nearby_bank *bank, int32_t most, double pruning_weight,
                           double merging_limit) {
  Numbers weight, log_determinant, sorted;
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
  nearby::on_this_processor([&]() NEARBY_INLINE { exponentials(log_weight, 0, total, weight); });
  // Many hypotheses of about the same weight form a shell. Without this limit all of them could be
  // pruned. Half of an even weight, because rounding may put the greatest weight below an even one.
  const double least_share = std::min(pruning_weight, 0.5 / total);

  int count = 0;
  for (int i = 0; i < total; ++i) {
    if (!(weight[i] >= least_share) || log_weight[i] < least) continue;
    if (log_weight[i] == least && ties-- <= 0) continue;
    copy(*bank, i, count);
    weight[count++] = weight[i];
  }

  nearby::on_this_processor([&]() NEARBY_INLINE {
    // One alone may stand in a bank without room for lanes.
    if (count > 1)
      for (int first = 0; first < count; first += lane_count)
        at<Lanes>(log_determinant + first) =
            nearby::logarithm(determinant(Place<Lanes>::load(*bank, first).covariance));
    const double stretch = (1 + 1e-9) * std::expm1(2 * merging_limit);
    // The heaviest takes in whom it can; then the next.
    for (int i = 0; i < count; ++i) {
      const int top = int(std::max_element(weight + i, weight + count) - weight);
      if (top != i) {
        exchange(*bank, i, top);
        std::swap(weight[i], weight[top]);
        std::swap(log_determinant[i], log_determinant[top]);
      }
      if (i + 1 < count)
        count = take_in(*bank, i, count, merging_limit, stretch, weight, log_determinant);
    }

    double sum = 0;
    for (int i = 0; i < count; ++i) sum += weight[i];
    for (int first = 0; first < count; first += lane_count) {
      const Lanes logarithms = nearby::logarithm(at<Lanes>(weight + first) / sum);
      each<lane_count>([&](auto i) NEARBY_INLINE {
        if (first + i < count) log_weight[first + i] = logarithms[i.value];
      });
    }
  });
  return count;
}

void nearby_bank_mix(const nearby_bank *bank, double start, double stop,
                     double horizontal_speed_variance, double vertical_speed_variance) {
  using State = Hypothesis<double, NEARBY_MOVING_STATE_SIZE>;
  double *log_weight = row(*bank, NEARBY_FIELD_LOG_WEIGHT);
  const double resting = std::exp(log_weight[0]), moving = std::exp(log_weight[1]);
  const double rests = resting * (1 - start) + moving * stop;
  const double moves = resting * start + moving * (1 - stop);

  const State still = State::load({*bank, 0}), underway = State::load({*bank, 1});
  State stopped = underway, started = still;
  const double speed[3] = {horizontal_speed_variance, vertical_speed_variance,
                           horizontal_speed_variance};
  for (int axis = 0; axis < 3; ++axis) {
    const int velocity = NEARBY_STATE_VELOCITY + axis;
    stopped.mean(velocity) = 0;
    for (int i = 0; i < NEARBY_MOVING_STATE_SIZE; ++i) stopped.cov(i, velocity) = 0;
    started.cov(velocity, velocity) = speed[axis];
  }
  const double from_moving = moving * stop / rests, from_resting = resting * start / moves;
  mixture(1 - from_moving, still, from_moving, stopped).store({*bank, 0});
  mixture(1 - from_resting, underway, from_resting, started).store({*bank, 1});
  for (int f = NEARBY_FIELD_FAULT; f <= NEARBY_FIELD_RANGE_RESIDUAL; ++f) {
    const double a = row(*bank, f)[0], b = row(*bank, f)[1];
    row(*bank, f)[0] = a + from_moving * (b - a);
    row(*bank, f)[1] = b + from_resting * (a - b);
  }
  log_weight[0] = std::log(rests);
  log_weight[1] = std::log(moves);
}

void nearby_bank_moments(const nearby_bank *bank, double *mean, double *covariance) {
  // Packed row by row there, column by column here.
  constexpr int order[6] = {packed(0, 0), packed(0, 1), packed(0, 2),
                            packed(1, 1), packed(1, 2), packed(2, 2)};
  if (bank->count == 1) {
    const auto place = Place<double>::load(*bank, 0);
    std::copy(place.mean, place.mean + 3, mean);
    for (int i = 0; i < 6; ++i) covariance[i] = place.covariance[order[i]];
    return;
  }
  nearby::on_this_processor([&]() NEARBY_INLINE {
    const int count = std::min<int>(bank->count, NEARBY_CAPACITY);
    Numbers share;
    exponentials(row(*bank, NEARBY_FIELD_LOG_WEIGHT), 0, count, share);
    // Lanes beyond the count have no share, but may hold anything.
    const auto place = [&](int first) NEARBY_INLINE {
      auto result = Place<Lanes>::load(*bank, first);
      const LaneBits held = within(0, count, first);
      each<3>([&](auto i) NEARBY_INLINE { result.mean[i] = held ? result.mean[i] : Lanes(0); });
      each<6>([&](auto i)
                  NEARBY_INLINE { result.covariance[i] = held ? result.covariance[i] : Lanes(0); });
      return result;
    };
    Lanes sums[3] = {0, 0, 0};
    for (int first = 0; first < count; first += lane_count) {
      const auto here = place(first);
      each<3>([&](auto i) NEARBY_INLINE { sums[i] += at<Lanes>(share + first) * here.mean[i]; });
    }
    each<3>([&](auto i) NEARBY_INLINE { mean[i] = nearby::sum(sums[i]); });
    Lanes squares[6] = {0, 0, 0, 0, 0, 0};
    for (int first = 0; first < count; first += lane_count) {
      const auto here = place(first);
      each<3>([&](auto c) NEARBY_INLINE {
        each<c + 1>([&](auto r) NEARBY_INLINE {
          const Lanes spread = (here.mean[r] - mean[r]) * (here.mean[c] - mean[c]);
          squares[packed(r, c)] +=
              at<Lanes>(share + first) * (here.covariance[packed(r, c)] + spread);
        });
      });
    }
    each<6>([&](auto i) NEARBY_INLINE { covariance[i] = nearby::sum(squares[order[i]]); });
  });
}
