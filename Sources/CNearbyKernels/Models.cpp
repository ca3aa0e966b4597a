// SPDX-License-Identifier: Apache-2.0

#include "Models.hpp"

namespace {

nearby::Hypothesis<double> at(const double *state) {
  nearby::Hypothesis<double> h{};
  for (int i = 0; i < NEARBY_STATE_SIZE; ++i) h.mean(i) = state[i];
  return h;
}

template <class Model>
void fill(double *jacobian, const nearby::Linearized<double> &z) {
  for (int i = 0; i < NEARBY_STATE_SIZE; ++i) jacobian[i] = i < 3 ? z.gradient(i) : 0;
  jacobian[Model::bias] = jacobian[Model::wander] = 1;
}

}  // namespace

double nearby_range_model(const double *state, const nearby_measurement *from, double *jacobian) {
  double range;
  const auto z = nearby::RangeModel<double>::at<false>(at(state), *from, range);
  fill<nearby::RangeModel<double>>(jacobian, z);
  jacobian[NEARBY_STATE_RANGE_SCALE] = range;
  return z.predicted;
}

double nearby_azimuth_model(const double *state, const nearby_measurement *from, double *jacobian) {
  const auto z = nearby::AzimuthModel<double>::at<false>(at(state), *from);
  fill<nearby::AzimuthModel<double>>(jacobian, z);
  return z.predicted;
}

double nearby_elevation_model(const double *state, const nearby_measurement *from,
                              double *jacobian) {
  const auto z = nearby::ElevationModel<double>::at<false>(at(state), *from);
  fill<nearby::ElevationModel<double>>(jacobian, z);
  return z.predicted;
}
