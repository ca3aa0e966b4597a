// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc
internal import NearbyRecordings

/// The build of the engine in this process: its results are kept only for the build that made them.
///
/// Two builds of one version may differ: by a change that is not released yet, or by the compiler.
enum EngineBuild {
  /// The linker's build identifier of the file that holds this code, or else the file's digest; empty where
  /// the system does not name the file.
  static let identity: String = {
    guard let path = path else { return "" }
    return buildIdentifier(ofFile: path) ?? (try? ContentDigest(ofFile: path))?.description ?? ""
  }()

  /// The program, or the library, that holds this code.
  private static var path: String? {
    guard let maps = try? FileBytes.read(path: "/proc/self/maps") else { return nil }
    let address = UInt(bitPattern: #dsohandle)
    for line in maps.split(separator: UInt8(ascii: "\n")) {
      // START-END PERMISSIONS OFFSET DEVICE INODE PATH
      let fields = String(decoding: line, as: UTF8.self)
        .split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
      let range = fields.first?.split(separator: "-").map { UInt($0, radix: 16) } ?? []
      guard fields.count == 6, range.count == 2, let start = range[0], let end = range[1],
        start <= address, address < end
      else { continue }
      let path = String(fields[5].drop { $0 == " " })
      // This path works even if the program's file was replaced since.
      let program = "/proc/self/exe"
      let isProgram = (try? FileManager.default.destinationOfSymbolicLink(atPath: program)) == path
      return isProgram ? program : path
    }
    return nil
  }

  /// The identifier in the notes of an ELF file; `nil` when it has none.
  ///
  /// - Parameter path: The file's path.
  /// - Returns: Hexadecimal digits.
  static func buildIdentifier(ofFile path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let header = bytes(64, at: 0, of: descriptor)
    guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]), header.count == 64 else {
      return nil
    }
    let (start, size, count) = (number(header, 32, 8), number(header, 54, 2), number(header, 56, 2))
    for index in 0..<count {
      let entry = bytes(56, at: start &+ index &* size, of: descriptor)
      let isNote = entry.count == 56 && number(entry, 0, 4) == 4
      guard isNote, number(entry, 32, 8) < 1 << 16 else { continue }
      let notes = bytes(number(entry, 32, 8), at: number(entry, 8, 8), of: descriptor)
      if let found = buildIdentifier(inNotes: notes) { return found }
    }
    return nil
  }

  /// Each note has the length of its name, that of its content, and its kind, then both, in fours of bytes.
  private static func buildIdentifier(inNotes notes: [UInt8]) -> String? {
    var place = 0
    while place + 12 <= notes.count {
      let (name, content) = (number(notes, place, 4), number(notes, place + 4, 4))
      let kind = number(notes, place + 8, 4)
      let begin = place + 12 + (name + 3) / 4 * 4
      guard begin + content <= notes.count else { return nil }
      if kind == 3, notes[(place + 12)...].starts(with: [0x47, 0x4E, 0x55, 0]) {
        let digits = Array("0123456789abcdef")
        return String(
          notes[begin..<begin + content].flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
      }
      place = begin + (content + 3) / 4 * 4
    }
    return nil
  }

  /// Bytes of a file; fewer at its end.
  private static func bytes(_ count: Int, at place: Int, of descriptor: CInt) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = max(0, unsafe pread(descriptor, buffer.baseAddress, count, place))
    }
  }

  /// A number of up to eight bytes, the lowest first; those beyond 2⁶² do not occur.
  private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
    bytes[place..<place + count].reversed().reduce(0) { ($0 & (Int.max >> 9)) << 8 | Int($1) }
  }
}
