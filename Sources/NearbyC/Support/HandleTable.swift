// SPDX-License-Identifier: Apache-2.0
import CNearby
import NearbyRecordings
import Synchronization

/// The objects of one kind that callers hold handles of.
///
/// A handle is a number in the shape of a pointer. It is never used twice and never an address, so that
/// one that was destroyed, or that never was one, is recognised.
final class HandleTable<Object: AnyObject & Sendable>: Sendable {
  /// The kind's name, for errors.
  private let name: String
  private let contents: Locked<Contents>

  private struct Contents {
    var objects: [UInt: Object] = [:]
    var next: UInt
  }

  /// The handles of a kind differ in their lowest four bits from those of all others.
  private static var step: UInt { 16 }

  /// Makes an empty table.
  ///
  /// - Parameters:
  ///   - name: What an object is called in errors.
  ///   - kind: The number of the kind, 1 to 15.
  init(_ name: String, kind: UInt) {
    self.name = name
    contents = Locked(Contents(next: Self.step + kind))
  }

  /// Takes in an object and returns its handle.
  func insert(_ object: Object) -> OpaquePointer? {
    unsafe contents.withLock { contents in
      let key = contents.next
      contents.next += Self.step
      contents.objects[key] = object
      return unsafe OpaquePointer(bitPattern: key)
    }
  }

  /// The object of a handle.
  @inline(__always)
  func object(of handle: OpaquePointer?) throws(Failure) -> Object {
    let key = UInt(bitPattern: handle)
    guard let object = contents.withLock({ $0.objects[key] }) else { throw unknown(key) }
    return object
  }

  /// Forgets the object of a handle; null is ignored.
  func remove(_ handle: OpaquePointer?) throws(Failure) {
    let key = UInt(bitPattern: handle)
    guard key != 0 else { return }
    // The object is destroyed after the lock is released.
    let object = contents.withLock { $0.objects.removeValue(forKey: key) }
    if object == nil { throw unknown(key) }
  }

  private func unknown(_ key: UInt) -> Failure {
    Failure(
      NEARBY_INVALID_HANDLE, code: "invalidHandle",
      key == 0 ? "the \(name) is null" : "there is no such \(name)",
      remedy: "pass a handle that was created and not yet destroyed")
  }
}

/// A value behind a handle, which one call at a time uses.
final class Shared<Value: Sendable>: Sendable {
  private let value: Locked<Value>
  /// Whether the call that is under way was asked to end.
  let wasInterrupted = Atomic(false)

  init(_ value: Value) { self.value = Locked(value) }

  @inline(__always)
  func use<Result>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
    try value.withLock(body)
  }
}

let engines = HandleTable<Shared<EngineState>>("engine", kind: 1)
let smoothers = HandleTable<Shared<SmootherState>>("smoother", kind: 2)
let recordings = HandleTable<Shared<RecordingReader>>("recording", kind: 3)
let locators = HandleTable<Shared<LocatorState>>("locator", kind: 4)
