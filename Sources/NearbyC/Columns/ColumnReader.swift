// SPDX-License-Identifier: Apache-2.0
import CNearby

/// Reads a column of the caller's where it lies.
///
/// The caller vouches for the memory.
@safe
struct ColumnReader {
  private let data: UnsafeRawPointer?
  private let stride: Int
  private let type: nearby_type

  /// Checks a column that may be missing.
  init(_ column: nearby_column, _ name: String) throws(Failure) {
    guard unsafe column.type.rawValue <= NEARBY_UINT8.rawValue else {
      throw unsafe Argument.notListed(column.type.rawValue, "\(name).type", "nearby_type")
    }
    unsafe data = column.data
    stride = unsafe Int(column.stride)
    type = unsafe column.type
  }

  var isThere: Bool { unsafe data != nil }
  var isFloat: Bool { type == NEARBY_FLOAT64 || type == NEARBY_FLOAT32 }

  /// A number; NaN without such a column.
  @inline(__always)
  func number(_ row: Int) -> Double {
    guard let place = unsafe data.map({ unsafe $0 + row &* stride }) else { return .nan }
    if type == NEARBY_FLOAT64 { return unsafe place.loadUnaligned(as: Double.self) }
    if type == NEARBY_FLOAT32 { return Double(unsafe place.loadUnaligned(as: Float.self)) }
    return Double(integer(row))
  }

  /// A number that was measured; `nil` when it is NaN.
  @inline(__always)
  func measured(_ row: Int) -> Double? {
    let value = number(row)
    return value.isNaN ? nil : value
  }

  /// An integer; zero without such a column, and for a float.
  @inline(__always)
  func integer(_ row: Int) -> Int64 {
    guard let place = unsafe data.map({ unsafe $0 + row &* stride }) else { return 0 }
    return switch type {
    case NEARBY_INT64: unsafe place.loadUnaligned(as: Int64.self)
    case NEARBY_INT32: Int64(unsafe place.loadUnaligned(as: Int32.self))
    case NEARBY_UINT32: Int64(unsafe place.loadUnaligned(as: UInt32.self))
    case NEARBY_INT16: Int64(unsafe place.loadUnaligned(as: Int16.self))
    case NEARBY_INT8: Int64(unsafe place.loadUnaligned(as: Int8.self))
    case NEARBY_UINT8: Int64(unsafe place.loadUnaligned(as: UInt8.self))
    default: 0
    }
  }
}
