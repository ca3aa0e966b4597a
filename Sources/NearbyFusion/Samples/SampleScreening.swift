// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry

/// Decides which measurements of a peer's samples may be used: the one place where samples are
/// rejected.
struct SampleScreening: Hashable, Sendable, Codable {
  /// The sample before; of no peer at first.
  private var lastSample = RangingSample(
    peer: PeerID(index: -1), timestamp: Timestamp(nanoseconds: 0))
  /// Of angles.
  private var stuck = PerKind(repeating: StuckAngle())

  /// Screens a sample.
  ///
  /// - Parameters:
  ///   - sample: The sample.
  ///   - device: Where the device was; not read when there is a reason.
  ///   - reason: Why nothing of it can be used, if so: ``rejection(of:at:hasPose:newestSampleTime:world:_:)``.
  ///   - settings: The settings.
  ///   - reports: The rejected measurements are reported here.
  /// - Returns: The measurements that may be used.
  @inline(__always)
  mutating func screen(
    _ sample: RangingSample, at device: RigidTransform,
    rejecting reason: ComponentReport.Rejection?, _ settings: Settings,
    into reports: inout PerKind<ComponentReport>
  ) -> Measurements {
    let reason = isDuplicate(sample) ? .duplicate : reason
    var usable = Measurements()
    // Performance: written out, as a closure copies the reports.
    usable[.range] = screen(
      .range, sample, at: device, rejecting: reason, settings, into: &reports.range)
    usable[.azimuth] = screen(
      .azimuth, sample, at: device, rejecting: reason, settings, into: &reports.azimuth)
    usable[.elevation] = screen(
      .elevation, sample, at: device, rejecting: reason, settings, into: &reports.elevation)
    usable[.heightDifference] = screen(
      .heightDifference, sample, at: device, rejecting: reason, settings,
      into: &reports.heightDifference)
    return usable
  }

  /// Why nothing of a sample can be used, if so.
  ///
  /// - Parameters:
  ///   - sample: The sample.
  ///   - device: The device then; not read without a pose.
  ///   - hasPose: Whether there is a pose near enough.
  ///   - newestSampleTime: The newest sample of any peer that was used; `nil` before the first.
  ///   - world: The world that the peer's tracks are in; a sample from an earlier one says nothing
  ///     there.
  ///   - settings: The settings.
  /// - Returns: The reason; `nil` for a sample of which each measurement is judged by itself.
  @inline(__always)
  static func rejection(
    of sample: RangingSample, at device: TrajectoryPoint, hasPose: Bool,
    newestSampleTime: Timestamp?, world: Int?, _ settings: Settings
  ) -> ComponentReport.Rejection? {
    if let newestSampleTime,
      newestSampleTime.seconds(since: sample.timestamp)
        > settings.configuration.ranging.maximumLateness
    {
      return .tooLate
    }
    guard hasPose else { return .noPose }
    guard device.isTracked else { return .trackingNotAvailable }
    if let world, device.world < world { return .tooLate }
    return nil
  }

  @inline(__always)
  private mutating func screen(
    _ kind: MeasurementKind, _ sample: RangingSample, at device: RigidTransform,
    rejecting reason: ComponentReport.Rejection?, _ settings: Settings,
    into report: inout ComponentReport
  ) -> MeasuredValue? {
    guard let measured = MeasuredValue(kind, of: sample, settings.configuration.ranging) else {
      return nil
    }
    var rejection = measured.rejection ?? reason
    if rejection == nil, settings.configuration.features.contains(.stuckAngles),
      isStuck(kind, measured.value, at: device)
    {
      rejection = .stuck
    }
    guard let rejection else { return measured }
    report.value = measured.value
    report.outcome = .rejected(rejection)
    return nil
  }

  /// Whether a sample is the one before it again.
  @inline(__always)
  private mutating func isDuplicate(_ sample: RangingSample) -> Bool {
    let isDuplicate = sample.timestamp == lastSample.timestamp && sample == lastSample
    lastSample = sample
    return isDuplicate
  }

  /// Whether an angle only repeats what was measured in another pose.
  @inline(__always)
  private mutating func isStuck(
    _ kind: MeasurementKind, _ value: Double, at device: RigidTransform
  ) -> Bool {
    kind.isAngle && stuck[kind].isStuck(value, at: device)
  }
}
