// SPDX-License-Identifier: Apache-2.0
internal import NearbyReport

/// The page's files, which are part of the program.
package enum LivePage {
  /// A file.
  package enum File: String, Hashable, Sendable, CaseIterable {
    /// The page.
    case page = "live.html"
    /// Its style.
    case style = "live.css"
    /// Its script.
    case script = "live.js"
    /// What draws its map.
    case map = "map.js"

    /// What it holds.
    package var bytes: [UInt8] {
      switch self {
      case .page: PackageResources.live_html
      case .style: PackageResources.live_css
      case .script: PackageResources.live_js
      case .map: PageParts.map
      }
    }

    /// Its `Content-Type`.
    package var contentType: String {
      switch self {
      case .page: "text/html; charset=utf-8"
      case .style: "text/css; charset=utf-8"
      case .script, .map: "text/javascript; charset=utf-8"
      }
    }
  }

  /// The headers of every response: no content of other origins, no referrer, no framing.
  package static let headers = [
    "Content-Security-Policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
      + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  ]
}
