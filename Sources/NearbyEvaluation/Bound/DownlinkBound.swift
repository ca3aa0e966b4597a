// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
package import NearbyGeometry
package import NearbySimulation

/// The posterior Cramér-Rao bound of a device that is located by range differences.
///
/// The covariance of the device's place (3), its yaw and the clocks' errors and rates, by Riccati's
/// recursion with all models linearised at the truth (Tichavský et al. 1998). An outlier tells nothing.
/// Plain matrices, nothing of the chain that is held against it.
package struct DownlinkBound: Sendable {
  private let scenario: DownlinkScenario
  private let size: Int
  private var covariance: [Double]
  private var last: DownlinkRun.Round?

  /// Makes the bound before the first round.
  package init(_ scenario: DownlinkScenario) {
    self.scenario = scenario
    let clocks = scenario.anchors.count - 1
    size = 4 + 2 * clocks
    covariance = [Double](repeating: 0, count: size * size)
    for index in 0..<3 { covariance[index * (size + 1)] = 1e6 }
    covariance[3 * (size + 1)] = 10
    for clock in 0..<clocks {
      let (offset, rate) = (scenario.clocks.offsetSigma, scenario.clocks.rateSigma)
      covariance[(4 + 2 * clock) * (size + 1)] = offset * offset
      covariance[(5 + 2 * clock) * (size + 1)] = rate * rate
    }
  }

  /// The covariance of the device's place, m².
  package var place: SymmetricMatrix3 {
    func entry(_ row: Int, _ column: Int) -> Double { covariance[row * size + column] }
    return SymmetricMatrix3(
      xx: entry(0, 0), xy: entry(0, 1), xz: entry(0, 2), yy: entry(1, 1), yz: entry(1, 2),
      zz: entry(2, 2))
  }

  /// Goes on to a round and takes in its differences.
  package mutating func add(_ round: DownlinkRun.Round, anchors: [Vector3]) {
    if let last { predict(from: last, to: round) }
    last = round
    let antenna = round.siteFromDevice.act(scenario.walk.radio.antennaInDevice)
    let arm = antenna - round.siteFromDevice.translation
    let toFirst = (antenna - anchors[0]).normalized
    let variance = scenario.noise * scenario.noise / (1 - scenario.outlierShare)
    for anchor in anchors.indices.dropFirst() {
      let gradient = (antenna - anchors[anchor]).normalized - toFirst
      var row = [Double](repeating: 0, count: size)
      (row[0], row[1], row[2]) = (gradient.x, gradient.y, gradient.z)
      row[3] = gradient.dot(Vector3(arm.z, 0, -arm.x))
      row[4 + 2 * (anchor - 1)] = 1
      update(row, variance: variance)
    }
  }

  private mutating func predict(from a: DownlinkRun.Round, to b: DownlinkRun.Round) {
    let seconds = b.timestamp.seconds(since: a.timestamp)
    let step = b.siteFromDevice.translation - a.siteFromDevice.translation
    let odometry = scenario.walk.odometry
    var drift = OdometryDrift(
      metres: step.length, positionDrift: odometry.positionDrift,
      yawDriftRadians: odometry.yawDriftRadians)
    drift.addSwing(of: step)
    // Rows, then columns: place by yaw, error by rate.
    func move(_ index: (Int, Int) -> Int) {
      for other in 0..<size {
        let yaw = covariance[index(3, other)]
        covariance[index(0, other)] += step.z * yaw
        covariance[index(2, other)] -= step.x * yaw
        for clock in stride(from: 4, to: size, by: 2) {
          covariance[index(clock, other)] += seconds * covariance[index(clock + 1, other)]
        }
      }
    }
    let size = size
    move { $0 * size + $1 }
    move { $1 * size + $0 }
    func add(_ row: Int, _ column: Int, _ value: Double) {
      covariance[row * size + column] += value
    }
    add(0, 0, drift.horizontal)
    add(1, 1, drift.vertical)
    add(2, 2, drift.horizontal)
    add(3, 3, drift.yaw)
    let walk = scenario.clocks.rateWalk * scenario.clocks.rateWalk
    for clock in stride(from: 4, to: size, by: 2) {
      add(clock, clock, walk * seconds * seconds * seconds / 3)
      add(clock, clock + 1, walk * seconds * seconds / 2)
      add(clock + 1, clock, walk * seconds * seconds / 2)
      add(clock + 1, clock + 1, walk * seconds)
    }
  }

  private mutating func update(_ row: [Double], variance: Double) {
    let gained = (0..<size).map { i in
      (0..<size).reduce(0) { $0 + covariance[i * size + $1] * row[$1] }
    }
    let all = variance + (0..<size).reduce(0) { $0 + row[$1] * gained[$1] }
    for i in 0..<size {
      for j in 0..<size { covariance[i * size + j] -= gained[i] * gained[j] / all }
    }
  }
}
