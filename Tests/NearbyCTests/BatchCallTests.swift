// SPDX-License-Identifier: Apache-2.0
import CNearby
import NearbyC
import Testing

@Suite("C: batch")
struct BatchCallTests {
  /// Runs arrays and returns the table.
  private func run(
    _ engine: OpaquePointer?, _ walk: WalkArrays,
    _ counts: UnsafeMutablePointer<nearby_counts>? = nil
  ) -> ArrowTable {
    let table = ArrowTable()
    var poses = nearby_poses_of(walk.poses, Int64(walk.poses.count))
    var samples = nearby_samples_of(walk.samples, Int64(walk.samples.count))
    #expect(
      nearby_engine_run(engine, &poses, &samples, nil, &table.schema, &table.array, counts)
        == NEARBY_OK)
    return table
  }

  @Test func estimatesAreThoseOfTheCallsOneByOne() {
    let walk = WalkArrays()
    let (engine, single) = (makeEngine(), makeEngine())
    defer { for handle in [engine, single] { _ = nearby_engine_destroy(handle) } }
    var counts = nearby_counts()
    let table = run(engine, walk, &counts)
    #expect(table.rows == walk.samples.count)
    #expect(counts.poses_accepted == Int64(walk.poses.count))
    #expect(
      counts.samples_used + counts.samples_partial + counts.samples_rejected
        == Int64(walk.samples.count))
    let (means, sigmas) = (table.numbers("mean_x"), table.numbers("distance_sigma"))
    var (next, differing) = (0, 0)
    for index in 0...walk.poses.count {
      let end = index < walk.poses.count ? walk.poses[index].nanoseconds : .max
      if index < walk.poses.count {
        var pose = walk.poses[index]
        _ = nearby_engine_add_pose(single, &pose, nil)
      }
      while next < walk.samples.count, walk.samples[next].nanoseconds <= end {
        var (sample, estimate) = (walk.samples[next], nearby_estimate())
        _ = nearby_engine_add_sample(single, &sample, nil, &estimate)
        if means[next] != estimate.mean.0 { differing += 1 }
        if sigmas[next] != estimate.distance_sigma { differing += 1 }
        next += 1
      }
    }
    #expect(next == walk.samples.count && differing == 0)
    #expect(table.words("status").last == "converged")
  }

  @Test func batchesOneAfterTheOtherAreAsOne() {
    let walk = WalkArrays()
    let (engine, parts) = (makeEngine(), makeEngine())
    defer { for handle in [engine, parts] { _ = nearby_engine_destroy(handle) } }
    let whole = run(engine, walk).contents["mean_y"]
    var pieces: [String] = []
    let cut = walk.poses[300].nanoseconds
    for isFirst in [true, false] {
      var part = WalkArrays(seconds: 0)
      part.poses = walk.poses.filter { ($0.nanoseconds <= cut) == isFirst }
      part.samples = walk.samples.filter { ($0.nanoseconds <= cut) == isFirst }
      pieces += run(parts, part).contents["mean_y"] ?? []
    }
    #expect(pieces == whole)
  }

  @Test func columnsMayLieAnyhow() {
    let walk = WalkArrays()
    let (engine, other) = (makeEngine(), makeEngine())
    defer { for handle in [engine, other] { _ = nearby_engine_destroy(handle) } }
    let expected = run(engine, walk).contents
    // Backwards in memory, without a gap, peers as bytes, one quaternion for all rows.
    let times = Array(walk.poses.map(\.nanoseconds).reversed())
    let places = [\nearby_pose.position.0, \.position.1, \.position.2].map { path in
      Array(walk.poses.map { $0[keyPath: path] }.reversed())
    }
    let peers = walk.samples.map { UInt8($0.peer) }
    let (zero, one) = ([0.0], [1.0])
    func backwards(_ values: UnsafeRawPointer, _ type: nearby_type) -> nearby_column {
      nearby_column_of(values + 8 * (walk.poses.count - 1), -8, type)
    }
    let table = ArrowTable()
    times.withUnsafeBytes { times in
      guard let times = times.baseAddress else { return }
      var poses = nearby_poses()
      poses.count = Int64(walk.poses.count)
      poses.time = backwards(times, NEARBY_INT64)
      poses.x = backwards(places[0], NEARBY_FLOAT64)
      poses.y = backwards(places[1], NEARBY_FLOAT64)
      poses.z = backwards(places[2], NEARBY_FLOAT64)
      (poses.qx, poses.qy) = (
        nearby_column_of(zero, 0, NEARBY_FLOAT64), nearby_column_of(zero, 0, NEARBY_FLOAT64)
      )
      (poses.qz, poses.qw) = (
        nearby_column_of(zero, 0, NEARBY_FLOAT64), nearby_column_of(one, 0, NEARBY_FLOAT64)
      )
      var samples = nearby_samples_of(walk.samples, Int64(walk.samples.count))
      samples.peer = nearby_column_of(peers, 1, NEARBY_UINT8)
      #expect(
        nearby_engine_run(other, &poses, &samples, nil, &table.schema, &table.array, nil)
          == NEARBY_OK)
      withExtendedLifetime((places, peers, zero, one)) {}
    }
    #expect(table.contents == expected)
  }

  @Test func aFaultInARowNamesItAndChangesNothing() {
    var walk = WalkArrays()
    let engine = makeEngine()
    defer { _ = nearby_engine_destroy(engine) }
    walk.samples[17].peer = 5
    let table = ArrowTable()
    var poses = nearby_poses_of(walk.poses, Int64(walk.poses.count))
    var samples = nearby_samples_of(walk.samples, Int64(walk.samples.count))
    #expect(
      nearby_engine_run(engine, &poses, &samples, nil, &table.schema, &table.array, nil)
        == NEARBY_UNKNOWN_PEER)
    #expect(LastFailure().text.hasPrefix("samples, row 17: there is no peer 5"))
    var estimate = nearby_estimate()
    _ = nearby_engine_estimate(engine, 0, &estimate)
    #expect(estimate.mean.0.isNaN && estimate.convergence == NEARBY_CONVERGENCE_UNKNOWN)

    samples.peer.data = nil
    poses.count = -1
    #expect(
      nearby_engine_run(engine, &poses, &samples, nil, &table.schema, &table.array, nil)
        == NEARBY_INVALID_ARGUMENT)
    #expect(LastFailure().text.hasPrefix("poses.count is -1"))
    poses = nearby_poses_of(walk.poses, Int64(walk.poses.count))
    poses.qw.data = nil
    #expect(
      nearby_engine_run(engine, &poses, &samples, nil, &table.schema, &table.array, nil)
        == NEARBY_INVALID_ARGUMENT)
    #expect(LastFailure().text.hasPrefix("poses.qw.data is null"))
  }

  @Test func framesTurnPosesAndEstimates() {
    // The same walk told in a world with z up: (x, y, z) becomes (x, -z, y).
    let walk = WalkArrays()
    let (engine, turned) = (
      makeEngine(), makeEngine(nil, nearby_frames(up: NEARBY_UP_Z, axes: NEARBY_AXES_ARKIT))
    )
    defer { for handle in [engine, turned] { _ = nearby_engine_destroy(handle) } }
    var told = walk
    let half = 0.5.squareRoot()
    for index in told.poses.indices {
      let (x, y, z) = walk.poses[index].position
      told.poses[index].position = (x, -z, y)
      told.poses[index].quaternion = (half, 0, 0, half)
    }
    let (one, other) = (run(engine, walk), run(turned, told))
    for (mean, same) in [("mean_x", "mean_x"), ("mean_z", "mean_y")] {
      let (here, there) = (one.numbers(mean), other.numbers(same))
      for (a, b) in zip(here.suffix(20), there.suffix(20)) {
        #expect(abs(abs(a ?? 0) - abs(b ?? 9)) < 1e-6)
      }
    }
  }

  @Test func theTableIsAnArrowStructArray() {
    let engine = makeEngine()
    defer { _ = nearby_engine_destroy(engine) }
    let table = run(engine, WalkArrays())
    #expect(String(cString: table.schema.format) == "+s")
    #expect(table.array.n_buffers == 1 && table.array.null_count == 0)
    #expect(table.metadata("distance") == ["unit", "m"])
    #expect(table.metadata("status") == [])
    #expect(Set(table.words("peer").compactMap(\.self)) == ["0", "1"])
    let world = table.numbers("world_x")
    #expect(world.first == .some(nil), "nothing is published at first")
    #expect(Int64(world.count { $0 == nil }) == table.column("world_x").values.null_count)
    // A reader may move a column out; the rest is released without it.
    var moved = table.array.children[4]?.pointee ?? ArrowArray()
    table.array.children[4]?.pointee.release = nil
    table.array.release(&table.array)
    #expect(table.array.release == nil)
    #expect(moved.length == Int64(world.count))
    moved.release(&moved)
  }

  @Test func anEmptyTableHasItsColumns() {
    let engine = makeEngine(peers: 0)
    defer { _ = nearby_engine_destroy(engine) }
    let table = ArrowTable()
    #expect(
      nearby_engine_run(engine, nil, nil, nil, &table.schema, &table.array, nil) == NEARBY_OK)
    #expect(table.rows == 0 && table.names.count == 28)
  }
}
