// SPDX-License-Identifier: Apache-2.0

/// The colours of pictures: neutral ones, and one of Okabe and Ito's palette for estimates.
enum Ink {
  static let paper = "#ffffff"
  static let text = "#1d2126"
  static let soft = "#5b636d"
  static let rule = "#b9c0c7"
  static let grid = "#e6e9ec"
  static let estimate = "#0072b2"
}
