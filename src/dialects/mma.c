// The rows of mma.def as data.
#include "dialects/mma.h"

#include <stddef.h>
#include <string.h>

#define LAYOUT(name, row, col)                                \
  static mma_position_t layout_##name(int32_t l, int32_t i) { \
    (void)l, (void)i;                                         \
    return (mma_position_t){row, col};                        \
  }
#include "dialects/mma.def"
#undef LAYOUT

static const mma_row_t rows[] = {
#define MMA(instruction, families, subgroup, m, n, k, a_type, c_type, al, bl, cl, a, b, c, intrinsic) \
  {instruction, subgroup, m, n, k, a_type, c_type, al, bl, cl, layout_##a, layout_##b, layout_##c, intrinsic},
#include "dialects/mma.def"
#undef MMA
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

const mma_row_t* mma_find(const char* instruction) {
  for (uint32_t i = 0; i < ROW_COUNT; ++i) {
    if (strcmp(rows[i].instruction, instruction) == 0) return &rows[i];
  }
  return NULL;
}

const mma_row_t* mma_at(uint32_t index) { return index < ROW_COUNT ? &rows[index] : NULL; }
uint32_t mma_index(const mma_row_t* row) { return (uint32_t)(row - rows); }

const char* mma_element(const char* type) {
  bool bytes = strcmp(type, "u8") == 0 || strcmp(type, "u8i8") == 0 || strcmp(type, "i8u8") == 0;
  return bytes ? "i8" : strcmp(type, "tf32") == 0 ? "f32" : type;
}

bool mma_is_unsigned(const mma_row_t* row, int operand) {
  return strcmp(row->a_type, "u8") == 0 || strcmp(row->a_type, operand == 0 ? "u8i8" : "i8u8") == 0;
}
