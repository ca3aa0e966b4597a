// swift-tools-version: 6.3
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .treatAllWarnings(as: .error), .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "benchmarks",
  dependencies: [.package(name: "nearby", path: "../")],
  targets: [
    .executableTarget(
      name: "speed",
      dependencies: [
        .product(name: "NearbyFusion", package: "nearby"),
        .product(name: "NearbyGeometry", package: "nearby"),
      ],
      path: "Sources/Speed", swiftSettings: swiftSettings)
  ])
