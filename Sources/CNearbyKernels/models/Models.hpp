// SPDX-License-Identifier: Apache-2.0
//
// The measurement models of all kinds, by kind.

#pragma once

#include <type_traits>
#include <utility>

#include "Azimuth.hpp"
#include "Elevation.hpp"
#include "HeightDifference.hpp"
#include "Range.hpp"

namespace nearby {

/// A value of a kind, linearised; of a range `scale` becomes the derivative by its scale error.
template <int component, bool curved, class T, class H, class From>
NEARBY_INLINE inline Linearized<T> linearized(const H &h, const From &m, T &scale) {
  using Model = typename Kind<component>::template Model<T>;
  if constexpr (component == NEARBY_RANGE)
    return Model::template at<curved>(h, m, scale);
  else
    return Model::template at<curved>(h, m);
}

/// The kinds for which something holds, as bits.
template <template <int> class Holds, int... component>
constexpr int kinds_with(std::integer_sequence<int, component...>) {
  return ((Holds<component>::value << component) | ...);
}
template <int component>
struct IsCurved : std::bool_constant<!Kind<component>::is_linear> {};

template <int component>
struct IsAngle : std::bool_constant<Kind<component>::is_angle> {};

/// The kinds with curved models.
constexpr int curved_kinds =
    kinds_with<IsCurved>(std::make_integer_sequence<int, NEARBY_COMPONENTS>());

/// The kinds that are angles.
constexpr int angle_kinds =
    kinds_with<IsAngle>(std::make_integer_sequence<int, NEARBY_COMPONENTS>());

/// Whether a state of a size holds the errors of a kind.
template <int component, int states>
constexpr bool has_errors_of = Kind<component>::wander < states;

}  // namespace nearby
