// SPDX-License-Identifier: Apache-2.0

#include "Propagation.hpp"

namespace {

NEARBY_INLINE inline void propagate_all(const nearby_bank &bank, const nearby_motion &motion) {
  nearby::for_each<nearby::Lanes>(bank, [&](auto h) NEARBY_INLINE {
    // A copy: nothing that is written to the bank can change it.
    const nearby_motion m = motion;
    nearby::propagate(h, m, {m.range_wander_decay, m.range_wander_diffusion,
                             m.azimuth_wander_decay, m.azimuth_wander_diffusion,
                             m.elevation_wander_decay, m.elevation_wander_diffusion});
  });
}

}  // namespace

void nearby_bank_propagate(const nearby_bank *bank, const nearby_motion *motion) {
  nearby::on_this_processor([](auto... arguments)
                                NEARBY_INLINE { propagate_all(*arguments...); },
                            bank, motion);
}
