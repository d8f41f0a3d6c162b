// Makes IREE's containers of GPU executables: a header, and a FlatBuffer with one module.
#ifndef TESTS_CTS_CONTAINER_H_
#define TESTS_CTS_CONTAINER_H_

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "iree/base/api.h"

enum { CONTAINER_HEADER_WORDS = 16, CONTAINER_WORDS = 17 };

// The root table has the modules in `field`. Behind the header come CONTAINER_WORDS words of tables, then the code; the
// caller frees the data.
static inline iree_byte_span_t container_make(const char* identifier, uint32_t field, iree_const_byte_span_t code) {
  size_t tables = (CONTAINER_HEADER_WORDS + CONTAINER_WORDS) * sizeof(uint32_t), size = tables + code.data_length + 1;
  uint32_t* header = (uint32_t*)calloc(size + sizeof(uint32_t), 1);
  uint32_t* words = header + CONTAINER_HEADER_WORDS;
  header[2] = (uint32_t)(size - CONTAINER_HEADER_WORDS * sizeof(uint32_t));
  const struct {
    uint8_t word;
    uint32_t value;
  } rows[] = {
      {0, 8},  // root
      {2, (uint32_t)(8 - 32)},
      {3, 8},  // its table: its fields are at 32; modules
      {5, 1},
      {6, 24},                         // one module
      {8, (6 + 2 * field) | 8 << 16},  // fields of the root
      {12, (uint32_t)(48 - 56)},
      {13, 12},  // module: its fields are at 56; its code
      {14, 6 | 8 << 16},
      {15, 4},  // fields of the module
      {16, (uint32_t)code.data_length},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) words[rows[i].word] = rows[i].value;
  const uint16_t place = 4;
  memcpy((uint8_t*)&words[9] + 2 * field, &place, sizeof(place));
  memcpy(header, identifier, 4);
  memcpy(&words[1], identifier, 4);
  memcpy(words + CONTAINER_WORDS, code.data, code.data_length);
  return iree_make_byte_span((uint8_t*)header, size);
}

#endif  // TESTS_CTS_CONTAINER_H_
