import Foundation
import NearbyFusion
import NearbyGeometry

var engine = try FusionEngine()
let keys = engine.addPeer(.stationary)
let place = Vector3(2, 0.5, -3)  // where the keys lie; only the simulated radio knows

for step in 0..<100 {
  // From your odometry: the device walks a circle and looks ahead.
  let time = Timestamp(nanoseconds: Int64(step) * 100_000_000)
  let angle = 0.1 * Double(step)
  let position = Vector3(sin(angle), 0.5 * sin(2 * angle), cos(angle) - 1)
  engine.add(
    DevicePose(
      timestamp: time, worldFromDevice: RigidTransform(rotation: .identity, translation: position)))

  // From your radio: metres.
  engine.add(RangingSample(peer: keys, timestamp: time, distance: (place - position).length))
}

let estimate = engine.estimate(of: keys)
print(estimate.convergence, estimate.distance.value ?? .nan)
if let mean = estimate.positionInWorld { print("the keys are at", mean.x, mean.y, mean.z) }
