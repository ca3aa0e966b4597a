// SPDX-License-Identifier: Apache-2.0

#include <Eigen/Cholesky>
#include <limits>

#include "Models.hpp"

namespace {

using Vector = Eigen::Matrix<double, NEARBY_FIT_SIZE, 1>;
using Matrix = Eigen::Matrix<double, NEARBY_FIT_SIZE, NEARBY_FIT_SIZE>;

/// The normal equations at one point, and the cost there.
struct System {
  Matrix information = Matrix::Zero();
  Vector gradient = Vector::Zero();
  double cost = 0;

  void add(const Vector &h, double innovation, double variance, double weight) {
    information.selfadjointView<Eigen::Lower>().rankUpdate(h, weight / variance);
    gradient += weight * innovation / variance * h;
  }
};

void add_prior(const nearby_fit_model &model, const Vector &x, System &system) {
  const double sigma[NEARBY_FIT_SIZE] = {model.horizontal_sigma, model.vertical_sigma,
                                         model.horizontal_sigma, model.range_bias_sigma,
                                         model.range_scale_sigma};
  for (int i = 0; i < NEARBY_FIT_SIZE; ++i) {
    // A prior of zero width pins the parameter without dividing by it.
    const double variance = std::fmax(sigma[i] * sigma[i], 1e-12);
    const double innovation = (i < 3 ? model.center[i] : 0) - x[i];
    system.information(i, i) += 1 / variance;
    system.gradient[i] += innovation / variance;
    system.cost += 0.5 * innovation * innovation / variance;
  }
}

void add_keyframe(const nearby_keyframe &k, const nearby_fit_model &model, const Vector &x,
                  double widening, System &system) {
  nearby::Hypothesis<double> at{};
  for (int i = 0; i < NEARBY_FIT_SIZE; ++i) at.mean[i] = x[i];
  nearby_measurement from;
  for (int i = 0; i < 3; ++i) from.antenna_in_world[i] = k.antenna_in_world[i];
  for (int i = 0; i < 9; ++i) from.device_from_world[i] = k.device_from_world[i];

  for (int component = 0; component < NEARBY_COMPONENTS; ++component) {
    if (!(k.present & 1 << component)) continue;
    Vector h = Vector::Zero();
    nearby::Linearized<double> z;
    if (component == NEARBY_RANGE) {
      double range;
      z = nearby::RangeModel<double>::at<false>(at, from, range);
      h[3] = 1;
      h[4] = range;
    } else if (component == NEARBY_AZIMUTH) {
      z = nearby::AzimuthModel<double>::at<false>(at, from);
    } else {
      z = nearby::ElevationModel<double>::at<false>(at, from);
    }
    for (int i = 0; i < 3; ++i) h[i] = z.gradient[i];
    double innovation = k.value[component] - z.predicted;
    if (component != NEARBY_RANGE) innovation = nearby::wrapped(innovation);

    const double variance = k.variance[component] * widening;
    const double share = model.outlier_share[component];
    const double honest = (1 - share) * 0.3989422804014327 *
                          std::exp(-0.5 * innovation * innovation / variance) /
                          std::sqrt(variance);
    const double likelihood = honest + share * model.outlier_density[component];
    system.add(h, innovation, variance, honest / likelihood);
    system.cost -= std::log(likelihood);
  }
}

System linearize(const nearby_keyframe *keyframes, int count, const nearby_fit_model &model,
                 const Vector &x, double widening) {
  System system;
  add_prior(model, x, system);
  for (int i = 0; i < count; ++i) add_keyframe(keyframes[i], model, x, widening, system);
  return system;
}

}  // namespace

double nearby_fit(const nearby_keyframe *keyframes, int32_t count, const nearby_fit_model *model,
                  double *parameters, double *covariance) {
  // Noise widened by these factors of variance, step by step.
  constexpr double schedule[] = {400, 100, 30, 10, 3, 1, 1, 1, 1};
  Vector x = Eigen::Map<const Vector>(parameters);
  Eigen::LLT<Matrix> solver;
  for (const double widening : schedule) {
    const System system = linearize(keyframes, count, *model, x, widening);
    solver.compute(system.information);
    if (solver.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
    Vector step = solver.solve(system.gradient);
    // A step far beyond what is being measured would leave the valley.
    const double length = step.head<3>().norm();
    const double reach = 0.5 * model->horizontal_sigma;
    if (length > reach) step *= reach / length;
    x += step;
    if (widening == 1 && length < 1e-4) break;
  }
  const System last = linearize(keyframes, count, *model, x, 1);
  solver.compute(last.information);
  if (solver.info() != Eigen::Success || !x.allFinite())
    return -std::numeric_limits<double>::infinity();
  double half_log_det = 0;
  for (int i = 0; i < NEARBY_FIT_SIZE; ++i) half_log_det += std::log(solver.matrixLLT()(i, i));
  Matrix widened = last.information;
  for (int i = 0; i < 3; ++i) widened(i, i) += model->covariance_floor;
  const Matrix p = widened.selfadjointView<Eigen::Lower>().llt().solve(Matrix::Identity());
  Eigen::Map<Vector>(parameters, NEARBY_FIT_SIZE) = x;
  int k = 0;
  for (int r = 0; r < NEARBY_FIT_SIZE; ++r)
    for (int c = r; c < NEARBY_FIT_SIZE; ++c) covariance[k++] = p(r, c);
  return -last.cost - half_log_det;
}
