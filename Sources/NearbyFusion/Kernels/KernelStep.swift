// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import NearbyGeometry

/// What a prediction needs to know, as the kernels want it.
struct KernelMotion {
  fileprivate(set) var kernel = nearby_motion()

  /// A step of a peer at rest or moving.
  ///
  /// - Parameters:
  ///   - device: The device's position at the end of the step, in the odometry's world.
  ///   - seconds: How long the step takes.
  ///   - drift: The odometry's drift over it; none for a view, which adds drift itself.
  ///   - motion: How a peer that may move does.
  @inline(__always)
  init(device: Vector3, seconds: Double, drift: OdometryDrift?, _ motion: borrowing MotionModel) {
    kernel.device_in_world = (device.x, device.y, device.z)
    if let drift {
      kernel.horizontal_diffusion = drift.horizontal
      kernel.vertical_diffusion = drift.vertical
      kernel.yaw_diffusion = drift.yaw
    }
    kernel.seconds = seconds
    kernel.horizontal_speed_variance = motion.speedVariances[0]
    kernel.vertical_speed_variance = motion.speedVariances[1]
    kernel.velocity_seconds = motion.velocitySeconds
  }
}

/// What was measured, from where, and how it may be wrong.
struct KernelMeasurement {
  fileprivate(set) var kernel: nearby_measurement

  /// - Parameters:
  ///   - measurements: What was measured.
  ///   - antenna: The antenna in the odometry's world.
  ///   - rotation: From device axes into that world.
  ///   - variance: The variance of each kind's white noise, the pose's uncertainty included.
  ///   - previous: The values measured last time; NaN before the first.
  ///   - onset: The probability that a fault begins.
  ///   - rangeExcess: The mean excess of a range without line of sight, metres.
  ///   - lastingExcessVariance: The stationary variance about which an excess that lasts changes, m².
  ///   - fieldOfViewRadians: The cone in which angles are measured.
  @inline(__always)
  init(
    _ measurements: Measurements, antenna: Vector3, rotation: Rotation,
    variance: PerKind<Double>, previous: PerKind<Double>, onset: PerKind<Double>,
    rangeExcess: Double, lastingExcessVariance: Double, fieldOfViewRadians: Double
  ) {
    let (x, y, z) = (rotation.xAxis, rotation.yAxis, rotation.zAxis)
    let values = measurements.values
    kernel = nearby_measurement(
      antenna_in_world: (antenna.x, antenna.y, antenna.z),
      device_from_world: (x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z),
      present: measurements.present,
      // Performance: written out, as a closure copies all values.
      value: (
        values.range.value, values.azimuth.value, values.elevation.value,
        values.heightDifference.value
      ),
      variance: variance.tuple, previous: previous.tuple, fault_onset: onset.tuple,
      range_excess: rangeExcess,
      lasting_range_variance: lastingExcessVariance, field_of_view: fieldOfViewRadians)
  }
}

extension HypothesisBank {
  /// Predicts; the radio's errors stay as they are.
  @inline(__always)
  mutating func propagate(_ motion: inout KernelMotion) {
    unsafe withKernelBank { bank in
      unsafe withUnsafePointer(to: &motion.kernel) { unsafe nearby_bank_propagate(bank, $0, nil) }
    }
  }

  /// Predicts and updates; makes the shares sum to one.
  ///
  /// Performance: `inout` only to pass by reference.
  ///
  /// - Parameters:
  ///   - motion: The step.
  ///   - travel: The path as it decorrelates errors.
  ///   - measurement: What was measured at its end.
  /// - Returns: The decorrelation 1 - φ² of the range's wandering error and of the angles'.
  @inline(__always)
  mutating func advance(
    _ motion: inout KernelMotion, _ travel: inout KernelTravel,
    to measurement: inout KernelMeasurement
  ) -> (range: Double, angle: Double) {
    unsafe withKernelBank { bank in
      let factors = unsafe nearby_bank_advance(
        bank, &motion.kernel, &travel.kernel, &measurement.kernel)
      unsafe Self.normalize(bank)
      return (1 - factors.range * factors.range, 1 - factors.angle * factors.angle)
    }
  }

  /// Updates every hypothesis, with no time passed since the last sample; makes the shares sum to one.
  ///
  /// Performance: `inout` only to pass by reference.
  ///
  /// - Parameter measurement: What was measured.
  @inline(__always)
  mutating func update(_ measurement: inout KernelMeasurement) {
    unsafe withKernelBank { bank in
      unsafe nearby_bank_update(bank, &measurement.kernel, 1)
      unsafe Self.normalize(bank)
    }
  }
}
