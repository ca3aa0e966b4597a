// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import NearbySimulation
import NearbyTestSupport
import Testing

@testable import NearbyFusion

/// The sizes of lasting range errors are found from the ranges alone.
@Suite("Sizes of range errors", .enabled(if: BuildMode.isOptimized))
struct RangeErrorSizesTests {
  /// How a chain of a walk among peers errs.
  struct Walk: Sendable {
    var place = 0.0
    var common = 0.0
    var direction = 0.0
  }

  private static let knotCount = 60
  private static let members = 6
  private static let spacing = 2.0

  /// A walk in circles past six peers, with errors drawn of some sizes, and white noise of 3 cm.
  private static func problem(_ walk: Walk, seed: UInt64) -> (ChainProblem, [Double]) {
    var generator = SeededGenerator(seed: seed)
    let layout = ChainLayout(
      constants: [.rangeScale, .directionError], errorCount: 1 + members)
    let configuration = FusionConfiguration()
    let settings = Settings(configuration)
    var prior = MarginalPrior(holding: Vector3(5, 0, 0))
    prior.append(mean: [0], variances: [0])
    for _ in 0..<members { prior.insertUnknown(at: prior.size) }
    prior.appendUnknowns(layout.constantCount)
    let places = (0..<members).map { index in
      Vector3(
        9 * cos(1.05 * Double(index)), 1 + 0.3 * Double(index), 9 * sin(1.05 * Double(index)))
    }
    for place in places {
      prior.append(
        mean: [place.x, place.y, place.z, 0, 0], variances: [25, 25, 25, 0.02, 1e-6])
    }
    var problem = ChainProblem(prior, layout, settings.faults, configuration.ranging)
    func device(_ knot: Int) -> Vector3 {
      let angle = Self.spacing * Double(knot) / 5
      return Vector3(5 * cos(angle), 0.4 * sin(0.7 * angle), 5 * sin(angle))
    }
    var state: [Double] = []
    for knot in 0..<knotCount {
      let place = device(knot)
      problem.addKnot(
        at: place, step: device(knot + 1) - place, horizontal: 1e-6, vertical: 1e-6, yaw: 1e-8,
        seconds: 2)
      state += [place.x, place.y, place.z, 0] + [Double](repeating: 0, count: 1 + members)
    }
    state += [Double](repeating: 0, count: layout.constantCount)
    for place in places { state += [place.x, place.y, place.z, 0, 0] }
    // The errors at the knots.
    let correlation = exp(-Self.spacing / RangeErrorSizes.placeLength)
    let fresh = walk.place * (1 - correlation * correlation).squareRoot()
    let byPlace = (0..<members).map { _ in
      var error = generator.normal(sigma: walk.place)
      return (0..<knotCount).map { _ in
        defer { error = correlation * error + generator.normal(sigma: fresh) }
        return error
      }
    }
    var shared = 0.0
    let common = (0..<knotCount).map { _ in
      defer { shared += generator.normal(sigma: walk.common * (2.0 / 60).squareRoot()) }
      return shared
    }
    // Their variances fall with the square of the order and sum up to the square of the size.
    let direction = (0..<ChainLayout.directionSize).map { index in
      generator.normal(sigma: walk.direction / (Double(index / 2 + 1) * 1.42.squareRoot()))
    }
    for member in 0..<members {
      for knot in 0..<knotCount - 1 {
        for share in [0.0, 0.5] {
          let place = (1 - share) * device(knot) + share * device(knot + 1)
          let sight = places[member] - place
          let azimuth = atan2(sight.x, -sight.z)
          let error =
            (1 - share) * (byPlace[member][knot] + common[knot])
            + share * (byPlace[member][knot + 1] + common[knot + 1])
            + direction.enumerated().reduce(0) { sum, term in
              let angle = Double(term.offset / 2 + 1) * azimuth
              return sum + term.element * (term.offset % 2 == 0 ? cos(angle) : sin(angle))
            }
          problem.addCell(
            ChainProblem.Cell(
              pose: AntennaPose(
                RigidTransform(rotation: .identity, translation: place), antennaInDevice: .zero),
              knot: knot, share: share, peer: member),
            PerKind { kind in
              kind == .range
                ? .init(
                  value: sight.length + error + generator.normal(sigma: 0.03), variance: 0.0009,
                  effectiveVariance: 0.0009) : nil
            })
        }
      }
    }
    return (problem, state)
  }

  /// The sizes that are learnt.
  private static func sizes(of walk: Walk, seed: UInt64) throws -> RangeErrorSizes {
    var (problem, state) = problem(walk, seed: seed)
    var (sizes, workspace, none) = (RangeErrorSizes(), ChainWorkspace(), [Double]())
    for _ in 0..<12 {
      problem.setErrorSteps { _ in sizes.step(length: Self.spacing, seconds: 2) }
      sizes.findConstantVariances(
        &problem.constantVariances, problem.layout.constants, OdometryConfiguration(),
        RangingConfiguration())
      problem.firstErrorVariances = [Double](repeating: sizes.place * sizes.place, count: members)
      _ = problem.fit(
        &state, iterations: 10, tolerance: 0.01, covariance: &none, workspace: &workspace)
      var found = ChainProblem.Innovations()
      #expect(problem.findInnovations(&found, at: state, workspace: &workspace))
      sizes.learn(found, at: state, of: problem) { _ in false }
    }
    return sizes
  }

  @Test("errors by place are found, and nothing else", arguments: 1...4 as ClosedRange<UInt64>)
  func place(seed: UInt64) throws {
    let sizes = try Self.sizes(of: Walk(place: 0.15), seed: seed)
    #expect((0.1...0.2).contains(sizes.place), "\(sizes)")
    #expect(sizes.common < 0.06 && sizes.direction < 0.06, "\(sizes)")
  }

  @Test("a drift of all ranges is found, and nothing else", arguments: 1...4 as ClosedRange<UInt64>)
  func common(seed: UInt64) throws {
    let sizes = try Self.sizes(of: Walk(common: 0.3), seed: seed)
    #expect((0.15...0.5).contains(sizes.common), "\(sizes)")
    #expect(sizes.place < 0.03 && sizes.direction < 0.06, "\(sizes)")
  }

  @Test("an error by direction is found, and nothing else", arguments: 1...4 as ClosedRange<UInt64>)
  func direction(seed: UInt64) throws {
    let sizes = try Self.sizes(of: Walk(direction: 0.15), seed: seed)
    #expect((0.06...0.3).contains(sizes.direction), "\(sizes)")
    #expect(sizes.place < 0.03 && sizes.common < 0.06, "\(sizes)")
  }

  @Test("of white noise nothing lasting is found", arguments: 1...4 as ClosedRange<UInt64>)
  func nothing(seed: UInt64) throws {
    let sizes = try Self.sizes(of: Walk(), seed: seed)
    #expect(sizes.place < 0.02 && sizes.common < 0.06 && sizes.direction < 0.03, "\(sizes)")
  }
}
