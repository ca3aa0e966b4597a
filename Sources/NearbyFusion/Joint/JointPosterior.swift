// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Where a peer is by the joint fit, in the odometry's world as it is at a device point.
struct JointPosterior: Sendable {
  /// The device point.
  var device: TrajectoryPoint
  /// The place; `nil` where the filter knows as much.
  var mode: Mode?
  /// Its rival at its mirror image, if there is one.
  var rival: Mode?
  /// What has been found along the directions that the walk does not tell.
  var verdict: WeakDirectionClaim.Verdict
  /// Whether the odometry has slipped: the place is where the peer is in its world now, whatever the samples
  /// said of the filter's place.
  var isRelocated = false
  /// Whether the fit explains the newest ranges, which contradict the filter's place: by errors that all ranges have,
  /// or that depend on the place.
  var explainsRanges = false
  /// Whether it counts although the samples contradict the filter's place.
  var overrulesDoubt: Bool { isRelocated || explainsRanges }

  /// One place with the errors of the ranges from there.
  struct Mode: Sendable {
    /// The logarithm of its share, up to a constant.
    var logWeight: Double
    /// Position, range scale and range bias, in the order of ``StateIndex``.
    var mean: InlineArray<5, Double>
    /// Their covariance, packed as the state's.
    var covariance: InlineArray<15, Double>

    var position: Vector3 { Vector3(mean[0], mean[1], mean[2]) }
    /// The sum of the variances of the position, m².
    var positionVariance: Double {
      covariance[StateIndex.packed(0, 0)] + covariance[StateIndex.packed(1, 1)]
        + covariance[StateIndex.packed(2, 2)]
    }
    /// The covariance of the position, m².
    var positionCovariance: SymmetricMatrix3 {
      SymmetricMatrix3(
        xx: covariance[StateIndex.packed(0, 0)], xy: covariance[StateIndex.packed(0, 1)],
        xz: covariance[StateIndex.packed(0, 2)], yy: covariance[StateIndex.packed(1, 1)],
        yz: covariance[StateIndex.packed(1, 2)], zz: covariance[StateIndex.packed(2, 2)])
    }

    /// The same place mirrored along some directions, which are orthogonal.
    ///
    /// - Parameters:
    ///   - directions: Unit vectors.
    ///   - offset: How far the mode there is from this one.
    ///   - logWeight: The logarithm of its share over this one's.
    /// - Returns: That mode, its covariance mirrored.
    func mirrored(
      along directions: [Vector3], by offset: InlineArray<5, Double>, logWeight: Double
    ) -> Self {
      var other = self
      other.logWeight = self.logWeight + logWeight
      for row in 0..<5 { other.mean[row] += offset[row] }
      for direction in directions {
        let column = other.column(along: direction)
        let variance = other.positionCovariance.quadraticForm(direction)
        // (I - 2 n nᵀ) P (I - 2 n nᵀ), n of length five.
        let n: InlineArray<5, Double> = [direction.x, direction.y, direction.z, 0, 0]
        for second in 0..<5 {
          for first in 0...second {
            other.covariance[StateIndex.packed(first, second)] +=
              4 * variance * n[first] * n[second] - 2 * n[first] * column[second]
              - 2 * column[first] * n[second]
          }
        }
      }
      return other
    }

    /// P n: the covariance of everything with the position along a direction.
    private func column(along direction: Vector3) -> InlineArray<5, Double> {
      func entry(_ row: Int, _ axis: Int) -> Double {
        covariance[StateIndex.packed(min(row, axis), max(row, axis))]
      }
      return InlineArray { row in
        entry(row, 0) * direction.x + entry(row, 1) * direction.y + entry(row, 2) * direction.z
      }
    }

    /// Makes the variance along a direction larger by a factor, and what is correlated with it.
    mutating func widen(along direction: Vector3, by factor: Double) {
      guard factor > 1 else { return }
      let column = column(along: direction)
      let variance = positionCovariance.quadraticForm(direction)
      for second in 0..<5 {
        for first in 0...second {
          covariance[StateIndex.packed(first, second)] +=
            (factor - 1) * column[first] * column[second] / variance
        }
      }
    }
  }
}

/// What the joint fit asks of a peer's filter.
struct JointCandidate: Sendable, Codable {
  /// When the track began: another track is another peer to the fit.
  var birth: Timestamp
  /// Where the filter has the peer, and from where it was seen last.
  var place: Vector3
  var device: TrajectoryPoint
  /// The covariance of the position there, m².
  var covariance: SymmetricMatrix3
  /// Whether it is one place, seen from above, that the samples do not contradict.
  var isPlaced: Bool
  /// Whether a single hypothesis is left.
  var isSingle: Bool
  /// Whether the samples contradict it.
  var isDoubted: Bool
  /// What the filter claims along the directions that the walk does not tell.
  var claim: WeakDirectionClaim

  /// Whether the place by the joint fit is another one.
  ///
  /// - Parameters:
  ///   - mode: The place by the fit.
  ///   - device: The device as of the fit.
  /// - Returns: Whether it is.
  func isElsewhere(than mode: JointPosterior.Mode, at device: TrajectoryPoint) -> Bool {
    let drift = OdometryDrift(from: self.device, to: device, isPlanar: false)
      .covariance(for: place - self.device.worldFromDevice.translation)
    return PlaceDifference(
      offset: place - mode.position, covariance: mode.positionCovariance + covariance + drift
    ).isSignificant
  }
}

extension JointPosterior.Mode {
  /// The mode of a member in the odometry's world at the last knot.
  ///
  /// With the device at d in the odometry's world and at c, turned by ψ, in the fixed one, a peer at x
  /// there is at `p = d + R(ψ)ᵀ (x - c)`.
  ///
  /// The error of the ranges there is the sum of the constant one, of those that depend on place and time, and
  /// of that which depends on the direction, all as they are at the last knot.
  ///
  /// - Parameters:
  ///   - member: The member.
  ///   - layout: Where the unknowns stand.
  ///   - state: The last knot, and then the constants and peers.
  ///   - covariance: Its covariance, column by column.
  ///   - device: The device at the last knot, in the odometry's world.
  init(
    of member: Int, _ layout: ChainLayout, in state: ArraySlice<Double>, _ covariance: [Double],
    device: RigidTransform
  ) {
    logWeight = 0
    let size = state.count
    let s = state.startIndex
    let peer = layout.peer(member, knots: 1)
    let corrected = Vector3(state[s], state[s + 1], state[s + 2])
    let place = Vector3(state[s + peer], state[s + peer + 1], state[s + peer + 2])
    let turn = YawTurn(state[s + 3])
    let sight = turn.actBack(place - corrected)
    let position = device.translation + sight
    var rows = InlineArray<5, SparseRow>(repeating: SparseRow())
    let axes: InlineArray<3, Vector3> = [
      turn.actBack(Vector3(1, 0, 0)), turn.actBack(Vector3(0, 1, 0)),
      turn.actBack(Vector3(0, 0, 1)),
    ]
    for row in 0..<3 {
      for axis in 0..<3 {
        let component = row == 0 ? axes[axis].x : row == 1 ? axes[axis].y : axes[axis].z
        rows[row].append(axis, -component)
        rows[row].append(peer + axis, component)
      }
    }
    rows[0].append(3, -sight.z)
    rows[2].append(3, sight.x)
    rows[StateIndex.rangeScale].append(peer + 4, 1)
    rows[StateIndex.rangeBias].append(peer + 3, 1)
    if layout.errorCount > 0 {
      rows[StateIndex.rangeBias].append(layout.commonError, 1)
      rows[StateIndex.rangeBias].append(layout.placeError(member), 1)
    }
    if let index = layout.constants.first(of: .rangeScale) {
      rows[StateIndex.rangeScale].append(layout.blockSize + index, 1)
    }
    if let first = layout.constants.first(of: .directionError) {
      let rotation = device.rotation
      let azimuth = atan2(sight.dot(rotation.xAxis), -sight.dot(rotation.zAxis))
      for index in 0..<ChainLayout.directionSize {
        let angle = Double(index / 2 + 1) * azimuth
        rows[StateIndex.rangeBias].append(
          layout.blockSize + first + index, index % 2 == 0 ? cos(angle) : sin(angle))
      }
    }
    mean = [position.x, position.y, position.z, 0, 0]
    for row in 3..<5 {
      for entry in 0..<rows[row].count {
        mean[row] += rows[row].values[entry] * state[s + rows[row].columns[entry]]
      }
    }
    self.covariance = InlineArray(repeating: 0)
    for row in 0..<5 {
      for column in row..<5 {
        self.covariance[StateIndex.packed(row, column)] = rows[row].product(
          with: rows[column], covariance, size: size)
      }
    }
  }
}

/// The derivatives of one number of a mode by the unknowns on which it depends.
///
/// Performance: on the stack, as each fit makes some of every peer.
private struct SparseRow {
  private(set) var columns = InlineArray<11, Int>(repeating: 0)
  private(set) var values = InlineArray<11, Double>(repeating: 0)
  private(set) var count = 0

  mutating func append(_ column: Int, _ value: Double) {
    precondition(count < columns.count, "a mode depends on more unknowns")
    (columns[count], values[count]) = (column, value)
    count += 1
  }

  /// `r C oᵀ` with this row r and another one o.
  func product(with other: Self, _ covariance: [Double], size: Int) -> Double {
    var sum = 0.0
    for one in 0..<count {
      for two in 0..<other.count {
        sum +=
          values[one] * other.values[two] * covariance[columns[one] * size + other.columns[two]]
      }
    }
    return sum
  }
}
