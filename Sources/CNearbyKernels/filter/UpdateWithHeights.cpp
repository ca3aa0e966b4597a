// SPDX-License-Identifier: Apache-2.0
//
// Updates of a peer at rest with height differences.

#include "Update.hpp"

NEARBY_UPDATES(, NEARBY_HEIGHT_STATE_SIZE)
