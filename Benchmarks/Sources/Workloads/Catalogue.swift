// SPDX-License-Identifier: Apache-2.0

/// All workloads by name.
public enum Catalogue {
  /// A workload that is not made yet.
  public struct Entry: Sendable {
    /// Its name: `Group.operation.size`.
    public let name: String
    /// Whether it has a floor.
    public let hasFloor: Bool
    /// The number of batches that are counted; `nil` for a workload that is only timed.
    public let countedBatches: Int?
    /// Makes it, ready for the first batch.
    public let make: @Sendable () throws -> any Workload

    init(
      _ name: String, hasFloor: Bool = false, countedBatches: Int?,
      _ make: @escaping @Sendable () throws -> any Workload
    ) {
      self.name = name
      self.hasFloor = hasFloor
      self.countedBatches = countedBatches
      self.make = make
    }
  }

  /// Each kernel against its floor.
  public static let kernels = [
    Entry("Kernels.update.1", hasFloor: true, countedBatches: 5) { KernelUpdate(hypotheses: 1) },
    Entry("Kernels.update.1.atonce", hasFloor: true, countedBatches: nil) {
      KernelUpdate(hypotheses: 1, floor: .atOnce)
    },
    Entry("Kernels.update.1.robust", hasFloor: true, countedBatches: nil) {
      KernelUpdate(hypotheses: 1, floor: .robust)
    },
    Entry("Kernels.update.8", hasFloor: true, countedBatches: 2) { KernelUpdate(hypotheses: 8) },
    Entry("Kernels.update.32", hasFloor: true, countedBatches: 2) { KernelUpdate(hypotheses: 32) },
    Entry("Kernels.update.96", hasFloor: true, countedBatches: 1) { KernelUpdate(hypotheses: 96) },
  ]

  /// The engine through its public interface.
  public static let engine = [
    Entry("Engine.sample.converged", hasFloor: true, countedBatches: 60) { try ConvergedSample() },
    Entry("Engine.pose", hasFloor: true, countedBatches: 30) { try PoseIngestion() },
    Entry("Engine.interpolation", hasFloor: true, countedBatches: 10) { try PoseInterpolation() },
    Entry("Engine.estimate.later", countedBatches: 10) { try LaterEstimate() },
    Entry("Engine.sample.bank8", hasFloor: true, countedBatches: 3) { try FullBank(hypotheses: 8) },
    Entry("Engine.sample.bank32", hasFloor: true, countedBatches: 3) {
      try FullBank(hypotheses: 32)
    },
    Entry("Engine.sample.bank96", hasFloor: true, countedBatches: 1) {
      try FullBank(hypotheses: 96)
    },
    Entry("Engine.second.ambiguous", countedBatches: 1) { try AmbiguousWalk() },
    Entry("Engine.second.peers1", countedBatches: 10) { try ManyPeers(peers: 1) },
    Entry("Engine.second.peers10", countedBatches: 10) {
      try ManyPeers(peers: 10, warmUpSeconds: 90)
    },
    Entry("Engine.second.peers1000", countedBatches: nil) { try ManyPeers(peers: 1000) },
    Entry("Engine.level.peers2", countedBatches: 1) { try LevelWalk(peers: 2) },
    Entry("Engine.level.peers8", countedBatches: 1) { try LevelWalk(peers: 8) },
    Entry("Engine.level.peers32", countedBatches: nil) { try LevelWalk(peers: 32) },
  ]

  /// Reading each format.
  public static let recordings = ParsedFile.Format.allCases.map { format in
    Entry("Recordings.parse.\(format.rawValue)", hasFloor: true, countedBatches: 1) {
      try ParsedFile(format)
    }
  }

  /// Whole runs.
  public static let runs = [
    Entry("Runs.fusion.walk", countedBatches: 1) { try Fusion(Places.recording) },
    Entry("Runs.replay.walk", countedBatches: nil) { try Replay(Places.recording) },
    Entry("Runs.command.walk", countedBatches: nil) { Command(Places.recording) },
    Entry("Runs.replay.plaza1", countedBatches: nil) { try Replay(Places.dataset("plaza1")) },
    Entry("Runs.replay.plaza2", countedBatches: nil) { try Replay(Places.dataset("plaza2")) },
  ]

  /// Sessions in simulated worlds.
  public static let sessions = [
    Entry("Sessions.second.100", countedBatches: nil) { try SessionSecond(sessions: 100) }
  ]

  /// All of them.
  public static let all = kernels + engine + recordings + runs + sessions
}
