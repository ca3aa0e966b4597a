// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "dependent",
  dependencies: [.package(name: "nearby", path: "../..")],
  targets: [
    .executableTarget(
      name: "dependent",
      dependencies: [
        .product(name: "NearbyFusion", package: "nearby"),
        .product(name: "NearbyGeometry", package: "nearby"),
        // They depend on all other libraries.
        .product(name: "NearbyBatch", package: "nearby"),
        .product(name: "NearbyReport", package: "nearby"),
      ]),
  ])
