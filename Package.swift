// swift-tools-version: 6.3
import PackageDescription

// MARK: - Settings

let swiftSettings: [SwiftSetting] = [
  .treatAllWarnings(as: .error), .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// `NDEBUG` turns Eigen's assertions off; SwiftPM does not define it in release builds by itself.
let cxxSettings: [CXXSetting] = [
  .define("NDEBUG", .when(configuration: .release)), .define("EIGEN_MPL2_ONLY"),
  .define("EIGEN_DONT_PARALLELIZE"), .treatAllWarnings(as: .error), .enableWarning("all"),
  .enableWarning("extra"),
]

let package = Package(
  name: "nearby",
  products: [
    .library(name: "NearbyGeometry", targets: ["NearbyGeometry"]),
    .library(name: "NearbyFusion", targets: ["NearbyFusion"]),
    .library(name: "NearbyRecordings", targets: ["NearbyRecordings"]),
    .library(name: "NearbyImports", targets: ["NearbyImports"]),
    .library(name: "NearbySmoothing", targets: ["NearbySmoothing"]),
    .library(name: "NearbySimulation", targets: ["NearbySimulation"]),
    .library(name: "NearbyEvaluation", targets: ["NearbyEvaluation"]),
    .library(name: "NearbyBatch", targets: ["NearbyBatch"]),
    .library(name: "NearbyReport", targets: ["NearbyReport"]),
    .library(name: "NearbyC", type: .dynamic, targets: ["NearbyC"]),
    // For Benchmarks/, which compares the kernels with straight-line C++. May change in any release.
    .library(name: "CNearbyKernels", targets: ["CNearbyKernels"]),
    .executable(name: "nearby", targets: ["nearby"]),
  ],
  // A package that depends on this one neither fetches nor builds what a trait needs, unless it asks for the trait.
  traits: [
    .trait(name: "Live", description: "The page of `nearby live`, which needs an HTTP server.")
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    // MARK: - System libraries
    .systemLibrary(name: "CEigen", pkgConfig: "eigen3", providers: [.apt(["libeigen3-dev"])]),
    .systemLibrary(name: "CLAPACKE", pkgConfig: "lapacke", providers: [.apt(["liblapacke-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    // Debian's package has no pkg-config module.
    .systemLibrary(name: "CBzip2", providers: [.apt(["libbz2-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CMessageDigest", pkgConfig: "libmd", providers: [.apt(["libmd-dev"])]),

    // MARK: - Kernels
    .target(
      name: "CNearbyKernels", dependencies: ["CEigen"], cxxSettings: cxxSettings,
      linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),

    // MARK: - Library
    .target(name: "NearbyGeometry", swiftSettings: swiftSettings),
    .target(
      name: "NearbyFusion", dependencies: ["CNearbyKernels", "NearbyGeometry"],
      swiftSettings: swiftSettings),
    .target(
      name: "NearbySmoothing", dependencies: ["NearbyFusion", "NearbyGeometry"],
      swiftSettings: swiftSettings),
    .target(
      name: "NearbyRecordings", dependencies: ["NearbyFusion", "NearbyGeometry"],
      swiftSettings: swiftSettings),
    // Beside the format, so that what replays recordings is not compiled again for an importer.
    .target(
      name: "NearbyImports",
      dependencies: [
        "CBzip2", "CLZ4", "CSQLite", "CZlib", "CZstd", "NearbyFusion", "NearbyGeometry",
        "NearbyRecordings",
      ],
      swiftSettings: swiftSettings),
    .target(
      name: "NearbySimulation", dependencies: ["NearbyFusion", "NearbyGeometry"],
      swiftSettings: swiftSettings),
    .target(
      name: "NearbyEvaluation",
      dependencies: [
        "CLAPACKE", "NearbyFusion", "NearbyGeometry", "NearbyRecordings", "NearbySimulation",
        "NearbySmoothing",
      ],
      swiftSettings: swiftSettings),
    .target(
      name: "NearbyBatch",
      dependencies: [
        "CMessageDigest", "NearbyEvaluation", "NearbyFusion", "NearbyGeometry", "NearbyImports",
        "NearbyRecordings", "NearbySmoothing",
      ],
      swiftSettings: swiftSettings),

    .target(
      name: "NearbyReport",
      dependencies: [
        "NearbyEvaluation", "NearbyFusion", "NearbyGeometry", "NearbyRecordings",
      ],
      resources: [
        .embedInCode("Page/report.css"), .embedInCode("Page/report.html"),
        .embedInCode("Page/report.js"), .embedInCode("Page/view.css"),
        .embedInCode("Page/view.js"), .embedInCode("Page/map.js"), .embedInCode("Page/series.js"),
        .embedInCode("Page/batch.css"), .embedInCode("Page/batch.html"),
        .embedInCode("Page/batch.js"),
      ],
      swiftSettings: swiftSettings),

    // What `nearby live` shows and simulates; the server is in the command line.
    .target(
      name: "NearbyLive",
      dependencies: [
        "NearbyEnvironment", "NearbyFusion", "NearbyGeometry", "NearbyRecordings", "NearbyReport",
        "NearbySimulation",
      ],
      resources: [
        .embedInCode("Page/live.css"), .embedInCode("Page/live.html"),
        .embedInCode("Page/live.js"),
      ],
      swiftSettings: swiftSettings),
    .target(
      name: "NearbyEnvironment",
      dependencies: ["NearbyFusion", "NearbyGeometry", "NearbyRecordings", "NearbySimulation"],
      swiftSettings: swiftSettings),

    // MARK: - C library
    .target(name: "CNearby", exclude: ["Examples", "README.md", "SharedLibrary"]),
    .target(
      name: "NearbyC",
      dependencies: [
        "CNearby", "NearbyBatch", "NearbyEvaluation", "NearbyFusion", "NearbyGeometry",
        "NearbyImports", "NearbyRecordings", "NearbySimulation", "NearbySmoothing",
      ],
      swiftSettings: swiftSettings),

    // MARK: - Command line
    .executableTarget(
      name: "nearby",
      dependencies: [
        "NearbyBatch", "NearbyEvaluation", "NearbyFusion", "NearbyGeometry", "NearbyImports",
        "NearbyLive", "NearbyRecordings", "NearbyReport", "NearbySimulation", "NearbySmoothing",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Live"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Live"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Live"])),
      ],
      swiftSettings: swiftSettings),

    // MARK: - Test support
    .target(
      name: "CAllocationCounter", path: "Tests/CAllocationCounter",
      cSettings: [.define("COUNTS_BYTES")]),
    .target(
      name: "NearbyTestSupport", dependencies: ["CLAPACKE", "CZlib", "NearbyGeometry"],
      path: "Tests/NearbyTestSupport", swiftSettings: swiftSettings),

    // MARK: - Tests
    .testTarget(
      name: "NearbyTestSupportTests",
      dependencies: [
        "NearbyEvaluation", "NearbyGeometry", "NearbySimulation", "NearbyTestSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "NearbySimulationTests",
      dependencies: ["NearbyFusion", "NearbyGeometry", "NearbySimulation"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "NearbyEvaluationTests",
      dependencies: [
        "NearbyEvaluation", "NearbyFusion", "NearbyGeometry", "NearbyRecordings",
        "NearbySimulation", "NearbySmoothing", "NearbyTestSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "NearbyGeometryTests",
      dependencies: ["NearbyGeometry", "NearbySimulation", "NearbyTestSupport"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "NearbyFusionTests",
      dependencies: [
        "CAllocationCounter", "CNearbyKernels", "NearbyEvaluation", "NearbyFusion",
        "NearbyGeometry", "NearbySimulation", "NearbyTestSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "NearbySmoothingTests",
      dependencies: [
        "CNearbyKernels", "NearbyFusion", "NearbyGeometry", "NearbySimulation", "NearbySmoothing",
        "NearbyTestSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "NearbyRecordingsTests",
      dependencies: [
        "NearbyFusion", "NearbyGeometry", "NearbyRecordings", "NearbyTestSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "NearbyImportsTests",
      dependencies: [
        "NearbyFusion", "NearbyGeometry", "NearbyImports", "NearbyRecordings", "NearbySimulation",
        "NearbyTestSupport",
      ],
      exclude: ["Fixtures"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "NearbyBatchTests",
      dependencies: [
        "NearbyBatch", "NearbyEvaluation", "NearbyFusion", "NearbyGeometry", "NearbyRecordings",
        "NearbySimulation", "NearbyTestSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "NearbyReportTests",
      dependencies: [
        "NearbyEvaluation", "NearbyFusion", "NearbyGeometry", "NearbyRecordings", "NearbyReport",
        "NearbySimulation", "NearbyTestSupport",
      ],
      exclude: ["Browser"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "NearbyLiveTests",
      dependencies: [
        "NearbyFusion", "NearbyGeometry", "NearbyLive", "NearbyRecordings", "NearbySimulation",
      ],
      exclude: ["Browser"],
      swiftSettings: swiftSettings),
    // Without strict memory safety: every call of the interface would be marked.
    .testTarget(
      name: "NearbyCTests",
      dependencies: [
        "CNearby", "NearbyC", "NearbyFusion", "NearbyGeometry", "NearbyRecordings",
        "NearbySimulation",
      ],
      exclude: ["Library"],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "NearbyCommandTests",
      dependencies: [
        "CAllocationCounter", "nearby", "NearbyBatch", "NearbyEvaluation", "NearbyFusion",
        "NearbyGeometry", "NearbyRecordings", "NearbySimulation", "NearbyTestSupport",
      ],
      exclude: ["Goldens"],
      swiftSettings: swiftSettings),
  ],
  cxxLanguageStandard: .cxx17
)

// MARK: - Apple's interface

// Apple's platforms have the original NearbyInteraction, ARKit and simd.
#if os(Linux)
  package.products += [
    .library(name: "NearbyInteraction", targets: ["NearbyInteraction", "ARKit", "simd"]),
    .library(name: "ARKit", targets: ["ARKit"]),
    .library(name: "NearbyEnvironment", targets: ["NearbyEnvironment"]),
    .executable(name: "find-my-item", targets: ["find-my-item"]),
    .executable(name: "nearby-devices", targets: ["nearby-devices"]),
  ]
  package.targets += [
    .target(name: "simd", swiftSettings: swiftSettings),
    .target(
      name: "ARKit",
      dependencies: ["NearbyEnvironment", "NearbyFusion", "NearbyGeometry", "simd"],
      swiftSettings: swiftSettings),
    .target(
      name: "NearbyInteraction",
      dependencies: ["ARKit", "NearbyEnvironment", "NearbyFusion", "NearbyGeometry", "simd"],
      swiftSettings: swiftSettings),
    // Default settings, as in an app's package.
    .executableTarget(name: "find-my-item", dependencies: ["NearbyInteraction"]),
    // For apps on phones to copy, and compiled here to prove that it uses Apple's names only.
    .target(name: "PhoneRecorder", dependencies: ["NearbyInteraction"]),
    .executableTarget(
      name: "nearby-devices",
      dependencies: ["NearbyEnvironment", "NearbyGeometry", "NearbyInteraction"]),
    .testTarget(
      name: "NearbyInteractionTests",
      dependencies: [
        "ARKit", "NearbyEnvironment", "NearbyFusion", "NearbyGeometry", "NearbyInteraction",
        "NearbyRecordings", "NearbySimulation", "NearbyTestSupport", "PhoneRecorder", "simd",
      ],
      swiftSettings: swiftSettings),
    // Also with default settings, and with imports of Foundation, NearbyInteraction and ARKit only.
    .testTarget(
      name: "AppSessionTests",
      dependencies: ["ARKit", "NearbyInteraction", "find-my-item", "nearby-devices"],
      exclude: ["AppleNames/AppleNames.csv", "Programs"]),
    .testTarget(
      name: "NearbyFuzzTests",
      dependencies: [
        "ARKit", "NearbyBatch", "NearbyEnvironment", "NearbyFusion", "NearbyGeometry",
        "NearbyImports", "NearbyInteraction", "NearbyRecordings", "NearbySimulation",
        "NearbySmoothing", "NearbyTestSupport", "simd",
      ],
      swiftSettings: swiftSettings),
  ]
#endif

// MARK: - Session tests only

// For CI, which builds these once more under the thread sanitizer. Leaving out all that they do not need
// saves minutes.
if Context.environment["NEARBY_SESSION_TESTS_ONLY"] != nil {
  var needed: Set = ["NearbyInteractionTests", "AppSessionTests"]
  var next = Array(needed)
  while let name = next.popLast() {
    let target = package.targets.first(where: { $0.name == name })
    for case .byNameItem(let name, _) in target?.dependencies ?? []
    where needed.insert(name).inserted {
      next.append(name)
    }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products.removeAll()
  package.dependencies.removeAll()
}

// MARK: - Shared library

// For `make c-library`: one file with the Swift runtime inside that exports the names of nearby.h and no
// others. The Makefile has the linker's flags.
if let flags = Context.environment["NEARBY_SHARED_LIBRARY"] {
  let settings: [LinkerSetting] = [.unsafeFlags(flags.split(separator: " ").map(String.init))]
  package.targets.first { $0.name == "NearbyC" }?.linkerSettings = settings
}
