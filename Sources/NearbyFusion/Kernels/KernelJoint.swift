// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import NearbyGeometry

/// Where everything stands among the unknowns of a joint fit.
enum JointIndex {
  /// Unknowns of one knot: the device's place (3) and yaw.
  static let knotSize = Int(NEARBY_JOINT_KNOT_SIZE)
  /// Unknowns of one peer: its place (3), range bias and range scale.
  static let peerSize = Int(NEARBY_JOINT_PEER_SIZE)

  /// The first unknown of a peer behind a number of knots.
  static func peer(_ member: Int, knots: Int) -> Int { knotSize * knots + peerSize * member }
}

/// What is known from before of the first knot and of the peers: a quadratic cost
/// `½ (s - o)ᵀ A (s - o) - gᵀ (s - o)`.
struct JointAnchor: Sendable {
  /// A, column by column.
  fileprivate(set) var information: [Double] = []
  fileprivate(set) var gradient: [Double] = []
  private(set) var origin: [Double] = []

  /// How many unknowns it is about.
  var size: Int { gradient.count }

  /// Holds a knot at a place, where the fixed world and the odometry's agree.
  init(holding place: Vector3) {
    let size = JointIndex.knotSize
    information = [Double](repeating: 0, count: size * size)
    for index in 0..<size { information[index * size + index] = Self.heldInformation }
    gradient = [Double](repeating: 0, count: size)
    origin = [place.x, place.y, place.z, 0]
  }

  /// What is held is known to 10 µm or 10 µrad.
  private static let heldInformation = 1e10

  /// An anchor of no unknowns.
  init() {}

  /// Takes another origin, and makes room for the information and the gradient about it.
  fileprivate mutating func reset(origin new: ArraySlice<Double>) {
    origin.replaceSubrange(origin.indices, with: new)
    if gradient.count != origin.count {
      gradient = [Double](repeating: 0, count: origin.count)
      information = [Double](repeating: 0, count: origin.count * origin.count)
    }
  }

  /// Adds a peer with independent priors.
  ///
  /// - Parameters:
  ///   - mean: The means of its unknowns.
  ///   - variances: Their variances; what has none is held.
  mutating func append(mean: [Double], variances: [Double]) {
    let (old, new) = (size, size + mean.count)
    var grown = [Double](repeating: 0, count: new * new)
    for column in 0..<old {
      for row in 0..<old { grown[column * new + row] = information[column * old + row] }
    }
    for (index, variance) in variances.enumerated() {
      grown[(old + index) * new + old + index] = min(1 / variance, Self.heldInformation)
    }
    information = grown
    gradient += [Double](repeating: 0, count: mean.count)
    origin += mean
  }

  /// Marginalises a peer: it is forgotten, and what it says of all others stays.
  mutating func remove(member: Int) {
    let first = JointIndex.peer(member, knots: 1)
    for _ in 0..<JointIndex.peerSize { removeUnknown(first) }
  }

  /// One step of Gauss' elimination.
  private mutating func removeUnknown(_ gone: Int) {
    let old = size
    let pivot = information[gone * old + gone]
    let kept = (0..<old).filter { $0 != gone }
    var shrunk: [Double] = []
    shrunk.reserveCapacity(kept.count * kept.count)
    for column in kept {
      let share = pivot > 0 ? information[column * old + gone] / pivot : 0
      for row in kept {
        shrunk.append(information[column * old + row] - share * information[gone * old + row])
      }
    }
    gradient = kept.map { index in
      let share = pivot > 0 ? information[gone * old + index] / pivot : 0
      return gradient[index] - share * gradient[gone]
    }
    origin = kept.map { origin[$0] }
    information = shrunk
  }
}

/// Memory that is kept from fit to fit, and what a fit leaves in it.
struct JointWorkspace: Sendable {
  /// What the kernels work in.
  fileprivate var kernel: [Double] = []
  /// Of each peer of the newest fit the mean probability that a value is no outlier.
  fileprivate(set) var inlierShares: [Double] = []
}

/// A joint fit of the odometry's drift and of peers at rest, as the kernels have it.
///
/// The cost at a state, up to a constant, is that of the anchor, of the odometry between knots,
/// `c' - c = R(ψ) (d' - d)` and `ψ' = ψ` each with its variance, and of each cell's values: for a cell
/// at a share f between two knots the antenna a of the odometry's world stands at
///
///     (1 - f) (c + R(ψ) (a - d)) + f (c' + R(ψ') (a - d'))
///
/// in the fixed world, with d and d' the device in the odometry's world at the knots. A value counts
/// as an inlier or an outlier by its mixture's density, to the power that it holds of an independent
/// draw of its errors.
struct JointProblem {
  private var knots: [nearby_joint_knot] = []
  private var cells: [nearby_joint_cell] = []
  private let model: Model
  private(set) var anchor: JointAnchor
  var memberCount: Int { (anchor.size - JointIndex.knotSize) / JointIndex.peerSize }

  /// What is assumed of outliers.
  private struct Model {
    var shares: (Double, Double, Double, Double)
    var rangeExcess: Double
    var fieldOfViewRadians: Double
  }

  /// How a fit has ended.
  struct Result {
    var cost: Double
    var hasConverged: Bool
  }

  /// A peer that is held along a direction: n·x is what it is held at.
  struct Hold {
    var member: Int
    /// A unit vector n of the fixed world.
    var direction: Vector3
    /// n·x, metres.
    var place: Double
  }

  init(_ anchor: JointAnchor, _ settings: Settings) {
    self.anchor = anchor
    let ranging = settings.configuration.ranging
    model = Model(
      shares: PerKind { settings.faults.outlierShare(of: $0) }.tuple,
      rangeExcess: settings.faults.rangeExcess(sigma: ranging.rangeSigma),
      fieldOfViewRadians: ranging.fieldOfViewRadians)
  }

  /// Removes all knots and cells, and keeps their memory.
  mutating func restart(_ anchor: JointAnchor) {
    self.anchor = anchor
    knots.removeAll(keepingCapacity: true)
    cells.removeAll(keepingCapacity: true)
  }

  var knotCount: Int { knots.count }
  var cellCount: Int { cells.count }
  /// The number of unknowns.
  var stateCount: Int { JointIndex.peer(memberCount, knots: knotCount) }
  /// The number of unknowns of the last knot and the peers.
  var denseCount: Int { JointIndex.peer(memberCount, knots: 1) }

  /// Adds a knot.
  ///
  /// - Parameters:
  ///   - place: The device there, in the odometry's world.
  ///   - horizontal: The variance of the drift to the next knot per horizontal axis, m².
  ///   - vertical: The same along gravity.
  ///   - yaw: That of yaw, rad².
  mutating func addKnot(at place: Vector3, horizontal: Double, vertical: Double, yaw: Double) {
    knots.append(
      nearby_joint_knot(
        place: (place.x, place.y, place.z), horizontal_variance: horizontal,
        vertical_variance: vertical, yaw_variance: yaw))
  }

  mutating func reserveCells(_ count: Int) { cells.reserveCapacity(count) }

  /// One kind's value in a cell.
  struct Value {
    var value: Double
    /// The variance of all its errors together.
    var variance: Double
    /// The variance that an independent value would need to tell as much.
    var effectiveVariance: Double
  }

  /// Adds a cell.
  ///
  /// - Parameters:
  ///   - pose: From where, in the odometry's world as it was then.
  ///   - knot: The knot before it.
  ///   - share: Its share of the drift from there to the next knot.
  ///   - member: The peer.
  ///   - isObstructed: Whether the radio itself calls the range obstructed.
  ///   - values: The values by kind.
  mutating func addCell(
    from pose: AntennaPose, knot: Int, share: Double, member: Int, isObstructed: Bool,
    _ values: PerKind<Value?>
  ) {
    var cell = nearby_joint_cell()
    cell.from = nearby_antenna_pose(
      antenna_in_world: (pose.antenna.x, pose.antenna.y, pose.antenna.z),
      device_from_world: pose.deviceFromWorld)
    cell.value = PerKind { values[$0]?.value ?? 0 }.tuple
    cell.variance = PerKind { values[$0]?.variance ?? 1 }.tuple
    cell.power =
      PerKind { kind in values[kind].map { $0.variance / $0.effectiveVariance } ?? 0 }.tuple
    cell.range_outlier_share = isObstructed ? FaultModel.obstructedOnset : model.shares.0
    cell.share = share
    cell.knot = Int32(knot)
    cell.peer = Int32(member)
    for kind in MeasurementKind.allCases where values[kind] != nil {
      cell.present |= 1 << Int32(kind.rawValue)
    }
    cells.append(cell)
  }

  /// How the antenna has moved in the fixed world, by the cells of a peer, at a state.
  func walkShape(of member: Int, at state: [Double]) -> WalkShape {
    WalkShape(
      of: cells.lazy.filter { $0.peer == Int32(member) }.map { cell in
        let antenna = cell.from.antenna_in_world
        let (before, after) = (Int(cell.knot), Int(cell.knot) + 1)
        func corrected(_ knot: Int) -> Vector3 {
          let first = JointIndex.knotSize * knot
          let place = knots[knot].place
          let away = Vector3(antenna.0 - place.0, antenna.1 - place.1, antenna.2 - place.2)
          return Vector3(state[first], state[first + 1], state[first + 2])
            + YawTurn(state[first + 3]).act(away)
        }
        return (1 - cell.share) * corrected(before) + cell.share * corrected(after)
      })
  }

  // MARK: Kernels

  /// Minimises the cost.
  ///
  /// - Parameters:
  ///   - state: The start; becomes the minimum.
  ///   - held: A peer that is held along a direction, and where.
  ///   - iterations: How many at most.
  ///   - tolerance: A step that lowers the cost by less is the last.
  ///   - covariance: Becomes that of the last knot and of all peers, column by column, if it has room.
  ///   - workspace: Grows as is needed; gets the shares of inliers.
  /// - Returns: How it has ended.
  func fit(
    _ state: inout [Double], held: Hold? = nil, iterations: Int,
    tolerance: Double, covariance: inout [Double], workspace: inout JointWorkspace
  ) -> Result {
    precondition(state.count == stateCount && knotCount > 1, "a state of another problem")
    precondition(covariance.isEmpty || covariance.count == denseCount * denseCount)
    let memberCount = memberCount
    if workspace.inlierShares.count != memberCount {
      workspace.inlierShares = [Double](repeating: 1, count: memberCount)
    }
    for member in 0..<memberCount { workspace.inlierShares[member] = 1 }
    var inlierShares: [Double] = []
    swap(&inlierShares, &workspace.inlierShares)
    defer { swap(&inlierShares, &workspace.inlierShares) }
    let result = unsafe withKernel(held, &workspace) { problem, workspace in
      unsafe state.withUnsafeMutableBufferPointer { state in
        unsafe covariance.withUnsafeMutableBufferPointer { covariance in
          unsafe inlierShares.withUnsafeMutableBufferPointer { shares in
            unsafe nearby_joint_fit(
              problem, state.baseAddress, Int32(iterations), tolerance, workspace,
              covariance.isEmpty ? nil : covariance.baseAddress, shares.baseAddress)
          }
        }
      }
    }
    return Result(cost: result.cost, hasConverged: result.has_converged != 0)
  }

  /// The cost at a state, and its gradient.
  func cost(
    at state: [Double], workspace: inout JointWorkspace
  ) -> (cost: Double, gradient: [Double]) {
    precondition(state.count == stateCount && knotCount > 1, "a state of another problem")
    var gradient = [Double](repeating: 0, count: stateCount)
    let cost = unsafe withKernel(nil, &workspace) { problem, workspace in
      unsafe state.withUnsafeBufferPointer { state in
        unsafe gradient.withUnsafeMutableBufferPointer { gradient in
          unsafe nearby_joint_cost(
            problem, state.baseAddress, workspace, gradient.baseAddress)
        }
      }
    }
    return (cost, gradient)
  }

  /// What the problem says of its last knot and its peers, with all other knots marginalised.
  ///
  /// - Parameters:
  ///   - state: Where it is linearised.
  ///   - marginal: Becomes the same as an anchor.
  ///   - workspace: Grows as is needed.
  /// - Returns: Whether it is regular.
  func marginalize(
    at state: [Double], into marginal: inout JointAnchor, workspace: inout JointWorkspace
  ) -> Bool {
    precondition(state.count == stateCount && knotCount > 1, "a state of another problem")
    let last = JointIndex.knotSize * (knotCount - 1)
    marginal.reset(origin: state[last...])
    let isRegular = unsafe withKernel(nil, &workspace) { problem, workspace in
      unsafe state.withUnsafeBufferPointer { state in
        unsafe marginal.information.withUnsafeMutableBufferPointer { information in
          unsafe marginal.gradient.withUnsafeMutableBufferPointer { gradient in
            unsafe nearby_joint_marginalize(
              problem, state.baseAddress, workspace, information.baseAddress,
              gradient.baseAddress)
          }
        }
      }
    }
    return isRegular != 0
  }

  private func withKernel<Result>(
    _ held: Hold?, _ workspace: inout JointWorkspace,
    _ body: (UnsafePointer<nearby_joint_problem>, UnsafeMutablePointer<Double>?) -> Result
  ) -> Result {
    let needed = Int(nearby_joint_workspace(Int32(knotCount), Int32(memberCount)))
    if workspace.kernel.count < needed {
      workspace.kernel = [Double](repeating: 0, count: needed)
    }
    return unsafe knots.withUnsafeBufferPointer { knots in
      unsafe cells.withUnsafeBufferPointer { cells in
        unsafe anchor.information.withUnsafeBufferPointer { information in
          unsafe anchor.gradient.withUnsafeBufferPointer { gradient in
            unsafe anchor.origin.withUnsafeBufferPointer { origin in
              var problem = unsafe nearby_joint_problem(
                knots: knots.baseAddress, cells: cells.baseAddress,
                knot_count: Int32(knots.count), cell_count: Int32(cells.count),
                peer_count: Int32(memberCount), information: information.baseAddress,
                gradient: gradient.baseAddress, origin: origin.baseAddress,
                outlier_share: model.shares, range_excess: model.rangeExcess,
                field_of_view: model.fieldOfViewRadians,
                held_peer: Int32(held?.member ?? -1),
                held_direction: held.map { ($0.direction.x, $0.direction.y, $0.direction.z) }
                  ?? (0, 0, 0), held_place: held?.place ?? 0)
              return unsafe workspace.kernel.withUnsafeMutableBufferPointer { workspace in
                unsafe body(&problem, workspace.baseAddress)
              }
            }
          }
        }
      }
    }
  }
}
