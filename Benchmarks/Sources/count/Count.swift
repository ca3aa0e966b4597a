// SPDX-License-Identifier: Apache-2.0
import CAllocationCounter
import CMeasuredRegion
import Foundation
import Workloads

/// Counts instructions and allocations, which are the same on every run.
///
/// `run` and `floor` are for callgrind, which counts the instructions within `measured_region`.
@main
enum Count {
  static func main() {
    do { try run() } catch { fail("\(error)") }
  }

  private static func run() throws {
    let arguments = CommandLine.arguments.dropFirst()
    let counted = Catalogue.all.filter { $0.countedBatches != nil }
    switch (arguments.first, arguments.count) {
    case ("list", 1):
      for entry in counted { print(entry.name) }
    case ("allocations", 2):
      let chosen = try Regex(arguments[2])
      for entry in counted where entry.name.contains(chosen) {
        let (allocations, operations) = try measure(entry)
        print(entry.name, allocations, operations, entry.hasFloor ? "floor" : "-")
      }
    case ("run", 2), ("floor", 2):
      guard let entry = counted.first(where: { $0.name == arguments[2] }) else {
        fail("there is no workload \(arguments[2]); `count list` prints them")
      }
      print(try measure(entry, floor: arguments.first == "floor").operations)
    default:
      fail("usage: count list | allocations REGEX | run NAME | floor NAME")
    }
  }

  /// Runs the workload's batches after one batch that is not counted, so that first-time work is
  /// excluded.
  private static func measure(
    _ entry: Catalogue.Entry, floor: Bool = false
  ) throws -> (allocations: Int64, operations: Int) {
    let subject = Subject(try entry.make(), measuresFloor: floor)
    try subject.workload.prepare()
    subject.workload.run()
    subject.workload.runFloor()
    for _ in 0..<(entry.countedBatches ?? 0) {
      try subject.workload.prepare()
      // Runs the other one as well, because the check needs both results.
      if floor { subject.workload.run() } else { subject.workload.runFloor() }
      subject.measure()
      try subject.workload.check()
    }
    return (subject.allocations, subject.operations)
  }

  private static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(64)
  }
}

/// A workload that C code can reach.
private final class Subject {
  var workload: any Workload
  private(set) var allocations: Int64 = 0
  private(set) var operations = 0

  private let measuresFloor: Bool

  init(_ workload: any Workload, measuresFloor: Bool) {
    self.workload = workload
    self.measuresFloor = measuresFloor
  }

  func run() { if measuresFloor { workload.runFloor() } else { workload.run() } }

  func measure() {
    let before = allocation_count()
    unsafe measured_region(
      { context in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<Subject>.fromOpaque(context).takeUnretainedValue().run()
      }, Unmanaged.passUnretained(self).toOpaque())
    allocations += allocation_count() - before
    operations += workload.operations
  }
}
