// SPDX-License-Identifier: Apache-2.0
import CNearby
import Foundation

/// A device that walks a circle between two beacons, as arrays.
struct WalkArrays {
  var poses: [nearby_pose] = []
  var samples: [nearby_sample] = []

  init(seconds: Int = 20) {
    let beacons: [(Double, Double, Double)] = [(4, 0.5, -3), (-3, 2, 1)]
    for step in 0..<(30 * seconds) {
      let time = Int64(step) * 33_333_333
      let turn = Double(step) / 60
      let place = (2 * cos(turn), 1.4 + 0.3 * sin(2 * turn), 2 * sin(turn))
      poses.append(
        nearby_pose(nanoseconds: time, position: place, quaternion: (0, 0, 0, 1)))
      guard step % 4 == 0 else { continue }
      let peer = step / 4 % 2
      let beacon = beacons[peer]
      var sample = nearby_sample_of(UInt32(peer), time + 5_000_000)
      let (x, y, z) = (beacon.0 - place.0, beacon.1 - place.1, beacon.2 - place.2)
      sample.distance = (x * x + y * y + z * z).squareRoot() + 0.05 * sin(Double(step))
      if step % 8 == 0 { sample.azimuth = atan2(x, -z) + 0.03 * cos(Double(step)) }
      samples.append(sample)
    }
  }
}

/// An engine with two peers.
func makeEngine(
  _ configuration: String? = nil, _ frames: nearby_frames? = nil, peers: Int = 2
) -> OpaquePointer? {
  var engine: OpaquePointer?
  if var frames {
    _ = nearby_engine_create(configuration, &frames, &engine)
  } else {
    _ = nearby_engine_create(configuration, nil, &engine)
  }
  for _ in 0..<peers { _ = nearby_engine_add_peer(engine, nil, NEARBY_PEER_STATIONARY, nil) }
  return engine
}
