// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The data of a report's page, read as its script reads them.
public struct ReportPageData {
  /// The JSON of the page.
  public let root: [String: Any]
  private let bytes: [UInt8]

  /// Reads a page; `nil` when it holds no data.
  public init?(page: String) {
    guard let json = Self.content(of: #"type="application/json" id="data">"#, in: page),
      let root = try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any],
      let text = Self.content(of: #"type="text/plain" id="numbers">"#, in: page),
      let data = Data(base64Encoded: text)
    else { return nil }
    self.root = root
    bytes = Array(data)
  }

  private static func content(of opening: String, in page: String) -> String? {
    guard let start = page.range(of: opening),
      let end = page.range(of: "</script>", range: start.upperBound..<page.endIndex)
    else { return nil }
    return String(page[start.upperBound..<end.lowerBound])
  }

  /// A peer of a run.
  public func track(run: Int = 0, _ index: Int = 0) -> [String: Any]? {
    guard let runs = root["runs"] as? [[String: Any]], runs.indices.contains(run),
      let tracks = runs[run]["tracks"] as? [[String: Any]], tracks.indices.contains(index)
    else { return nil }
    return tracks[index]
  }

  /// The columns of a table; `nil` stands for a missing number.
  public func columns(_ table: Any?) -> [String: [Double?]] {
    (table as? [String: [String: Any]] ?? [:]).mapValues(numbers)
  }

  private func numbers(_ place: [String: Any]) -> [Double?] {
    guard let type = place["type"] as? String, let at = place["at"] as? Int,
      let count = place["count"] as? Int
    else { return [] }
    func whole(_ index: Int, size: Int) -> Int {
      (0..<size).reduce(0) { $0 | Int(bytes[at + index * size + $1]) << (8 * $1) }
    }
    return (0..<count).map { index in
      switch type {
      case "f32":
        let value = Float(bitPattern: UInt32(whole(index, size: 4)))
        return value.isNaN ? nil : Double(value)
      case "f16":
        let value = Float16(bitPattern: UInt16(whole(index, size: 2)))
        return value.isNaN ? nil : Double(value)
      case "q16":
        let step = whole(index, size: 2)
        guard step < 65_535 else { return nil }
        return (place["offset"] as? Double ?? 0) + (place["step"] as? Double ?? 0) * Double(step)
      default:
        return bytes[at + index] == 255 ? nil : Double(bytes[at + index])
      }
    }
  }
}
