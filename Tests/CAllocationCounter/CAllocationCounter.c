/* SPDX-License-Identifier: Apache-2.0 */
#include "CAllocationCounter.h"

#include <errno.h>
#include <stddef.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

/* The GNU C library's own functions, which these definitions stand before. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Thread_local int64_t count;

int64_t allocation_count(void) { return count; }

/* A sanitizer stands in the same place: under one nothing is counted. */
#if !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)

void *malloc(size_t size) {
  count += 1;
  return __libc_malloc(size);
}

void *calloc(size_t items, size_t size) {
  count += 1;
  return __libc_calloc(items, size);
}

void *realloc(void *block, size_t size) {
  count += 1;
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
  count += 1;
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count += 1;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  count += 1;
  void *result = __libc_memalign(alignment, size);
  if (result == NULL) {
    return ENOMEM;
  }
  *block = result;
  return 0;
}

#endif
