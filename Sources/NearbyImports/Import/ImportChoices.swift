// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// What an import writes into `recording.json` where nobody stated it, and what it found.
///
/// A value is chosen only where the file leaves no doubt: poses that all have exactly one height are
/// those of a two-dimensional odometry, and ranges that scatter by more than a default says are as
/// noisy as that. Each choice is a finding.
struct ImportChoices {
  /// The manifest with the choices.
  var manifest: RecordingManifest
  /// What was chosen and what was seen, the worst first.
  private(set) var findings: [RecordingFinding] = []

  private let options: ImportOptions
  private var choices: [RecordingFinding] = []
  private var survey: RecordingSurvey

  init(
    survey: RecordingSurvey, _ options: ImportOptions, hasSigmas: Bool,
    drift: (position: Double, yawDegrees: Double)? = nil
  ) {
    self.survey = survey
    self.options = options
    manifest = survey.manifest
    chooseUpAxis()
    choosePlane()
    if let drift { chooseDrift(drift) }
    if !hasSigmas { chooseRangeSigma() }
    self.survey.manifest = manifest
    self.survey.info.trajectory.isPlanar = manifest.trajectory.isPlanar
    let checked = RecordingChecks.findings(self.survey)
    findings = checked.filter { $0.severity != .note } + choices
    findings += checked.filter { $0.severity == .note }
  }

  /// Fewer poses, or less of a way, do not show that a world is flat.
  private static let fewestPoses = 10
  private static let shortestExtent = 1.0

  private mutating func chooseUpAxis() {
    let extent = survey.poses.extent
    guard options.assumptions.contains(.up), manifest.worldUp == .y, extent.z == 0,
      min(extent.x, extent.y) > Self.shortestExtent,
      survey.info.trajectory.poseCount >= Self.fewestPoses
    else { return }
    manifest.worldUp = .z
    if options.assumptions.contains(.axes) { manifest.device.axes = .ros }
    survey.manifest = manifest
    choose(
      "all poses have one z, so z is taken to point up, and the device's axes as "
        + "\(manifest.device.axes.rawValue); --up y keeps y up")
  }

  private mutating func choosePlane() {
    guard survey.heightExtent == 0, survey.levelExtent > Self.shortestExtent,
      survey.info.trajectory.poseCount >= Self.fewestPoses
    else { return }
    if options.isPlanar == nil, !manifest.trajectory.isPlanar, survey.onlyRangesTellHeights {
      manifest.trajectory.isPlanar = true
      choose(
        "all poses have one height, so device and peers are taken to be in one plane; --no-planar "
          + "says that peers may be above or below")
    }
    guard options.assumptions.contains(.kind), manifest.trajectory.kind == .visualInertial else {
      return
    }
    let isPlanar = manifest.trajectory.isPlanar
    manifest.trajectory = RecordingManifest.Trajectory(kind: .odometry)
    // Wheels, and a gyroscope for the heading.
    manifest.trajectory.positionDrift = 0.03
    manifest.trajectory.isPlanar = isPlanar
    manifest = options.stated(manifest)
    let drift = manifest.trajectory
    choose(
      "an odometry of two dimensions is none of a camera, so a drift of "
        + "\(ShortNumber.number(drift.positionDrift)) m and "
        + "\(ShortNumber.number(drift.yawDriftDegrees)) degrees per root metre is assumed; "
        + "--kind wheel is more cautious")
  }

  private mutating func chooseDrift(_ drift: (position: Double, yawDegrees: Double)) {
    manifest.trajectory.positionDrift = drift.position
    manifest.trajectory.yawDriftDegrees = drift.yawDegrees
    manifest = options.stated(manifest)
    let written = manifest.trajectory
    choose(
      "the covariances of the poses grow by the way, which gives a drift of "
        + "\(ShortNumber.number(written.positionDrift)) m and "
        + "\(ShortNumber.number(written.yawDriftDegrees)) degrees per root metre")
  }

  private mutating func chooseRangeSigma() {
    guard options.rangeSigma == nil, manifest.ranging == RecordingManifest.Ranging(),
      let scatter = survey.scatter, scatter.perStatedSigma > 1.5
    else { return }
    let sigma = NoiseChecks.accuracy(of: scatter)
    let factor = manifest.ranging.rangeSigma / sigma
    manifest.ranging.rangeSigma = sigma
    for index in survey.peers.indices { survey.peers[index].scatter?.perStatedSigma *= factor }
    choose(
      "the ranges scatter by \(ShortNumber.number(scatter.metres)) m (one sigma), so their accuracy "
        + "is taken as \(ShortNumber.number(sigma)) m; --range-sigma states another")
  }

  private mutating func choose(_ what: String) {
    choices.append(RecordingFinding(.note, .chosen, what))
  }
}
