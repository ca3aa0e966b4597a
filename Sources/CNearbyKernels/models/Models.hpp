// SPDX-License-Identifier: Apache-2.0
//
// The measurement models of all kinds, by kind.

#pragma once

#include "Azimuth.hpp"
#include "Elevation.hpp"
#include "HeightDifference.hpp"
#include "Range.hpp"
