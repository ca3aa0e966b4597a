// SPDX-License-Identifier: Apache-2.0

/// The names of an engine's peers, which differ: they become words of a column.
struct PeerNames {
  private(set) var all: [String] = []
  private var known: Set<String> = []

  private static let most = 1_000_000

  /// Adds a name; the peer's number when `nil`.
  mutating func add(_ name: String?) throws(Failure) {
    guard all.count < Self.most else {
      throw .invalidArgument("there are \(Self.most) peers", remedy: "use another engine")
    }
    let name = name ?? "\(all.count)"
    guard known.insert(name).inserted else {
      throw .invalidArgument("there is a peer \(name) already", remedy: "choose another name")
    }
    all.append(name)
  }
}
