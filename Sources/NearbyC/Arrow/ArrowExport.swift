// SPDX-License-Identifier: Apache-2.0
import CNearby
import Glibc

/// Hands a table over by Arrow's C data interface.
///
/// Each structure owns what it points to and frees it in its `release`, so that readers may move a
/// column out of the table, as the interface allows.
enum ArrowExport {
  /// Fills in the structures of the caller with a struct array.
  ///
  /// - Parameters:
  ///   - columns: The columns, equally long; they are empty afterwards.
  ///   - metadata: Texts about the table.
  ///   - schema: Becomes the type.
  ///   - array: Becomes the values.
  static func write(
    _ columns: [ArrowColumn], metadata: [(String, String)] = [],
    schema: UnsafeMutablePointer<ArrowSchema>, array: UnsafeMutablePointer<ArrowArray>
  ) {
    let count = columns.first?.count ?? 0
    let types = unsafe columns.map { column in
      let type = UnsafeMutablePointer<ArrowSchema>.allocate(capacity: 1)
      let isWords = column.kind == .words
      unsafe type.initialize(
        to: self.schema(
          column.kind.format, column.name, column.unit.map { [("unit", $0)] } ?? [],
          dictionary: isWords ? boxed(self.schema("u", "", [])) : nil))
      return unsafe type
    }
    let values = unsafe columns.map { column in
      let words = column.kind == .words ? column.words : nil
      return unsafe boxed(
        self.array(
          column.count, nulls: column.nullCount, column.take(),
          dictionary: words.map { unsafe boxed(texts($0)) }))
    }
    unsafe schema.initialize(to: self.schema("+s", "", metadata, children: types))
    unsafe array.initialize(to: self.array(count, nulls: 0, [nil], children: values))
  }

  private static func boxed<Value>(_ value: Value) -> UnsafeMutablePointer<Value> {
    let box = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    unsafe box.initialize(to: value)
    return unsafe box
  }

  private static func block<Value>(_ values: [Value]) -> UnsafeMutablePointer<Value>? {
    let block = UnsafeMutablePointer<Value>.allocate(capacity: max(1, values.count))
    for (index, value) in values.enumerated() { unsafe (block + index).initialize(to: value) }
    return unsafe block
  }

  // MARK: Types

  private static func schema(
    _ format: String, _ name: String, _ metadata: [(String, String)],
    children: [UnsafeMutablePointer<ArrowSchema>] = unsafe [],
    dictionary: UnsafeMutablePointer<ArrowSchema>? = nil
  ) -> ArrowSchema {
    unsafe ArrowSchema(
      format: CText.copy(format), name: CText.copy(name), metadata: encoded(metadata),
      flags: Int64(ARROW_FLAG_NULLABLE), n_children: Int64(children.count),
      children: block(children.map(Optional.some)), dictionary: dictionary,
      release: { unsafe ArrowExport.release($0) }, private_data: nil)
  }

  private static func release(_ schema: UnsafeMutablePointer<ArrowSchema>?) {
    guard let schema = unsafe schema, unsafe schema.pointee.release != nil else { return }
    for index in unsafe 0..<Int(schema.pointee.n_children) {
      guard let child = unsafe schema.pointee.children?[index] else { continue }
      unsafe child.pointee.release?(child)
      unsafe child.deallocate()
    }
    if let dictionary = unsafe schema.pointee.dictionary {
      unsafe dictionary.pointee.release?(dictionary)
      unsafe dictionary.deallocate()
    }
    unsafe schema.pointee.children?.deallocate()
    unsafe free(UnsafeMutablePointer(mutating: schema.pointee.format))
    unsafe free(UnsafeMutablePointer(mutating: schema.pointee.name))
    unsafe free(UnsafeMutablePointer(mutating: schema.pointee.metadata))
    unsafe schema.pointee.release = nil
  }

  /// Pairs as the interface encodes them: counts of 32 bits, texts without an end.
  private static func encoded(_ pairs: [(String, String)]) -> UnsafePointer<CChar>? {
    guard !pairs.isEmpty else { return nil }
    var bytes: [UInt8] = []
    func append(_ count: Int) {
      var number = Int32(truncatingIfNeeded: count)
      unsafe withUnsafeBytes(of: &number) { unsafe bytes.append(contentsOf: $0) }
    }
    append(pairs.count)
    for text in pairs.flatMap({ [$0.0, $0.1] }) {
      append(text.utf8.count)
      bytes.append(contentsOf: text.utf8)
    }
    let memory = unsafe malloc(bytes.count)
    unsafe bytes.withUnsafeBytes { source in
      if let start = source.baseAddress {
        unsafe memory?.copyMemory(from: start, byteCount: source.count)
      }
    }
    return unsafe memory.map { unsafe UnsafePointer($0.assumingMemoryBound(to: CChar.self)) }
  }

  // MARK: Values

  private static func array(
    _ count: Int, nulls: Int, _ buffers: [UnsafeMutableRawPointer?],
    children: [UnsafeMutablePointer<ArrowArray>] = unsafe [],
    dictionary: UnsafeMutablePointer<ArrowArray>? = nil
  ) -> ArrowArray {
    unsafe ArrowArray(
      length: Int64(count), null_count: Int64(nulls), offset: 0, n_buffers: Int64(buffers.count),
      n_children: Int64(children.count), buffers: block(buffers.map { UnsafeRawPointer($0) }),
      children: block(children.map(Optional.some)), dictionary: dictionary,
      release: { unsafe ArrowExport.release($0) }, private_data: nil)
  }

  /// A dictionary's texts.
  private static func texts(_ words: [String]) -> ArrowArray {
    var offsets = ColumnStorage()
    var bytes = ColumnStorage()
    offsets.append(Int32(0))
    for word in words {
      for byte in word.utf8 { bytes.append(byte) }
      offsets.append(Int32(truncatingIfNeeded: bytes.byteCount))
    }
    return unsafe array(words.count, nulls: 0, [nil, offsets.take(), bytes.take()])
  }

  private static func release(_ array: UnsafeMutablePointer<ArrowArray>?) {
    guard let array = unsafe array, unsafe array.pointee.release != nil else { return }
    for index in unsafe 0..<Int(array.pointee.n_children) {
      guard let child = unsafe array.pointee.children?[index] else { continue }
      unsafe child.pointee.release?(child)
      unsafe child.deallocate()
    }
    if let dictionary = unsafe array.pointee.dictionary {
      unsafe dictionary.pointee.release?(dictionary)
      unsafe dictionary.deallocate()
    }
    for index in unsafe 0..<Int(array.pointee.n_buffers) {
      unsafe array.pointee.buffers?[index]?.deallocate()
    }
    unsafe array.pointee.buffers?.deallocate()
    unsafe array.pointee.children?.deallocate()
    unsafe array.pointee.release = nil
  }
}
