// swift-tools-version: 6.3
import PackageDescription

/// Apps are written in both: `APP_SWIFT_MODE=5 swift test` compiles all of this as Swift 5.
let mode = Context.environment["APP_SWIFT_MODE"] ?? "6"
let settings: [SwiftSetting] = [.swiftLanguageMode(mode == "5" ? .v5 : .v6)]

let package = Package(
  name: "app",
  dependencies: [.package(name: "nearby", path: "../..")],
  targets: [
    // What an app has: it uses Apple's names only.
    .target(
      name: "AppSessions",
      dependencies: [.product(name: "NearbyInteraction", package: "nearby")],
      swiftSettings: settings),
    .testTarget(
      name: "AppSessionsTests",
      dependencies: [
        "AppSessions",
        .product(name: "NearbyInteraction", package: "nearby"),
        // The stepped world, and where its devices are.
        .product(name: "NearbyEnvironment", package: "nearby"),
        .product(name: "NearbyGeometry", package: "nearby"),
        // Recordings to replay.
        .product(name: "NearbyRecordings", package: "nearby"),
      ],
      swiftSettings: settings),
  ])
