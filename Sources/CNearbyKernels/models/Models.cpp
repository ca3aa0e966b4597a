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

template <class Model>
void fill(double *jacobian, const nearby::Linearized<double> &z) {
  for (int i = 0; i < State::size; ++i) jacobian[i] = i < 3 ? z.gradient(i) : 0;
  if constexpr (Model::Errors::has_bias) jacobian[Model::Errors::bias] = 1;
  jacobian[Model::Errors::wander] = 1;
}

}  // namespace

double nearby_predict(int32_t kind, const double *state, const nearby_antenna_pose *from,
                      double *jacobian) {
  switch (kind) {
    case NEARBY_RANGE: {
      double range;
      const auto z = nearby::RangeModel<double>::at<false>(at(state), *from, range);
      fill<nearby::RangeModel<double>>(jacobian, z);
      jacobian[NEARBY_STATE_RANGE_SCALE] = range;
      return z.predicted;
    }
    case NEARBY_AZIMUTH: {
      const auto z = nearby::AzimuthModel<double>::at<false>(at(state), *from);
      fill<nearby::AzimuthModel<double>>(jacobian, z);
      return z.predicted;
    }
    case NEARBY_ELEVATION: {
      const auto z = nearby::ElevationModel<double>::at<false>(at(state), *from);
      fill<nearby::ElevationModel<double>>(jacobian, z);
      return z.predicted;
    }
    case NEARBY_HEIGHT_DIFFERENCE: {
      const auto z = nearby::HeightDifferenceModel<double>::at<false>(at(state), *from);
      fill<nearby::HeightDifferenceModel<double>>(jacobian, z);
      return z.predicted;
    }
  }
  return NAN;
}
