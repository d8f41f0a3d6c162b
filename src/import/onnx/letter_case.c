// See letter_case.h. A device looks up how far a character's other case is: in blocks of characters, of which most are
// the same.
#include "import/onnx/letter_case.h"

#include <string.h>

typedef struct row_t {
  int32_t first, last, step, delta;
} row_t;

static const row_t lower_rows[] = {
#define LOWER(first, last, step, delta) {first, last, step, delta},
#define UPPER(first, last, step, delta)
#include "import/onnx/letter_case.def"
};
static const row_t upper_rows[] = {
#define LOWER(first, last, step, delta)
#define UPPER(first, last, step, delta) {first, last, step, delta},
#include "import/onnx/letter_case.def"
};

typedef struct rows_t {
  const row_t* items;
  size_t count;
} rows_t;

static rows_t rows_of(letter_case_t to) {
  if (to == LETTER_LOWER) return (rows_t){lower_rows, sizeof(lower_rows) / sizeof(*lower_rows)};
  return (rows_t){upper_rows, sizeof(upper_rows) / sizeof(*upper_rows)};
}

int32_t letter_in_case(int32_t c, letter_case_t to) {
  rows_t rows = rows_of(to);
  for (size_t i = 0; i < rows.count; ++i) {
    const row_t* r = &rows.items[i];
    if (c >= r->first && c <= r->last && (c - r->first) % r->step == 0) return c + r->delta;
  }
  return c;
}

enum { BLOCK = 256, BLOCKS = 512 };  // all characters that have a case are in them

static ir_value_t* vector(onnx_node_t* n, const int32_t* data, int64_t count) {
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 32), 1, &count);
  return graph_constant(n->b, ir_attr_elements(n->ctx, type, data, sizeof(*data) * (size_t)count));
}

ir_value_t* onnx_letters_in_case(onnx_node_t* n, ir_value_t* x, letter_case_t to) {
  arena_t* arena = ir_context_arena(n->ctx);
  int32_t *deltas = ARENA_ARRAY(arena, int32_t, BLOCK* BLOCKS), *blocks = ARENA_ARRAY(arena, int32_t, BLOCKS);
  int32_t count = 0;
  rows_t rows = rows_of(to);
  memset(deltas, 0, sizeof(*deltas) * BLOCK * BLOCKS);
  for (size_t i = 0; i < rows.count; ++i) {
    for (int32_t c = rows.items[i].first; c <= rows.items[i].last; c += rows.items[i].step)
      deltas[c] = rows.items[i].delta;
  }
  for (int32_t b = 0; b < BLOCKS; ++b) {
    for (blocks[b] = 0; blocks[b] < count; ++blocks[b]) {
      if (memcmp(deltas + BLOCK * blocks[b], deltas + BLOCK * b, sizeof(*deltas) * BLOCK) == 0) break;
    }
    if (blocks[b] == count) memmove(deltas + BLOCK * count++, deltas + BLOCK * b, sizeof(*deltas) * BLOCK);
  }
  ir_value_t* known = onnx_binary_number(n, SCALAR_minu, x, BLOCK * BLOCKS - 1);
  ir_value_t* block = onnx_binary_number(n, SCALAR_shru, known, 8);
  ir_value_t* at = graph_take(n->b, vector(n, blocks, BLOCKS), block, 0, false);
  at = onnx_binary_number(n, SCALAR_mul, at, BLOCK);
  at = graph_binary(n->b, SCALAR_add, at, onnx_binary_number(n, SCALAR_and, known, BLOCK - 1));
  return graph_binary(n->b, SCALAR_add, x, graph_take(n->b, vector(n, deltas, BLOCK * count), at, 0, false));
}
