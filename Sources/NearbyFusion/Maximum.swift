// SPDX-License-Identifier: Apache-2.0

/// The greater of two numbers, in one instruction and not in five.
///
/// The standard library's gives the second of two equals, which of two zeros of different sign is another
/// than the one processors give. This gives the first; of what is not a number it makes what the
/// standard library's does.
@inline(__always)
func max(_ x: Double, _ y: Double) -> Double { y > x ? y : x }
