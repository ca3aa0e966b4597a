// SPDX-License-Identifier: Apache-2.0

/// The barometers of the device and a peer: how they measure the height difference of the two.
///
/// The measured value is the true height of the peer over the device plus an offset, white noise and
/// faults. It comes with samples of the radio.
public struct ScenarioBarometers: Hashable, Sendable, Codable {
  /// Whether there are height differences.
  public var arePresent = false
  /// The shortest time between two height differences, seconds.
  ///
  /// The samples of the radio between two of them have none.
  public var interval = 1.0
  /// White noise, one sigma, metres.
  public var noise = 0.1
  /// The offset, one sigma over pairs and times, metres.
  ///
  /// It is drawn for each pair of devices and each run, and drifts from there as a Gauss-Markov
  /// process.
  public var offsetSigma = 0.5
  /// How long the offset takes to drift away from where it was: its correlation falls by a factor of
  /// e, seconds.
  public var offsetSeconds = 600.0
  /// Height differences that are wrong by a normal error of ``faultSigma``, drawn anew for each of
  /// them: doors, wind, air conditioning.
  public var faults = ScenarioRadio.FaultProcess()
  /// The error of a faulty height difference, one sigma, metres.
  public var faultSigma = 5.0

  /// Makes barometers with noise and an offset, which are switched off.
  public init() {}

  /// White noise and offset together, one sigma, metres.
  public var totalSigma: Double { (noise * noise + offsetSigma * offsetSigma).squareRoot() }
}
