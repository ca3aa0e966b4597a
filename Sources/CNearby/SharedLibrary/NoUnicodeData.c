// SPDX-License-Identifier: Apache-2.0
// An empty data package in place of the 34 MB of languages and calendars that Foundation brings
// along and that the engine never asks for. Only `make c-library` links this file. When Foundation
// takes another version of ICU, its own data is linked again: the library is larger and works as
// before.
#include <stdint.h>

struct data_package {
  uint16_t header_size;
  uint8_t magic[2];
  struct {
    uint16_t size;
    uint16_t reserved;
    uint8_t is_big_endian;
    uint8_t character_set;
    uint8_t character_size;
    uint8_t reserved_too;
    uint8_t format[4];
    uint8_t format_version[4];
    uint8_t version[4];
  } info;
  char padding[8];
  uint32_t entries;
  uint32_t no_entry[2];
};

const struct data_package icudt76_dat __attribute__((aligned(16))) = {
    32, {0xda, 0x27}, {20, 0, 0, 0, 2, 0, {'T', 'o', 'C', 'P'}, {1, 0, 0, 0}, {0, 0, 0, 0}}, {0},
    0,  {0, 0}};
