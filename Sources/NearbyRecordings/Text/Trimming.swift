// SPDX-License-Identifier: Apache-2.0

extension Substring {
  /// The text without blanks and line ends before and after it.
  package var trimmed: Substring {
    var text = self
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
