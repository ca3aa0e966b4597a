// SPDX-License-Identifier: Apache-2.0

/// The colours of pictures: neutral ones, and Okabe and Ito's palette, one for each peer.
enum Ink {
  static let paper = "#ffffff"
  static let text = "#1d2126"
  static let soft = "#5b636d"
  static let rule = "#b9c0c7"
  static let grid = "#e6e9ec"
  static let estimate = palette[0]
  /// Colours that are told apart with any colour vision; after the last the first comes again.
  static let palette = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442",
  ]

  /// The colour of a peer by its number among all peers of the run, so that pictures of one run agree.
  static func peer(_ number: Int) -> String { palette[number % palette.count] }
}
