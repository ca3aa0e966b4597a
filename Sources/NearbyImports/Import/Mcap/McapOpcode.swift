// SPDX-License-Identifier: Apache-2.0

/// The kinds of records in an MCAP file, by their first byte.
enum McapOpcode {
  static let header: UInt8 = 1
  static let footer: UInt8 = 2
  static let schema: UInt8 = 3
  static let channel: UInt8 = 4
  static let message: UInt8 = 5
  static let chunk: UInt8 = 6
  static let messageIndex: UInt8 = 7
  static let chunkIndex: UInt8 = 8
  static let statistics: UInt8 = 11
  static let summaryOffset: UInt8 = 14
  static let dataEnd: UInt8 = 15
}
