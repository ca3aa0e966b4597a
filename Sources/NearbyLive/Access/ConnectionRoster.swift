// SPDX-License-Identifier: Apache-2.0

/// The connections to the page's server, and which of them gives way when there are too many.
///
/// That is the oldest of those that have not shown the token. A new one has its place at once, so that a crowd of
/// strangers does not keep the owner out: the request of a browser comes with its connection, and a stranger that
/// stays is replaced by the next.
package struct ConnectionRoster<Connection> {
  private var strangers: [(number: Int, connection: Connection)] = []
  private var trusted: Set<Int> = []
  private var entered = 0
  private let capacity: Int

  /// Makes an empty roster.
  ///
  /// - Parameter capacity: The largest number of connections.
  package init(capacity: Int) { self.capacity = capacity }

  /// How many connections there are.
  package var count: Int { strangers.count + trusted.count }

  /// Adds a connection, which is a stranger's.
  ///
  /// - Parameter connection: The connection.
  /// - Returns: Its number, and the connection that must be closed; that may be itself.
  package mutating func enter(_ connection: Connection) -> (number: Int, evicted: Connection?) {
    entered += 1
    strangers.append((entered, connection))
    let evicted = count > capacity ? strangers.removeFirst().connection : nil
    return (entered, evicted)
  }

  /// Takes note that a connection has shown the token.
  ///
  /// - Parameter number: Its number.
  package mutating func trust(_ number: Int) {
    guard let index = index(of: number) else { return }
    strangers.remove(at: index)
    trusted.insert(number)
  }

  /// Removes a connection that has ended.
  ///
  /// - Parameter number: Its number.
  package mutating func leave(_ number: Int) {
    if let index = index(of: number) { strangers.remove(at: index) }
    trusted.remove(number)
  }

  private func index(of number: Int) -> Int? { strangers.firstIndex { $0.number == number } }
}
