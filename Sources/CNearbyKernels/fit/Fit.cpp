// SPDX-License-Identifier: Apache-2.0

#include "Fit.hpp"

#include <Eigen/Cholesky>

using nearby::fitting::Fits, nearby::fitting::Priors;

nearby::fitting::Priors::Priors(const Fits &fits) {
  for (int i = 0; i < fits.count; ++i) {
    const double *p = fits.models[i].information;
    Eigen::Matrix3d information;
    information << p[0], p[1], p[2], p[1], p[3], p[4], p[2], p[4], p[5];
    const Eigen::LLT<Eigen::Matrix3d> prior(information);
    if (prior.info() != Eigen::Success) continue;
    reach[i] = 2 / std::sqrt(information.trace() / 3);
    half_log_determinant[i] = std::log(prior.matrixLLT().diagonal().prod());
  }
}

void nearby_fit_side_by_side(const nearby_keyframe *keyframes, int32_t count,
                             const nearby_fit_model *models, int32_t fits, double widest,
                             double *states, double *covariances, double *inlier_shares,
                             double *log_evidences, int32_t *has_folded) {
  nearby_fit_side_by_side_with(keyframes, count, models, fits, widest, states, covariances,
                               inlier_shares, log_evidences, has_folded, nearby::widest_vectors);
}

void nearby_fit_side_by_side_with(const nearby_keyframe *keyframes, int32_t count,
                                  const nearby_fit_model *models, int32_t fits, double widest,
                                  double *states, double *covariances, double *inlier_shares,
                                  double *log_evidences, int32_t *has_folded,
                                  nearby_vectors vectors) {
  const Fits all = {keyframes,     std::min<int32_t>(count, NEARBY_FIT_CAPACITY),
                    models,        std::min<int32_t>(fits, NEARBY_FITS),
                    widest,        states,
                    covariances,   inlier_shares,
                    log_evidences, has_folded};
  for (int first = 0; first < all.count;) {
    // What fills half of the widest vectors is fitted in half as wide ones.
    const bool is_wide =
        vectors == NEARBY_VECTORS_OF_EIGHT && all.count - first > nearby::lane_count;
    const Fits some = all.from(first, is_wide ? nearby::wide_lane_count : nearby::lane_count);
    const Priors priors(some);
    const nearby_vectors used = is_wide ? vectors : std::min(vectors, NEARBY_VECTORS_OF_FOUR);
    if (some.models->has_heights)
      nearby::fitting::fit_with<NEARBY_HEIGHT_STATE_SIZE>(used, some, priors);
    else
      nearby::fitting::fit_with<NEARBY_STATE_SIZE>(used, some, priors);
    first += some.count;
  }
}

double nearby_fit(const nearby_keyframe *keyframes, int32_t count, const nearby_fit_model *model,
                  double widest, double *state, double *covariance, double *inlier_shares) {
  double log_evidence;
  int32_t has_folded;
  nearby_fit_side_by_side(keyframes, count, model, 1, widest, state, covariance, inlier_shares,
                          &log_evidence, &has_folded);
  return log_evidence;
}
