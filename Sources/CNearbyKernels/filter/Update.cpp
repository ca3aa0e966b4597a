// SPDX-License-Identifier: Apache-2.0

#include "Update.hpp"

namespace {

inline void step_column(nearby_vectors vectors, const nearby_bank *bank,
                        const nearby_motion *motion, const nearby_travel *travel,
                        const nearby_measurement *measurement, double fault_correlation,
                        nearby_correlations *correlations) {
  nearby::with_states(bank->states, [&](auto size) NEARBY_INLINE {
    nearby::updating::step_column_with<size>(vectors, bank, motion, travel, measurement,
                                             fault_correlation, correlations);
  });
}
inline void update_lanes(nearby_vectors vectors, const nearby_bank *bank,
                         const nearby_measurement *measurement, double fault_correlation) {
  nearby::with_states(bank->states, [&](auto size) NEARBY_INLINE {
    nearby::updating::update_lanes_with<size>(vectors, bank, measurement, fault_correlation);
  });
}

/// Performance: not inlined, so that a single column need not save the registers that this one
/// needs.
__attribute__((noinline)) nearby_correlations advance_lanes(const nearby_bank *bank,
                                                            const nearby_motion *motion,
                                                            const nearby_travel *travel,
                                                            const nearby_measurement *measurement) {
  nearby_correlations correlations;
  nearby::on_this_processor([&]() NEARBY_INLINE {
    const nearby_error_step errors = nearby::error_step(*travel);
    correlations = nearby::correlations(errors);
    nearby::for_lanes<nearby::Lanes>(*bank, [&](auto h) NEARBY_INLINE {
      const nearby_motion step = *motion;
      nearby::propagate(h, step, errors);
    });
  });
  update_lanes(nearby::widest_vectors, bank, measurement, correlations.fault);
  return correlations;
}

}  // namespace

void nearby_bank_update_with(const nearby_bank *bank, const nearby_measurement *measurement,
                             double fault_correlation, nearby_vectors vectors) {
  if (bank->stride == 1)
    step_column(vectors, bank, nullptr, nullptr, measurement, fault_correlation, nullptr);
  else
    update_lanes(vectors, bank, measurement, fault_correlation);
}

void nearby_bank_update(const nearby_bank *bank, const nearby_measurement *measurement,
                        double fault_correlation) {
  nearby_bank_update_with(bank, measurement, fault_correlation, nearby::widest_vectors);
}

nearby_correlations nearby_bank_advance(const nearby_bank *bank, const nearby_motion *motion,
                                        const nearby_travel *travel,
                                        const nearby_measurement *measurement) {
  if (bank->stride > 1) return advance_lanes(bank, motion, travel, measurement);
  nearby_correlations correlations;
  step_column(nearby::widest_vectors, bank, motion, travel, measurement, 1, &correlations);
  return correlations;
}
