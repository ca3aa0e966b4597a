// SPDX-License-Identifier: Apache-2.0
//
// Fits of a peer that may move.

#include "Fit.hpp"

template void nearby::fitting::fit_with<NEARBY_MOVING_STATE_SIZE>(nearby_vectors, const Fits &,
                                                                  const Priors &);
