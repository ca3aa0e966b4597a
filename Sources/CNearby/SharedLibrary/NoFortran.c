// SPDX-License-Identifier: Apache-2.0
// What LAPACK takes from the runtime library of Fortran, so that the C library needs none. Only
// `make c-library` links this file.
#include <stddef.h>
#include <string.h>

/// LAPACK's report of an argument out of bounds. Its own prints and ends the process; the routine
/// that calls it returns the argument's number, too.
void xerbla_(const char *routine, const int *argument, size_t length);
void xerbla_(const char *routine, const int *argument, size_t length) {
  (void)routine;
  (void)argument;
  (void)length;
}

/// Joins two texts, and fills the rest with blanks.
void _gfortran_concat_string(size_t room, char *joined, size_t first_length, const char *first,
                             size_t second_length, const char *second);
void _gfortran_concat_string(size_t room, char *joined, size_t first_length, const char *first,
                             size_t second_length, const char *second) {
  if (first_length > room) first_length = room;
  memcpy(joined, first, first_length);
  size_t rest = room - first_length;
  if (second_length > rest) second_length = rest;
  memcpy(joined + first_length, second, second_length);
  memset(joined + first_length + second_length, ' ', rest - second_length);
}
