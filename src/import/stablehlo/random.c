// Random numbers: element i of the result depends on the key and the counter plus i only (generator.h).
#include <string.h>

#include "dialects/stablehlo.h"
#include "import/generator.h"
#include "import/stablehlo/ops.h"

// 32-bit arithmetic on flat tensors.
static ir_value_t* op2(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return graph_binary(n->b, fn, x, y);
}

static ir_value_t* with(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, int64_t value) {
  const ir_type_t* scalar = ir_type_tensor(n->ctx, x->type->element, 0, NULL);
  return op2(n, fn, x, lower_splat(n->b, graph_splat_integer(n->b, scalar, value), x));
}

// Low or high half of 64-bit numbers.
static ir_value_t* half(lower_op_t* n, ir_value_t* x, bool high) {
  if (high) x = with(n, SCALAR_shru, x, 32);
  return graph_cast(n->b, x, ir_type_int(n->ctx, 32), true);
}

// counter + 0, counter + 1, ... as 64-bit numbers.
static ir_value_t* counters(lower_op_t* n, ir_value_t* counter, int64_t count) {
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 1, &count);
  ir_value_t* index = graph_iota(n->b, type, 0, NULL);
  return op2(n, SCALAR_add, index, lower_splat(n->b, counter, index));
}

enum { THREEFRY_WORDS = 2, PHILOX_WORDS = 4 };

static ir_value_t* first_of(lower_op_t* n, ir_value_t* x, int64_t from, int64_t count) {
  int64_t one = 1;
  return graph_slice(n->b, x, &from, &count, &one);
}

// `count` integers of `width` bits; *blocks gets how many counters they took.
static ir_value_t* random_bits(lower_op_t* n, ir_value_t* key, ir_value_t* counter, bool is_philox, int64_t count,
                               uint32_t width, int64_t* blocks) {
  int64_t per_block = is_philox ? PHILOX_WORDS : THREEFRY_WORDS, total = width == 64 ? 2 * count : count;
  ir_value_t* words[PHILOX_WORDS];
  *blocks = (total + per_block - 1) / per_block;
  if (is_philox) {
    import_philox(n->b, key, counters(n, counter, *blocks), words);
  } else {
    import_threefry(n->b, key, counters(n, counter, *blocks), words);
  }
  ir_value_t* all = graph_concat(n->b, words, (uint32_t)per_block, 0);
  const ir_type_t* type = ir_type_int(n->ctx, width);
  if (width < 64) return graph_cast(n->b, first_of(n, all, 0, count), type, true);
  ir_value_t* low = graph_cast(n->b, first_of(n, all, 0, count), type, true);
  ir_value_t* high = graph_cast(n->b, first_of(n, all, count, count), type, true);
  return op2(n, SCALAR_or, low, with(n, SCALAR_shl, high, 32));
}

//===----------------------------------------------------------------------------------------------------------------===
// rng_bit_generator
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* state_word(lower_op_t* n, ir_value_t* state, int64_t i) {
  return graph_reshape(n->b, first_of(n, state, i, 1), 0, NULL, NULL);
}

// The state as 64-bit words: as it is, or pairs of i32, the lower half first.
static ir_value_t* read_state(lower_op_t* n, ir_value_t* state) {
  const ir_type_t* type = state->type;
  bool flat = ir_type_is_tensor(type) && type->rank == 1 && type->element->kind == IR_TYPE_INTEGER;
  int64_t words = flat && type->element->width == 32 ? type->dims[0] / 2 : flat ? type->dims[0] : 0;
  bool fits = flat && (words == 2 || words == 3) && words * 64 == type->dims[0] * type->element->width;
  if (!fits) return lower_unsupported(n, "a state of two or three ui64, or as many pairs of ui32, is"), NULL;
  if (type->element->width == 64) return state;
  int64_t offsets[2] = {0, 0}, sizes[2] = {words, 1}, ones[2] = {1, 1}, pairs[2] = {words, 2};
  const ir_type_t* wide = ir_type_int(n->ctx, 64);
  ir_value_t* halves[2];
  for (int i = 0; i < 2; ++i) {
    offsets[1] = i;
    ir_value_t* part = graph_slice(n->b, graph_reshape(n->b, state, 2, pairs, NULL), offsets, sizes, ones);
    halves[i] = graph_cast(n->b, graph_reshape(n->b, part, 1, &words, NULL), wide, true);
  }
  return op2(n, SCALAR_or, halves[0], with(n, SCALAR_shl, halves[1], 32));
}

// 64-bit words in the form that the state had.
static ir_value_t* write_state(lower_op_t* n, ir_value_t* words, const ir_type_t* type) {
  if (words->type == type) return words;
  int64_t column[2] = {words->type->dims[0], 1};
  ir_value_t* halves[2];
  for (int i = 0; i < 2; ++i) halves[i] = graph_reshape(n->b, half(n, words, i == 1), 2, column, NULL);
  return graph_reshape(n->b, graph_concat(n->b, halves, 2, 1), 1, type->dims, NULL);
}

bool stablehlo_lower_rng_bit_generator(lower_op_t* n) {
  const char* algorithm = stablehlo_enum(ir_op_attr(n->op, "rng_algorithm"));
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 1));
  ir_value_t* state = read_state(n, n->in[0]);
  if (!state) return false;
  if (!algorithm || !type || !ir_type_is_tensor(type) || !ir_type_is_static(type) || lower_is_bool(type)) {
    return lower_unsupported(n, "results of static shape, and an algorithm, are");
  }
  int64_t words = state->type->dims[0], count = ir_type_count(type), blocks, one = 1;
  bool is_philox = strcmp(algorithm, "PHILOX") == 0 || (strcmp(algorithm, "DEFAULT") == 0 && words == 3);
  ir_value_t *key = state_word(n, state, 0), *counter = state_word(n, state, 1);
  uint32_t width = 8 * ir_type_bytes(type->element);
  ir_value_t* bits = random_bits(n, key, counter, is_philox, count, width, &blocks);
  if (ir_type_is_float(type->element)) bits = graph_bitcast(n->b, bits, type->element);
  bits = graph_cast(n->b, bits, type->element, true);
  n->out[1].v = graph_reshape(n->b, bits, type->rank, type->dims, NULL);
  ir_value_t* next = graph_reshape(n->b, with(n, SCALAR_add, counter, blocks), 1, &one, NULL);
  ir_value_t* parts[3] = {first_of(n, state, 0, 1), next, NULL};
  if (words == 3) parts[2] = first_of(n, state, 2, 1);
  n->out[0].v = write_state(n, graph_concat(n->b, parts, (uint32_t)words, 0), n->in[0]->type);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// rng: no state is given; each op of a program has a key of its own
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t key_of(const ir_op_t* op) {
  uint64_t place = 0;
  for (const ir_op_t* at = op; at; at = at->prev ? at->prev : ir_op_parent(at)) ++place;
  return place * 0x9E3779B97F4A7C15ull + 1;
}

// Floats from 0 (not 1) in steps of 2^-24.
static ir_value_t* uniform(lower_op_t* n, ir_value_t* bits, const ir_type_t* element) {
  const ir_type_t* f32 = ir_type_float(n->ctx, IR_F32);
  ir_value_t* top = graph_cast(n->b, with(n, SCALAR_shru, bits, 8), f32, true);
  return graph_cast(n->b, lower_with_number(n, SCALAR_mul, top, 0x1p-24), element, false);
}

static ir_value_t* between(lower_op_t* n, ir_value_t* bits, const ir_type_t* element) {
  ir_value_t *low = n->in[0], *high = n->in[1];
  if (ir_type_is_float(element)) {
    ir_value_t* width = op2(n, SCALAR_sub, high, low);
    return lower_binary(n, SCALAR_add, lower_binary(n, SCALAR_mul, uniform(n, bits, element), width), low);
  }
  ir_value_t* width = op2(n, SCALAR_sub, high, low);
  ir_value_t* rest = lower_binary(n, SCALAR_remu, graph_cast(n->b, bits, element, true), width);
  return lower_binary(n, SCALAR_add, rest, low);
}

// Box and Muller: two uniform numbers for one of the normal distribution.
static ir_value_t* normal(lower_op_t* n, ir_value_t* bits, ir_value_t* more, const ir_type_t* element) {
  ir_value_t* u = lower_with_number(n, SCALAR_add, uniform(n, bits, element), 0x1p-25);
  ir_value_t* radius = lower_with_number(n, SCALAR_mul, graph_unary(n->b, SCALAR_log, u), -2);
  radius = graph_unary(n->b, SCALAR_sqrt, radius);
  ir_value_t* angle = lower_with_number(n, SCALAR_mul, uniform(n, more, element), 6.283185307179586);
  ir_value_t* z = op2(n, SCALAR_mul, radius, graph_unary(n->b, SCALAR_cos, angle));
  return lower_binary(n, SCALAR_add, lower_binary(n, SCALAR_mul, z, n->in[1]), n->in[0]);
}

bool stablehlo_lower_rng(lower_op_t* n) {
  const char* distribution = stablehlo_enum(ir_op_attr(n->op, "rng_distribution"));
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 0));
  if (!type || !ir_type_is_tensor(type) || !ir_type_is_static(type) || !distribution) {
    return lower_unsupported(n, "results of static shape are");
  }
  for (int i = 0; i < 2; ++i) {
    if (ir_type_is_tensor(n->in[i]->type) && n->in[i]->type->rank == 0 && n->in[i]->type->element == type->element) {
      continue;
    }
    return lower_error(n, "needs two numbers of the result's type as operands 0 and 1");
  }
  const ir_type_t *word = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 0, NULL), *element = type->element;
  ir_value_t* key = graph_splat_integer(n->b, word, (int64_t)key_of(n->op));
  int64_t count = ir_type_count(type), blocks;
  uint32_t width = ir_type_is_float(element) || ir_type_bytes(element) < 8 ? 32 : 64;
  bool is_normal = strcmp(distribution, "NORMAL") == 0;
  if (is_normal && !ir_type_is_float(element)) return lower_unsupported(n, "floats are for NORMAL");
  ir_value_t* bits = random_bits(n, key, graph_splat_integer(n->b, word, 0), false, count, width, &blocks);
  ir_value_t* y;
  if (is_normal) {
    ir_value_t* more = random_bits(n, key, graph_splat_integer(n->b, word, blocks), false, count, 32, &blocks);
    y = normal(n, bits, more, element);
  } else {
    y = between(n, bits, element);
  }
  return lower_return(n, graph_reshape(n->b, y, type->rank, type->dims, NULL));
}
