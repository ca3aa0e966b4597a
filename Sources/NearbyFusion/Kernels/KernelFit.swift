// SPDX-License-Identifier: Apache-2.0
internal import CNearbyKernels
package import NearbyGeometry

/// Some samples taken from one place, as one: what a fit of a whole window works on.
package struct FitKeyframe: Sendable {
  /// One kind's value in a keyframe.
  package struct Value: Sendable {
    package var value: Double
    /// The variance of all that the fit does not estimate: white noise, drift since, and the part of
    /// the wandering error that has decorrelated since.
    package var variance: Double
    /// The correlation of the wandering error then with that of now, which the fit estimates.
    package var correlation: Double

    /// Makes one of its parts.
    package init(value: Double, variance: Double, correlation: Double = 0) {
      (self.value, self.variance, self.correlation) = (value, variance, correlation)
    }
  }

  /// The odometry's drift since a keyframe, in the shape in which it most likely has drifted, for an
  /// amplitude of one.
  package struct Drift: Sendable {
    /// Metres in the horizontal plane and along gravity, and radians about the pivot.
    package var horizontal = 0.0
    package var vertical = 0.0
    package var yaw = 0.0
    package var pivot = Vector3.zero

    /// None.
    package init() {}
  }

  var kernel = nearby_keyframe()

  /// Makes one of the kernels' own.
  init(kernel: nearby_keyframe) { self.kernel = kernel }

  /// Makes a keyframe without values.
  ///
  /// - Parameters:
  ///   - pose: From where it was measured.
  ///   - drift: The drift since.
  ///   - faultCorrelation: The probability that a state, faulty or not, has lasted since the keyframe
  ///     before.
  package init(
    from pose: AntennaPose, drift: Drift = Drift(), faultCorrelation: Double = 0
  ) {
    kernel.antenna_in_world = (pose.antenna.x, pose.antenna.y, pose.antenna.z)
    kernel.device_from_world = pose.deviceFromWorld
    kernel.variance = PerKind(repeating: 1.0).tuple
    kernel.horizontal_drift = drift.horizontal
    kernel.vertical_drift = drift.vertical
    kernel.yaw_drift = drift.yaw
    kernel.pivot = (drift.pivot.x, drift.pivot.y, drift.pivot.z)
    kernel.lasting = faultCorrelation
  }

  /// The value of a kind; `nil` when it was not measured.
  package subscript(kind: MeasurementKind) -> Value? {
    get {
      guard kernel.present & kind.bit != 0 else { return nil }
      return Value(
        value: PerKind(kernel.value)[kind], variance: PerKind(kernel.variance)[kind],
        correlation: PerKind(kernel.memory)[kind])
    }
    set {
      guard let newValue else {
        kernel.present &= ~kind.bit
        return
      }
      kernel.present |= kind.bit
      var (values, variances) = (PerKind(kernel.value), PerKind(kernel.variance))
      var memories = PerKind(kernel.memory)
      (values[kind], variances[kind]) = (newValue.value, newValue.variance)
      memories[kind] = newValue.correlation
      (kernel.value, kernel.variance) = (values.tuple, variances.tuple)
      kernel.memory = memories.tuple
    }
  }

  /// The antenna in the odometry's world.
  package var antenna: Vector3 {
    let (x, y, z) = kernel.antenna_in_world
    return Vector3(x, y, z)
  }
}

/// What a fit assumes.
package struct FitModel: Sendable {
  var kernel: nearby_fit_model

  /// Makes one of the kernels' own.
  init(kernel: nearby_fit_model) { self.kernel = kernel }

  /// The prior variances of the radio's errors.
  package struct Errors: Sendable {
    /// The prior of the scale error, one sigma.
    package var rangeScaleSigma: Double
    /// The variances of the constant errors, and of the wandering ones.
    package var constant: PerKind<Double>
    package var wandering: PerKind<Double>

    /// Makes them.
    package init(
      rangeScaleSigma: Double, constant: PerKind<Double>, wandering: PerKind<Double>
    ) {
      self.rangeScaleSigma = rangeScaleSigma
      (self.constant, self.wandering) = (constant, wandering)
    }
  }

  /// Makes a model.
  ///
  /// - Parameters:
  ///   - center: The mean of the position's prior.
  ///   - information: The information of that prior, 1/m²; one without an inverse is no prior, and
  ///     its fit is refused.
  ///   - errors: The priors of the radio's errors.
  ///   - faults: What faults look like.
  ///   - ranging: The radio.
  ///   - isMirrored: Whether the radio confuses what is before it with what is behind.
  ///   - hasHeights: Whether the offset of height differences is fitted.
  package init(
    center: Vector3, information: SymmetricMatrix3, _ errors: Errors, _ faults: FaultModel,
    _ ranging: RangingConfiguration, isMirrored: Bool = false,
    hasHeights: Bool = false
  ) {
    kernel = nearby_fit_model(
      center: (center.x, center.y, center.z),
      information: (
        information.xx, information.xy, information.xz, information.yy, information.yz,
        information.zz
      ),
      range_scale_sigma: errors.rangeScaleSigma,
      bias_variance: errors.constant.tuple, wander_variance: errors.wandering.tuple,
      outlier_share: PerKind { faults.outlierShare(of: $0) }.tuple,
      range_excess: faults.rangeExcess(sigma: ranging.rangeSigma),
      field_of_view: ranging.fieldOfViewRadians, is_mirrored: isMirrored ? 1 : 0,
      has_heights: hasHeights ? 1 : 0)
  }

  fileprivate var stateCount: Int {
    kernel.has_heights != 0 ? StateIndex.heightCount : StateIndex.restingCount
  }
}

/// Fits of up to eight starts to one window, side by side: they cost less than two made one by one, or
/// as much on a processor without vectors of eight.
///
/// All starts have the offset of height differences, or none.
package struct KernelFit {
  /// How many there may be.
  package static let capacity = Int(NEARBY_FITS)

  // Performance: all this is large. It is read through spans in place, and written through mutable
  // ones, since else each element costs a copy of all. States, covariances (packed) and shares of
  // inliers stand one start after the other, as long as the models' states are.
  private var models = InlineArray<8, nearby_fit_model>(repeating: nearby_fit_model())
  private var states = FitStates(repeating: 0)
  private var covariances = FitCovariances(repeating: 0)
  private var inlierShares = FitShares(repeating: 1)
  private var logEvidences = InlineArray<8, Double>(repeating: -.infinity)
  private var folded = InlineArray<8, Int32>(repeating: 0)
  /// The number of states of each.
  private var size = StateIndex.restingCount

  /// Makes room for fits.
  package init() { Self.assertLayout() }

  /// Holds the sizes of the arrays to those of the header.
  @inline(__always)
  private static func assertLayout() {
    StateIndex.assertLayout()
    let double = MemoryLayout<Double>.size
    precondition(MemoryLayout<InlineArray<8, Double>>.size == capacity * double)
    let states = StateIndex.heightCount
    precondition(MemoryLayout<FitStates>.size == capacity * states * double)
    precondition(
      MemoryLayout<FitCovariances>.size == capacity * StateIndex.packed(0, states) * double)
    precondition(MemoryLayout<FitShares>.size == capacity * Int(NEARBY_COMPONENTS) * double)
  }

  /// Sets the model of a fit, and where it starts; all fits must have states of one length.
  mutating func setStart(_ lane: Int, _ model: FitModel, _ state: borrowing StateVector) {
    size = model.stateCount
    var models = models.mutableSpan
    models[lane] = model.kernel
    var states = states.mutableSpan
    let start = state.span
    for index in 0..<size { states[lane * size + index] = start[index] }
  }

  /// Sets the model of a fit, and the position where it starts.
  package mutating func setStart(_ lane: Int, _ model: FitModel, at position: Vector3) {
    var state = StateVector(repeating: 0)
    (state[0], state[1], state[2]) = (position.x, position.y, position.z)
    setStart(lane, model, state)
  }

  /// Fits the first so many.
  ///
  /// - Parameters:
  ///   - count: How many, at most ``capacity``.
  ///   - keyframes: The window.
  ///   - widest: The greatest factor by which noise variances are widened at first: 400 for a start
  ///     anywhere, 1 for one that is a mode already.
  package mutating func fit(_ count: Int, to keyframes: [FitKeyframe], widest: Double) {
    precondition(MemoryLayout<FitKeyframe>.stride == MemoryLayout<nearby_keyframe>.stride)
    unsafe keyframes.withUnsafeBytes { keyframes in
      unsafe withUnsafeBytes(of: models) { models in
        unsafe withUnsafeMutableBytes(of: &states) { states in
          unsafe withUnsafeMutableBytes(of: &covariances) { covariances in
            unsafe withUnsafeMutableBytes(of: &inlierShares) { inlierShares in
              unsafe withUnsafeMutableBytes(of: &logEvidences) { logEvidences in
                unsafe withUnsafeMutableBytes(of: &folded) { folded in
                  unsafe nearby_fit_side_by_side(
                    keyframes.assumingMemoryBound(to: nearby_keyframe.self).baseAddress,
                    Int32(keyframes.count / MemoryLayout<nearby_keyframe>.stride),
                    models.assumingMemoryBound(to: nearby_fit_model.self).baseAddress,
                    Int32(min(count, Self.capacity)), widest,
                    states.assumingMemoryBound(to: Double.self).baseAddress,
                    covariances.assumingMemoryBound(to: Double.self).baseAddress,
                    inlierShares.assumingMemoryBound(to: Double.self).baseAddress,
                    logEvidences.assumingMemoryBound(to: Double.self).baseAddress,
                    folded.assumingMemoryBound(to: Int32.self).baseAddress)
                }
              }
            }
          }
        }
      }
    }
  }

  // MARK: Results

  /// The logarithm of the evidence by Laplace's approximation, up to a constant common to all priors;
  /// minus infinity for a start that could not be fitted.
  package var logEvidence: InlineArray<8, Double> { logEvidences }

  /// The logarithm of a fit's evidence.
  @inline(__always)
  mutating func logEvidence(_ lane: Int) -> Double { logEvidences.span[lane] }

  /// Whether a fit has taken an azimuth for mirrored on its way.
  mutating func hasFolded(_ lane: Int) -> Bool { folded.span[lane] != 0 }

  /// The mean probability that a value of a kind is an inlier; one without values.
  mutating func inlierShare(_ lane: Int, of kind: MeasurementKind) -> Double {
    inlierShares.span[lane * Int(NEARBY_COMPONENTS) + kind.component]
  }

  /// Copies out the mode that a fit found; what could not be fitted stays as it was.
  mutating func copyState(
    _ lane: Int, to state: inout StateVector, _ covariance: inout StateCovariance
  ) {
    let triangle = StateIndex.packed(0, size)
    let (states, covariances) = (states.span, covariances.span)
    for index in 0..<size { state[index] = states[lane * size + index] }
    for entry in 0..<triangle { covariance[entry] = covariances[lane * triangle + entry] }
  }

  /// The mode that a fit found: position, its covariance, and the constant errors of ranges.
  package mutating func place(
    _ lane: Int
  ) -> (position: Vector3, covariance: SymmetricMatrix3, rangeBias: Double, rangeScale: Double) {
    var state = StateVector(repeating: 0)
    var covariance = StateCovariance(repeating: 0)
    copyState(lane, to: &state, &covariance)
    func element(_ row: Int, _ column: Int) -> Double {
      covariance[StateIndex.packed(row, column)]
    }
    return (
      Vector3(state[0], state[1], state[2]),
      SymmetricMatrix3(
        xx: element(0, 0), xy: element(0, 1), xz: element(0, 2), yy: element(1, 1),
        yz: element(1, 2), zz: element(2, 2)),
      state[StateIndex.rangeBias], state[StateIndex.rangeScale]
    )
  }
}
