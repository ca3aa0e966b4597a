// SPDX-License-Identifier: Apache-2.0
import NearbyGeometry
import NearbyRecordings

/// Reads the two-way ranging in a capture of the FiRa UWB command interface, measurement by
/// measurement.
///
/// `SESSION_INFO_NTF`, called `RANGE_DATA_NTF` in version 1: distances in centimetres, angles in
/// degrees as Q9.7, figures of merit in percent, RSSI in half dBm. A distance of 0xFFFF and an
/// angle with a figure of merit of zero were not measured. Exchanges that failed give no sample.
/// Without capture times, the clock counts the session's intervals from zero.
struct UciRangingReader: ~Copyable, RangingSource {
  private(set) var leftOut: [String: Int] = [:]

  private var packets: UciPackets
  private var piece: UciPackets.Piece?
  private var fragments: [UInt8: [UInt8]] = [:]
  private var clocks: [UInt32: SessionClock] = [:]
  /// Remaining samples of the last notification, in reverse order.
  private var waiting: [RangingRow] = []
  private var isEmpty = true
  private let file: String

  /// The longest message joined from fragments, bytes; a longer one is damaged.
  private static let longestMessage = 1 << 16

  init(path: String, _ capture: UciCapture) throws(RecordingError) {
    packets = try UciPackets.open(path: path, capture)
    file = path
  }

  var columns: Set<RecordingWriter.OptionalColumn> {
    [.azimuthFigureOfMerit, .elevationFigureOfMerit, .rssi, .nonLineOfSight]
  }

  mutating func next() throws(RecordingError) -> RangingRow? {
    while waiting.isEmpty {
      guard try readPacket() else {
        if isEmpty {
          throw RecordingError(
            .noSamples, "holds no two-way ranging", file: file,
            remedy: "give a capture of UCI with SESSION_INFO_NTF (62 00) in it")
        }
        return nil
      }
    }
    return waiting.popLast()
  }

  /// Reads the next packet; `false` at the end.
  private mutating func readPacket() throws(RecordingError) -> Bool {
    while piece.map({ $0.data.count == 0 }) ?? true {
      guard let next = try packets.next() else {
        if packets.foreignPackets > 0 {
          leftOut["packets of other links"] = packets.foreignPackets
        }
        let unfinished = fragments.values.count { !$0.isEmpty }
        if unfinished > 0 { leftOut["messages that the capture cuts off"] = unfinished }
        return false
      }
      piece = next
    }
    guard var current = piece else { return false }
    do throws(RecordingError) {
      let start = current.data
      let header = UciHeader(Array(try current.data.take(UciHeader.size, "a packet's header").rest))
      guard header.messageType <= 3 else {
        throw start.error("there is no packet of message type \(header.messageType),")
      }
      let payload = try current.data.take(header.length, "a packet's payload")
      piece = current
      // Session control, SESSION_INFO_NTF.
      if header.messageType == 3, header.group == 2, header.opcode == 0 {
        try read(payload, header, current)
      }
    } catch {
      throw error.located(line: current.line)
    }
    return true
  }

  private mutating func read(
    _ payload: ByteCursor, _ header: UciHeader, _ piece: UciPackets.Piece
  ) throws(RecordingError) {
    let key = header.group
    var message = payload
    if header.isFragment || fragments[key]?.isEmpty == false {
      let joined = fragments[key, default: []] + payload.rest
      guard joined.count <= Self.longestMessage else {
        throw payload.error("a message of more than \(Self.longestMessage) bytes is impossible,")
      }
      fragments[key] = header.isFragment ? joined : []
      if header.isFragment { return }
      message = ByteCursor(joined, file: file, origin: payload.origin)
    }
    try read(notification: message, piece)
  }

  private mutating func read(
    notification: ByteCursor, _ piece: UciPackets.Piece
  ) throws(RecordingError) {
    var data = notification
    let what = "a ranging notification"
    let sequence = try data.take(UInt32.self, what)
    let session = try data.take(UInt32.self, what)
    try data.skip(1, what)
    let interval = try data.take(UInt32.self, what)
    let type = try data.take(UInt8.self, what)
    try data.skip(1, what)
    let indicator = try data.take(UInt8.self, what)
    try data.skip(8, what)
    let count = try data.take(UInt8.self, what)
    let time = piece.time ?? clocks[session, default: SessionClock()].time(of: sequence, interval)
    guard type == 1 else {
      leftOut["notifications that are not of two-way ranging", default: 0] += 1
      return
    }
    guard indicator <= 1 else { throw data.error("there is no MAC address mode \(indicator),") }
    isEmpty = false
    var rows: [RangingRow] = []
    for _ in 0..<count {
      let element = try data.take(31, "a measurement")
      guard let row = try Self.row(element, isShort: indicator == 0, time, line: piece.line) else {
        leftOut["exchanges that failed", default: 0] += 1
        continue
      }
      rows.append(row)
    }
    waiting = rows.reversed()
  }

  /// The sample of a measurement; `nil` when the exchange failed.
  private static func row(
    _ element: ByteCursor, isShort: Bool, _ time: Timestamp, line: Int
  ) throws(RecordingError) -> RangingRow? {
    var data = element
    let what = "a measurement"
    let address = try data.take(isShort ? 2 : 8, what).rest.reversed()
    let status = try data.take(UInt8.self, what)
    let nonLineOfSight = try data.take(UInt8.self, what)
    let centimetres = try data.take(UInt16.self, what)
    let azimuth = try data.take(Int16.self, what)
    let azimuthMerit = try data.take(UInt8.self, what)
    let elevation = try data.take(Int16.self, what)
    let elevationMerit = try data.take(UInt8.self, what)
    try data.skip(7, what)
    let strength = try data.take(UInt8.self, what)
    guard status == Status.ok || status == Status.okNegativeDistance else { return nil }
    var row = RangingRow(timestamp: time, peer: address.map(Self.hex).joined(separator: ":"))
    if centimetres != 0xFFFF {
      let metres = Double(centimetres) / 100
      row.distance = status == Status.okNegativeDistance ? -metres : metres
    }
    if azimuthMerit != 0 {
      row.azimuthRadians = (Double(azimuth) / 128).degreesAsRadians
      row.azimuthFigureOfMerit = Double(azimuthMerit)
    }
    if elevationMerit != 0 {
      row.elevationRadians = (Double(elevation) / 128).degreesAsRadians
      row.elevationFigureOfMerit = Double(elevationMerit)
    }
    // The field is reserved, and zero, before version 2.
    if strength != 0 { row.rssi = -Double(strength) / 2 }
    if nonLineOfSight <= 1 { row.isNonLineOfSight = nonLineOfSight == 1 }
    row.line = line
    return row
  }

  private static func hex(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }

  private enum Status {
    static let ok: UInt8 = 0x00
    static let okNegativeDistance: UInt8 = 0x1B
  }
}

/// The clock of a session in a capture without times: its intervals, counted by its sequence numbers.
private struct SessionClock {
  /// The last time that a recording can hold, nanoseconds.
  private static let end: Int64 = 4_599_999_999_000_000_000

  private var last: (sequence: UInt32, nanoseconds: Int64)?

  /// The time of a notification, counted from the first one.
  mutating func time(of sequence: UInt32, _ intervalMilliseconds: UInt32) -> Timestamp {
    guard let last else {
      self.last = (sequence, 0)
      return Timestamp(nanoseconds: 0)
    }
    // Sequence numbers may wrap. A number that goes back means that the session restarted, one
    // interval later.
    let steps = Int32(bitPattern: sequence &- last.sequence)
    let elapsed = Double(steps >= 0 ? steps : 1) * Double(intervalMilliseconds) * 1e6
    // Whole nanoseconds, exact for a hundred days. The clamp keeps a damaged interval from
    // overflowing.
    let now = min(last.nanoseconds + Int64(min(elapsed, 4e18)), Self.end)
    self.last = (sequence, now)
    return Timestamp(nanoseconds: now)
  }
}

extension RecordingError {
  /// The error with a line number, unless it has one already or the number is zero.
  func located(line: Int) -> RecordingError {
    var error = self
    if line > 0, error.line == nil { error.line = line }
    return error
  }
}
