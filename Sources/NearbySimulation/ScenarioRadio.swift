// SPDX-License-Identifier: Apache-2.0
public import NearbyGeometry

/// How a simulated radio measures.
public struct ScenarioRadio: Hashable, Sendable, Codable {
  /// Samples per second.
  public var rate = 10.0
  /// The antenna's phase centre in device axes, metres.
  public var antennaInDevice = Vector3(0.02, 0.05, 0.01)

  // MARK: Ranges

  /// Whether there are ranges.
  public var measuresRange = true
  /// White noise of ranges, metres.
  public var rangeNoise = 0.10
  /// The constant error of all ranges in all runs, metres.
  public var rangeBias = 0.0
  /// The spread of the constant error of ranges from pair to pair, that is from run to run and from
  /// peer to peer, metres.
  public var rangeBiasSigma = 0.15
  /// The spread of the scale error of ranges from pair to pair.
  public var rangeScaleSigma = 0.0
  /// The spread of the error of ranges that depends on the device's place and comes back when the
  /// device does, metres.
  public var rangePlaceSigma = 0.0
  /// The distance between two places over which that error's correlation falls to 0.61, metres.
  public var rangePlaceLength = 2.0
  /// Ranges without line of sight: too long by an exponential of mean ``rangeExcess``, drawn anew for
  /// each sample.
  public var rangeFaults = FaultProcess()
  /// The mean excess of ranges without line of sight, metres.
  public var rangeExcess = 1.5
  /// The share of ranges that are garbage: negative, 0, 226 m or 645 m.
  public var garbageShare = 0.0
  /// An error added to the very first range only, metres.
  public var firstRangeError = 0.0
  /// Errors that last or come back, of which the engine is told nothing.
  public var rangeErrors = ScenarioRangeErrors()
  /// The nearest and the farthest distance at which anything is measured, metres.
  public var reach = 0.0...1000.0

  // MARK: Angles

  /// Whether there are azimuths.
  public var measuresAzimuth = true
  /// Whether there are elevations.
  public var measuresElevation = true
  /// The full cone in which there are angles, degrees.
  public var fieldOfViewDegrees = 120.0
  /// Errors of azimuths.
  public var azimuth = AngleError(noiseDegrees: 3, biasDegrees: 2)
  /// Errors of elevations.
  public var elevation = AngleError(noiseDegrees: 4, biasDegrees: 3)
  /// Angle pairs that stick at a direction drawn from the cone while the fault lasts.
  public var angleFaults = FaultProcess()
  /// Azimuths that confuse front and back.
  public var azimuthMirror = AzimuthMirror()

  // MARK: Time

  /// The delay between a sample's time and its arrival, drawn uniformly, seconds.
  public var latency = 0.03...0.03
  /// By how much the radio's clock is ahead of the poses', seconds.
  public var clockOffset = 0.0
  /// A step of the radio's clock.
  public var clockStep = ClockStep()
  /// The share of samples that never arrive.
  public var lostShare = 0.0
  /// The share of samples that arrive twice, the second time 10 ms later.
  public var duplicateShare = 0.0
  /// The share of samples that arrive late, and so often after later samples.
  public var lateShare = 0.0
  /// The additional delay of late samples, drawn uniformly, seconds.
  public var lateness = 0.2...0.8

  /// Makes a radio with noise and bias and no faults.
  public init() {}

  /// The full cone in which there are angles, radians.
  public var fieldOfViewRadians: Double {
    get { fieldOfViewDegrees.degreesAsRadians }
    set { fieldOfViewDegrees = newValue.radiansAsDegrees }
  }

  /// Whether there are any angles; setting it sets azimuths and elevations.
  public var measuresAngles: Bool {
    get { measuresAzimuth || measuresElevation }
    set {
      measuresAzimuth = newValue
      measuresElevation = newValue
    }
  }

  /// The root mean square of the constant error of ranges over pairs of radios, metres.
  public var totalRangeBiasSigma: Double {
    (rangeBias * rangeBias + rangeBiasSigma * rangeBiasSigma).squareRoot()
  }

  /// White noise and the place-dependent error of ranges together, metres.
  public var totalRangeSigma: Double {
    (rangeNoise * rangeNoise + rangePlaceSigma * rangePlaceSigma).squareRoot()
  }

  /// The share of white noise in both together, 0.01 to 1.
  public var rangeWhiteShare: Double {
    rangePlaceSigma > 0 ? max(rangeNoise / totalRangeSigma, 0.01) : 1
  }

  /// Errors of an angle: white noise, and a smooth function of the direction in device axes.
  public struct AngleError: Hashable, Sendable, Codable {
    /// White noise, one sigma, degrees.
    public var noiseDegrees: Double
    /// The direction-dependent error, a ``DirectionField``, one sigma over directions and runs,
    /// degrees.
    public var biasDegrees: Double

    /// Makes errors from degrees.
    public init(noiseDegrees: Double, biasDegrees: Double) {
      self.noiseDegrees = noiseDegrees
      self.biasDegrees = biasDegrees
    }

    /// White noise, one sigma, radians.
    public var noise: Double { noiseDegrees.degreesAsRadians }
    /// The direction-dependent error, one sigma over directions and runs, radians.
    public var bias: Double { biasDegrees.degreesAsRadians }
    /// Both together, radians.
    public var totalSigma: Double { (noise * noise + bias * bias).squareRoot() }
    /// The share of white noise in both together, 0.01 to 1.
    public var whiteShare: Double { totalSigma > 0 ? max(noise / totalSigma, 0.01) : 1 }
  }

  /// A step of the radio's clock, as when it is set while it records.
  public struct ClockStep: Hashable, Sendable, Codable {
    /// When it happens, seconds after the start.
    public var seconds = 0.0
    /// By how much the clock is ahead from then on, seconds; zero for no step.
    public var step = 0.0

    /// Makes no step.
    public init() {}
  }

  /// By how much the radio's clock is ahead of the poses' at a time, seconds.
  func clockAhead(at seconds: Double) -> Double {
    clockOffset + (seconds >= clockStep.seconds ? clockStep.step : 0)
  }

  /// The front-back ambiguity of a radio with two antennas, far from straight ahead.
  ///
  /// In a run with the fault, an azimuth α beyond the limit is measured as ±π - α, with the sign of
  /// α. Directions behind are folded to the front, directions to the side to the back.
  public struct AzimuthMirror: Hashable, Sendable, Codable {
    /// The share of runs that have the fault.
    public var share = 0.0
    /// The angle from straight ahead at which it begins, degrees.
    public var beyondDegrees = 57.0

    /// Makes a fault that no run has.
    public init() {}
  }

  /// The occurrence of faults of a component: a Markov chain of two states.
  public struct FaultProcess: Hashable, Sendable, Codable {
    /// The share of faulty samples.
    public var share: Double
    /// The probability that a fault lasts to the next sample; bursts last 1 / (1 - it) on average.
    public var persistence: Double

    /// Makes a process; by default there are no faults.
    public init(share: Double = 0, persistence: Double = 0) {
      self.share = share
      self.persistence = persistence
    }

    func isFaulty(after wasFaulty: Bool, _ generator: inout SeededGenerator) -> Bool {
      guard share > 0 else { return false }
      let onset = share * (1 - persistence) / (1 - share)
      return generator.uniform() < (wasFaulty ? persistence : onset)
    }
  }
}
