// SPDX-License-Identifier: Apache-2.0
import Foundation
import NearbyGeometry
import Testing

@testable import NearbyFusion
@testable import NearbyRecordings

/// The table of kinds against what cannot be derived from it: C, Python and the pages.
@Suite("Table of kinds")
struct KindTableTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  @Test("each kind has columns and names of its own")
  func columns() {
    let kinds = MeasurementKind.allCases
    let columns = kinds.map(\.column) + kinds.map(\.sigmaColumn)
    #expect(Set(columns).count == 2 * kinds.count)
    #expect(Set(kinds.map(\.name)).count == kinds.count)
    #expect(Set(kinds.map(\.pluralName)).count == kinds.count)
    for kind in kinds {
      #expect(kind.sigmaColumn.name == "\(kind.column.name)_sigma")
      #expect(kind.column.unit == (kind.isAngle ? .radians : .metres))
      #expect(kind.sigmaColumn.unit == kind.column.unit)
      var row = RangingRow(timestamp: Timestamp(nanoseconds: 0), peer: "peer")
      row[kind] = (0.5, 0.25)
      let sample = row.sample(of: PeerID(index: 0))
      for other in kinds {
        #expect(sample[other].value == (other == kind ? 0.5 : nil), "\(kind), \(other)")
        #expect(sample[other].sigma == (other == kind ? 0.25 : nil), "\(kind), \(other)")
      }
    }
  }

  @Test(
    "C, Python and the pages have each kind's columns",
    arguments: [
      ("Sources/CNearby/include/nearby.h", ["double {};", "double {}_sigma;", "sample.{} ="]),
      ("Sources/CNearby/include/nearby.h", ["nearby_component {};", "columns.{} ="]),
      ("Sources/CNearby/include/nearby.h", ["columns.{}_sigma =", "sample.{}_sigma ="]),
      (
        "Sources/NearbyPython/src/core/core.cpp",
        ["column(\"{}\")", "column(\"{}_sigma\")", "arg(\"{}\")", "arg(\"{}_sigma\")"]
      ),
      ("Sources/NearbyC/Kinds.swift", ["measured(sample.{})", "measured(sample.{}_sigma)"]),
      ("Sources/NearbyPython/src/nearby/_core.pyi", ["{}: float", "{}_sigma: float"]),
      ("Sources/NearbyRecordings/NearbyRecordings.docc/RecordingFormat.md", ["{}", "{}_sigma"]),
      ("Sources/NearbyRecordings/NearbyRecordings.docc/JSONLines.md", ["{}"]),
    ])
  func interfaces(path: String, patterns: [String]) throws {
    let text = try Self.text(path)
    for kind in MeasurementKind.allCases {
      for pattern in patterns {
        let name = pattern.replacing("{}", with: kind.column.name)
        #expect(text.contains(name), "\(path): \(name)")
      }
    }
  }

  @Test("C reads each kind's columns, and reports each kind")
  func batches() throws {
    let text = try Self.text("Sources/NearbyC/Kinds.swift")
    for kind in MeasurementKind.allCases {
      for list in ["values", "sigmas"] { #expect(text.contains("\(list).\(kind).measured(row)")) }
      #expect(text.contains("nearby_component(report.\(kind))"))
    }
  }

  @Test("Python's columns are the kinds', in their order")
  func python() throws {
    let names = MeasurementKind.allCases.map { "\"\($0.column.name)\"" }.joined(separator: ", ")
    let text = try Self.text("Sources/NearbyPython/src/nearby/_inputs.py")
    #expect(text.contains("_MEASURED_COLUMNS = (\(names))"))
  }
}
