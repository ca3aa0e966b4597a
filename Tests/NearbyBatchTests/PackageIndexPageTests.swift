// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import NearbyBatch

@Suite("Page of a package index")
struct PackageIndexPageTests {
  private func archive(_ text: String, version: String = "1.2") throws -> String? {
    let data = Data(#"{ "name": "Big_walk", "version": "\#(version)", "isSource": true }"#.utf8)
    let package = try JSONDecoder().decode(Dataset.Package.self, from: data)
    let address = try #require(PackageIndexPage.address(in: "https://a.b/simple", of: "Big_walk"))
    #expect(address.absoluteString == "https://a.b/simple/big-walk/")
    return PackageIndexPage(address: address, text: text).sourceArchive(of: package)
  }

  @Test("the archive of the version is found, wherever it is")
  func found() throws {
    let page = """
      <!DOCTYPE html><html><body><h1>Links</h1><a>none</a>
      <a href="../../files/big_walk-1.2-py3-none-any.whl#sha256=0">wheel</a><br/>
      <a href="../../files/big_walk-1.20.tar.gz">later</a>
      <A data-requires-python="&gt;=3" HREF='../../files/big.walk-1.2.tar.gz#sha256=0'>source</A>
      <a href="https://c.d/Big-Walk-1.3.tar.gz?x=1&amp;y=2">other</a>
      """
    #expect(try archive(page) == "https://a.b/files/big.walk-1.2.tar.gz")
    #expect(try archive(page, version: "1.3") == "https://c.d/Big-Walk-1.3.tar.gz?x=1&y=2")
    #expect(try archive(page, version: "1.4") == nil)
  }

  @Test(
    "archives that are not behind https are none",
    arguments: [
      "file:///big-walk-1.2.tar.gz", "http://a.b/big-walk-1.2.tar.gz", "--output/big-walk-1.2.tgz",
      "ftp://a.b/big-walk-1.2.tar.gz", "",
    ])
  func refused(link: String) throws { #expect(try archive("<a href=\"\(link)\">x</a>") == nil) }
}
