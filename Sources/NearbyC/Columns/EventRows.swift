// SPDX-License-Identifier: Apache-2.0
import CNearby
import NearbyFusion
import NearbyGeometry
import NearbyRecordings

/// The longest table.
let mostRows: Int64 = 1 << 31 - 1

/// Poses in columns of the caller's, checked.
struct PoseRows {
  let times: [Timestamp]
  private let numbers: [ColumnReader]

  init(_ poses: nearby_poses?) throws(Failure) {
    let table = unsafe CheckedTable("poses", poses?.count ?? 0)
    guard let poses = unsafe poses, unsafe poses.count != 0 else {
      (times, numbers) = ([], [])
      return
    }
    times = unsafe try table.times(poses.time)
    var numbers: [ColumnReader] = []
    let columns = unsafe [
      poses.x, poses.y, poses.z, poses.qx, poses.qy, poses.qz, poses.qw,
    ]
    for (index, name) in ["x", "y", "z", "qx", "qy", "qz", "qw"].enumerated() {
      numbers.append(try unsafe table.required(columns[index], name))
    }
    self.numbers = numbers
  }

  /// A pose in the engine's frames; `nil` when its quaternion has no direction.
  @inline(__always)
  func pose(_ row: Int, _ frames: FrameConvention) -> DevicePose? {
    guard
      let rotation = Rotation(
        given: numbers[3].number(row), numbers[4].number(row), numbers[5].number(row),
        numbers[6].number(row))
    else { return nil }
    let place = Vector3(numbers[0].number(row), numbers[1].number(row), numbers[2].number(row))
    return DevicePose(
      timestamp: times[row],
      worldFromDevice: frames.engineWorldFromEngineDevice(
        RigidTransform(rotation: rotation, translation: place)))
  }
}

/// Samples in columns of the caller's, checked.
struct SampleRows {
  let times: [Timestamp]
  private let peer: ColumnReader?
  private let sight: ColumnReader?
  /// The values of all kinds, and their standard deviations.
  let values: PerKind<ColumnReader>
  let sigmas: PerKind<ColumnReader>

  /// Checks samples of so many peers.
  init(_ samples: nearby_samples?, peerCount: Int) throws(Failure) {
    let table = unsafe CheckedTable("samples", samples?.count ?? 0)
    guard let samples = unsafe samples, unsafe samples.count != 0 else {
      let none = PerKind(repeating: unsafe try ColumnReader(nearby_column(), "samples"))
      (times, peer, sight, values, sigmas) = ([], nil, nil, none, none)
      return
    }
    times = unsafe try table.times(samples.time)
    let peer = unsafe try table.integers(samples.peer, "peer")
    let sight = unsafe try table.integers(samples.sight, "sight")
    for row in times.indices {
      let number = peer?.integer(row) ?? 0
      guard number >= 0, number < peerCount else {
        throw .unknownPeer(number, of: peerCount, "samples, row \(row): ")
      }
      if let sight, !(0...2).contains(sight.integer(row)) {
        throw .invalidArgument(
          "samples, row \(row): sight is \(sight.integer(row))",
          remedy: "pass a value of nearby_sight")
      }
    }
    let (values, sigmas) = unsafe (samples.values, samples.sigmas)
    var readers: [ColumnReader] = []
    for kind in MeasurementKind.allCases {
      readers.append(try unsafe table.optional(values[kind], kind.column.name))
      readers.append(try unsafe table.optional(sigmas[kind], kind.sigmaColumn.name))
    }
    self.values = PerKind { readers[2 * $0.component] }
    self.sigmas = PerKind { readers[2 * $0.component + 1] }
    (self.peer, self.sight) = (peer, sight)
  }

  /// The number of a sample's peer.
  @inline(__always)
  func peer(_ row: Int) -> Int { Int(truncatingIfNeeded: peer?.integer(row) ?? 0) }

  @inline(__always)
  func sample(_ row: Int, of id: PeerID) -> RangingSample {
    var sample = measured(row, of: id)
    let sight = sight?.integer(row) ?? 0
    sample.isNonLineOfSight = sight == 0 ? nil : sight == 2
    return sample
  }
}

/// The odometry's quality in columns of the caller's, checked.
struct TrackingRows {
  let samples: [TrackingSample]

  init(_ trackings: nearby_trackings?) throws(Failure) {
    let table = unsafe CheckedTable("trackings", trackings?.count ?? 0)
    guard let trackings = unsafe trackings, unsafe trackings.count != 0 else {
      samples = []
      return
    }
    let times = unsafe try table.times(trackings.time)
    guard let state = unsafe try table.integers(trackings.state, "state") else {
      throw Argument.null("trackings.state.data")
    }
    let lumens = unsafe try table.optional(trackings.lumens, "lumens")
    var samples: [TrackingSample] = []
    for (row, time) in times.enumerated() {
      let value = UInt32(exactly: state.integer(row)) ?? .max
      let quality = try Argument.quality(
        nearby_tracking_state(rawValue: value), "trackings, row \(row): state")
      samples.append(
        TrackingSample(
          timestamp: time, quality: quality, ambientIntensityLumens: lumens.measured(row)))
    }
    self.samples = samples
  }
}

/// A table of the caller's: its name and length, for checks.
private struct CheckedTable {
  let name: String
  let count: Int64

  init(_ name: String, _ count: Int64) { (self.name, self.count) = (name, count) }

  func required(_ column: nearby_column, _ part: String) throws(Failure) -> ColumnReader {
    let reader = unsafe try optional(column, part)
    guard reader.isThere else { throw Argument.null("\(name).\(part).data") }
    return reader
  }

  func optional(_ column: nearby_column, _ part: String) throws(Failure) -> ColumnReader {
    guard (0...mostRows).contains(count) else {
      throw .invalidArgument("\(name).count is \(count)", remedy: "pass 0 to \(mostRows)")
    }
    return unsafe try ColumnReader(column, "\(name).\(part)")
  }

  func integers(_ column: nearby_column, _ part: String) throws(Failure) -> ColumnReader? {
    let reader = unsafe try optional(column, part)
    guard reader.isThere else { return nil }
    guard !reader.isFloat else {
      throw .invalidArgument("\(name).\(part) holds floats", remedy: "pass integers")
    }
    return reader
  }

  /// All times: integers are nanoseconds, floats are seconds.
  func times(_ column: nearby_column) throws(Failure) -> [Timestamp] {
    let reader = unsafe try required(column, "time")
    var times: [Timestamp] = []
    times.reserveCapacity(Int(count))
    for row in 0..<Int(count) {
      let time =
        reader.isFloat
        ? Timestamp(seconds: reader.number(row)) : Timestamp(nanoseconds: reader.integer(row))
      guard let time, Argument.isTime(time.nanoseconds) else {
        throw Argument.noTime("\(name), row \(row): time")
      }
      times.append(time)
    }
    return times
  }
}

extension Rotation {
  /// A quaternion of the caller's; `nil` when it has no direction.
  ///
  /// One of unit length is taken as it is: dividing again by a length that differs from one in the last
  /// digit would change poses that were read from a recording.
  @inline(__always)
  init?(given x: Double, _ y: Double, _ z: Double, _ w: Double) {
    if abs(x * x + y * y + z * z + w * w - 1) < 1e-15 {
      self.init(unchecked: x, y, z, w)
    } else {
      self.init(normalizing: x, y, z, w)
    }
  }
}
