// SPDX-License-Identifier: Apache-2.0
import Registration
import Workloads

let benchmarks: @Sendable () -> Void = {
  for entry in Catalogue.engine { entry.register() }
  registerCostliestSamples()
  LongWalk.register()
}
