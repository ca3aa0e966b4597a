// SPDX-License-Identifier: Apache-2.0
import Glibc
import NearbyGeometry
import NearbyRecordings
import NearbyReport

/// A small map of a run for a terminal: the device's path in Braille dots, and the located peers by number.
///
/// Seen from above, x to the right. A character has two by four dots, which are about as wide as high, so
/// that a metre is as long both ways.
struct TerminalMap {
  /// A located peer.
  struct Peer {
    var name: String
    /// Where it is on the map, metres.
    var x: Double
    var y: Double
    var distance: Double?
    var distanceSigma: Double?
  }

  /// The device's path on the map, metres.
  var path: [(x: Double, y: Double)]
  var peers: [Peer]
  /// The size of map and legend together, characters.
  var columns = 80
  var rows = 20

  /// The least that is shown, metres, also for a device at rest next to its peer.
  private static let leastSpan = 2.0
  private static let mostLegendColumns = 34
  private static let numbers = Array("123456789abcdefghijklmnpqrstuvwxyz")

  /// The lines; none when there is nothing to draw or no room for it.
  var lines: [String] {
    let shown = peers.prefix(min(Self.numbers.count, rows - 3))
    let mostColumns = min(Self.mostLegendColumns, columns / 2)
    var legend = zip(Self.numbers, shown).map { Self.legend($0, $1, columns: mostColumns) }
    if shown.count < peers.count { legend.append("and \(peers.count - shown.count) more") }
    legend.append("o device")
    let legendColumns = min(mostColumns, legend.map(\.count).max() ?? 0)
    let room = Cells(columns: columns - legendColumns - 2, rows: rows - 1)
    let xs = (path.map(\.x) + shown.map(\.x)).filter(\.isFinite)
    let ys = (path.map(\.y) + shown.map(\.y)).filter(\.isFinite)
    guard !path.isEmpty, room.columns >= 10, room.rows >= 3, let left = xs.min(),
      let right = xs.max(), let bottom = ys.min(), let top = ys.max()
    else { return [] }
    // A margin of a character at each side, so that numbers at the edge are seen.
    let metresPerDot = max(
      (right - left) / Double(2 * room.columns - 5), (top - bottom) / Double(4 * room.rows - 9),
      Self.leastSpan / Double(4 * room.rows))
    func dot(_ x: Double, _ y: Double) -> (x: Int, y: Int) {
      (
        2 + Int(((x - left) / metresPerDot).rounded()),
        4 + Int(((top - y) / metresPerDot).rounded())
      )
    }
    let corner = dot(right, bottom)
    var canvas = Canvas(
      Cells(columns: min(room.columns, corner.x / 2 + 2), rows: min(room.rows, corner.y / 4 + 1)))
    for (from, to) in zip(path, path.dropFirst()) {
      guard from.x.isFinite, from.y.isFinite, to.x.isFinite, to.y.isFinite else { continue }
      canvas.line(from: dot(from.x, from.y), to: dot(to.x, to.y))
    }
    for (number, peer) in zip(Self.numbers, shown) where peer.x.isFinite && peer.y.isFinite {
      canvas.write(number, at: dot(peer.x, peer.y))
    }
    if let last = path.last, last.x.isFinite, last.y.isFinite {
      canvas.write("o", at: dot(last.x, last.y))
    }
    var lines = canvas.lines
    while lines.count < legend.count { lines.append("") }
    let legendStart = canvas.cells.columns + 2
    for (row, entry) in legend.enumerated() {
      let blanks = String(repeating: " ", count: legendStart - lines[row].count)
      lines[row] += blanks + Self.shortened(entry, to: legendColumns)
    }
    return lines + [Self.scale(metresPerDot, columns: canvas.cells.columns)]
  }

  private static func legend(_ number: Character, _ peer: Peer, columns: Int) -> String {
    var text = "\(number) \(peer.name.printable())"
    if let distance = peer.distance {
      text = shortened(text, to: max(4, columns - 16)) + " \(distance.text(decimals: 1)) m"
      if let sigma = peer.distanceSigma, sigma.isFinite { text += " ±\(sigma.text(decimals: 1))" }
    }
    return text
  }

  private static func shortened(_ text: String, to count: Int) -> String {
    text.count <= count ? text : text.prefix(count - 1) + "…"
  }

  /// A bar of a round length, at most half as long as the map is wide.
  private static func scale(_ metresPerDot: Double, columns: Int) -> String {
    let metresPerColumn = 2 * metresPerDot
    var length = NiceNumbers.atLeast(metresPerColumn * Double(columns) / 5)
    if length > metresPerColumn * Double(columns) / 2 { length /= 2 }
    let bar = max(0, Int((length / metresPerColumn).rounded()) - 2)
    let text = length >= 1 ? length.text(decimals: 0) : length.text(decimals: 1)
    return "├\(String(repeating: "─", count: bar))┤ \(text) m"
  }

  // MARK: Drawing

  private struct Cells {
    var columns: Int
    var rows: Int
  }

  /// Characters with dots, over which letters are written.
  private struct Canvas {
    let cells: Cells
    /// The eight dots of each character as bits of its Braille pattern.
    private var dots: [UInt8]
    private var letters: [Int: Character] = [:]

    init(_ cells: Cells) {
      self.cells = cells
      dots = Array(repeating: 0, count: cells.columns * cells.rows)
    }

    private func cell(_ x: Int, _ y: Int) -> Int? {
      guard x >= 0, y >= 0, x / 2 < cells.columns, y / 4 < cells.rows else { return nil }
      return y / 4 * cells.columns + x / 2
    }

    mutating func line(from: (x: Int, y: Int), to: (x: Int, y: Int)) {
      let steps = max(abs(to.x - from.x), abs(to.y - from.y), 1)
      for step in 0...steps {
        let (x, y) = (
          from.x + Int((Double((to.x - from.x) * step) / Double(steps)).rounded()),
          from.y + Int((Double((to.y - from.y) * step) / Double(steps)).rounded())
        )
        guard let cell = cell(x, y) else { continue }
        // The numbering of Braille: 1 2 3 down the left, 4 5 6 down the right, then 7 and 8 below.
        let bit = y % 4 == 3 ? 6 + x % 2 : y % 4 + 3 * (x % 2)
        dots[cell] |= 1 << UInt8(bit)
      }
    }

    /// Writes a letter into the nearest free character to the right of its place, or to the left.
    mutating func write(_ letter: Character, at dot: (x: Int, y: Int)) {
      for shift in [0, 1, -1, 2, -2, 3, -3] {
        guard let cell = cell(dot.x + 2 * shift, dot.y), letters[cell] == nil else { continue }
        letters[cell] = letter
        return
      }
    }

    var lines: [String] {
      (0..<cells.rows).map { row in
        var line = ""
        for column in 0..<cells.columns {
          let cell = row * cells.columns + column
          if let letter = letters[cell] {
            line.append(letter)
          } else if dots[cell] == 0 {
            line.append(" ")
          } else if let pattern = Unicode.Scalar(0x2800 + UInt32(dots[cell])) {
            line.unicodeScalars.append(pattern)
          }
        }
        while line.last == " " { line.removeLast() }
        return line
      }
    }
  }
}

extension TerminalMap {
  /// The largest number of points of the path.
  private static let longestPath = 4000

  /// The map of a result: in the map's frame, where peers have corrected the odometry.
  ///
  /// - Parameters:
  ///   - summary: The run's summary.
  ///   - folder: The folder of the result.
  ///   - recording: The recording.
  /// - Throws: When a path cannot be read.
  init(
    of summary: RunSummary, in folder: String, recording: RecordingReader
  ) throws(RecordingError) {
    let paths = try DevicePath.read(result: folder, of: recording, longestPoseGap: 0)
    let raw = paths[0]
    let corrected = paths.first { $0.kind == .corrected }
    // Where peers are is told in the odometry's world as it was at the end.
    var mapFromWorld = RigidTransform.identity
    if let last = corrected?.poses.last,
      let same = raw.poses.last(where: { $0.timestamp <= last.timestamp })
    {
      mapFromWorld = last.worldFromDevice * same.worldFromDevice.inverse
    }
    let turn = recording.manifest.frames.engineWorldFromWorld
    func place(_ inWorld: Vector3) -> (x: Double, y: Double) {
      let onMap = MapFrame.vector(fromEngine: turn.act(inWorld))
      return (onMap.x, onMap.y)
    }
    path = (corrected ?? raw).thinned(to: Self.longestPath).map {
      place($0.worldFromDevice.translation)
    }
    peers = summary.peers.compactMap { peer in
      guard peer.status == .converged, let position = peer.positionInWorld else { return nil }
      let (x, y) = place(mapFromWorld.act(position))
      return Peer(
        name: peer.id, x: x, y: y, distance: peer.distance, distanceSigma: peer.distanceSigma)
    }
  }

  /// How many columns there are for a map on standard output; `nil` when it is no terminal, or one that
  /// does not show UTF-8.
  static func columnsOfTerminal(environment: [String: String]) -> Int? {
    guard isatty(STDOUT_FILENO) == 1, environment["TERM"] != "dumb" else { return nil }
    let locale =
      [environment["LC_ALL"], environment["LC_CTYPE"], environment["LANG"]]
      .compactMap(\.self).first { !$0.isEmpty } ?? ""
    guard locale.lowercased().replacing("-", with: "").contains("utf8") else { return nil }
    var size = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return 80
    }
    return min(80, Int(size.ws_col))
  }
}
