// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import NearbyGeometry

/// A buffer of text for a file, which prints numbers without allocating.
///
/// Clear it with ``removeAll()`` after each use; it keeps its storage.
public struct OutputText: Sendable {
  /// The text in its first ``count`` bytes, followed by spare capacity.
  private var storage: [UInt8] = []
  /// How many bytes the text has.
  private(set) var count = 0
  /// The offset of the first number that is infinite or NaN.
  ///
  /// Such a text is not written to a file.
  private var firstNonFinite: Int?

  /// Makes an empty text.
  public init() {}

  /// The text in UTF-8.
  ///
  /// Costs a copy.
  public var bytes: [UInt8] { Array(storage[..<count]) }

  /// Calls a function with the text, without copying it.
  func withSpan<Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    try body(storage.span.extracting(first: count))
  }

  /// Empties the text and keeps its storage.
  public mutating func removeAll() {
    count = 0
    firstNonFinite = nil
  }

  /// Removes everything after the first `count` bytes.
  mutating func truncate(to count: Int) {
    self.count = min(count, self.count)
    if let place = firstNonFinite, place >= count { firstNonFinite = nil }
  }

  /// Throws if the text has a number that is infinite or NaN.
  ///
  /// Every file is checked here before writing.
  ///
  /// - Parameters:
  ///   - file: The path of the file that the text is for.
  ///   - number: The number of the line in the file, when it is known.
  /// - Throws: `notFinite`, with the line that holds the number.
  package func checkIsFinite(for file: String, line number: Int? = nil) throws(RecordingError) {
    guard let place = firstNonFinite else { return }
    let text = storage[..<count]
    let start = text[..<place].lastIndex(of: .lf).map { $0 + 1 } ?? 0
    let end = text[place...].firstIndex(of: .lf) ?? count
    let line = String(decoding: text[start..<end], as: UTF8.self)
    throw RecordingError(
      .notFinite, "a number of \"\(line.printable(limit: 120))\" is not finite", file: file,
      line: number, remedy: "look for values in the input that are too large")
  }

  /// Appends text.
  public mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      reserve(utf8.count)
      unsafe storage.withUnsafeMutableBytes { room in
        guard let source = utf8.baseAddress, let target = room.baseAddress else { return }
        unsafe (target + count).copyMemory(from: source, byteCount: utf8.count)
      }
      count += utf8.count
    }
  }

  /// Appends an ASCII character.
  @inline(__always)
  package mutating func append(byte: UInt8) {
    reserve(1)
    let end = count
    count &+= 1
    var room = storage.mutableSpan
    unsafe room[unchecked: end] = byte
  }

  /// Appends a whole number.
  public mutating func append(_ number: Int) {
    if number < 0 { append(byte: .minus) }
    appendDigits(UInt64(number.magnitude))
  }

  /// Appends a timestamp in seconds, exact to the nanosecond: six to nine decimals.
  ///
  /// - Parameter moment: The moment.
  public mutating func append(_ moment: Timestamp) { append(moment, decimals: 6) }

  /// Appends a timestamp in seconds, exact to the nanosecond, with at least `least` decimals.
  package mutating func append(_ moment: Timestamp, decimals least: Int) {
    if moment.nanoseconds < 0 { append(byte: .minus) }
    let (seconds, rest) = moment.nanoseconds.magnitude.quotientAndRemainder(
      dividingBy: 1_000_000_000)
    appendDigits(seconds)
    appendFraction(rest, digits: 9, keepingAtLeast: least)
  }

  /// Appends a number rounded to some decimals, without trailing zeros.
  ///
  /// Numbers too large for an exact result are printed as Swift describes them. So are infinities
  /// and `nan`; a text that holds them is not written to a file.
  ///
  /// - Parameters:
  ///   - number: The number.
  ///   - decimals: How many decimals at most, 0 to 15.
  public mutating func append(_ number: Double, decimals: Int) {
    precondition((0...15).contains(decimals), "decimals must be 0 to 15")
    let scaled = number.magnitude * powersOfTen[decimals]
    // The comparison is false for NaN.
    guard scaled < Self.largestWhole else { return appendDescription(of: number) }
    append(Self.rounded(scaled), decimals: decimals, isNegative: number < 0)
  }

  /// Appends a measured value in the format of ``append(_:decimals:)``.
  ///
  /// Infinities and `nan` are valid here, because a sensor reported them.
  mutating func append(measured number: Double, decimals: Int) {
    if number.isFinite { append(number, decimals: decimals) } else { append(number.description) }
  }

  /// Appends a number rounded to some significant digits, without trailing zeros.
  ///
  /// - Parameters:
  ///   - number: The number.
  ///   - significantDigits: How many digits, 1 to 15.
  public mutating func append(_ number: Double, significantDigits: Int) {
    precondition((1...15).contains(significantDigits), "significant digits must be 1 to 15")
    let magnitude = number.magnitude
    guard number != 0 else { return append(byte: .zero) }
    guard magnitude >= 1e-300, magnitude.isFinite else {
      return appendDescription(of: number)
    }
    let exponent = Self.decimalExponent(of: magnitude)
    guard (-5..<15).contains(exponent) else {
      append(number / pow(10, Double(exponent)), significantDigits: significantDigits)
      append(byte: UInt8(ascii: "e"))
      return append(exponent)
    }
    let decimals = significantDigits - 1 - exponent
    if decimals >= 0 {
      // At most 15 - 1 + 5 decimals: both factors are exact powers of ten.
      let first = min(decimals, 15)
      let scaled = magnitude * powersOfTen[first] * powersOfTen[decimals - first]
      append(Self.rounded(scaled), decimals: decimals, isNegative: number < 0)
    } else {
      let unit = powersOfTen[-decimals]
      append((number / unit).rounded() * unit, decimals: 0)
    }
  }
}

extension OutputText {
  /// 2⁵³: doubles represent all integers up to this one.
  private static let largestWhole = 0x1p53

  /// A number from zero to 2⁵³ rounded to the nearest integer, halves up.
  ///
  /// Performance: no call of `round`.
  @inline(__always)
  private static func rounded(_ number: Double) -> UInt64 {
    let whole = UInt64(bitPattern: Int64(number))
    // The difference is exact. Performance: no branch, since half of the numbers are rounded up.
    return whole &+ (number - Double(Int64(bitPattern: whole)) >= 0.5 ? 1 : 0)
  }

  /// The decimal exponent of a positive number, `⌊log10 x⌋` with the logarithm as the system rounds
  /// it.
  @inline(__always)
  private static func decimalExponent(of magnitude: Double) -> Int {
    guard 1e-5 <= magnitude, magnitude < 1e15 else { return systemExponent(of: magnitude) }
    // 1233 / 4096 is slightly below log10 2: the result is correct or one too small.
    var exponent = ((Int(magnitude.bitPattern &>> 52) &- 1023) &* 1233) &>> 12
    if magnitude >= bounds[exponent + 1 - leastExponent] { exponent += 1 }
    // Near an integer the system's logarithm may be rounded to it, so the system's function
    // decides.
    guard magnitude > bounds[exponent - leastExponent] * (1 + 1e-13),
      magnitude < bounds[exponent + 1 - leastExponent] * (1 - 1e-13)
    else { return systemExponent(of: magnitude) }
    return exponent
  }

  @inline(never)
  private static func systemExponent(of magnitude: Double) -> Int {
    Int(log10(magnitude).rounded(.down))
  }

  @inline(never)
  private mutating func appendDescription(of number: Double) {
    if !number.isFinite, firstNonFinite == nil { firstNonFinite = count }
    append(number.description)
  }

  @inline(__always)
  private mutating func reserve(_ room: Int) {
    if storage.count - count < room { grow(room) }
  }

  @inline(never)
  private mutating func grow(_ room: Int) {
    storage.append(contentsOf: repeatElement(0, count: max(room, storage.count, 256)))
  }

  /// Appends `±scaled / 10^decimals` without trailing zeros, for `scaled` below 10¹⁶.
  @inline(__always)
  private mutating func append(_ scaled: UInt64, decimals: Int, isNegative: Bool) {
    // A number that rounds to zero has no sign. Performance: no branch, which would be
    // unpredictable.
    append(byte: .minus)
    count &-= isNegative && scaled > 0 ? 0 : 1
    guard decimals < SixteenDigits.count else {
      append(byte: .zero)
      return appendFraction(scaled, digits: decimals, keepingAtLeast: 0)
    }
    let digits = SixteenDigits(scaled)
    let wholeEnd = SixteenDigits.count &- decimals
    let wholeStart = min(digits.leadingZeros, wholeEnd &- 1)
    let fractionCount = decimals &- digits.trailingZeros
    // Both parts are written at full width; the next part or text overwrites the excess.
    reserve(2 * SixteenDigits.count + 1)
    let start = count
    let point = start &+ wholeEnd &- wholeStart
    count = fractionCount > 0 ? point &+ 1 &+ fractionCount : point
    var span = storage.mutableSpan
    var room = unsafe span.mutableBytes
    unsafe digits.dropping(wholeStart).write(into: &room, at: start)
    guard fractionCount > 0 else { return }
    unsafe room.storeBytes(of: UInt8.point, toUncheckedByteOffset: point, as: UInt8.self)
    unsafe digits.dropping(wholeEnd).write(into: &room, at: point &+ 1)
  }

  private mutating func appendFraction(_ number: UInt64, digits: Int, keepingAtLeast kept: Int) {
    append(byte: .point)
    appendDigits(number, width: digits)
    let least = count - digits + kept
    while count > least, storage[count - 1] == .zero { count -= 1 }
  }

  private mutating func appendDigits(_ number: UInt64) {
    appendDigits(number, width: Self.digitCount(of: number))
  }

  /// How many digits a number has, at least one.
  @inline(__always)
  private static func digitCount(of number: UInt64) -> Int {
    let bits = UInt64.bitWidth - (number | 1).leadingZeroBitCount
    // Correct, or one too small.
    let count = (bits * 1233) >> 12
    return number >= wholePowersOfTen[count] ? count + 1 : max(count, 1)
  }

  /// Appends a number with leading zeros to a given width.
  @inline(__always)
  private mutating func appendDigits(_ number: UInt64, width: Int) {
    reserve(width)
    let start = count
    count += width
    var room = storage.mutableSpan
    var rest = number
    var place = start + width
    // Writes from the end, two digits at a time.
    while place - start >= 2 {
      let pair = UInt32(truncatingIfNeeded: rest % 100)
      rest /= 100
      // Division by ten, exact below 179.
      let tens = (pair * 103) >> 10
      place -= 2
      unsafe room[unchecked: place] = .zero + UInt8(truncatingIfNeeded: tens)
      unsafe room[unchecked: place + 1] = .zero + UInt8(truncatingIfNeeded: pair - 10 * tens)
    }
    if place > start {
      unsafe room[unchecked: start] = .zero + UInt8(truncatingIfNeeded: rest % 10)
    }
  }
}

/// The exponent of the first power in ``bounds``.
private let leastExponent = -6

/// Powers of ten between which the exponents of ordinary numbers are looked up.
private let bounds: [Double] = [
  1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
  1e12, 1e13, 1e14, 1e15,
]
