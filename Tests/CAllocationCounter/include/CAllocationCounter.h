/* SPDX-License-Identifier: Apache-2.0 */
#ifndef C_ALLOCATION_COUNTER_H
#define C_ALLOCATION_COUNTER_H

#include <stdint.h>

/* The number of allocations of the calling thread since it began: malloc, calloc, realloc,
 * aligned_alloc, memalign and posix_memalign in the whole process, by interposition.
 * For the GNU C library only. */
int64_t allocation_count(void);

/* The bytes allocated by the calling thread since it began, by the real sizes of blocks, and those
 * of them that it has not freed. Zero unless COUNTS_BYTES is defined, and under a sanitizer. */
int64_t allocated_bytes(void);
int64_t held_bytes(void);

#endif
