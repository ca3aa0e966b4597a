/* SPDX-License-Identifier: Apache-2.0 */
#ifndef C_ALLOCATION_COUNTER_H
#define C_ALLOCATION_COUNTER_H

#include <stdint.h>

/* How many times the calling thread has asked for memory since it began: malloc, calloc, realloc,
   aligned_alloc, memalign and posix_memalign of everything in the process, by interposition.
   For the GNU C library only. */
int64_t allocation_count(void);

#endif
