// SPDX-License-Identifier: Apache-2.0

/// The orientation of an app's interface, of UIKit on phones.
public enum UIInterfaceOrientation: Int, Hashable, Sendable, CaseIterable {
  /// Not known. Views are taken for those of ``landscapeRight``, the camera's own.
  case unknown = 0
  /// The home button is at the bottom.
  case portrait = 1
  /// The home button is at the top.
  case portraitUpsideDown = 2
  /// The home button is at the right.
  case landscapeRight = 3
  /// The home button is at the left.
  case landscapeLeft = 4

  /// Whether the interface is higher than wide.
  public var isPortrait: Bool { self == .portrait || self == .portraitUpsideDown }
  /// Whether the interface is wider than high.
  public var isLandscape: Bool { self == .landscapeLeft || self == .landscapeRight }
}
