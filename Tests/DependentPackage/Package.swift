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
      ]),
    .executableTarget(
      name: "arrays",
      dependencies: [
        .product(name: "NearbyBatch", package: "nearby"),
        .product(name: "NearbyEvaluation", package: "nearby"),
        .product(name: "NearbyFusion", package: "nearby"),
        .product(name: "NearbyGeometry", package: "nearby"),
        .product(name: "NearbyRecordings", package: "nearby"),
        .product(name: "NearbyReport", package: "nearby"),
      ]),
  ])
