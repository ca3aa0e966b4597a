// SPDX-License-Identifier: Apache-2.0
import CFloors
import CNearbyKernels
import NearbyGeometry

/// Twenty seconds of a walk as the kernels take it: what moves the state, and what was measured.
struct MeasuredWalk {
  private(set) var motions: [nearby_motion] = []
  private(set) var measurements: [nearby_measurement] = []
  /// What happens to the radio's errors in each step.
  let errors = nearby_error_step(
    range: 0.9, range_added: 0.19 * 1e-3, azimuth: 0.9, azimuth_added: 0.19 * 4e-4,
    elevation: 0.9, elevation_added: 0.19 * 8e-4, fault: 0.9, height: 1, height_added: 0)
  /// Where the peer is.
  let peer = Vector3(5.5, 0.8, -3)

  /// Steps a tenth of a second apart, with all three components and without faults.
  init() {
    let walk = Walk(path: .curve, peer: peer)
    var noise = Noise(seed: 5)
    let interval = 1 / Double(Walk.samplesPerSecond)
    for step in 0..<200 {
      let worldFromDevice = walk.worldFromDevice(at: Double(step) * interval)
      let place = worldFromDevice.translation
      motions.append(
        nearby_motion(
          device_in_world: (place.x, place.y, place.z), horizontal_diffusion: 1e-5,
          vertical_diffusion: 1e-5, yaw_diffusion: 3e-6, seconds: interval,
          horizontal_speed_variance: 0, vertical_speed_variance: 0, velocity_seconds: 1))
      let direction = worldFromDevice.inverse.act(peer)
      let angles = ArrivalAngles(ofDirection: direction)
      let value = (
        direction.length + noise.normal(walk.rangeNoise),
        (angles.azimuthRadians + noise.normal(walk.azimuthNoise)).wrappedAngle,
        angles.elevationRadians + noise.normal(walk.elevationNoise), 0.0
      )
      let turn = worldFromDevice.rotation
      let (x, y, z) = (turn.xAxis, turn.yAxis, turn.zAxis)
      measurements.append(
        nearby_measurement(
          antenna_in_world: (place.x, place.y, place.z),
          device_from_world: (x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z), present: 7,
          value: value, variance: (2.5e-3, 7e-4, 1.2e-3, 1),
          previous: measurements.last?.value ?? value, fault_onset: (0.03, 0.03, 0.03, 0),
          range_excess: 1.5, lasting_range_variance: 5e-4,
          field_of_view: 120.0.degreesAsRadians))
    }
  }

  /// The state of one hypothesis with the peer's position known to some centimetres.
  var start: floor_state {
    var state = floor_state()
    state.mean.0 = peer.x
    state.mean.1 = peer.y
    state.mean.2 = peer.z
    let variances = [1e-3, 1e-3, 1e-3, 9e-4, 2e-2, 1e-3, 2e-3, 1e-3, 4e-4, 8e-4]
    unsafe withUnsafeMutableBytes(of: &state.covariance) { bytes in
      let covariance = unsafe bytes.assumingMemoryBound(to: Double.self)
      for (index, variance) in variances.enumerated() {
        unsafe covariance[index * (index + 3) / 2] = variance
      }
    }
    return state
  }

  /// Passes consecutive steps, starting at a number and wrapping around, in the kernels' form.
  func steps(
    from first: Int = 0, count: Int,
    _ body: (
      UnsafePointer<nearby_motion>, UnsafePointer<nearby_error_step>,
      UnsafePointer<nearby_measurement>
    ) -> Void
  ) {
    var errors = errors
    unsafe motions.withUnsafeBufferPointer { motions in
      unsafe measurements.withUnsafeBufferPointer { measurements in
        guard let motion = motions.baseAddress, let measurement = measurements.baseAddress else {
          return
        }
        var step = first
        for _ in 0..<count {
          unsafe body(motion + step, &errors, measurement + step)
          step = step + 1 < motions.count ? step + 1 : 0
        }
      }
    }
  }
}
