// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// A decoded message of any type.
indirect enum MessageValue: Sendable {
  case number(Double)
  /// An exact integer: a time in nanoseconds does not fit into a double.
  case integer(Int64)
  case bool(Bool)
  case text(String)
  case list([MessageValue])
  case object([(key: String, value: MessageValue)])

  /// The value at a path such as `header.stamp` or `ranges[0].distance`; `nil` when there is none.
  func value(at path: String) -> MessageValue? {
    var value = self
    for part in path.split(whereSeparator: { $0 == "." || $0 == "[" }) {
      switch value {
      case .object(let members):
        guard let member = members.first(where: { $0.key == part }) else { return nil }
        value = member.value
      case .list(let elements):
        guard let index = Int(part.hasSuffix("]") ? part.dropLast() : part),
          elements.indices.contains(index)
        else { return nil }
        value = elements[index]
      default: return nil
      }
    }
    return value
  }

  /// The value as a number, if it is one.
  var number: Double? {
    switch self {
    case .number(let number): number
    case .integer(let number): Double(number)
    case .bool(let flag): flag ? 1 : 0
    default: nil
    }
  }

  /// The value as a name: a text, or an integer.
  var name: String? {
    switch self {
    case .text(let text): text
    case .integer(let number): "\(number)"
    case .number(let number) where number == number.rounded() && abs(number) < 1e15:
      "\(Int64(number))"
    default: nil
    }
  }

  /// The value as a time, nanoseconds: an object of seconds and nanoseconds, as in ROS and
  /// Foxglove, or a number in a unit.
  func nanoseconds(_ unit: TimeUnit) -> Int64? {
    switch self {
    case .object:
      guard let seconds = value(at: "sec")?.number ?? value(at: "secs")?.number,
        let rest = (value(at: "nanosec") ?? value(at: "nsec") ?? value(at: "nsecs"))?.number,
        abs(seconds) < 4.6e9, (0..<4.6e18).contains(rest)
      else { return nil }
      return Self.checked(Int64(seconds) * 1_000_000_000 &+ Int64(rest))
    case .integer(let number):
      let scale = Int64(wholePowersOfTen[9 + unit.exponent])
      let (product, overflow) = number.multipliedReportingOverflow(by: scale)
      return overflow ? nil : Self.checked(product)
    case .number(let number):
      let scaled = number * powersOfTen[9 + unit.exponent]
      return abs(scaled) < 4.6e18 ? Self.checked(Int64(scaled.rounded())) : nil
    default: return nil
    }
  }

  private static func checked(_ nanoseconds: Int64) -> Int64? {
    nanoseconds.magnitude < 4_600_000_000_000_000_000 ? nanoseconds : nil
  }

  /// Makes a value from JSON; nulls are left out.
  init?(_ json: LocatedJSON) {
    switch json.content {
    case .null: return nil
    case .bool(let flag): self = .bool(flag)
    case .number(let number):
      let isWhole = number == number.rounded() && abs(number) < 0x1p53
      self = isWhole ? .integer(Int64(number)) : .number(number)
    case .string(let text): self = .text(text)
    case .array(let elements): self = .list(elements.compactMap(MessageValue.init))
    case .object(let members):
      self = .object(
        members.compactMap { member in
          MessageValue(member.value).map { (member.key, $0) }
        })
    }
  }
}
