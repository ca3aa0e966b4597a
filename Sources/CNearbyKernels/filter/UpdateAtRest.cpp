// SPDX-License-Identifier: Apache-2.0
//
// Updates of a peer at rest.

#include "Update.hpp"

NEARBY_UPDATES(, NEARBY_STATE_SIZE)
