// swift-tools-version: 6.3
import PackageDescription

// MARK: - Settings

let swiftSettings: [SwiftSetting] = [
  .treatAllWarnings(as: .error), .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// For targets into which a plugin generates a file that knows neither of the two features left out.
let benchmarkSettings: [SwiftSetting] = [
  .treatAllWarnings(as: .error), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
]

let cxxSettings: [CXXSetting] = [
  .treatAllWarnings(as: .error), .enableWarning("all"), .enableWarning("extra"),
]

func benchmarks(_ name: String) -> Target {
  .executableTarget(
    name: name, dependencies: ["Registration"], path: "Benchmarks/\(name)",
    swiftSettings: benchmarkSettings,
    plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
}

let package = Package(
  name: "benchmarks",
  dependencies: [
    .package(name: "nearby", path: "../"),
    // Without its traits: their allocation counts come out wrong, so `count` counts for itself.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    // MARK: - Floors
    .target(
      name: "CFloors", dependencies: [.product(name: "CNearbyKernels", package: "nearby")],
      exclude: ["generate.py"], cxxSettings: cxxSettings),

    // MARK: - What is measured
    .target(
      name: "Workloads",
      dependencies: [
        "CFloors",
        .product(name: "CNearbyKernels", package: "nearby"),
        .product(name: "NearbyFusion", package: "nearby"),
        .product(name: "NearbyEnvironment", package: "nearby"),
        .product(name: "NearbyGeometry", package: "nearby"),
        .product(name: "NearbyInteraction", package: "nearby"),
        .product(name: "NearbyRecordings", package: "nearby"),
      ],
      swiftSettings: swiftSettings),

    // MARK: - Wall time
    .target(
      name: "Registration",
      dependencies: ["Workloads", .product(name: "Benchmark", package: "benchmark")],
      swiftSettings: swiftSettings),
    benchmarks("Kernels"), benchmarks("Engine"), benchmarks("Recordings"), benchmarks("Runs"),
    benchmarks("Sessions"),

    // MARK: - Instructions and allocations
    .target(name: "CMeasuredRegion"),
    .target(name: "CAllocationCounter"),
    .executableTarget(
      name: "count", dependencies: ["CAllocationCounter", "CMeasuredRegion", "Workloads"],
      swiftSettings: swiftSettings),

    // MARK: - Recordings to measure with
    .executableTarget(name: "recording", dependencies: ["Workloads"], swiftSettings: swiftSettings),
  ],
  cxxLanguageStandard: .cxx17
)
