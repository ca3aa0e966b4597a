// SPDX-License-Identifier: Apache-2.0
//
// The normal equations of several fits side by side, one in each lane, and their solution with
// every index a constant.

#pragma once

#include "../models/Models.hpp"

namespace nearby {

/// Where the errors of the kinds that a state holds stand among the parameters: of each kind the
/// constant error, if it has one, then the wandering one.
template <int States>
struct ErrorPlaces {
  int bias[NEARBY_COMPONENTS] = {}, wander[NEARBY_COMPONENTS] = {};
  /// The kind of each, and where each error of the state stands.
  int kind[2 * NEARBY_COMPONENTS] = {}, of_state[NEARBY_HEIGHT_STATE_SIZE] = {};
  int count = 0;

  constexpr ErrorPlaces() { add_all(std::make_integer_sequence<int, NEARBY_COMPONENTS>()); }

 private:
  template <int... component>
  constexpr void add_all(std::integer_sequence<int, component...>) {
    (add<component>(), ...);
  }
  template <int component>
  constexpr void add() {
    if constexpr (has_errors_of<component, States>) {
      if constexpr (Kind<component>::has_bias)
        bias[component] = place(component, Kind<component>::bias);
      wander[component] = place(component, Kind<component>::wander);
    }
  }
  constexpr int place(int component, int state) {
    kind[count] = component;
    of_state[state] = count;
    return count++;
  }
};

/// The parameters of a fit, in the order in which they are eliminated: the errors of each kind,
/// which meet no other kind's, then what all kinds share: position, scale of ranges, the amplitudes
/// of the odometry's drift since the window began (x, y, z, yaw).
template <int States>
struct Parameters {
  static constexpr bool has_height = nearby::has_height<States>;
  static constexpr ErrorPlaces<States> places{};
  static constexpr int errors = places.count;
  static constexpr int position = errors, scale = position + 3, drift = scale + 1;
  static constexpr int size = drift + 4;

  static NEARBY_INLINE constexpr int bias(int component) { return places.bias[component]; }
  static NEARBY_INLINE constexpr int wander(int component) { return places.wander[component]; }

  /// Where a state stands.
  static NEARBY_INLINE constexpr int of(int state) {
    return state <= NEARBY_STATE_RANGE_SCALE ? position + state : places.of_state[state];
  }

  /// Whether two of them meet in the information or in its factor.
  static NEARBY_INLINE constexpr bool meet(int i, int j) {
    return i >= errors || j >= errors || places.kind[i] == places.kind[j];
  }
};

/// A symmetric matrix over them, or a triangular one.
template <int States, class Lanes>
struct Triangle {
  static constexpr int size = Parameters<States>::size;
  Lanes entries[size * (size + 1) / 2];
};

/// The element of a triangle at a row and a column.
///
/// Performance: its place is a constant before anything is inlined, so that unoptimised builds,
/// too, compile in moderate time and memory.
template <int row, int column, class Triangle>
NEARBY_INLINE inline auto &element(Triangle &triangle) {
  constexpr int place = packed(row, column);
  return triangle.entries[place];
}

/// Information = L D Lᵀ, without roots: 300 multiplications for the fits of all lanes at once.
template <int States, class Lanes>
struct Factorization {
  using P = Parameters<States>;
  /// L below the diagonal of ones, and 1/D.
  Triangle<States, Lanes> lower;
  Lanes inverse[P::size];
  /// In which lanes the information is positive definite; in others nothing else is of use.
  Bits<Lanes> is_positive;

  NEARBY_INLINE void factorize(const Triangle<States, Lanes> &information) {
    each<P::size>([&](auto row) NEARBY_INLINE {
      constexpr int j = row.value;
      // Row j of L, times D.
      Lanes scaled[P::size];
      Lanes pivot = element<j, j>(information);
      each<j>([&](auto column) NEARBY_INLINE {
        constexpr int k = column.value;
        if constexpr (P::meet(j, k)) {
          scaled[k] = element<j, k>(lower);
          element<j, k>(lower) *= inverse[k];
          pivot -= scaled[k] * element<j, k>(lower);
        }
      });
      inverse[j] = 1 / pivot;
      each<P::size - 1 - j>([&](auto n) NEARBY_INLINE {
        constexpr int i = j + 1 + n.value;
        if constexpr (P::meet(i, j)) {
          // Rows below still hold L times D.
          Lanes entry = element<i, j>(information);
          each<j>([&](auto column) NEARBY_INLINE {
            constexpr int k = column.value;
            if constexpr (P::meet(j, k) && P::meet(i, k))
              entry -= element<j, k>(lower) * element<i, k>(lower);
          });
          element<i, j>(lower) = entry;
        }
      });
    });
    is_positive = Bits<Lanes>(-1);
    for (const Lanes &pivot : inverse) is_positive &= pivot > 0;
  }

  /// Solves information x = right.
  NEARBY_INLINE void solve(const Lanes (&right)[P::size], Lanes (&x)[P::size]) const {
    each<P::size>([&](auto row) NEARBY_INLINE {
      constexpr int i = row.value;
      x[i] = right[i];
      each<i>([&](auto column) NEARBY_INLINE {
        constexpr int k = column.value;
        if constexpr (P::meet(i, k)) x[i] -= element<i, k>(lower) * x[k];
      });
    });
    each<P::size>([&](auto n) NEARBY_INLINE {
      constexpr int i = P::size - 1 - n.value;
      x[i] *= inverse[i];
      // Performance: oldest operands first, so that only the last one can stall.
      each<n.value>([&](auto m) NEARBY_INLINE {
        constexpr int k = P::size - 1 - m.value;
        if constexpr (P::meet(k, i)) x[i] -= element<k, i>(lower) * x[k];
      });
    });
  }

  /// The logarithm of the information's determinant.
  NEARBY_INLINE Lanes log_determinant() const {
    Lanes sum = 0, product = 1;
    each<P::size>([&](auto i) NEARBY_INLINE {
      product *= inverse[i];
      // No six of them leave what a double can hold.
      if constexpr (i % 6 == 5 || i == P::size - 1) {
        sum -= logarithm(product);
        product = 1;
      }
    });
    return sum;
  }

  /// The inverse of the information: from Z = D⁻¹ L⁻¹ + (I - Lᵀ) Z, the last column first
  /// (Takahashi et al. 1973).
  NEARBY_INLINE void invert(Triangle<States, Lanes> &z) const {
    each<P::size>([&](auto n) NEARBY_INLINE {
      constexpr int j = P::size - 1 - n.value;
      each<n.value + 1>([&](auto m) NEARBY_INLINE {
        constexpr int i = P::size - 1 - m.value;
        Lanes entry = i == j ? inverse[j] : Lanes(0);
        each<n.value>([&](auto l) NEARBY_INLINE {
          constexpr int k = P::size - 1 - l.value;
          if constexpr (P::meet(k, j)) entry -= element<k, j>(lower) * element<i, k>(z);
        });
        element<i, j>(z) = entry;
      });
    });
  }
};

}  // namespace nearby
