// SPDX-License-Identifier: Apache-2.0
import NearbyFusion
import NearbyGeometry
import Testing

@testable import NearbyEvaluation
@testable import NearbySmoothing

@Suite("PrefixFigures")
struct PrefixFiguresTests {
  private func comparison(
    at seconds: Double = 10, isClaimable: Bool = true, isClaimed: Bool = true, error: Double = 0.2,
    smootherError: Double = 0.1
  ) -> PrefixRun.Comparison {
    PrefixRun.Comparison(
      seed: 0, peer: 0, seconds: seconds, isClaimable: isClaimable, isClaimed: isClaimed,
      error: error, claimedSigma: 0.2, smootherError: smootherError, smootherSigma: 0.2)
  }

  private func claim(
    _ claimable: (Double, Double)?, _ claimed: (Double, Double)?
  ) -> PrefixRun.FirstClaim {
    PrefixRun.FirstClaim(
      seed: 0, peer: 0,
      claimable: claimable.map { PrefixRun.Arrival(seconds: $0.0, metres: $0.1) },
      claimed: claimed.map { PrefixRun.Arrival(seconds: $0.0, metres: $0.1) })
  }

  private func figures(
    _ comparisons: [PrefixRun.Comparison], _ claims: [PrefixRun.FirstClaim] = []
  ) -> PrefixFigures {
    PrefixFigures(
      scenario: "s", PrefixRun.Outcome(comparisons: comparisons, firstClaims: claims))
  }

  @Test("the claimed share is of the claimable moments, the claimable share of all")
  func shares() {
    let row = figures([
      comparison(), comparison(), comparison(), comparison(isClaimed: false),
      comparison(isClaimable: false), comparison(isClaimable: false, isClaimed: false),
      comparison(isClaimable: false, isClaimed: false),
      comparison(isClaimable: false, isClaimed: false),
    ]).all
    #expect(row.count == 8 && row.claimable == 4 && row.claimed == 3 && row.claimedBeyond == 1)
    #expect(row.claimableShare == 0.5)
    #expect(row.claimedShare == 0.75)
    let none = figures([comparison(isClaimable: false)]).all
    #expect(none.claimableShare == 0 && none.claimedShare == nil && none.claimableErrors == nil)
    #expect(figures([]).all.claimableShare == nil && figures([]).all.errors == nil)
  }

  @Test("what is wrong is beyond both 0.5 m and 3.4 sigma, and counts only where it is claimed")
  func wrong() {
    // 3.4 sigma are 0.68 m.
    let row = figures([
      comparison(error: 0.67, smootherError: 0.67), comparison(error: 0.69),
      comparison(smootherError: 0.69), comparison(isClaimed: false, error: 2, smootherError: 2),
      comparison(isClaimable: false, error: 0.69, smootherError: 0.69),
      comparison(isClaimable: false, isClaimed: false, error: 0.69, smootherError: 0.69),
    ]).all
    #expect(row.falselyClaimable == 2)
    #expect(row.falselyClaimed == 1)
    #expect(row.falselyClaimedBeyond == 1)
  }

  @Test("errors are root mean squares over the same moments, with their ratio")
  func errors() throws {
    let row = figures([
      comparison(error: 0.3, smootherError: 0.3), comparison(error: 0.4, smootherError: 0.4),
      comparison(isClaimable: false, error: 2, smootherError: 0.5),
    ]).all
    let (all, claimable) = (try #require(row.errors), try #require(row.claimableErrors))
    #expect(abs(all.engine - (4.25 / 3).squareRoot()) < 1e-12)
    #expect(abs(all.smoother - (0.5 / 3).squareRoot()) < 1e-12)
    #expect(abs(try #require(all.ratio) - 8.5.squareRoot()) < 1e-12)
    #expect(abs(claimable.engine - 0.125.squareRoot()) < 1e-12 && claimable.ratio == 1)
    #expect(figures([comparison(smootherError: .nan)]).all.errors == nil)
  }

  @Test("a first claim is late behind the claimable moment; without one it is infinitely late")
  func delay() {
    let claims = [
      claim((10, 4), (13, 6)), claim((20, 9), (18, 8)), claim((5, 1), (6, 1.5)),
      claim(nil, (7, 3)), claim(nil, nil),
    ]
    let delay = figures([], claims).delay
    #expect(delay.peers == 3 && delay.neverClaimed == 0)
    #expect(delay.seconds?.median == 1 && delay.metres?.median == 0.5)
    #expect(delay.seconds?.percentile90 == 3)
    let late = figures([], claims + [claim((1, 1), nil), claim((1, 1), nil), claim((1, 1), nil)])
      .delay
    #expect(late.peers == 6 && late.neverClaimed == 3)
    #expect(late.seconds != nil && late.seconds?.median == nil)
    #expect(figures([], [claim(nil, (7, 3))]).delay.seconds == nil)
  }

  @Test("there is a row for each time")
  func times() {
    let times = figures([comparison(at: 20), comparison(at: 5), comparison(at: 20)]).times
    #expect(times.map(\.seconds) == [5, 20] && times.map(\.figures.count) == [1, 2])
  }
}

@Suite("Convergence of a smoothed track")
struct SmoothedTrackConvergenceTests {
  /// A track whose peer is 4 m from the device, where 0.35 m are required, or 10 m, where it is 0.7 m.
  private func track(
    distance: Double = 4, sigma: Vector3 = Vector3(0.2, 0.2, 0.2),
    others: [(offset: Vector3, probability: Double)] = []
  ) throws -> SmoothedTrack {
    var engine = try FusionEngine()
    let place = Vector3(distance, 0, 0)
    let covariance = SymmetricMatrix3(
      xx: sigma.x * sigma.x, xy: 0, xz: 0, yy: sigma.y * sigma.y, yz: 0, zz: sigma.z * sigma.z)
    let rest = others.reduce(1) { $0 - $1.probability }
    let modes =
      others.map {
        SmoothedMode(
          positionInWorld: place + $0.offset, covarianceInWorld: covariance,
          probability: $0.probability)
      } + [
        SmoothedMode(positionInWorld: place, covarianceInWorld: covariance, probability: rest)
      ]
    return SmoothedTrack(
      peer: engine.addPeer(), motion: .stationary, positions: [],
      final: SmoothedPosition(
        timestamp: Timestamp(nanoseconds: 0), worldFromDevice: .identity, positionInWorld: place,
        covarianceInWorld: covariance),
      rangeBias: SmoothedParameter(value: 0, sigma: 0),
      rangeScale: SmoothedParameter(value: 0, sigma: 0), modes: modes)
  }

  private func converges(
    _ track: SmoothedTrack, _ change: (inout FusionConfiguration) -> Void = { _ in }
  ) -> Bool {
    var configuration = FusionConfiguration()
    change(&configuration)
    return track.converges(configuration)
  }

  @Test("it does within the required sigma, which grows with the distance")
  func sigma() throws {
    // √3 · 0.2 m are 0.346 m, √3 · 0.21 m are 0.364 m.
    #expect(converges(try track()))
    #expect(!converges(try track(sigma: Vector3(0.21, 0.21, 0.21))))
    #expect(converges(try track(distance: 10, sigma: Vector3(0.4, 0.4, 0.4))))
    #expect(!converges(try track(distance: 10, sigma: Vector3(0.41, 0.41, 0.41))))
    #expect(!converges(try track()) { $0.convergence.sigmaFloor = 0.3 })
  }

  @Test("in a planar world the height has no part in it")
  func planar() throws {
    let tall = try track(sigma: Vector3(0.2, 5, 0.2))
    #expect(!converges(tall))
    #expect(converges(tall) { $0.odometry.isPlanar = true })
  }

  @Test("it does not while a distant mode holds more than 1 %")
  func modes() throws {
    #expect(converges(try track(others: [(Vector3(0, 2, 0), 0.009)])))
    #expect(!converges(try track(others: [(Vector3(0, 2, 0), 0.011)])))
    #expect(converges(try track(others: [(Vector3(0, 0.3, 0), 0.4)])))
    #expect(!converges(try track(others: [(Vector3(0, 0.4, 0), 0.4)])))
  }

  @Test("an empty track does not")
  func empty() throws {
    var track = try track()
    track.final = nil
    #expect(!converges(track))
  }
}
