// SPDX-License-Identifier: Apache-2.0
// The layout of the structures that callers in other languages declare themselves. It may only grow
// with the version of the shared library.
#include <stddef.h>

#include "nearby.h"

_Static_assert(sizeof(nearby_status) == 4, "an enumeration is a 32-bit integer");
_Static_assert(sizeof(nearby_pose) == 64, "a pose is eight words");
_Static_assert(offsetof(nearby_pose, quaternion) == 32, "the quaternion follows the place");
_Static_assert(sizeof(nearby_sample) == 80, "a sample is ten words");
_Static_assert(offsetof(nearby_sample, distance) == 16, "the numbers follow peer and sight");
_Static_assert(sizeof(nearby_anchor) == 32, "an anchor is four words");
_Static_assert(sizeof(nearby_difference) == 32, "a difference is four words");
_Static_assert(sizeof(nearby_fix) == 112, "a fix is fourteen words");
_Static_assert(sizeof(nearby_component) == 48, "a component is six words");
_Static_assert(sizeof(nearby_report) == 216, "a report holds four components");
_Static_assert(sizeof(nearby_estimate) == 216, "an estimate is 27 words");
_Static_assert(offsetof(nearby_estimate, distance) == 32, "the numbers follow the status");
