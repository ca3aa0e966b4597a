/* SPDX-License-Identifier: Apache-2.0 */
#include "CAllocationCounter.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

/* The GNU C library's own functions, which the definitions below interpose. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

extern void __libc_free(void *block);

static _Thread_local int64_t count;
static _Thread_local int64_t taken;
static _Thread_local int64_t given_back;

int64_t allocation_count(void) { return count; }
int64_t allocated_bytes(void) { return taken; }
int64_t held_bytes(void) { return taken - given_back; }

/* A sanitizer interposes the same functions, so nothing is counted under one. */
#if !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)

/* Sizes cost instructions, so benchmarks, which count instructions, do without them. */
static int64_t size_of(void *block) {
#ifdef COUNTS_BYTES
  return (int64_t)malloc_usable_size(block);
#else
  (void)block;
  return 0;
#endif
}

static void *counted(void *block) {
  count += 1;
  taken += size_of(block);
  return block;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }

void *calloc(size_t items, size_t size) { return counted(__libc_calloc(items, size)); }

void *realloc(void *block, size_t size) {
  int64_t before = size_of(block);
  void *result = __libc_realloc(block, size);
  if (result != NULL || size == 0) {
    given_back += before;
  }
  return counted(result);
}

void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) {
  return counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  void *result = counted(__libc_memalign(alignment, size));
  if (result == NULL) {
    return ENOMEM;
  }
  *block = result;
  return 0;
}

#ifdef COUNTS_BYTES
void free(void *block) {
  given_back += size_of(block);
  __libc_free(block);
}
#endif

#endif
