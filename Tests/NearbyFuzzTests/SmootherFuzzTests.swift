// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import NearbySimulation
import NearbySmoothing
import NearbyTestSupport
import Testing

extension FuzzTests {
  /// The settings and recordings of the engine's campaign, but smaller, for the smoother.
  @Suite("SmootherFuzzTests")
  struct SmootherFuzzTests {
    @Test("for any input, a smoother's tracks are valid")
    func tracks() {
      FuzzCampaign("SmootherFuzzTests", share: 0.15).run { one in
        var generator = SeededGenerator(seed: one.seed, stream: 0xF2)
        let isHostile = generator.happens(0.3)
        let drawn = try DrawnCalls(longest: 4, hostility: isHostile ? 0.05 : 0, &generator)
        let share = generator.one(of: [0, 0.1, 0.5, 1])
        var configuration = drawn.matching
        if share > 0 { configuration = FusionConfiguration(changing: share, &generator) }
        var smoother = try Smoother(configuration)
        for motion in drawn.motions { _ = smoother.addPeer(motion) }
        var samples = [Int](repeating: 0, count: drawn.motions.count)
        for call in drawn.calls {
          switch call {
          case .pose(let pose): smoother.add(pose)
          case .tracking(let tracking): smoother.add(tracking)
          case .sample(let sample):
            smoother.add(sample)
            samples[sample.peer.index] += 1
            one.count("samples")
          case .estimate, .addPeer, .keep, .goBack, .reset: continue
          }
        }
        for (track, count) in zip(smoother.solve().tracks, samples) {
          one.check(track, ofSamples: count)
          one.count(track.final == nil ? "peers without a track" : "tracks")
        }
        one.count(isHostile ? "with a hostile host" : "with a regular host")
      }.expectNothingWrong()
    }
  }
}

extension FuzzCampaign.Case {
  /// Checks all outputs of a smoother for a peer.
  fileprivate mutating func check(_ track: SmoothedTrack, ofSamples count: Int) {
    let positions = track.positions + [track.final].compactMap(\.self)
    expect(
      track.positions.isEmpty || track.positions.count == count,
      "\(track.positions.count) positions of \(count) samples")
    for position in positions {
      expect(position.positionInWorld.isFinite, "position \(position.positionInWorld)")
      check(position.covarianceInWorld, "covariance")
    }
    for (parameter, name) in [(track.rangeBias, "bias"), (track.rangeScale, "scale")] {
      expect(parameter.value.isFinite, "\(name) \(parameter.value)")
      expect(parameter.sigma.isFinite && parameter.sigma >= 0, "\(name): sigma \(parameter.sigma)")
    }
    guard !track.modes.isEmpty else { return }
    let sum = track.modes.reduce(0) { $0 + $1.probability }
    expect(abs(sum - 1) < 1e-6, "\(track.modes.count) probabilities sum to \(sum)")
    for mode in track.modes {
      expect(mode.positionInWorld.isFinite, "mode at \(mode.positionInWorld)")
      check(mode.covarianceInWorld, "covariance of a mode")
    }
  }
}
