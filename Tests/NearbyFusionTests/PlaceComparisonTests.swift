// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import Testing

@testable import NearbyFusion

/// The joint fit's place of a peer against its filter's: two places, each of which explains a part of the
/// ranges.
@Suite("Place comparison")
struct PlaceComparisonTests {
  private static let fitPlace = Vector3(3, 1, 9)
  private static let filterPlace = Vector3(-4, 1, 6)
  /// Which place a cell's range is that of.
  enum Source { case fit, filter }

  /// A walk on a curve without drift, a range after each step; the curve goes up and down by a height.
  private static func problem(_ sources: [Source], height: Double) -> ChainProblem {
    let settings = Settings(FusionConfiguration())
    var prior = MarginalPrior(holding: place(at: 0, height))
    prior.append(mean: [0, 0, 0, 0, 0], variances: [400, 400, 400, 0.0225, 0.0009])
    var problem = ChainProblem(
      prior, ChainLayout(), settings.faults, settings.configuration.ranging)
    for index in 0...sources.count {
      let next = place(at: min(index + 1, sources.count), height)
      problem.addKnot(
        at: place(at: index, height), step: next - place(at: index, height), horizontal: 1e-6,
        vertical: 1e-6,
        yaw: 1e-8, seconds: 1)
    }
    for (index, source) in sources.enumerated() {
      let device = place(at: index, height)
      let peer = source == .fit ? fitPlace : filterPlace
      problem.addCell(
        ChainProblem.Cell(
          pose: AntennaPose(
            RigidTransform(rotation: .identity, translation: device), antennaInDevice: .zero),
          knot: index, share: 0, peer: 0),
        PerKind(
          range: .init(
            value: (peer - device).length, variance: 0.01, effectiveVariance: 0.02),
          azimuth: nil, elevation: nil, heightDifference: nil))
    }
    return problem
  }

  private static func place(at step: Int, _ height: Double) -> Vector3 {
    let t = 0.5 * Double(step)
    return Vector3(2 * sin(0.7 * t), height * sin(1.3 * t), 0.4 * t)
  }

  /// The fit with the peer at its place.
  private static func solution(
    _ sources: [Source], height: Double = 0.6, _ workspace: inout ChainWorkspace
  ) -> JointSolution {
    let problem = problem(sources, height: height)
    let device = TrajectoryPoint(
      worldFromDevice: RigidTransform(
        rotation: .identity, translation: place(at: sources.count, height)),
      timestamp: Timestamp(nanoseconds: 1_000_000_000))
    var state: [Double] = []
    for index in 0...sources.count {
      let place = place(at: index, height)
      state += [place.x, place.y, place.z, 0]
    }
    state += [fitPlace.x, fitPlace.y, fitPlace.z, 0, 0]
    let size = problem.denseCount * problem.denseCount
    var solution = JointSolution(
      problem: problem, state: state, covariance: [Double](repeating: 0, count: size), cost: 0,
      device: device)
    solution.refit(iterations: 20, tolerance: 0.01, &workspace)
    return solution
  }

  private static func candidate(
    at place: Vector3, in solution: JointSolution, isSingle: Bool = true, isPlaced: Bool = true
  ) -> JointCandidate {
    JointCandidate(
      birth: solution.device.timestamp, place: place, device: solution.device,
      covariance: SymmetricMatrix3(xx: 0.01, xy: 0, xz: 0, yy: 0.01, yz: 0, zz: 0.01),
      isPlaced: isPlaced, isSingle: isSingle, isDoubted: !isPlaced, claim: .resolved)
  }

  /// Runs of ranges, the oldest first, and what is found.
  private static let cases: [(runs: [(Source, Int)], expected: String)] = [
    ([(.filter, 12), (.fit, 40)], "fit"), ([(.fit, 40), (.filter, 12)], "contested"),
    ([(.fit, 12), (.filter, 40)], "filter"), ([(.filter, 40), (.fit, 12)], "filter"),
  ]

  private static let faults = FaultModel(FusionConfiguration())

  @Test("the place wins that explains all data, and it must explain the newest", arguments: cases)
  func comparison(runs: [(Source, Int)], expected: String) throws {
    let sources = runs.flatMap { [Source](repeating: $0.0, count: $0.1) }
    var workspace = ChainWorkspace()
    var solution = Self.solution(sources, &workspace)
    let before = solution.cost
    let comparison = try #require(
      PlaceComparison(
        of: 0, with: Self.candidate(at: Self.filterPlace, in: solution), in: solution))
    let finding = comparison.compare(&solution, Self.faults, &workspace)
    switch finding {
    case .fit: #expect(expected == "fit")
    case .filter: #expect(expected == "filter")
    case .contested: #expect(expected == "contested")
    case .both: Issue.record("undecided")
    }
    let better = expected == "filter" ? Self.filterPlace : Self.fitPlace
    let place = solution.place(of: 0)
    #expect((place - better).length < 0.3, "\(place)")
    #expect(solution.cost <= before)
  }

  @Test("of mirror images beyond a level walk neither is ruled out")
  func mirrorImages() throws {
    var workspace = ChainWorkspace()
    var solution = Self.solution([Source](repeating: .fit, count: 40), height: 0, &workspace)
    let image = Vector3(Self.fitPlace.x, -Self.fitPlace.y, Self.fitPlace.z)
    let comparison = try #require(
      PlaceComparison(of: 0, with: Self.candidate(at: image, in: solution), in: solution))
    guard
      case .both(let other, _) = comparison.compare(
        &solution, Self.faults, &workspace)
    else {
      Issue.record("decided")
      return
    }
    #expect(abs(other.logWeight) < 0.1)
    #expect(abs(abs(other.position.y - solution.place(of: 0).y) - 2) < 0.1)
  }

  @Test("places that agree are not compared, nor one of a filter that is undecided")
  func agreement() {
    var workspace = ChainWorkspace()
    let solution = Self.solution([Source](repeating: .fit, count: 40), &workspace)
    func isCompared(_ candidate: JointCandidate) -> Bool {
      PlaceComparison(of: 0, with: candidate, in: solution) != nil
    }
    let near = Self.fitPlace + Vector3(0.3, 0, 0)
    #expect(!isCompared(Self.candidate(at: near, in: solution)))
    #expect(isCompared(Self.candidate(at: Self.filterPlace, in: solution)))
    #expect(!isCompared(Self.candidate(at: Self.filterPlace, in: solution, isSingle: false)))
    #expect(!isCompared(Self.candidate(at: Self.filterPlace, in: solution, isPlaced: false)))
    var wide = Self.candidate(at: Self.filterPlace, in: solution)
    wide.covariance = SymmetricMatrix3(xx: 16, xy: 0, xz: 0, yy: 16, yz: 0, zz: 16)
    #expect(!isCompared(wide))
  }
}
