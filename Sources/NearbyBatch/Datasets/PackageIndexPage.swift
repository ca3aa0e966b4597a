// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// The page of a Python package in an index: links to its archives (PEP 503).
struct PackageIndexPage {
  /// The address of the page.
  let address: URL
  /// Its text.
  let text: String

  /// The address of a package's page.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - name: The package's name.
  /// - Returns: The address; `nil` when the index is not a valid address.
  static func address(in index: String, of name: String) -> URL? {
    URL(string: "\(index.hasSuffix("/") ? index : index + "/")\(normalized(name))/")
  }

  /// The address of the source archive of a version.
  ///
  /// - Parameter package: The package.
  /// - Returns: An https address; `nil` when the page links to none.
  func sourceArchive(of package: Dataset.Package) -> String? {
    let ending = ".tar.gz"
    let wanted = Self.normalized("\(package.name)-\(package.version)")
    for link in links {
      guard let url = URL(string: link, relativeTo: address)?.absoluteURL,
        url.lastPathComponent.hasSuffix(ending),
        Self.normalized(String(url.lastPathComponent.dropLast(ending.count))) == wanted
      else { continue }
      let archive = String(url.absoluteString.prefix { $0 != "#" })
      if Dataset.isAddress(archive) { return archive }
    }
    return nil
  }

  /// What the anchors of the page refer to.
  private var links: [String] {
    text.split(separator: "<").compactMap { piece -> String? in
      let tag = piece.prefix { $0 != ">" }
      guard let name = tag.split(whereSeparator: \.isWhitespace).first, name.lowercased() == "a",
        let start = tag.indices.first(where: { tag[$0...].prefix(5).lowercased() == "href=" })
      else { return nil }
      let value = tag[start...].dropFirst(5)
      guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
      return String(value.dropFirst().prefix { $0 != quote }).replacing("&amp;", with: "&")
    }
  }

  /// The normal form for comparing names: lower case, with dashes only.
  private static func normalized(_ name: String) -> String {
    name.lowercased().split { $0 == "-" || $0 == "_" || $0 == "." }.joined(separator: "-")
  }
}
