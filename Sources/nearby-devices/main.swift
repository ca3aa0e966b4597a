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

let room = Room(count: count, seed: 1)
let step = 1.0 / 30

if let keys {
  for key in keys {
    room.press(key)
    for _ in 0..<15 { room.advance(bySeconds: step) }
    Output.print("[\(key)]")
    for line in room.lines { Output.print(line) }
  }
  exit(0)
}

let terminal = Terminal()
var isRunning = true
while isRunning {
  let end = Date().addingTimeInterval(step)
  while let key = terminal.key() {
    // The second is control-C, after which the terminal must be restored.
    if key == "z" || key == "\u{3}" { isRunning = false } else { room.press(key) }
  }
  room.advance(bySeconds: step)
  terminal.show(["Nearby devices", ""] + room.lines + ["", Steering.help])
  let rest = end.timeIntervalSinceNow
  if rest > 0 { Thread.sleep(forTimeInterval: rest) }
}
terminal.restore()
