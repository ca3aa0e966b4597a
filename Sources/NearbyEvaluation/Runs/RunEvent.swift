// SPDX-License-Identifier: Apache-2.0
internal import Foundation
public import NearbyGeometry
public import NearbySimulation

/// Something that makes an engine's account wrong at once: a jump of the odometry's world, a peer that
/// is carried away.
public struct RunEvent: Sendable {
  /// When it happens, seconds after the start of the run.
  public var seconds: Double
  /// Where the peer was in the odometry's world until then, metres.
  public var formerPlace: Vector3

  /// Makes an event.
  public init(seconds: Double, formerPlace: Vector3) {
    self.seconds = seconds
    self.formerPlace = formerPlace
  }

  /// Finds the former place in a run; `nil` when no sample comes before the event.
  ///
  /// - Parameters:
  ///   - seconds: When it happens.
  ///   - run: The run.
  public init?(at seconds: Double, in run: SimulatedRun) {
    guard let before = run.samples.last(where: { $0.seconds < seconds }) else { return nil }
    self.init(seconds: seconds, formerPlace: before.peerInOdometry)
  }

  /// Whether a sample contradicts the former place.
  ///
  /// It does when it is honest and what it would measure without noise differs, between the former
  /// place and the true one, by more than 3.4 standard deviations in any component that it has. Noise
  /// and the engine have no part in it.
  ///
  /// - Parameters:
  ///   - sample: The sample.
  ///   - radio: How the radio measures.
  /// - Returns: Whether it does; never before the event.
  public func isContradicted(by sample: SimulatedRun.Sample, radio: ScenarioRadio) -> Bool {
    guard sample.seconds >= seconds else { return false }
    let device = sample.odometryFromDevice
    let antenna = device.act(radio.antennaInDevice)
    let (former, now) = (formerPlace - antenna, sample.peerInOdometry - antenna)
    if !sample.isRangeFaulty, abs(former.length - now.length) > 3.4 * radio.rangeNoise {
      return true
    }
    guard !sample.areAnglesFaulty else { return false }
    let turn = device.rotation.inverse
    let (a, b) = (
      ArrivalAngles(ofDirection: turn.act(former)), ArrivalAngles(ofDirection: turn.act(now))
    )
    let azimuth = abs((a.azimuthRadians - b.azimuthRadians).wrappedAngle)
    let elevation = abs(a.elevationRadians - b.elevationRadians)
    return sample.azimuthRadians != nil && azimuth > 3.4 * radio.azimuth.totalSigma
      || sample.elevationRadians != nil && elevation > 3.4 * radio.elevation.totalSigma
  }
}
