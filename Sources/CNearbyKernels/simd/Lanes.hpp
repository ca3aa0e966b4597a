// SPDX-License-Identifier: Apache-2.0
//
// The two kinds of number that the kernels are written for: one double, or several of them side by
// side. The same source makes the fast path of one hypothesis and the pass over a bank.
//
// Lanes are the compiler's own vectors and not Eigen's arrays: everything here is inlined into its
// caller, whatever instructions that one is compiled for, so that one program can hold a version
// for each kind of processor without two functions of one name.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "CNearbyKernels.h"

// Vectors are passed between functions that are always inlined: no convention of calling matters.
#pragma clang diagnostic ignored "-Wpsabi"

// Without debug information, as in the compiler's own headers of vector instructions: thousands of
// inlined calls would take it most of its time and memory.
#define NEARBY_INLINE __attribute__((always_inline, nodebug))

namespace nearby {

/// As many doubles as the vectors of common processors hold, and as those of some.
constexpr int lane_count = 4, wide_lane_count = 8;
using Lanes = double __attribute__((ext_vector_type(lane_count)));
using WideLanes = double __attribute__((ext_vector_type(wide_lane_count)));
using Pair = double __attribute__((ext_vector_type(2)));
/// The same in memory among doubles, with their alignment. They are the same types to the language:
/// a reference to `Lanes` must not be bound to them, because it would promise more alignment.
typedef Lanes LanesAt __attribute__((aligned(8), may_alias));
typedef WideLanes WideLanesAt __attribute__((aligned(8), may_alias));
typedef Pair PairAt __attribute__((aligned(8), may_alias));

/// Calls `body` with the arguments, compiled for some vectors, which the processor must have.
///
/// Everything in `body` must be inlined; what is not is compiled for any processor. Arguments come
/// in registers; what `body` captures by reference is found by two loads, one after the other.
template <class Body, class... Arguments>
__attribute__((noinline)) void for_any_processor(const Body &body, Arguments... arguments) {
  body(arguments...);
}
#if defined(__x86_64__)
template <class Body, class... Arguments>
__attribute__((target("avx2,fma"))) void for_vectors_of_four(const Body &body,
                                                             Arguments... arguments) {
  body(arguments...);
}
template <class Body, class... Arguments>
__attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl"))) void for_vectors_of_eight(
    const Body &body, Arguments... arguments) {
  body(arguments...);
}
#else
// No processor of another kind has these: they are never called, and nothing is compiled for them.
template <class Body, class... Arguments>
inline void for_vectors_of_four(const Body &, Arguments...) {}
template <class Body, class... Arguments>
inline void for_vectors_of_eight(const Body &, Arguments...) {}
#endif

/// The widest vectors of the processor that this runs on. Looked up once: before it is, kernels are
/// those for any processor.
inline const nearby_vectors widest_vectors = [] {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl")
               ? NEARBY_VECTORS_OF_EIGHT
               : NEARBY_VECTORS_OF_FOUR;
#endif
  return NEARBY_VECTORS_OF_ANY;
}();

/// Calls `body` with the arguments, compiled for vectors of up to `lane_count` numbers: wider ones
/// gain nothing where fewer lanes are worked on.
template <class Body, class... Arguments>
inline void for_vectors(nearby_vectors vectors, const Body &body, Arguments... arguments) {
  if (vectors >= NEARBY_VECTORS_OF_FOUR)
    for_vectors_of_four(body, arguments...);
  else
    for_any_processor(body, arguments...);
}
template <class Body, class... Arguments>
inline void on_this_processor(const Body &body, Arguments... arguments) {
  for_vectors(widest_vectors, body, arguments...);
}

/// Kinds of vectors: how many numbers stand in one, and how a part of a kernel that is compiled for
/// them calls another one without inlining it.
struct VectorsOfAny {
  using Lanes = nearby::Lanes;
  template <class Body>
  __attribute__((noinline)) static void run(const Body &body) {
    body();
  }
};
#if defined(__x86_64__)
struct VectorsOfFour {
  using Lanes = nearby::Lanes;
  template <class Body>
  __attribute__((noinline, target("avx2,fma"))) static void run(const Body &body) {
    body();
  }
};
struct VectorsOfEight {
  using Lanes = WideLanes;
  template <class Body>
  __attribute__((noinline, target("avx2,fma,avx512f,avx512dq,avx512vl"))) static void run(
      const Body &body) {
    body();
  }
};
#else
struct VectorsOfFour {
  using Lanes = nearby::Lanes;
  template <class Body>
  static void run(const Body &) {}
};
struct VectorsOfEight {
  using Lanes = WideLanes;
  template <class Body>
  static void run(const Body &) {}
};
#endif

/// Calls `body` with 0, 1 ... `count` - 1, each a constant of its own type: every index into a
/// state is known to the compiler.
template <class Body, int... indices>
NEARBY_INLINE inline void each_of(const Body &body, std::integer_sequence<int, indices...>) {
  (body(std::integral_constant<int, indices>()), ...);
}
template <int count, class Body>
NEARBY_INLINE inline void each(const Body &body) {
  each_of(body, std::make_integer_sequence<int, count>());
}

/// The same number, but available to the compiler only after another one: operations on it come
/// later in the order of instructions. Nothing is emitted.
///
/// Performance: a processor looks some hundred instructions ahead, so the operations with the
/// longest latency must come first.
NEARBY_INLINE inline double after([[maybe_unused]] double other, double x) {
#if defined(__x86_64__)
  asm("" : "+x"(x) : "x"(other));
#endif
  return x;
}

/// The same number, never read from memory together with its neighbours.
///
/// Performance: a load of a pair stalls when its halves were stored one by one just before.
NEARBY_INLINE inline double alone(double x) {
#if defined(__x86_64__)
  asm("" : "+x"(x));
#endif
  return x;
}

// MARK: Access

/// How a number type stands in memory.
template <class T>
struct Number;

template <>
struct Number<double> {
  using At = double;
};

template <>
struct Number<Lanes> {
  using At = LanesAt;
  using Bits = int64_t __attribute__((ext_vector_type(lane_count)));
  static constexpr int count = lane_count;
};

template <>
struct Number<WideLanes> {
  using At = WideLanesAt;
  using Bits = int64_t __attribute__((ext_vector_type(wide_lane_count)));
  static constexpr int count = wide_lane_count;
};

template <>
struct Number<Pair> {
  using At = PairAt;
};

/// Some doubles in memory, as a number.
template <class T>
NEARBY_INLINE inline typename Number<T>::At &at(double *p) {
  return *reinterpret_cast<typename Number<T>::At *>(p);
}
template <class T>
NEARBY_INLINE inline const typename Number<T>::At &at(const double *p) {
  return *reinterpret_cast<const typename Number<T>::At *>(p);
}

/// What a number in lanes is made of, and what a comparison of two says.
template <class V>
using Bits = typename Number<V>::Bits;
using LaneBits = Bits<Lanes>;

template <class V>
NEARBY_INLINE inline Bits<V> bits(V x) {
  return __builtin_bit_cast(Bits<V>, x);
}
template <class V>
NEARBY_INLINE inline V number(Bits<V> x) {
  return __builtin_bit_cast(V, x);
}

/// Whether a comparison holds in all lanes, or in any.
template <class B>
NEARBY_INLINE inline bool all(B mask) {
  return __builtin_reduce_and(mask) != 0;
}
template <class B>
NEARBY_INLINE inline bool any(B mask) {
  return __builtin_reduce_or(mask) != 0;
}

/// The sum over the lanes.
NEARBY_INLINE inline double sum(Lanes x) { return (x[0] + x[2]) + (x[1] + x[3]); }

// MARK: Elementary functions

/// e^x is two to so many x.
constexpr double octaves = 1.4426950408889634;

template <class T>
NEARBY_INLINE inline T root(T x) {
  return __builtin_elementwise_sqrt(x);
}

template <class T>
NEARBY_INLINE inline T at_least(T x, double floor) {
  return x > floor ? x : T(floor);
}

template <class T>
NEARBY_INLINE inline T at_most(T x, double ceiling) {
  return x < ceiling ? x : T(ceiling);
}

template <class V>
NEARBY_INLINE inline V magnitude(V x) {
  return number<V>(bits(x) & std::numeric_limits<int64_t>::max());
}

/// To the nearest whole number, for magnitudes below 2^51: adding and taking away what leaves no
/// room for fractions.
template <class T>
NEARBY_INLINE inline T rounded(T x) {
  constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52
  return (x + shift) - shift;
}

/// The same angle in [-π, π].
template <class T>
NEARBY_INLINE inline T wrapped(T angle) {
  constexpr double turn = 2 * M_PI;
  return angle - turn * rounded(T(angle * (1 / turn)));
}

/// Performance: a single angle is almost never outside, so that its chain of operations is skipped.
NEARBY_INLINE inline double wrapped(double angle) {
  if (__builtin_expect(std::fabs(angle) <= M_PI, 1)) return angle;
  return wrapped<double>(angle);
}

/// (exp(r) - 1 - r)/r² for |r| ≤ ½ ln 2: a polynomial (Chebyshev), 1.1e-17 of exp(r) before
/// rounding.
template <class V>
NEARBY_INLINE inline V exponential_series(V r, V r2) {
  const V r4 = r2 * r2;
  const V a = 0.5000000000000001 + r * 0.16666666666666669;
  const V b = 0.041666666666624164 + r * 0.008333333333330065;
  const V c = 0.001388888891719689 + r * 0.00019841269863040675;
  const V d = 2.480152132210459e-05 + r * 2.7557268480106926e-06;
  const V e = 2.762007600563138e-07 + r * 2.5100375929185925e-08;
  const V ab = a + r2 * b, cd = c + r2 * d;
  return ab + r4 * (cd + r4 * e);
}

/// exp(x), to 1 unit in the last place; zero below -708, where values cease to be normal, infinite
/// above 709.
///
/// x = k ln 2 + r, |r| ≤ ½ ln 2, and a series in r.
template <class V>
NEARBY_INLINE inline V exponential(V x) {
  constexpr double least = -708, most = 709, shift = 6755399441055744.0;
  V y = x < least ? V(least) : x;
  y = y > most ? V(most) : y;
  const V shifted = y * 1.4426950408889634 + shift;
  const V k = shifted - shift;
  V r = y - k * 6.93147180369123816490e-01;
  r = r - k * 1.90821492927058770002e-10;
  const V r2 = r * r;
  const V fraction = 1 + (r + r2 * exponential_series(r, r2));
  const Bits<V> scale = (bits(shifted) << 52) + (int64_t(1023) << 52);
  V result = fraction * number<V>(scale);
  result = x < least ? V(0) : result;
  return x > most ? V(std::numeric_limits<double>::infinity()) : result;
}

/// 2^x with as short a chain of operations as can be, to 2e-14 of it; beyond ±866 it stays what it
/// is there.
///
/// There it is nothing already, and what it is multiplied by may be small before the product ceases
/// to be normal: some processors take a hundred cycles for a number that is not. Nothing waits for
/// the limits: beside them the number is rounded and its fraction's series (minimax) summed.
template <class V>
NEARBY_INLINE inline V power_of_two(V x) {
  constexpr double reach = 866, shift = 6755399441055744.0;
  const V shifted = x + shift;
  const Bits<V> within = magnitude(x) < reach;
  const V r = number<V>(bits(x - (shifted - shift)) & within);
  const V limited = at_most(at_least(shifted, shift - reach), shift + reach);
  const V scale = number<V>((bits(limited) << 52) + (int64_t(1023) << 52));
  const V r2 = r * r, r4 = r2 * r2;
  const V a = 0.2402265069574885 + r * 0.055504108666814024;
  const V b = 0.009618129175829817 + r * 0.00133335577653606;
  const V c = 0.00015403444196137992 + r * 1.5252940736984403e-05;
  const V d = 1.325769403076453e-06 + r * 1.0154357030972182e-07;
  const V series = (a + r2 * b) + r4 * (c + r2 * d);
  return (scale + scale * (r * 0.6931471805599453)) + scale * r2 * series;
}

NEARBY_INLINE inline double power_of_two(double x) { return power_of_two(Lanes(x))[0]; }

/// log(x), to 1 unit in the last place; minus infinity for zero, NaN below it.
///
/// x = 2^k (1 + f) with 1 + f between √½ and √2, and log(1 + f) = f - f²/2 + s (f²/2 + R(s²)) with
/// s = f / (2 + f) (as in the libraries that come from FreeBSD's; own coefficients, Chebyshev).
template <class V>
NEARBY_INLINE inline V logarithm(V x) {
  constexpr double smallest = std::numeric_limits<double>::min();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto tiny = x < smallest;
  const V scaled = tiny ? x * 18014398509481984.0 : x;  // 2^54
  constexpr int64_t one = int64_t(1023) << 52, root_of_half = 0x3fe6a09e667f3bcd;
  constexpr int64_t exponent = int64_t(0xfff) << 52;
  const Bits<V> biased = bits(scaled) + (one - root_of_half);
  const V f = number<V>(bits(scaled) - (biased & exponent) + one) - 1;
  // A whole number below 2^52 in the mantissa of 2^52; no sign, as x is none.
  const Bits<V> whole = Bits<V>((biased >> 52) & 0x7ff) | int64_t(0x4330000000000000);
  const V k =
      number<V>(whole) - (tiny ? V(4503599627370496.0 + 1023 + 54) : V(4503599627370496.0 + 1023));
  const V s = f / (2 + f), u = s * s, u2 = u * u;
  const V a = 0.666666666666667 + u * 0.39999999999899505;
  const V b = 0.28571428625975764 + u * 0.22222211134749734;
  const V c = 0.18182889128565508 + u * 0.15331721490738642;
  const V p = a + u2 * (b + u2 * (c + u2 * 0.14616451042434167));
  const V half = 0.5 * f * f;
  const V low = s * (half + u * p) + k * 1.90821492927058770002e-10;
  V result = k * 6.93147180369123816490e-01 - ((half - low) - f);
  result = x < infinity ? result : x;
  const V special = x < 0 ? V(std::numeric_limits<double>::quiet_NaN()) : V(-infinity);
  return x <= 0 ? special : result;
}

/// atan2(y, x), to 2 units in the last place, for finite numbers; zeros have their signs.
///
/// By symmetry and one step of the addition theorem to tangents up to tan(π/8), and there a
/// polynomial (Remez), error 1.2e-18.
template <class V>
NEARBY_INLINE inline V arctangent(V y, V x) {
  constexpr int64_t sign = std::numeric_limits<int64_t>::min();
  const V ax = magnitude(x), ay = magnitude(y);
  const Bits<V> steep = ay > ax, behind = bits(x) < 0;
  const V large = steep ? ay : ax, small = steep ? ax : ay;
  const Bits<V> beyond = small > large * 0.41421356237309503;
  const V numerator = beyond ? small - large : small;
  const V denominator = beyond ? small + large : large;
  // The angle is so many eighths of a turn plus or minus the arctangent of the quotient: known
  // before it is divided.
  V eighths = beyond ? V(1) : V(0);
  eighths = steep ? 2 - eighths : eighths;
  eighths = behind ? 4 - eighths : eighths;
  const Bits<V> backwards = (steep ^ behind) & sign;
  const V z = numerator / (denominator > 0 ? denominator : V(1)), u = z * z;
  const V u2 = u * u, u4 = u2 * u2;
  const V a = -0.333333333333332 + u * 0.19999999999954085;
  const V b = -0.1428571428024871 + u * 0.1111111078614566;
  const V c = -0.09090897836630009 + u * 0.07692061639775505;
  const V d = -0.06663120409364556 + u * 0.05848009074724227;
  const V e = -0.050398461285619596 + u * 0.038078334610173105;
  const V abcd = (a + u2 * b) + u4 * (c + u2 * d);
  const V p = abcd + u4 * u4 * (e + u2 * -0.01792229236790754);
  const V remainder = number<V>(bits(z + z * u * p) ^ backwards);
  const V angle = eighths * M_PI_4 + (eighths * 3.061616997868383e-17 + remainder);
  return number<V>(bits(angle) | (bits(y) & sign));
}

// One alone costs in lanes what it costs by itself.
NEARBY_INLINE inline double arctangent(double y, double x) {
  return arctangent(Lanes(y), Lanes(x))[0];
}

/// Up to four powers of two; of single numbers side by side.
template <int count, class V>
NEARBY_INLINE inline void powers_of_two(V (&x)[count]) {
  each<count>([&](auto i) NEARBY_INLINE { x[i] = power_of_two(x[i]); });
}
template <int count>
NEARBY_INLINE inline void powers_of_two(double (&x)[count]) {
  static_assert(count <= lane_count, "they stand side by side");
  Lanes all = 0;
  each<count>([&](auto i) NEARBY_INLINE { all[i.value] = x[i]; });
  all = power_of_two(all);
  each<count>([&](auto i) NEARBY_INLINE { x[i] = all[i.value]; });
}

/// log(a b c), also when the product is too small or too large for a double.
template <class V>
NEARBY_INLINE inline V logarithm_of_product(V a, V b, V c) {
  const V product = a * b * c;
  if (all((product > 1e-290) & (product < 1e290))) return logarithm(product);
  return logarithm(a) + logarithm(b) + logarithm(c);
}

}  // namespace nearby
