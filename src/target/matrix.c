// Rows of matrix instructions by family, picked out of dialects/mma.def once.
#include "target/matrix.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

enum {
#define FAMILY(name) name = 1 << MATRIX_##name,
  MATRIX_FAMILIES(FAMILY)
#undef FAMILY
};

typedef struct row_t {
  uint32_t families;
  device_mma_t mma;
} row_t;
static const row_t rows[] = {
#define MMA(instruction, families, subgroup, m, n, k, a_type, c_type, a_lanes, b_lanes, c_lanes, ...) \
  {families, {instruction, m, n, k, a_type, c_type, a_lanes, b_lanes, c_lanes}},
#include "dialects/mma.def"
#undef MMA
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

// Filled once; constant afterwards.
static struct {
  device_mma_t rows[ROW_COUNT];
  int32_t count;
} tables[MATRIX_COUNT];

static bool has_row(int family, const row_t* row) {
  if (family == MATRIX_MFMA_GENERIC) return (row->families & MFMA3) && strncmp(row->mma.a_type, "f8", 2) != 0;
  return (row->families & 1u << family) != 0;
}

static void fill_tables(void) {
  for (int family = 0; family < MATRIX_COUNT; ++family) {
    for (int i = 0; i < ROW_COUNT; ++i) {
      if (has_row(family, &rows[i])) tables[family].rows[tables[family].count++] = rows[i].mma;
    }
  }
}

void matrix_rows(matrix_family_t family, const device_mma_t** out, int32_t* count) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fill_tables);
  *count = tables[family].count;
  *out = *count ? tables[family].rows : NULL;
}
