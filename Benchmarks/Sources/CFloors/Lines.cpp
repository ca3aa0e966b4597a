// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "CFloors.h"

size_t floor_count_lines(const char *text, size_t length) {
  size_t lines = 0;
  const char *end = text + length;
  while (const void *found = std::memchr(text, '\n', static_cast<size_t>(end - text))) {
    text = static_cast<const char *>(found) + 1;
    ++lines;
  }
  return lines;
}
