// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Simulated devices around a phone that the keys steer.
///
///     nearby-devices [COUNT]                a full-screen view
///     nearby-devices COUNT --keys wwaaxx    the same keys without a terminal, half a second each
// If the reader of the output ends, this program ends silently, even if the parent ignores the
// signal.
signal(SIGPIPE, SIG_DFL)
let arguments = Array(CommandLine.arguments.dropFirst())
let usage = "usage: nearby-devices [COUNT] [--keys KEYS]\n\(Steering.help)"
var count = 3
var keys: String?
var index = 0
if arguments == ["--help"] || arguments == ["-h"] {
  Output.print(usage)
  exit(0)
}
while index < arguments.count {
  if arguments[index] == "--keys", index + 1 < arguments.count {
    keys = arguments[index + 1]
    index += 1
  } else if let number = Int(arguments[index]), (1...16).contains(number) {
    count = number
  } else {
    Output.say(usage)
    exit(EX_USAGE)
  }
  index += 1
}

let step = 1.0 / 30

if let keys {
  let room = Room(count: count, seed: 1)
  for key in keys {
    room.press(key)
    for _ in 0..<15 { room.advance(bySeconds: step) }
    Output.print("[\(key)]")
    for line in room.lines { Output.print(line) }
  }
  exit(0)
}

guard let terminal = Terminal() else {
  Output.say(
    "nearby-devices: needs a terminal for its full-screen view; with --keys it writes to a pipe")
  exit(EX_USAGE)
}
let room = Room(count: count, seed: 1)
var screen = Screen()
var isRunning = true
while isRunning {
  let end = Date().addingTimeInterval(step)
  let size = terminal.size
  func turn(_ pages: Int) {
    screen.turn(pages: pages, of: count, rows: size.rows, columns: size.columns)
  }
  while let key = terminal.key() {
    switch key {
    case .character("q"): isRunning = false
    case .pageDown, .character("n"): turn(1)
    case .pageUp, .character("p"): turn(-1)
    case .up: room.press("w")
    case .down: room.press("s")
    case .left: room.press("a")
    case .right: room.press("d")
    case .character(let character): room.press(character)
    }
  }
  room.advance(bySeconds: step)
  terminal.show(screen.lines(room.lines, rows: size.rows, columns: size.columns))
  while let request = terminal.wait(end.timeIntervalSinceNow) {
    switch request {
    case .end(let signal): terminal.end(by: signal)
    case .stop: terminal.stop()
    case .redraw: terminal.take()
    }
  }
}
terminal.restore()
