// SPDX-License-Identifier: Apache-2.0
import CNearbyKernels
import NearbyGeometry

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The hypotheses about one peer: a structure of arrays that the kernels work on.
///
/// A bank of one is a single column and costs what one filter costs; a larger one is worked on in
/// vector lanes. While the number of hypotheses falls or stays, nothing is allocated.
///
/// The bank of a peer that may move holds its velocity too, and each hypothesis whether it moves.
/// A bank holds the offset of height differences when one has been measured, or the peer may move.
struct HypothesisBank: Sendable {
  let mayMove: Bool
  /// Whether it holds the offset of height differences.
  private(set) var hasHeights: Bool
  private(set) var count = 0
  private var stride = 1
  /// The rows, one after the other; packed ones are as long as they need to be.
  private var fields: [Double] = []
  /// The rows that were packed whole, bit by bit; `nil` while it is not packed.
  private var wholeRows: RowSet?

  /// One hypothesis to begin with.
  struct Seed {
    /// The state with the velocity, which is zero, variances and all, unless the peer moves.
    var mean: StateVector
    var covariance: StateCovariance
    var weight: Double
    /// Whether the angles measured at birth are faulty under this hypothesis.
    var anglesAreFaulty = false
    /// Whether the peer moves under this hypothesis; only in a bank whose peer may.
    var moves = false

    var position: Vector3 { Vector3(mean[0], mean[1], mean[2]) }
    var positionCovariance: SymmetricMatrix3 {
      func element(_ row: Int, _ column: Int) -> Double {
        covariance[StateIndex.packed(row, column)]
      }
      return SymmetricMatrix3(
        xx: element(0, 0), xy: element(0, 1), xz: element(0, 2), yy: element(1, 1),
        yz: element(1, 2), zz: element(2, 2))
    }
  }

  init(mayMove: Bool) {
    self.mayMove = mayMove
    hasHeights = mayMove
  }

  /// How many rows there are, and how many states of each hypothesis.
  private var fieldCount: Int {
    Int(
      mayMove
        ? NEARBY_MOVING_FIELD_COUNT : hasHeights ? NEARBY_HEIGHT_FIELD_COUNT : NEARBY_FIELD_COUNT)
  }
  @inline(__always)
  var stateCount: Int {
    mayMove
      ? StateIndex.movingCount : hasHeights ? StateIndex.heightCount : StateIndex.restingCount
  }

  // MARK: Height differences

  /// Adds the offset of height differences to every hypothesis that does not hold it yet.
  ///
  /// - Parameter variance: Its prior variance, m².
  @inline(__always)
  mutating func addHeightOffset(variance: Double) {
    if !hasHeights { addHeights(variance) }
  }

  @inline(never)
  private mutating func addHeights(_ variance: Double) {
    // The rows of the offset come after all others.
    hasHeights = true
    fields += [Double](repeating: 0, count: fieldCount * stride - fields.count)
    let offset = StateIndex.wander(.heightDifference)
    for index in 0..<count {
      self[.covariance(StateIndex.packed(offset, offset)), index] = variance
    }
  }

  // MARK: Hypotheses

  /// Puts hypotheses, one at least and `NEARBY_CAPACITY` at most, in the place of those there are.
  mutating func replace(with seeds: [Seed]) {
    precondition(seeds.count <= Int(NEARBY_CAPACITY), "more hypotheses than a bank may hold")
    count = 0
    reserve(seeds.count)
    // Performance: read in place, as a seed is large.
    let seeds = seeds.span
    var total = 0.0
    for index in seeds.indices { total += seeds[index].weight }
    for index in seeds.indices {
      set(index, to: seeds[index], weight: seeds[index].weight / total)
    }
    count = seeds.count
  }

  /// Puts a hypothesis in a place, with no fault and no range before it.
  private mutating func set(_ index: Int, to seed: borrowing Seed, weight: Double) {
    setState(of: index, seed)
    let faulty = seed.anglesAreFaulty ? 1.0 : 0
    for kind in MeasurementKind.allCases { self[.fault(kind), index] = kind.isAngle ? faulty : 0 }
    self[.rangeResidual, index] = 1e9
    self[.logWeight, index] = log(weight)
  }

  /// Puts another state in the place of the only hypothesis; what is known of its faults stays.
  mutating func refine(to seed: Seed) {
    precondition(count == 1 && !mayMove, "there is one place only")
    setState(of: 0, seed)
  }

  /// A hypothesis as it stands, at rest.
  func seed(_ index: Int) -> Seed {
    var seed = Seed(
      mean: StateVector(repeating: 0), covariance: StateCovariance(repeating: 0),
      weight: weight(index))
    for state in 0..<stateCount { seed.mean[state] = self[.mean(state), index] }
    for element in 0..<StateIndex.packed(0, stateCount) {
      seed.covariance[element] = self[.covariance(element), index]
    }
    return seed
  }

  private mutating func setState(of index: Int, _ seed: borrowing Seed) {
    StateIndex.assertLayout()
    let size = stateCount
    let mean = seed.mean.span
    for state in 0..<size { self[.mean(state), index] = mean[state] }
    let covariance = seed.covariance.span
    for element in 0..<StateIndex.packed(0, size) {
      self[.covariance(element), index] = covariance[element]
    }
    if mayMove { self[.moves, index] = seed.moves ? 1 : 0 }
  }

  /// Sets a velocity that is zero, or one of which only the spread is known.
  private mutating func setVelocity(
    of index: Int, moves: Bool, _ speedVariances: InlineArray<3, Double>
  ) {
    self[.moves, index] = moves ? 1 : 0
    for field in Int(NEARBY_FIELD_VELOCITY)..<Int(NEARBY_MOVING_FIELD_COUNT) {
      self[Field(row: field), index] = 0
    }
    guard moves else { return }
    for axis in 0..<3 {
      let state = StateIndex.velocity(axis)
      self[.covariance(StateIndex.packed(state, state)), index] = speedVariances[axis]
    }
  }

  /// Makes two hypotheses of those that are left, the first at rest and the second moving, and leaves it to
  /// `mix` and to the samples which of them holds.
  ///
  /// - Parameters:
  ///   - doubt: The share of the one that was not there.
  ///   - speedVariances: How fast a peer that moves does, along each axis of the world.
  mutating func pairUp(doubt: Double, _ speedVariances: InlineArray<3, Double>) {
    precondition(mayMove && (1...2).contains(count), "one hypothesis of each kind at most")
    if count == 1 {
      reserve(2)
      for field in 0..<fieldCount { self[Field(row: field), 1] = self[Field(row: field), 0] }
      setVelocity(of: 1, moves: self[.moves, 0] == 0, speedVariances)
      self[.logWeight, 0] = log(1 - doubt)
      self[.logWeight, 1] = log(doubt)
      count = 2
    }
    guard moves(0) else { return }
    for field in 0..<fieldCount {
      let first = self[Field(row: field), 0]
      self[Field(row: field), 0] = self[Field(row: field), 1]
      self[Field(row: field), 1] = first
    }
  }

  /// Puts hypotheses at rest in the place of those at rest, and leaves those that move.
  ///
  /// - Parameters:
  ///   - seeds: The hypotheses.
  ///   - share: Their share of all.
  mutating func replaceResting(with seeds: [Seed], share: Double) {
    keep(moving: true)
    add(seeds, share: count == 0 ? 1 : share)
  }

  /// Adds hypotheses to those there are.
  ///
  /// - Parameters:
  ///   - seeds: The hypotheses.
  ///   - share: Their share of all.
  mutating func add(_ seeds: [Seed], share: Double) {
    reserve(count + seeds.count)
    let logRest = log(1 - share)
    for index in 0..<count { self[.logWeight, index] += logRest }
    // Performance: read in place, as a seed is large.
    let seeds = seeds.span
    var total = 0.0
    for index in seeds.indices { total += seeds[index].weight }
    for index in seeds.indices {
      set(count + index, to: seeds[index], weight: share * seeds[index].weight / total)
    }
    count += seeds.count
  }

  /// Leaves the hypotheses under which the peer moves, or those under which it rests, and makes their shares
  /// sum to one.
  mutating func keep(moving: Bool) {
    var kept = 0
    for index in 0..<count where moves(index) == moving {
      for field in 0..<fieldCount { self[Field(row: field), kept] = self[Field(row: field), index] }
      kept += 1
    }
    count = kept
    // Relative to the largest: a share may be too small for a double.
    let largest = (0..<kept).reduce(-Double.infinity) { max($0, self[.logWeight, $1]) }
    for index in 0..<kept {
      self[.logWeight, index] = largest.isFinite ? self[.logWeight, index] - largest : 0
    }
    let total = (0..<kept).reduce(0) { $0 + exp(self[.logWeight, $1]) }
    for index in 0..<kept { self[.logWeight, index] -= log(total) }
  }

  /// Whether the peer moves under one of the hypotheses.
  var hasMoving: Bool { (0..<count).contains { moves($0) } }

  /// Takes the likelihood of a range under the hypotheses that move from the filter of ranges alone.
  ///
  /// A Gaussian that is wide across the line of sight predicts a range with the variance that its curvature
  /// adds. The ranges to a moving peer whose direction is not known are far better known than that: by their
  /// own past. Without that, a peer that walks out of the field of view would be taken for one at rest at
  /// any place that explains its ranges for some seconds.
  ///
  /// - Parameter range: The innovation of the newest range in the filter of ranges.
  mutating func reweighMoving(by range: Innovation) {
    guard !isColumn, range.logLikelihood.isFinite else { return }
    var hasChanged = false
    for index in 0..<count where moves(index) && self[.inlier(.range), index] > 0.5 {
      let own = Innovation(
        value: self[.innovation(.range), index], variance: self[.innovationVariance(.range), index])
      guard own.variance > Self.wideVariance * range.variance, own.logLikelihood.isFinite else {
        continue
      }
      self[.logWeight, index] += range.logLikelihood - own.logLikelihood
      hasChanged = true
    }
    if hasChanged { unsafe withKernelBank { unsafe Self.normalize($0) } }
  }

  /// The ratio of the innovation's variance to that of the filter of ranges from which a hypothesis is too
  /// wide to predict a range.
  private static let wideVariance = 1.5

  /// The share of the hypotheses under which the peer moves.
  var movingShare: Double {
    guard mayMove else { return 0 }
    return (0..<count).reduce(0) { $0 + (moves($1) ? weight($1) : 0) }
  }

  /// Makes room for so many hypotheses, keeping those there are.
  private mutating func reserve(_ wanted: Int) {
    let needed = Self.stride(for: wanted)
    if needed > stride || fields.isEmpty { restride(needed) }
  }

  private static func stride(for wanted: Int) -> Int {
    let lanes = Int(NEARBY_LANES)
    return wanted <= 1 ? 1 : (wanted + lanes - 1) / lanes * lanes
  }

  private mutating func restride(_ newStride: Int) {
    var moved = [Double](repeating: 0, count: fieldCount * newStride)
    for field in 0..<fieldCount {
      for index in 0..<count { moved[field * newStride + index] = fields[field * stride + index] }
    }
    fields = moved
    stride = newStride
  }

  // MARK: Packing

  /// Takes less memory until it is unpacked; nothing can be asked of it meanwhile.
  ///
  /// Of each row in which all hypotheses have the same it keeps one value, and so it does of what the
  /// last update put out: half of a bank that has seen ranges alone.
  mutating func pack() {
    guard wholeRows == nil, !isColumn else { return }
    var whole: RowSet = [0, 0, 0]
    var size = 0
    for row in 0..<fieldCount {
      if differs(row) { whole[row / 64] |= 1 << UInt64(row % 64) }
      size += Self.contains(row, whole) ? count : 1
    }
    var packed: [Double] = []
    packed.reserveCapacity(size)
    for row in 0..<fieldCount {
      let start = row * stride
      packed += fields[start..<start + (Self.contains(row, whole) ? count : 1)]
    }
    fields = packed
    wholeRows = whole
  }

  /// Undoes ``pack()``.
  mutating func unpack() {
    guard let whole = wholeRows else { return }
    var unpacked: [Double] = []
    unpacked.reserveCapacity(fieldCount * stride)
    var start = 0
    for row in 0..<fieldCount {
      let length = Self.contains(row, whole) ? count : 1
      unpacked += fields[start..<start + length]
      // The lanes that are left over hold anything that is a number.
      unpacked += repeatElement(fields[start], count: stride - length)
      start += length
    }
    fields = unpacked
    wholeRows = nil
  }

  /// A set of rows, bit by bit.
  private typealias RowSet = InlineArray<3, UInt64>

  private static func contains(_ row: Int, _ rows: RowSet) -> Bool {
    rows[row / 64] & 1 << UInt64(row % 64) != 0
  }

  /// Whether a row is an output of an update: it is overwritten by the next one, and not saved.
  private static func isOutput(_ row: Int) -> Bool {
    Int(NEARBY_FIELD_INNOVATION)..<Int(NEARBY_FIELD_COUNT) ~= row
  }

  /// Whether hypotheses differ in a row that is needed again.
  private func differs(_ row: Int) -> Bool {
    if Self.isOutput(row) { return false }
    let start = row * stride
    let first = fields[start].bitPattern
    return (1..<count).contains { fields[start + $0].bitPattern != first }
  }

  // MARK: Kernels

  /// Lets a peer at rest start and a moving one stop; the bank must be a pair.
  ///
  /// - Parameters:
  ///   - seconds: The time since this was done last.
  ///   - motion: How often it does, and how fast it then is.
  ///   - rest: For how long a resting one has rested.
  mutating func mix(seconds: Double, _ motion: MotionModel, after rest: RestAge) {
    let (starts, stops) = motion.transitions(seconds: seconds, after: rest)
    let variances = motion.speedVariances
    unsafe withKernelBank { bank in
      unsafe nearby_bank_mix(bank, starts, stops, variances[0], variances[1])
    }
  }

  /// A single column has the whole share, always.
  @inline(__always)
  static func normalize(_ bank: UnsafePointer<nearby_bank>) {
    if unsafe bank.pointee.stride > 1 { unsafe nearby_bank_normalize(bank) }
  }

  /// Prunes and merges; the heaviest hypothesis is first afterwards.
  mutating func reduce(_ configuration: HypothesisConfiguration) {
    guard count > 1 else { return }
    let left = unsafe withKernelBank { bank in
      unsafe nearby_bank_reduce(
        bank, Int32(configuration.maximumCount), configuration.pruningWeight,
        configuration.mergingLoss)
    }
    count = Int(left)
    // Not for fewer hypotheses than there were: the next search may need as much room again.
    if count == 1 { restride(1) }
  }

  /// The mean and covariance of the mixture's position.
  @inline(__always)
  func positionMoments() -> (mean: Vector3, covariance: SymmetricMatrix3) {
    if isColumn {
      func covariance(_ row: Int, _ column: Int) -> Double {
        only(.covariance(StateIndex.packed(row, column)))
      }
      return (
        heaviestPosition,
        SymmetricMatrix3(
          xx: covariance(0, 0), xy: covariance(0, 1), xz: covariance(0, 2), yy: covariance(1, 1),
          yz: covariance(1, 2), zz: covariance(2, 2))
      )
    }
    return mixtureMoments()
  }

  private func mixtureMoments() -> (mean: Vector3, covariance: SymmetricMatrix3) {
    if count == 1 { return (position(0), positionCovariance(0)) }
    var mean = Vector3.zero
    var covariance = SymmetricMatrix3.zero
    unsafe fields.withUnsafeBufferPointer { buffer in
      // The kernel only reads through it.
      var bank = unsafe nearby_bank(
        fields: UnsafeMutablePointer(mutating: buffer.baseAddress), count: Int32(count),
        stride: Int32(stride), states: Int32(stateCount))
      unsafe withUnsafeMutableBytes(of: &mean) { mean in
        unsafe withUnsafeMutableBytes(of: &covariance) { covariance in
          unsafe nearby_bank_moments(
            &bank, mean.assumingMemoryBound(to: Double.self).baseAddress,
            covariance.assumingMemoryBound(to: Double.self).baseAddress)
        }
      }
    }
    return (mean, covariance)
  }

  @inline(__always)
  mutating func withKernelBank<Result>(
    _ body: (UnsafePointer<nearby_bank>) -> Result
  ) -> Result {
    // Neither is above `NEARBY_CAPACITY`.
    let count = Int32(truncatingIfNeeded: count)
    let stride = Int32(truncatingIfNeeded: stride)
    let states = Int32(truncatingIfNeeded: stateCount)
    return unsafe fields.withUnsafeMutableBufferPointer { buffer in
      let bank = unsafe nearby_bank(
        fields: buffer.baseAddress, count: count, stride: stride, states: states)
      return unsafe withUnsafePointer(to: bank) { unsafe body($0) }
    }
  }

  // MARK: Fields

  /// A row of the structure of arrays.
  struct Field {
    let row: Int

    static func mean(_ state: Int) -> Field {
      let velocity = state - Int(NEARBY_STATE_VELOCITY)
      if velocity >= 0 { return Field(row: Int(NEARBY_FIELD_VELOCITY) + velocity) }
      let height = state - Int(NEARBY_STATE_HEIGHT_OFFSET)
      return Field(row: height < 0 ? state : Int(NEARBY_FIELD_HEIGHT_OFFSET) + height)
    }
    static func covariance(_ element: Int) -> Field {
      let velocity = element - Int(NEARBY_HEIGHT_COVARIANCE_SIZE)
      if velocity >= 0 { return Field(row: Int(NEARBY_FIELD_VELOCITY_COVARIANCE) + velocity) }
      let height = element - Int(NEARBY_COVARIANCE_SIZE)
      return Field(
        row: height < 0
          ? Int(NEARBY_FIELD_COVARIANCE) + element
          : Int(NEARBY_FIELD_HEIGHT_COVARIANCE) + height)
    }
    static func fault(_ kind: MeasurementKind) -> Field {
      Field(row: Int(NEARBY_FIELD_FAULT) + kind.component)
    }
    static var rangeResidual: Field { Field(row: Int(NEARBY_FIELD_RANGE_RESIDUAL)) }
    static var logWeight: Field { Field(row: Int(NEARBY_FIELD_LOG_WEIGHT)) }
    static var moves: Field { Field(row: Int(NEARBY_FIELD_MOVES)) }
    static func innovation(_ kind: MeasurementKind) -> Field {
      Field(row: Int(NEARBY_FIELD_INNOVATION) + kind.component)
    }
    static func innovationVariance(_ kind: MeasurementKind) -> Field {
      Field(row: Int(NEARBY_FIELD_INNOVATION_VARIANCE) + kind.component)
    }
    static func inlier(_ kind: MeasurementKind) -> Field {
      Field(row: Int(NEARBY_FIELD_INLIER) + kind.component)
    }
  }

  subscript(field: Field, index: Int) -> Double {
    // Rows are constants, and an index is below the count: only debug builds look.
    @inline(__always) get {
      unsafe fields.withUnsafeBufferPointer { unsafe $0[field.row &* stride &+ index] }
    }
    set { fields[field.row &* stride &+ index] = newValue }
  }

  /// Whether it is a single column, all rows of which stand at constant places.
  @inline(__always)
  var isColumn: Bool { stride == 1 }

  /// A field of the only hypothesis, when the bank is a single column.
  @inline(__always)
  func only(_ field: Field) -> Double {
    unsafe fields.withUnsafeBufferPointer { unsafe $0[field.row] }
  }

  /// Whether the peer moves under a hypothesis.
  func moves(_ index: Int) -> Bool { mayMove && self[.moves, index] > 0 }

  /// The share of a hypothesis, 0 to 1.
  func weight(_ index: Int) -> Double { count == 1 ? 1 : exp(self[.logWeight, index]) }

  @inline(__always)
  func position(_ index: Int) -> Vector3 {
    Vector3(self[.mean(0), index], self[.mean(1), index], self[.mean(2), index])
  }

  @inline(__always)
  func positionCovariance(_ index: Int) -> SymmetricMatrix3 {
    func element(_ row: Int, _ column: Int) -> Double {
      self[.covariance(StateIndex.packed(row, column)), index]
    }
    return SymmetricMatrix3(
      xx: element(0, 0), xy: element(0, 1), xz: element(0, 2), yy: element(1, 1),
      yz: element(1, 2), zz: element(2, 2))
  }

  /// Where the peer is under the heaviest hypothesis.
  @inline(__always)
  var heaviestPosition: Vector3 {
    isColumn ? Vector3(only(.mean(0)), only(.mean(1)), only(.mean(2))) : position(heaviest)
  }

  /// The index of the heaviest hypothesis.
  var heaviest: Int {
    var best = 0
    for index in 1..<max(1, count) where self[.logWeight, index] > self[.logWeight, best] {
      best = index
    }
    return best
  }
}

// MARK: - Saving

extension HypothesisBank: Codable {
  private enum CodingKeys: CodingKey { case mayMove, hasHeights, count, stride, wholeRows, fields }

  /// How many values of a row are kept.
  private func length(of row: Int) -> Int {
    wholeRows.map { Self.contains(row, $0) ? count : 1 } ?? count
  }

  /// How far the kept values of one row are from those of the next; `nil` for packed ones, which follow
  /// each other.
  private var rowStride: Int? { wholeRows == nil ? stride : nil }

  /// Writes the hypotheses, without the lanes that are left over and without what the last update put
  /// out, which the next one writes over.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(mayMove, forKey: .mayMove)
    try container.encode(hasHeights, forKey: .hasHeights)
    try container.encode(count, forKey: .count)
    try container.encode(stride, forKey: .stride)
    if let wholeRows {
      try container.encode(
        wholeRows.indices.map { Double(bitPattern: wholeRows[$0]) }, forKey: .wholeRows)
    }
    var kept: [Double] = []
    kept.reserveCapacity(fieldCount * count)
    var start = 0
    for row in 0..<fieldCount {
      let length = length(of: row)
      if !Self.isOutput(row) { kept += fields[start..<start + length] }
      start += rowStride ?? length
    }
    try container.encode(kept, forKey: .fields)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    mayMove = try container.decode(Bool.self, forKey: .mayMove)
    hasHeights = try container.decode(Bool.self, forKey: .hasHeights)
    count = try container.decode(Int.self, forKey: .count)
    stride = try container.decode(Int.self, forKey: .stride)
    func require(_ condition: Bool, _ problem: String) throws {
      guard condition else {
        throw DecodingError.dataCorruptedError(
          forKey: .fields, in: container, debugDescription: problem)
      }
    }
    let capacity = Int(NEARBY_CAPACITY)
    try require((1...capacity).contains(count), "\(count) hypotheses")
    try require(
      count <= stride && stride <= capacity && stride == Self.stride(for: stride),
      "rows of \(stride)")
    try require(hasHeights || !mayMove, "a moving peer without the offset of heights")
    if let rows = try container.decodeIfPresent([Double].self, forKey: .wholeRows) {
      try require(rows.count == RowSet.count && stride > 1, "a packed column")
      wholeRows = InlineArray { rows[$0].bitPattern }
    }
    let kept = try container.decode([Double].self, forKey: .fields)
    let rows = 0..<fieldCount
    try require(
      kept.count == rows.reduce(0) { $0 + (Self.isOutput($1) ? 0 : length(of: $1)) },
      "\(kept.count) numbers")
    fields.reserveCapacity(fieldCount * stride)
    var start = 0
    for row in rows {
      let length = length(of: row)
      if Self.isOutput(row) {
        fields += repeatElement(0, count: length)
      } else {
        fields += kept[start..<start + length]
        start += length
      }
      // The lanes that are left over hold anything that is a number.
      if let rowStride {
        fields += repeatElement(fields[fields.count - length], count: rowStride - length)
      }
    }
  }

  /// Whether it must be unpacked before anything is asked of it.
  var isPacked: Bool { wholeRows != nil }
}
