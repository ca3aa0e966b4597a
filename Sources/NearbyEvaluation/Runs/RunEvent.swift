// SPDX-License-Identifier: Apache-2.0
package import NearbyGeometry
package import NearbySimulation

/// An event that makes an engine's track wrong: a jump or slip of the odometry's world, a loss of
/// tracking, a peer that is carried away.
package struct RunEvent: Sendable {
  /// The time span of the event, seconds after the start of the run; both ends are equal for an
  /// instantaneous event.
  package var span: ClosedRange<Double>
  /// The peer's position in the odometry's world before the event, metres.
  package var formerPlace: Vector3

  /// Makes an event.
  package init(span: ClosedRange<Double>, formerPlace: Vector3) {
    self.span = span
    self.formerPlace = formerPlace
  }

  /// Finds the event of a run; `nil` when its scenario has none, or no sample comes before it.
  ///
  /// Several consecutive events count as one.
  ///
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - run: The run.
  ///   - index: The index of the peer.
  package init?(of scenario: Scenario, in run: SimulatedRun, peer index: Int = 0) {
    var spans: [ClosedRange<Double>] = []
    let (odometry, peer) = (scenario.odometry, scenario.peer)
    let (jump, slip, loss) = (odometry.jump, odometry.slip, odometry.loss)
    if jump.displacement != .zero { spans.append(jump.seconds...jump.seconds) }
    if slip.isPresent { spans.append(slip.seconds...slip.end) }
    if loss.duration > 0 { spans.append(loss.seconds...(loss.seconds + loss.duration)) }
    if peer.motion == .carried || peer.motion == .handedOver {
      spans += run.peers[index].path.walks
    }
    guard let begin = spans.map(\.lowerBound).min(), let end = spans.map(\.upperBound).max(),
      let before = run.samples.last(where: { $0.seconds < begin && $0.peer == index })
    else { return nil }
    self.init(span: begin...end, formerPlace: before.peerInOdometry)
  }

  /// Whether a sample contradicts the former position.
  ///
  /// It does if it is an inlier and its noise-free measurement of the former position differs from
  /// that of the true position by more than 3.4 standard deviations in any of its components. This
  /// depends neither on noise nor on the engine.
  ///
  /// - Parameters:
  ///   - sample: The sample.
  ///   - scenario: The models of the radio and of the barometers.
  /// - Returns: Whether it contradicts; always false before the event.
  package func isContradicted(by sample: SimulatedRun.Sample, in scenario: Scenario) -> Bool {
    guard sample.seconds >= span.lowerBound else { return false }
    let radio = scenario.radio
    let device = sample.odometryFromDevice
    let antenna = device.act(radio.antennaInDevice)
    let (former, now) = (formerPlace - antenna, sample.peerInOdometry - antenna)
    if sample.distance != nil, !sample.isRangeFaulty,
      abs(former.length - now.length) > 3.4 * radio.rangeNoise
    {
      return true
    }
    if sample.heightDifference != nil, !sample.isHeightDifferenceFaulty,
      abs(former.y - now.y) > 3.4 * scenario.barometers.totalSigma
    {
      return true
    }
    let turn = device.rotation.inverse
    let (a, b) = (
      ArrivalAngles(ofDirection: turn.act(former)), ArrivalAngles(ofDirection: turn.act(now))
    )
    let azimuth = abs((a.azimuthRadians - b.azimuthRadians).wrappedAngle)
    let elevation = abs(a.elevationRadians - b.elevationRadians)
    return sample.azimuthRadians != nil && !sample.isAzimuthFaulty
      && azimuth > 3.4 * radio.azimuth.totalSigma
      || sample.elevationRadians != nil && !sample.isElevationFaulty
        && elevation > 3.4 * radio.elevation.totalSigma
  }
}
