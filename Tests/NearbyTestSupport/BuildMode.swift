// SPDX-License-Identifier: Apache-2.0

/// How the tests were built.
///
/// Statistics need many runs, and many runs need an optimised build: their suites are enabled in one only. The
/// sanitizers' builds define `DEBUG`, since thousands of runs of the same arithmetic show no more faults than one.
public enum BuildMode {
  #if DEBUG
    /// Whether the build is optimised, and no sanitizer's.
    public static let isOptimized = false
  #else
    /// Whether the build is optimised, and no sanitizer's.
    public static let isOptimized = true
  #endif
}
