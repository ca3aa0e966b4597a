// SPDX-License-Identifier: Apache-2.0
//
// Updates of a peer that may move.

#include "Update.hpp"

NEARBY_UPDATES(, NEARBY_MOVING_STATE_SIZE)
