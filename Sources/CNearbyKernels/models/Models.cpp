// SPDX-License-Identifier: Apache-2.0

#include "Models.hpp"

#include <cmath>

namespace {

using State = nearby::Hypothesis<double, NEARBY_HEIGHT_STATE_SIZE>;

State at(const double *state) {
  State h{};
  for (int i = 0; i < State::size; ++i) h.mean(i) = state[i];
  return h;
}

template <int component>
void fill(double *jacobian, const nearby::Linearized<double> &z, double scale) {
  using Kind = nearby::Kind<component>;
  for (int i = 0; i < State::size; ++i) jacobian[i] = i < 3 ? z.gradient(i) : 0;
  if constexpr (Kind::has_bias) jacobian[Kind::bias] = 1;
  jacobian[Kind::wander] = 1;
  if constexpr (component == NEARBY_RANGE) jacobian[NEARBY_STATE_RANGE_SCALE] = scale;
}

}  // namespace

double nearby_predict(int32_t kind, const double *state, const nearby_antenna_pose *from,
                      double *jacobian) {
  double predicted = NAN;
  nearby::each<NEARBY_COMPONENTS>([&](auto component) {
    if (kind != component) return;
    double scale = 0;
    const auto z = nearby::linearized<component, false, double>(at(state), *from, scale);
    fill<component>(jacobian, z, scale);
    predicted = z.predicted;
  });
  return predicted;
}
