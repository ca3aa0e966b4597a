// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import NearbyGeometry

/// What happens to the devices of a simulated world, and when.
///
/// A script is a text with one event in a line: the time in seconds, whom it concerns (`me`, the program's first
/// device, unless it is named), and what happens. A `#` begins a comment.
///
/// ```
/// 0    permission allow
/// 2    sweep side 6        # side to side for six seconds
/// 8    walk 1.5 3          # to a place 1.5 m right and 3 m ahead of where it began
/// 15   background
/// 20   foreground
/// 25   dark
/// 28   light
/// 30   peer walk 0 4
/// 45   peer leave
/// ```
///
/// | event | meaning |
/// | --- | --- |
/// | `hold` | stand still from now on |
/// | `walk RIGHT AHEAD [SPEED]` | walk to a place, metres from the device's first pose, at 1 m/s |
/// | `carry RIGHT AHEAD [SPEED]` | the same without turning the device |
/// | `turn DEGREES` | turn to the right by an angle, 60 degrees a second |
/// | `sweep side SECONDS`, `sweep up SECONDS` | sweep the device horizontally or vertically, 0.25 m to either side |
/// | `background`, `foreground` | the app leaves the screen, and comes back |
/// | `call`, `hangup` | the system takes the radio, as for a phone call, and gives it back |
/// | `permission allow`, `permission deny` | the user answers the prompt |
/// | `dark`, `light` | the light |
/// | `tracking lost`, `tracking limited`, `tracking normal` | the camera's odometry |
/// | `wall`, `unwall` | a wall stands between the device and all others, or is taken away |
/// | `leave`, `return` | the device is out of everyone's reach, and comes back |
/// | `end` | the device's sessions end and say so, as when its app is closed properly |
/// | `disconnect`, `connect` | the Bluetooth connection of an accessory |
///
/// `peer` is the program's second device, `peer2` its third, and so on, in the order in which they are first used;
/// `accessory` is the first of its accessories.
public struct WorldScript: Hashable, Sendable {
  /// Whom an event concerns.
  public enum Subject: Hashable, Sendable {
    /// A device of this program, by its index in the order of first uses.
    case device(Int)
    /// The first accessory of this program.
    case accessory
  }

  /// What happens.
  public enum Action: Hashable, Sendable {
    /// Stand still.
    case hold
    /// Go to a place, metres to the right and ahead of the first pose, at a speed in m/s.
    case walk(right: Double, ahead: Double, speed: Double, turns: Bool)
    /// Turn to the right, radians.
    case turn(radians: Double)
    /// Sweep the device horizontally or vertically, for some seconds.
    case sweep(isUp: Bool, seconds: Double)
    /// A change of the app's state.
    case lifecycle(DeviceLifecycle)
    /// The user's answer.
    case permission(isAllowed: Bool)
    /// Whether it is light.
    case light(Bool)
    /// How well the camera's odometry tracks.
    case tracking(Tracking)
    /// Whether a wall stands between the device and all others.
    case wall(Bool)
    /// Whether the device is in reach of the others.
    case reach(Bool)
    /// The device's sessions end.
    case end
    /// Whether the accessory is connected over Bluetooth.
    case connection(Bool)
  }

  /// How well the camera's odometry tracks.
  public enum Tracking: String, Hashable, Sendable, CaseIterable {
    /// There are no poses.
    case lost
    /// Poses drift faster.
    case limited
    /// Poses are good.
    case normal
  }

  /// An event.
  public struct Event: Hashable, Sendable {
    /// When it happens, seconds after the script began.
    public var seconds: Double
    /// Whom it concerns.
    public var subject: Subject
    /// What happens.
    public var action: Action
  }

  /// Why a text is no script.
  public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, counted from one.
    public var line: Int
    /// What is wrong, and what would be right.
    public var problem: String
    /// The line and the problem.
    public var description: String { "line \(line): \(problem)" }
  }

  /// The events, in the order of their times.
  public private(set) var events: [Event]

  /// The time of the last event, seconds.
  public var duration: Double { events.last?.seconds ?? 0 }

  /// Whether it answers the prompt for the permission to measure.
  var answersPrompt: Bool {
    events.contains { if case .permission = $0.action { true } else { false } }
  }

  /// Reads a script.
  ///
  /// - Parameter text: The text.
  /// - Throws: The first line that is no event.
  public init(_ text: String) throws(SyntaxError) {
    var events: [Event] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
      guard !words.isEmpty else { continue }
      do throws(Problem) {
        events.append(try Self.event(words))
      } catch {
        throw SyntaxError(line: index + 1, problem: error.text)
      }
    }
    // Events of one time keep their order.
    self.events = events.enumerated().sorted {
      ($0.element.seconds, $0.offset) < ($1.element.seconds, $1.offset)
    }.map(\.element)
  }

  /// Reads a script from a file.
  ///
  /// - Parameter path: The file's path.
  /// - Throws: When it cannot be read, or a line is no event; line 0 stands for the whole file.
  public init(contentsOf path: String) throws(SyntaxError) {
    guard let data = try? Data(contentsOf: URL(filePath: path)),
      let text = String(data: data, encoding: .utf8)
    else {
      throw SyntaxError(line: 0, problem: "\(path) cannot be read as text")
    }
    try self.init(text)
  }

  // MARK: A line

  private struct Problem: Error {
    var text: String
    init(_ text: String) { self.text = text }
  }

  private static let latest = 1e6

  private static func event(_ words: [String]) throws(Problem) -> Event {
    guard let seconds = Double(words[0]), seconds >= 0, seconds <= latest else {
      throw Problem("'\(words[0])' is no time; a line begins with seconds, as in '12.5 background'")
    }
    var rest = Array(words.dropFirst())
    let subject = rest.first.flatMap(subject)
    if subject != nil { rest.removeFirst() }
    guard let name = rest.first else {
      throw Problem("the event is missing, as 'background' in '\(words[0]) background'")
    }
    let action = try action(name, Array(rest.dropFirst()))
    return Event(seconds: seconds, subject: subject ?? .device(0), action: action)
  }

  private static func subject(_ word: String) -> Subject? {
    switch word {
    case "me": return .device(0)
    case "peer": return .device(1)
    case "accessory": return .accessory
    default:
      guard word.hasPrefix("peer"), let number = Int(word.dropFirst(4)), (1...9999).contains(number)
      else { return nil }
      return .device(number)
    }
  }

  private static func action(_ name: String, _ words: [String]) throws(Problem) -> Action {
    if let action = plain[name] {
      guard words.isEmpty else { throw Problem("'\(name)' stands alone, without '\(words[0])'") }
      return action
    }
    switch name {
    case "walk", "carry":
      let numbers = try numbers(words, 2...3, "\(name) RIGHT AHEAD [SPEED]")
      let speed = numbers.count > 2 ? numbers[2] : 1
      guard speed > 0, speed <= 20 else { throw Problem("a speed is above 0 and at most 20 m/s") }
      return .walk(right: numbers[0], ahead: numbers[1], speed: speed, turns: name == "walk")
    case "turn":
      return .turn(radians: try numbers(words, 1...1, "turn DEGREES")[0].degreesAsRadians)
    case "sweep":
      guard let way = words.first, way == "side" || way == "up" else {
        throw Problem("a sweep is 'sweep side SECONDS' or 'sweep up SECONDS'")
      }
      let seconds = try numbers(Array(words.dropFirst()), 1...1, "sweep \(way) SECONDS")[0]
      guard seconds > 0 else { throw Problem("a sweep lasts longer than 0 s") }
      return .sweep(isUp: way == "up", seconds: seconds)
    case "permission":
      switch words {
      case ["allow"]: return .permission(isAllowed: true)
      case ["deny"]: return .permission(isAllowed: false)
      default: throw Problem("an answer is 'permission allow' or 'permission deny'")
      }
    case "tracking":
      guard words.count == 1, let tracking = Tracking(rawValue: words[0]) else {
        throw Problem("tracking is 'tracking lost', 'tracking limited' or 'tracking normal'")
      }
      return .tracking(tracking)
    default:
      let names =
        (Array(plain.keys) + ["walk", "carry", "turn", "sweep", "permission", "tracking"])
        .sorted().joined(separator: ", ")
      throw Problem("'\(name)' is no event; there are \(names)")
    }
  }

  /// The events without arguments.
  private static let plain: [String: Action] = [
    "hold": .hold, "background": .lifecycle(.enteredBackground),
    "foreground": .lifecycle(.enteredForeground), "call": .lifecycle(.suspended),
    "hangup": .lifecycle(.suspensionEnded), "dark": .light(false), "light": .light(true),
    "wall": .wall(true), "unwall": .wall(false), "leave": .reach(false), "return": .reach(true),
    "end": .end, "disconnect": .connection(false), "connect": .connection(true),
  ]

  private static func numbers(
    _ words: [String], _ counts: ClosedRange<Int>, _ usage: String
  ) throws(Problem) -> [Double] {
    let numbers = words.compactMap(Double.init).filter { $0.isFinite && abs($0) <= latest }
    guard numbers.count == words.count, counts.contains(words.count) else {
      throw Problem("'\(words.joined(separator: " "))' does not fit '\(usage)'")
    }
    return numbers
  }
}
