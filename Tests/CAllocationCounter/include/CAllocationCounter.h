/* SPDX-License-Identifier: Apache-2.0 */
#ifndef C_ALLOCATION_COUNTER_H
#define C_ALLOCATION_COUNTER_H

#include <stdint.h>

/* How many times the calling thread has asked for memory since it began: malloc, calloc, realloc,
   aligned_alloc, memalign and posix_memalign of everything in the process, by interposition.
   For the GNU C library only. */
int64_t allocation_count(void);

/* How many bytes it has been given since it began, as blocks are in fact; and how many of them it has
   not given back. Only where COUNTS_BYTES is defined; none elsewhere, or under a sanitizer. */
int64_t allocated_bytes(void);
int64_t held_bytes(void);

#endif
