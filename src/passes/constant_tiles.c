// See constant_move.h: weights as matrix instructions on tile registers read them.
#include <string.h>

#include "base/memory.h"
#include "dialects/graph.h"
#include "passes/constant_move.h"

enum { ROWS = 16, WORD = 4 };

// A unit is what comes of 16 words of the depth: [panels, terms, 16, panel, group].
typedef struct tiled_t {
  ir_lazy_t lazy;
  const ir_attr_t* from;  // [depth, columns]
  int64_t depth, columns, panel, terms, group;
  size_t bytes;  // of its elements
} tiled_t;

// Of f32 numbers `terms` ones of bf16 that add up to them, the largest first.
static void put_terms(const tiled_t* p, const unsigned char* in, unsigned char* out) {
  size_t size = WORD / (size_t)p->group, apart = (size_t)(ROWS * p->panel) * WORD;
  if (p->bytes == size) {
    memcpy(out, in, size);
    return;
  }
  float number;
  memcpy(&number, in, sizeof(number));
  for (int64_t t = 0; t < p->terms; ++t) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof(bits));
    bits = (bits + 0x8000u) & 0xffff0000u;
    uint16_t high = (uint16_t)(bits >> 16);
    memcpy(out + (size_t)t * apart, &high, sizeof(high));
    float term;
    memcpy(&term, &bits, sizeof(term));
    number -= term;
  }
}

static void tiled_read(const ir_lazy_t* lazy, size_t offset, size_t size, unsigned char* out) {
  const tiled_t* p = (const tiled_t*)lazy;
  size_t unit = lazy->unit, line = (size_t)p->columns * p->bytes, element = WORD / (size_t)p->group;
  int64_t rows = ROWS * p->group;
  unsigned char* source = memory_alloc((size_t)rows * line);
  for (int64_t number = (int64_t)(offset / unit); size; ++number, size -= unit, out += unit) {
    int64_t first = number * rows, count = p->depth - first < rows ? p->depth - first : rows;
    ir_attr_read(p->from, (size_t)first * line, (size_t)count * line, source);
    memset(out, 0, unit);
    for (int64_t r = 0; r < count; ++r) {
      for (int64_t n = 0; n < p->columns; ++n) {
        int64_t at =
            ((n / p->panel * p->terms * ROWS + r / p->group) * p->panel + n % p->panel) * p->group + r % p->group;
        put_terms(p, source + (size_t)r * line + (size_t)n * p->bytes, out + (size_t)at * element);
      }
    }
  }
  memory_free(source);
}

const ir_attr_t* constant_tiles(ir_context_t* ctx, const ir_attr_t* value, const ir_type_t* element, int64_t panel) {
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
  int64_t dims[] = {(p.depth + rows - 1) / rows, panels, p.terms, ROWS, panel, group};
  const ir_type_t* to = ir_type_tensor(ctx, element, 6, dims);
  if (value->splat) {
    unsigned char* data = arena_alloc(ir_context_arena(ctx), (size_t)ir_type_count(type) * p.bytes);
    for (int64_t i = 0; i < ir_type_count(type); ++i) memcpy(data + (size_t)i * p.bytes, ir_attr_data(value), p.bytes);
    p.from = ir_attr_elements_borrow(ctx, type, data, (size_t)ir_type_count(type) * p.bytes);
  }
  p.lazy = (ir_lazy_t){.read = tiled_read,
                       .size = (size_t)ir_type_count(to) * (size_t)(WORD / group),
                       .unit = (size_t)(panels * p.terms * ROWS * panel) * WORD,
                       .recipe = sizeof(p) - sizeof(p.lazy)};
  if (p.from->lazy && p.from->lazy->unit > 1) ir_attr_data(p.from);  // it is read in other pieces
  return ir_attr_lazy(ctx, to, NULL, arena_copy(ir_context_arena(ctx), &p, sizeof(p)));
}

// Bits of a number's magnitude as those of an f32 one.
static bool is_moderate(uint32_t magnitude) {
  return magnitude == 0 || (magnitude >= CONSTANT_LEAST_BITS && magnitude < CONSTANT_MOST_BITS);
}

bool constant_is_moderate(const ir_attr_t* value) {
  enum { PIECE = 1 << 16 };
  size_t bytes = ir_type_bytes(value->type->element), size = value->size;
  if (value->lazy && value->lazy->unit > 1) ir_attr_data(value);
  unsigned char* piece = memory_alloc(PIECE);
  bool all = true;
  for (size_t at = 0; at < size && all; at += PIECE) {
    size_t length = size - at < PIECE ? size - at : PIECE;
    ir_attr_read(value, at, length, piece);
    for (size_t i = 0; i < length; i += bytes) {
      uint32_t bits = 0;
      memcpy((char*)&bits + (4 - bytes), piece + i, bytes);
      all &= is_moderate(bits & 0x7fffffffu);
    }
  }
  memory_free(piece);
  return all;
}
