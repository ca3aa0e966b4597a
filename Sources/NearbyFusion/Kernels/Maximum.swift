// SPDX-License-Identifier: Apache-2.0

/// The greater of two numbers, in one instruction instead of five.
///
/// Of two equals it gives the first, as processors do; the standard library's gives the second, which
/// of two zeros may be the other one. NaN gives the same in both.
@inline(__always)
func max(_ x: Double, _ y: Double) -> Double { y > x ? y : x }
