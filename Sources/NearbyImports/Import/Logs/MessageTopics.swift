// SPDX-License-Identifier: Apache-2.0
import NearbyRecordings

/// The topics of a log, for messages that say what there is when a name is wrong.
struct MessageTopics {
  private struct Topic {
    var type: String
    var count = 0
  }

  private var topics: [String: Topic] = [:]

  /// Counts a message.
  mutating func count(_ topic: String, type: String) {
    topics[topic, default: Topic(type: type)].count += 1
  }

  /// The type of a topic's messages.
  func type(of topic: String) -> String { topics[topic]?.type ?? "" }

  /// Throws if a topic that was named has no message.
  func check(poses: String?, ranging: String?, file: String) throws(RecordingError) {
    for (option, name) in [("--pose-topic", poses), ("--range-topic", ranging)] {
      guard let name, topics[name] == nil else { continue }
      let likely = Array(topics.keys).sorted().likeliest(for: name)
      throw RecordingError(
        .missingValue, "there is no message of \(name)", file: file,
        remedy: "\(likely.map { "did you mean \($0)? " } ?? "")\(option) names one of \(list)")
    }
  }

  /// The error of a log without poses.
  func noPoses(file: String) -> RecordingError {
    RecordingError(
      .noSamples, "holds no poses", file: file,
      remedy: "name their topic with --pose-topic; there are \(list)")
  }

  /// All topics with their types, the commonest first.
  private var list: String {
    if topics.isEmpty { return "none" }
    let sorted = topics.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
    let shown = sorted.prefix(12).map {
      "\($0.key) (\($0.value.type.isEmpty ? "unknown type" : $0.value.type), \($0.value.count))"
    }
    return shown.joined(separator: ", ")
      + (sorted.count > shown.count ? " and \(sorted.count - shown.count) more" : "")
  }
}

extension MessageValue {
  /// The paths of the fields that hold values, at most sixteen.
  var fieldList: String {
    let paths = leaves("")
    return paths.prefix(16).joined(separator: ", ") + (paths.count > 16 ? ", ..." : "")
  }

  private func leaves(_ path: String) -> [String] {
    switch self {
    case .object(let members):
      // A time is one value.
      if members.count == 2, members.contains(where: { $0.key == "sec" || $0.key == "secs" }) {
        return [path]
      }
      return members.flatMap { $0.value.leaves(path.isEmpty ? $0.key : "\(path).\($0.key)") }
    case .list(let elements):
      guard let first = elements.first else { return ["\(path)[]"] }
      return first.leaves("\(path)[0]")
    default: return [path]
    }
  }
}
