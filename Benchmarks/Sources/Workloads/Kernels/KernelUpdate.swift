// SPDX-License-Identifier: Apache-2.0
import CFloors
import CNearbyKernels
import NearbyGeometry

/// The bare update: `nearby_bank_propagate` and `nearby_bank_update` of a bank, all three components.
///
/// Its floor is the same update of each hypothesis as straight-line C++.
struct KernelUpdate: Workload {
  /// The kinds of floors.
  enum Floor {
    /// A Kalman filter's three scalar updates: Gaussian, without a model of faults.
    case gaussian
    /// The same, linearised once for all components.
    case atOnce
    /// The kernels' own model: the mixture with the densities of faults.
    case robust
  }

  let operations = 200

  private let hypotheses: Int
  private let floor: Floor
  private let walk = MeasuredWalk()
  private var fields: [Double]
  private var states: [floor_state]

  init(hypotheses: Int, floor: Floor = .gaussian) {
    self.hypotheses = hypotheses
    self.floor = floor
    states = Array(repeating: walk.start, count: hypotheses)
    let stride = Self.stride(hypotheses)
    fields = [Double](repeating: 0, count: Int(NEARBY_FIELD_COUNT) * stride)
    var start = walk.start
    unsafe withUnsafeBytes(of: &start) { bytes in
      // A state begins with its mean and its covariance, like a bank's fields.
      let values = unsafe bytes.assumingMemoryBound(to: Double.self)
      for field in 0..<Int(NEARBY_FIELD_FAULT) {
        for index in 0..<stride { fields[field * stride + index] = unsafe values[field] }
      }
    }
  }

  private static func stride(_ hypotheses: Int) -> Int {
    let lanes = Int(NEARBY_LANES)
    return hypotheses == 1 ? 1 : (hypotheses + lanes - 1) / lanes * lanes
  }

  mutating func run() {
    let (count, stride) = (Int32(hypotheses), Int32(Self.stride(hypotheses)))
    unsafe fields.withUnsafeMutableBufferPointer { buffer in
      var bank = unsafe nearby_bank(
        fields: buffer.baseAddress, count: count, stride: stride, states: Int32(NEARBY_STATE_SIZE))
      unsafe walk.steps(count: operations) { motion, errors, measurement in
        unsafe nearby_bank_propagate(&bank, motion, errors)
        unsafe nearby_bank_update(&bank, measurement, errors.pointee.fault)
      }
    }
  }

  mutating func runFloor() {
    let update =
      switch floor {
      case .gaussian: unsafe floor_update
      case .atOnce: unsafe floor_update_at_once
      case .robust: unsafe floor_robust_update
      }
    unsafe states.withUnsafeMutableBufferPointer { states in
      guard let state = states.baseAddress else { return }
      unsafe walk.steps(count: operations) { motion, errors, measurement in
        for index in 0..<hypotheses {
          unsafe update(state + index, motion, errors, measurement)
        }
      }
    }
  }

  /// Both must have found the peer, and the robust floor must agree with the kernel except for the
  /// linearisation point.
  func check() throws {
    let truth = [walk.peer.x, walk.peer.y, walk.peer.z]
    let stride = Self.stride(hypotheses)
    let floor = [states[0].mean.0, states[0].mean.1, states[0].mean.2]
    for axis in 0..<3 {
      let kernel = fields[axis * stride]
      guard abs(kernel - truth[axis]) < 0.5, abs(floor[axis] - truth[axis]) < 0.5 else {
        throw WrongState("kernel \(kernel), floor \(floor[axis]), truth \(truth[axis])")
      }
      guard self.floor != .robust || abs(kernel - floor[axis]) < 5e-3 else {
        throw WrongState("kernel \(kernel), its floor \(floor[axis])")
      }
    }
  }
}
