// SPDX-License-Identifier: Apache-2.0
import CFloors
import CNearbyKernels

/// The Gaussian straight-line update of one hypothesis, repeated along a walk.
struct UpdateFloor {
  private let walk: MeasuredWalk
  private var state: floor_state
  private var step = 0

  init() {
    walk = MeasuredWalk()
    state = walk.start
  }

  /// Does a number of updates.
  mutating func run(_ count: Int) {
    unsafe walk.steps(from: step, count: count) { motion, errors, measurement in
      unsafe floor_update(&state, motion, errors, measurement)
    }
    step = (step + count) % walk.motions.count
  }
}
