// SPDX-License-Identifier: Apache-2.0
internal import NearbyFusion
internal import NearbyGeometry

/// A setting of the engine: its key, and what people need to know of it.
public struct Setting: Hashable, Sendable {
  /// Its path in a configuration file, such as `ranging.rangeSigma`.
  public var key: String
  /// Its unit; empty for a number without one, a flag or a count.
  public var unit: String
  /// Its default, as JSON.
  public var defaultText: String
  /// What it does, in a few words.
  public var effect: String
  /// Other spellings that are read as well, with a notice.
  public var otherSpellings: [String]
}

extension Setting {
  /// All settings, in the order of a configuration file.
  ///
  /// One table: `nearby settings` lists it, and configuration files are read by it.
  public static let all: [Setting] = {
    let defaults = try? LocatedJSON.parse(
      Array(ConfigurationFile.json(of: FusionConfiguration()).utf8), file: "")
    return descriptions.map { key, unit, effect in
      Setting(
        key: key, unit: unit, defaultText: defaults?.value(at: key)?.settingText ?? "",
        effect: effect, otherSpellings: spellings(of: key).map(\.key))
    }
  }()

  /// Another spelling of a key, and the factor to the key's unit.
  struct Spelling: Hashable, Sendable {
    var key: String
    var factor: Double
  }

  /// The other spellings of a key: degrees for radians, and the keys of `recording.json`.
  static func spellings(of key: String) -> [Spelling] {
    let degrees = 1.0.degreesAsRadians
    var found: [Spelling] = []
    if key.hasSuffix("Radians") {
      found.append(Spelling(key: key.dropLast("Radians".count) + "Degrees", factor: degrees))
    }
    let ofRecording: [String: [Spelling]] = [
      "odometry.isPlanar": [
        Spelling(key: "odometry.planar", factor: 1), Spelling(key: "trajectory.planar", factor: 1),
        Spelling(key: "trajectory.isPlanar", factor: 1),
      ],
      "odometry.positionDrift": [Spelling(key: "trajectory.positionDrift", factor: 1)],
      "odometry.yawDriftRadians": [
        Spelling(key: "trajectory.yawDriftDegrees", factor: degrees),
        Spelling(key: "trajectory.yawDriftRadians", factor: 1),
      ],
      "odometry.turnRateSigmaRadians": [
        Spelling(key: "trajectory.turnRateSigmaDegrees", factor: degrees),
        Spelling(key: "trajectory.turnRateSigmaRadians", factor: 1),
      ],
      "ranging.fieldOfViewRadians": [
        Spelling(key: "device.fieldOfViewDegrees", factor: degrees),
        Spelling(key: "device.fieldOfViewRadians", factor: 1),
      ],
    ]
    return found + (ofRecording[key] ?? [])
  }

  /// Each other spelling with the key that it stands for.
  static let keys: [String: (key: String, factor: Double)] = Dictionary(
    uniqueKeysWithValues: descriptions.flatMap { description in
      spellings(of: description.key).map { ($0.key, (description.key, $0.factor)) }
    })

  private static let descriptions: [(key: String, unit: String, effect: String)] = [
    (
      "ranging.antennaInDevice", "m",
      "the antenna's place in device axes (engine's: right, up, back)"
    ),
    ("ranging.fieldOfViewRadians", "rad", "the full cone in which angles are measured"),
    ("ranging.rangeSigma", "m", "accuracy of a range; larger trusts ranges less"),
    ("ranging.azimuthSigmaRadians", "rad", "accuracy of an azimuth"),
    ("ranging.elevationSigmaRadians", "rad", "accuracy of an elevation"),
    ("ranging.heightDifferenceSigma", "m", "white noise of a height difference"),
    ("ranging.heightOffsetSigma", "m", "slow offset of height differences, as of two barometers"),
    ("ranging.heightOffsetSeconds", "s", "how long that offset lasts"),
    ("ranging.rangeWhiteShare", "", "how much of rangeSigma is white noise, 0 to 1"),
    ("ranging.azimuthWhiteShare", "", "likewise of azimuths"),
    ("ranging.elevationWhiteShare", "", "likewise of elevations"),
    ("ranging.whiteSharesAreKnown", "", "true if these shares were calibrated for the radio"),
    ("ranging.rangeBiasSigma", "m", "prior of the constant error of a pair of radios"),
    ("ranging.rangeScaleSigma", "", "prior of the scale error of ranges, a ratio"),
    ("ranging.clockOffset", "s", "how far the radio's clock is ahead of that of the poses"),
    ("ranging.maximumRange", "m", "ranges beyond are left out"),
    ("ranging.maximumLateness", "s", "samples later than this are left out"),
    ("odometry.positionDrift", "m/√m", "random walk of the odometry's position"),
    ("odometry.yawDriftRadians", "rad/√m", "random walk of the odometry's yaw"),
    ("odometry.turnRateSigmaRadians", "rad/s", "steady turn of the odometry; estimated with peers"),
    ("odometry.scaleSigma", "", "scale error of its distances; estimated with peers"),
    ("odometry.isPlanar", "", "true if device and peers are in one horizontal plane"),
    ("odometry.maximumPoseGap", "s", "longest gap between poses that is bridged"),
    ("odometry.maximumExtrapolation", "s", "how far beyond the newest pose samples are used"),
    ("motion.horizontalSpeedSigma", "m/s", "speed of a moving peer along a level axis"),
    ("motion.verticalSpeedSigma", "m/s", "speed of a moving peer along gravity"),
    ("motion.velocitySeconds", "s", "how long its velocity lasts"),
    ("motion.restingSeconds", "s", "how long a peer of unknown motion rests"),
    ("motion.movingSeconds", "s", "how long it then moves"),
    ("faults.rangeOnset", "", "probability that a range turns faulty"),
    ("faults.angleOnset", "", "probability that an angle turns faulty"),
    ("faults.heightOnset", "", "probability that a height difference turns faulty"),
    ("faults.lastingSeconds", "s", "how long a fault lasts"),
    ("faults.rangeExcess", "m", "mean excess of a range without line of sight"),
    ("faults.doubtAfter", "s", "how long all must be faulty before the estimate is doubted"),
    ("hypotheses.maximumCount", "", "most hypotheses for a peer; fewer is faster"),
    ("hypotheses.pruningWeight", "", "hypotheses below this share are dropped"),
    ("hypotheses.mergingLoss", "nat", "hypotheses are merged when that loses less"),
    ("convergence.sigmaFloor", "m", "an uncertainty that is always good enough"),
    ("convergence.sigmaPerDistance", "", "an uncertainty that is good enough, per distance"),
    ("convergence.dominantModeWeight", "", "the share that one mode must hold"),
    ("convergence.lossFactor", "", "convergence is lost at this multiple of what gained it"),
    ("convergence.movementParallaxRadians", "rad", "less parallax counts as hardly any movement"),
    ("convergence.darkBelowLumens", "lm", "a scene below is dark"),
    (
      "outputs.distanceSigmaPerDistance", "", "largest uncertainty of a published distance, a ratio"
    ),
    ("outputs.distanceSigmaFloor", "m", "an uncertainty of a distance that is good enough"),
    ("outputs.horizontalAngleSigmaRadians", "rad", "largest uncertainty of a published angle"),
    ("outputs.directionSigmaRadians", "rad", "largest uncertainty of a published direction"),
    ("outputs.sameLevelWithin", "m", "height differences within are the same level"),
    ("outputs.verticalProbability", "", "probability that a published vertical direction needs"),
    ("outputs.verticalHysteresis", "", "how much of it may be lost before it is withdrawn"),
  ]
}

extension LocatedJSON {
  /// The value on one line.
  fileprivate var settingText: String {
    switch content {
    case .null: "null"
    case .bool(let flag): "\(flag)"
    case .number(let number): ShortNumber.number(number)
    case .string(let text): text
    case .array(let elements): "[\(elements.map(\.settingText).joined(separator: ", "))]"
    case .object(let members):
      "{ \(members.map { "\($0.key): \($0.value.settingText)" }.joined(separator: ", ")) }"
    }
  }
}
