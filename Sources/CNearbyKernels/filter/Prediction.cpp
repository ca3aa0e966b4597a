// SPDX-License-Identifier: Apache-2.0

#include "Prediction.hpp"

namespace {

NEARBY_INLINE inline void propagate_all(const nearby_bank *bank, const nearby_motion *motion,
                                        const nearby_error_step *errors) {
  const auto propagate = [&](auto h) NEARBY_INLINE {
    // Copies: nothing that is written to the bank can change them.
    const nearby_motion step = *motion;
    const nearby_error_step error_step = errors ? *errors : nearby::no_error_step;
    nearby::propagate(h, step, error_step);
  };
  if (bank->stride == 1)
    nearby::for_column(*bank, propagate);
  else
    nearby::for_lanes<nearby::Lanes>(*bank, propagate);
}

}  // namespace

void nearby_bank_propagate(const nearby_bank *bank, const nearby_motion *motion,
                           const nearby_error_step *errors) {
  nearby::on_this_processor([](auto... arguments) NEARBY_INLINE { propagate_all(arguments...); },
                            bank, motion, errors);
}

nearby_error_step nearby_error_step_over(const nearby_travel *travel) {
  return nearby::error_step(*travel);
}

nearby_ornstein_uhlenbeck nearby_ornstein_uhlenbeck_over(double ratio) {
  return nearby::ornstein_uhlenbeck(ratio);
}
