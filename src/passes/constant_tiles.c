// See constant_move.h: weights as matrix instructions on tile registers read them.
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "dialects/graph.h"
#include "passes/constant_move.h"

enum { ROWS = 16, WORD = 4, MOST_PANEL = 32 };

// A unit is a panel: [chunks, terms, 16, panel, group].
typedef struct tiled_t {
  ir_lazy_t lazy;
  const ir_attr_t* from;  // [depth, columns]
  int64_t depth, columns, panel, terms, group;
  size_t bytes;  // of its elements
} tiled_t;

// One word of the depth for all columns of a panel out of `group` lines, of floats for each term.
typedef struct lines_t {
  unsigned char bytes[WORD][MOST_PANEL * WORD];
} lines_t;

// The next term of each number, in the upper half of `bits`, which leaves the number.
static void take_terms(float* numbers, uint32_t* bits) {
  float terms[MOST_PANEL];
  memcpy(bits, numbers, sizeof(terms));
  for (int i = 0; i < MOST_PANEL; ++i) bits[i] = (bits[i] + 0x8000u) & 0xffff0000u;
  memcpy(terms, bits, sizeof(terms));
  for (int i = 0; i < MOST_PANEL; ++i) numbers[i] -= terms[i];
}

static void join_lines(const tiled_t* p, const lines_t* lines, uint32_t* out) {
  size_t apart = (size_t)(ROWS * p->panel);
  if (p->bytes == WORD) {
    float numbers[2][MOST_PANEL];
    uint32_t bits[2][MOST_PANEL];
    for (int i = 0; i < 2; ++i) memcpy(numbers[i], lines->bytes[i], sizeof(numbers[i]));
    for (int64_t t = 0; t < p->terms; ++t, out += apart) {
      for (int i = 0; i < 2; ++i) take_terms(numbers[i], bits[i]);
      for (int64_t n = 0; n < p->panel; ++n) out[n] = bits[0][n] >> 16 | bits[1][n];
    }
    return;
  }
  unsigned char* to = (unsigned char*)out;
  for (int64_t n = 0; n < p->panel; ++n) {
    for (int64_t i = 0; i < p->group; ++i, to += p->bytes) {
      memcpy(to, lines->bytes[i] + (size_t)n * p->bytes, p->bytes);
    }
  }
}

static void tiled_read(const ir_lazy_t* lazy, size_t offset, size_t size, unsigned char* out) {
  const tiled_t* p = (const tiled_t*)lazy;
  size_t unit = lazy->unit, tile = (size_t)(ROWS * p->panel) * WORD;
  lines_t lines;
  uint32_t* words = memory_alloc(tile * (size_t)p->terms);
  for (int64_t number = (int64_t)(offset / unit); size; ++number, size -= unit) {
    int64_t first = number * p->panel, count = p->columns - first < p->panel ? p->columns - first : p->panel;
    for (int64_t chunk = 0; chunk * ROWS * p->group < p->depth; ++chunk) {
      for (int64_t word = 0; word < ROWS; ++word) {
        memset(&lines, 0, sizeof(lines));
        for (int64_t i = 0; i < p->group; ++i) {
          int64_t row = (chunk * ROWS + word) * p->group + i;
          size_t at = (size_t)(row * p->columns + first) * p->bytes;
          if (row < p->depth) ir_attr_read(p->from, at, (size_t)count * p->bytes, lines.bytes[i]);
        }
        join_lines(p, &lines, words + word * p->panel);
      }
      memcpy(out, words, tile * (size_t)p->terms);
      out += tile * (size_t)p->terms;
    }
  }
  memory_free(words);
}

const ir_attr_t* constant_tiles(ir_context_t* ctx, const ir_attr_t* value, const ir_type_t* element, int64_t panel) {
  assert(panel <= MOST_PANEL);
  const ir_type_t* type = value->type;
  int64_t group = WORD / ir_type_bytes(element);
  tiled_t p = {.from = value,
               .depth = type->dims[0],
               .columns = type->dims[1],
               .panel = panel,
               .terms = type->element == element ? 1 : CONSTANT_TERMS,
               .group = group,
               .bytes = ir_type_bytes(type->element)};
  int64_t rows = ROWS * group, panels = (p.columns + panel - 1) / panel;
  int64_t chunks = (p.depth + rows - 1) / rows, dims[] = {panels, chunks, p.terms, ROWS, panel, group};
  const ir_type_t* to = ir_type_tensor(ctx, element, 6, dims);
  if (value->splat) {
    unsigned char* data = arena_alloc(ir_context_arena(ctx), (size_t)ir_type_count(type) * p.bytes);
    for (int64_t i = 0; i < ir_type_count(type); ++i) memcpy(data + (size_t)i * p.bytes, ir_attr_data(value), p.bytes);
    p.from = ir_attr_elements_borrow(ctx, type, data, (size_t)ir_type_count(type) * p.bytes);
  }
  p.lazy = (ir_lazy_t){.read = tiled_read,
                       .size = (size_t)ir_type_count(to) * (size_t)(WORD / group),
                       .unit = (size_t)(chunks * p.terms * ROWS * panel) * WORD,
                       .recipe = sizeof(p) - sizeof(p.lazy)};
  if (p.from->lazy && p.from->lazy->unit > 1) ir_attr_data(p.from);  // it is read in other pieces
  return ir_attr_lazy(ctx, to, NULL, arena_copy(ir_context_arena(ctx), &p, sizeof(p)));
}

// Whether bits of f32 numbers all are moderate, or those of the upper (mask) or lower (shift) of two bf16 ones.
static bool are_moderate(const uint32_t* bits, size_t count, uint32_t mask, uint32_t shift) {
  uint32_t extreme = 0;
  for (size_t i = 0; i < count; ++i) {
    uint32_t magnitude = (bits[i] & mask) << shift & 0x7fffffffu;
    extreme |= (magnitude - CONSTANT_LEAST_BITS >= CONSTANT_MOST_BITS - CONSTANT_LEAST_BITS) & (magnitude != 0);
  }
  return !extreme;
}

bool constant_is_moderate(const ir_attr_t* value) {
  enum { PIECE = 1 << 14 };
  size_t bytes = ir_type_bytes(value->type->element), size = value->size;
  if (value->lazy && value->lazy->unit > 1) ir_attr_data(value);
  uint32_t* words = memory_alloc(PIECE);
  bool all = true;
  for (size_t at = 0; at < size && all; at += PIECE) {
    size_t length = size - at < PIECE ? size - at : PIECE, count = (length + 3) / 4;
    words[count - 1] = 0;
    ir_attr_read(value, at, length, words);
    all = are_moderate(words, count, bytes == 4 ? UINT32_MAX : 0xffff0000u, 0) &&
          (bytes == 4 || are_moderate(words, count, UINT16_MAX, 16));
  }
  memory_free(words);
  return all;
}
