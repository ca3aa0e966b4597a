// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Samples of one peer from about one place, as one: what the joint fit works on.
///
/// Values and poses are averaged: to first order the mean of the ranges is the range from the mean of
/// the places. White noise shrinks, the wandering error does not.
struct JointCell: Sendable, Codable {
  /// The mean pose, with what had happened to the odometry by the first sample.
  private(set) var device: TrajectoryPoint
  private(set) var values: PerKind<Average>
  private(set) var isObstructed: Bool
  /// The place of the first sample, about which others are near.
  private let first: RigidTransform
  private var sampleCount = 1.0
  /// Where the peer was seen, in device axes.
  private let direction: Vector3
  /// From where its values were measured, on average.
  private var viewpoint: Viewpoint
  /// The sum of the correlations of its wandering errors with those of all cells of the peer, itself
  /// included: it holds one over this of an independent draw of them.
  private(set) var neighbours = PerKind(repeating: 1.0)

  /// The values of one kind.
  struct Average: Sendable, Codable {
    /// How many; zero when the kind was not measured.
    var count = 0.0
    var mean = 0.0
    /// The mean of the stated variances.
    var squaredSigma = 0.0

    fileprivate mutating func add(_ measured: MeasuredValue, _ kind: MeasurementKind) {
      count += 1
      let difference = measured.value - mean
      mean += (count == 1 ? difference : kind.wrapped(difference)) / count
      squaredSigma += (measured.sigma * measured.sigma - squaredSigma) / count
    }
  }

  /// A cell is at most so long, metres and as a share of the range, and so wide in attitude, radians; and
  /// no higher than ``FlatWalk/tallestCell``.
  private static let longest = 1.0
  private static let shortest = 0.05
  private static let lengthPerRange = 0.08
  private static let widest = 0.25
  /// A value further off than this many sigmas belongs to another cell.
  private static let agreement = 3.0
  /// What a mean range errs by however many samples it is of, m².
  private static let leastRangeVariance = 1e-4
  /// So wrong may the expected change of a range be, as a share of the step.
  private static let changeTolerance = 0.5

  /// Begins with a sample.
  ///
  /// - Parameters:
  ///   - measurements: What was measured.
  ///   - device: Where the device was.
  ///   - isObstructed: Whether the radio itself calls the range obstructed.
  ///   - place: Where the peer is thought to be.
  init(
    _ measurements: Measurements, at device: TrajectoryPoint, isObstructed: Bool, of place: Vector3
  ) {
    self.device = device
    first = device.worldFromDevice
    self.isObstructed = isObstructed
    values = PerKind { kind in
      var average = Average()
      if let measured = measurements[kind] { average.add(measured, kind) }
      return average
    }
    let rotation = first.rotation
    let sight = place - first.translation
    direction =
      Vector3(
        rotation.xAxis.dot(sight), rotation.yAxis.dot(sight), rotation.zAxis.dot(sight)
      ).normalized
    viewpoint = Viewpoint(device, direction)
  }

  /// All but the viewpoint, which follows from the device and the direction.
  private enum CodingKeys: CodingKey {
    case device, values, isObstructed, first, sampleCount, direction, neighbours
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    device = try container.decode(TrajectoryPoint.self, forKey: .device)
    values = try container.decode(PerKind<Average>.self, forKey: .values)
    isObstructed = try container.decode(Bool.self, forKey: .isObstructed)
    first = try container.decode(RigidTransform.self, forKey: .first)
    sampleCount = try container.decode(Double.self, forKey: .sampleCount)
    direction = try container.decode(Vector3.self, forKey: .direction)
    neighbours = try container.decode(PerKind<Double>.self, forKey: .neighbours)
    viewpoint = Viewpoint(device, direction)
  }

  /// Takes a sample in if it is from here and agrees.
  ///
  /// - Returns: Whether it has.
  mutating func take(
    _ measurements: Measurements, at device: TrajectoryPoint, isObstructed: Bool, of place: Vector3
  ) -> Bool {
    let (here, there) = (self.device.worldFromDevice, device.worldFromDevice)
    let range = values.range.count > 0 ? values.range.mean : 1
    let length = min(max(Self.lengthPerRange * range, Self.shortest), Self.longest)
    let away = there.translation - first.translation
    guard isObstructed == self.isObstructed, device.world == self.device.world,
      away.length < length, abs(away.y) < FlatWalk.tallestCell,
      there.rotation.angle(to: first.rotation) < Self.widest
    else { return false }
    let step = (there.translation - here.translation).length
    let change = (place - there.translation).length - (place - here.translation).length
    for kind in MeasurementKind.allCases {
      guard let measured = measurements[kind], values[kind].count > 0 else { continue }
      let expected = kind == .range ? change : 0
      let tolerance = Self.changeTolerance * (kind.isAngle ? Self.widest : step)
      let away = kind.wrapped(measured.value - values[kind].mean - expected)
      guard abs(away) < Self.agreement * measured.sigma + tolerance else { return false }
    }
    sampleCount += 1
    for kind in MeasurementKind.allCases {
      if let measured = measurements[kind] { values[kind].add(measured, kind) }
    }
    self.device.worldFromDevice = here.interpolated(to: there, fraction: 1 / sampleCount)
    viewpoint = Viewpoint(self.device, direction)
    return true
  }

  // MARK: Errors in common

  /// Counts the errors that another cell of the same peer has in common with this one, in both.
  mutating func meet(_ other: inout JointCell, _ offset: HeightOffset) {
    // One of two angles alone is rare.
    let hasAngles = values.azimuth.count > 0 || values.elevation.count > 0
    let isNear = CorrelatedNoise.mayShareErrors(
      ofPlaces: device.worldFromDevice.translation, other.device.worldFromDevice.translation)
    guard isNear || hasAngles || values.heightDifference.count > 0 else { return }
    let (here, there) = (viewpoint, other.viewpoint)
    // Performance: errors that wander with the same are correlated alike.
    let withPlace =
      isNear ? CorrelatedNoise.correlation(of: .range, between: here, there, offset) : 0
    let withDirection =
      hasAngles ? CorrelatedNoise.correlation(of: .azimuth, between: here, there, offset) : 0
    MeasurementKind.each { kind in
      let correlation =
        switch kind.wandering {
        case .withPlace: withPlace
        case .withDirection: withDirection
        case .withTime:
          values[kind].count > 0
            ? CorrelatedNoise.correlation(of: kind, between: here, there, offset) : 0
        }
      neighbours[kind] += correlation
      other.neighbours[kind] += correlation
    }
  }

  /// The values as the fit wants them.
  ///
  /// - Parameters:
  ///   - noise: How noisy the peer's measurements are.
  ///   - placeVariance: What drift within the cell's knots and interpolation add, m² per axis.
  ///   - yawVariance: The same for yaw, rad².
  ///   - placeErrors: Of the unknown errors by place the variance, and what strays from their interpolation, m².
  ///   - widening: By what factor variances are taken too large.
  ///   - settings: The settings.
  /// - Returns: The values by kind.
  func fitValues(
    _ noise: NoiseLevels, placeVariance: Double, yawVariance: Double,
    placeErrors: (variance: Double, bridge: Double), widening: Double, _ settings: Settings
  ) -> PerKind<ChainProblem.Value?> {
    let range = max(values.range.count > 0 ? values.range.mean : 3, 0.3)
    let place = placeVariance + device.interpolationVariance
    let angle = place / (range * range) + yawVariance + device.interpolationVariance
    return PerKind { kind in
      let average = values[kind]
      guard average.count > 0 else { return nil }
      let sigma = average.squaredSigma.squareRoot()
      let white = noise[kind].whiteVariance(stated: sigma) / average.count
      let wandering = kind.wanderingVariance(
        part: noise[kind].wanderVariance(stated: sigma), settings.heightOffset)
      // Errors by place are unknowns of the fit.
      let wander =
        kind == .range
        ? RangeErrorSizes.unexplained(
          of: wandering,
          placeErrors: (placeErrors.variance, Self.leastRangeVariance + placeErrors.bridge),
          neighbours: neighbours[kind])
        : (variance: wandering, effectiveVariance: wandering * neighbours[kind])
      let pose = kind.isAngle ? angle : place
      return ChainProblem.Value(
        value: average.mean, variance: widening * (white + wander.variance + pose),
        effectiveVariance: widening * (white + wander.effectiveVariance + pose))
    }
  }
}

extension Viewpoint {
  /// That of a device point, the peer being seen in a direction of the device's axes.
  fileprivate init(_ device: TrajectoryPoint, _ direction: Vector3) {
    let pose = device.worldFromDevice
    self.init(
      timestamp: device.timestamp, place: pose.translation, up: pose.rotation.yAxis,
      back: pose.rotation.zAxis, direction: direction)
  }
}
