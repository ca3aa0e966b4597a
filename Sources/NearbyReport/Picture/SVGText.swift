// SPDX-License-Identifier: Apache-2.0
internal import NearbyRecordings

/// Writes SVG, with coordinates rounded to a tenth of a pixel.
struct SVGText {
  private(set) var text = OutputText()

  /// Starts a picture of a size in pixels.
  init(width: Double, height: Double, title: String) {
    text.append(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" ")
    text.append("width=\"\(Int(width))\" height=\"\(Int(height))\" role=\"img\" ")
    text.append("font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\">\n")
    text.append("<title>\(Self.escaped(title))</title>\n")
  }

  /// Ends the picture.
  mutating func end() { text.append("</svg>\n") }

  /// Writes an element with its content, if any, escaped.
  mutating func element(
    _ name: String, _ attributes: KeyValuePairs<String, String>, content: String? = nil
  ) {
    text.append("<\(name)")
    write(attributes)
    if let content {
      text.append(">\(Self.escaped(content))</\(name)>\n")
    } else {
      text.append("/>\n")
    }
  }

  /// Writes elements into a group.
  mutating func group(
    _ attributes: KeyValuePairs<String, String>, _ body: (inout SVGText) -> Void
  ) {
    text.append("<g")
    write(attributes)
    text.append(">\n")
    body(&self)
    text.append("</g>\n")
  }

  /// Defines a clipping rectangle.
  ///
  /// - Returns: The value of the attribute `clip-path` that refers to it.
  mutating func clip(_ name: String, _ frame: Chart.Frame) -> String {
    text.append("<clipPath id=\"\(name)\">")
    element(
      "rect",
      [
        "x": Self.number(frame.left), "y": Self.number(frame.top),
        "width": Self.number(frame.width), "height": Self.number(frame.height),
      ])
    text.append("</clipPath>\n")
    return "url(#\(name))"
  }

  /// Writes a path through points, which may have several pieces.
  mutating func path(
    _ pieces: [[(x: Double, y: Double)]], closed: Bool = false,
    _ attributes: KeyValuePairs<String, String>
  ) {
    let pieces = pieces.filter { !$0.isEmpty }
    guard !pieces.isEmpty else { return }
    text.append("<path d=\"")
    for piece in pieces {
      for (index, point) in piece.enumerated() {
        text.append(index == 0 ? "M" : "L")
        text.append(point.x, decimals: 1)
        text.append(" ")
        text.append(point.y, decimals: 1)
      }
      if closed { text.append("Z") }
    }
    text.append("\"")
    write(attributes)
    text.append("/>\n")
  }

  /// A coordinate as the value of an attribute.
  static func number(_ value: Double) -> String {
    var text = OutputText()
    text.append(value, decimals: 1)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  private mutating func write(_ attributes: KeyValuePairs<String, String>) {
    for (name, value) in attributes { text.append(" \(name)=\"\(Self.escaped(value))\"") }
  }

  /// Text escaped for XML.
  ///
  /// Characters that XML cannot hold become the replacement character.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\u{9}", "\u{A}", "\u{D}": result += " "
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
