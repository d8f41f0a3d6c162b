// Random words. See generator.h; both generators are those of Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3" (2011).
#include "import/generator.h"

#include "import/lowering.h"

static ir_value_t* with(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, int64_t value) {
  const ir_type_t* scalar = ir_type_tensor(b->ctx, x->type->element, 0, NULL);
  return graph_binary(b, fn, x, lower_splat(b, graph_splat_integer(b, scalar, value), x));
}

// Low or high half of 64-bit numbers.
static ir_value_t* half(ir_builder_t* b, ir_value_t* x, bool high) {
  if (high) x = with(b, SCALAR_shru, x, 32);
  return graph_cast(b, x, ir_type_int(b->ctx, 32), true);
}

static ir_value_t* rotate(ir_builder_t* b, ir_value_t* x, int64_t by) {
  return graph_binary(b, SCALAR_or, with(b, SCALAR_shl, x, by), with(b, SCALAR_shru, x, 32 - by));
}

void import_threefry(ir_builder_t* b, ir_value_t* key, ir_value_t* counters, ir_value_t* words[2]) {
  static const int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  ir_value_t **x = words, *keys[3];
  for (int i = 0; i < 2; ++i) {
    x[i] = half(b, counters, i == 1);
    keys[i] = lower_splat(b, half(b, key, i == 1), x[i]);
  }
  keys[2] = with(b, SCALAR_xor, graph_binary(b, SCALAR_xor, keys[0], keys[1]), 0x1BD11BDA);
  for (int i = 0; i < 2; ++i) x[i] = graph_binary(b, SCALAR_add, x[i], keys[i]);
  for (int round = 0; round < 20; ++round) {
    x[0] = graph_binary(b, SCALAR_add, x[0], x[1]);
    x[1] = graph_binary(b, SCALAR_xor, rotate(b, x[1], rotations[round / 4 % 2][round % 4]), x[0]);
    if (round % 4 != 3) continue;
    int step = round / 4 + 1;
    x[0] = graph_binary(b, SCALAR_add, x[0], keys[step % 3]);
    x[1] = with(b, SCALAR_add, graph_binary(b, SCALAR_add, x[1], keys[(step + 1) % 3]), step);
  }
}

// Both halves of the 64-bit product with a constant.
static void multiply_wide(ir_builder_t* b, ir_value_t* x, int64_t factor, ir_value_t* halves[2]) {
  ir_value_t* product = with(b, SCALAR_mul, graph_cast(b, x, ir_type_int(b->ctx, 64), true), factor);
  for (int i = 0; i < 2; ++i) halves[i] = half(b, product, i == 1);
}

void import_philox(ir_builder_t* b, ir_value_t* key, ir_value_t* const counters[2], ir_value_t* words[4]) {
  ir_value_t **x = words, *keys[2];
  for (int i = 0; i < 2; ++i) {
    x[i] = half(b, counters[0], i == 1);
    x[2 + i] = half(b, counters[1], i == 1);
    keys[i] = lower_splat(b, half(b, key, i == 1), x[i]);
  }
  for (int round = 0; round < 10; ++round) {
    ir_value_t *first[2], *second[2];
    multiply_wide(b, x[0], 0xD2511F53, first);
    multiply_wide(b, x[2], 0xCD9E8D57, second);
    x[0] = graph_binary(b, SCALAR_xor, graph_binary(b, SCALAR_xor, second[1], x[1]), keys[0]);
    x[2] = graph_binary(b, SCALAR_xor, graph_binary(b, SCALAR_xor, first[1], x[3]), keys[1]);
    x[1] = second[0];
    x[3] = first[0];
    keys[0] = with(b, SCALAR_add, keys[0], 0x9E3779B9);
    keys[1] = with(b, SCALAR_add, keys[1], 0xBB67AE85);
  }
}
