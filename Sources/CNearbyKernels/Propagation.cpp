// SPDX-License-Identifier: Apache-2.0

#include "Propagation.hpp"

namespace {

NEARBY_INLINE inline void propagate_all(const nearby_bank *bank, const nearby_motion *motion) {
  const auto propagate = [&](auto h) NEARBY_INLINE {
    // A copy: nothing that is written to the bank can change it.
    const nearby_motion step = *motion;
    nearby::propagate(h, step, nearby::Renewal(step));
  };
  if (bank->stride == 1)
    nearby::for_column(*bank, propagate);
  else
    nearby::for_lanes<nearby::Lanes>(*bank, propagate);
}

}  // namespace

void nearby_bank_propagate(const nearby_bank *bank, const nearby_motion *motion) {
  nearby::on_this_processor([](auto... arguments) NEARBY_INLINE { propagate_all(arguments...); },
                            bank, motion);
}

nearby_straying nearby_stray(double ratio) { return nearby::straying(ratio); }
