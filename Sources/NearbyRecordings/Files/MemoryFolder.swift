// SPDX-License-Identifier: Apache-2.0

/// A folder in memory, for recordings and results that are on no disk.
///
/// Wherever this package takes the path of a recording, of a result or of a file of them, it takes one below
/// ``path``. So what can be done with a folder on the disk can be done in memory, and the bytes are the same.
/// GDAL's `/vsimem/` is the model.
///
/// ```swift
/// let memory = MemoryFolder()
/// var walk = try RecordingWriter(path: memory.path("walk"), manifest: RecordingManifest(name: "walk"))
/// try walk.append(PoseRow(timestamp: time, worldFromDevice: pose))
/// try walk.append(RangingRow(timestamp: time, peer: "keys", distance: 3.2))
/// try walk.finish()
/// let outcome = try RecordingRun(folder: memory.path("walk")).write(into: memory.path("result"))
/// ```
///
/// Its files end with the last reference to it.
public final class MemoryFolder: Sendable {
  /// The path, which no other folder of the process has.
  public let path: String
  private let contents = Locked<[String: [UInt8]]>([:])

  private struct Reference { weak var folder: MemoryFolder? }
  private static let registry = Locked<(count: Int, folders: [Substring: Reference])>((0, [:]))
  private static let scheme = "memory:"

  /// Makes an empty folder.
  public init() {
    let number = Self.registry.withLock { registry in
      registry.count += 1
      return registry.count
    }
    path = "\(Self.scheme)\(number)"
    Self.registry.withLock { [path] in $0.folders[path[...]] = Reference(folder: self) }
  }

  deinit { Self.registry.withLock { [path] in $0.folders[path[...]] = nil } }

  /// The path of a file or folder in it.
  ///
  /// - Parameter name: Its path below this folder.
  /// - Returns: The whole path.
  public func path(_ name: String) -> String { "\(path)/\(name)" }

  /// The paths of its files below it, sorted.
  public var files: [String] { contents.withLock { $0.keys.sorted() } }

  /// A file's bytes.
  ///
  /// - Parameter file: Its path below this folder.
  /// - Returns: The bytes; `nil` when there is no such file.
  public func bytes(of file: String) -> [UInt8]? { contents.withLock { $0[file] } }

  /// Puts a file into it, in the place of another of that name.
  ///
  /// - Parameters:
  ///   - bytes: The file's bytes.
  ///   - file: Its path below this folder.
  public func put(_ bytes: [UInt8], as file: String) { contents.withLock { $0[file] = bytes } }
}

/// A file or a folder in a ``MemoryFolder``.
struct MemoryPlace: Sendable {
  /// The folder.
  let folder: MemoryFolder
  /// The path below it; empty for the folder itself.
  let name: String

  /// The place of a path; `nil` when that is on the disk.
  init?(_ path: String) {
    guard let place = MemoryFolder.place(of: path) else { return nil }
    self = place
  }

  fileprivate init(folder: MemoryFolder, name: String) { (self.folder, self.name) = (folder, name) }

  /// The whole path.
  var path: String { name.isEmpty ? folder.path : folder.path(name) }

  /// The file's bytes; `nil` when there is no such file.
  var bytes: [UInt8]? { folder.bytes(of: name) }

  /// Whether there is a file below it, or it is the folder itself.
  var isFolder: Bool { name.isEmpty || !files.isEmpty }

  /// The paths of the files below it.
  var files: [String] {
    let prefix = name.isEmpty ? "" : "\(name)/"
    return folder.files.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
  }

  /// A place below it.
  func appending(_ below: String) -> MemoryPlace {
    MemoryPlace(folder: folder, name: name.isEmpty ? below : "\(name)/\(below)")
  }

  /// Removes the file.
  func remove() { folder.move(name, to: nil) }
}

/// A file or folder in memory beside the one that it becomes when it is whole.
struct TemporaryPlace: ~Copyable {
  /// Where it is until then.
  let place: MemoryPlace

  /// Chooses a place that nothing else has.
  init(for target: MemoryPlace) {
    place = MemoryPlace(
      folder: target.folder, name: "\(target.name).\(MemoryFolder.nextNumber()).partial")
  }

  /// Appends to the file.
  func append(_ bytes: Span<UInt8>) { place.folder.append(bytes, to: place.name) }

  /// Moves a file to its target, in the place of another.
  func commit(file: String? = nil, to target: MemoryPlace) {
    place.folder.move(file.map { place.appending($0).name } ?? place.name, to: target.name)
  }

  deinit {
    place.remove()
    for file in place.files { place.appending(file).remove() }
  }
}

extension MemoryFolder {
  fileprivate static func place(of path: String) -> MemoryPlace? {
    // Performance: most paths are on the disk, and cost no lock.
    guard path.hasPrefix(scheme) else { return nil }
    let parts = path.split(separator: "/")
    guard let first = parts.first,
      let folder = registry.withLock({ $0.folders[first]?.folder })
    else { return nil }
    return MemoryPlace(folder: folder, name: parts.dropFirst().joined(separator: "/"))
  }

  fileprivate static func nextNumber() -> Int {
    registry.withLock { registry in
      registry.count += 1
      return registry.count
    }
  }

  fileprivate func append(_ bytes: Span<UInt8>, to file: String) {
    contents.withLock { contents in
      unsafe bytes.withUnsafeBufferPointer {
        unsafe contents[file, default: []].append(contentsOf: $0)
      }
    }
  }

  fileprivate func move(_ file: String, to other: String?) {
    contents.withLock { contents in
      guard let bytes = contents.removeValue(forKey: file) else { return }
      if let other { contents[other] = bytes }
    }
  }
}
