/* SPDX-License-Identifier: Apache-2.0 */
#include "CMeasuredRegion.h"

/* Not inlined, or callgrind could not see its beginning and end. */
__attribute__((noinline)) void measured_region(void (*body)(void *context), void *context) {
  body(context);
  /* Keeps the call above from becoming a jump out of this function. */
  __asm__ volatile("" ::: "memory");
}
