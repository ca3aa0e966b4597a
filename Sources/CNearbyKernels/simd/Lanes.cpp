// SPDX-License-Identifier: Apache-2.0

#include "Lanes.hpp"

namespace {

using nearby::Lanes;

/// Calls `function(lanes, index of the first)` for all, and keeps what it returns.
template <class Function>
NEARBY_INLINE inline void apply(double *result, int32_t count, const Function &function) {
  int32_t i = 0;
  for (; i + nearby::lane_count <= count; i += nearby::lane_count)
    nearby::at<Lanes>(result + i) =
        function([&](const double *x) NEARBY_INLINE { return Lanes(nearby::at<Lanes>(x + i)); });
  for (; i < count; ++i)
    result[i] = function([&](const double *x) NEARBY_INLINE { return Lanes(x[i]); })[0];
}

}  // namespace

nearby_vectors nearby_widest_vectors(void) { return nearby::widest_vectors; }

void nearby_exponential(const double *x, double *result, int32_t count) {
  nearby::on_this_processor([&]() NEARBY_INLINE {
    apply(result, count, [&](auto load) NEARBY_INLINE { return nearby::exponential(load(x)); });
  });
}

void nearby_power_of_two(const double *x, double *result, int32_t count) {
  nearby::on_this_processor([&]() NEARBY_INLINE {
    apply(result, count, [&](auto load) NEARBY_INLINE { return nearby::power_of_two(load(x)); });
  });
}

void nearby_logarithm(const double *x, double *result, int32_t count) {
  nearby::on_this_processor([&]() NEARBY_INLINE {
    apply(result, count, [&](auto load) NEARBY_INLINE { return nearby::logarithm(load(x)); });
  });
}

void nearby_arctangent(const double *y, const double *x, double *result, int32_t count) {
  nearby::on_this_processor([&]() NEARBY_INLINE {
    apply(result, count,
          [&](auto load) NEARBY_INLINE { return nearby::arctangent(load(y), load(x)); });
  });
}
