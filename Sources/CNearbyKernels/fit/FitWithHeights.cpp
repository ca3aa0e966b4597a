// SPDX-License-Identifier: Apache-2.0
//
// Fits of a peer at rest with height differences.

#include "Fit.hpp"

template void nearby::fitting::fit_with<NEARBY_HEIGHT_STATE_SIZE>(nearby_vectors, const Fits &,
                                                                  const Priors &);
