// Random numbers: each element depends on the key and a counter only (generator.h). Which word of which counter it is
// follows XLA, so that programs get the numbers they get there.
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

static ir_value_t* first_of(lower_op_t* n, ir_value_t* x, int64_t from, int64_t count) {
  int64_t one = 1;
  return graph_slice(n->b, x, &from, &count, &one);
}

// The state of a generator: 64-bit words as tensor<i64>. `high` is the upper half of Philox's counter.
typedef struct random_state_t {
  ir_value_t *key, *counter, *high;
} random_state_t;

// counter + 0, counter + 1, ... as 64-bit numbers.
static ir_value_t* counters(lower_op_t* n, const random_state_t* state, ir_value_t* count) {
  int64_t known = IR_DYNAMIC;
  lower_constant_index(count, &known);
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 1, &known);
  ir_value_t* index = graph_iota(n->b, type, 0, &count);
  return op2(n, SCALAR_add, index, lower_splat(n->b, state->counter, index));
}

// The upper halves: one more where the lower ones have wrapped around.
static ir_value_t* carried(lower_op_t* n, const random_state_t* state, ir_value_t* low) {
  ir_value_t* wrapped = op2(n, SCALAR_ltu, low, lower_splat(n->b, state->counter, low));
  return op2(n, SCALAR_add, lower_splat(n->b, state->high, low), graph_cast(n->b, wrapped, low->type->element, true));
}

static ir_value_t* join_words(lower_op_t* n, ir_value_t* low, ir_value_t* high) {
  const ir_type_t* wide = ir_type_int(n->ctx, 64);
  low = graph_cast(n->b, low, wide, true);
  return op2(n, SCALAR_or, low, with(n, SCALAR_shl, graph_cast(n->b, high, wide, true), 32));
}

// Words of static shape `dims`, side by side in a new dimension behind dimension `axis`, which then takes them in.
static ir_value_t* interleave(lower_op_t* n, ir_value_t** words, uint32_t count, const ir_type_t* shape, int32_t axis) {
  int64_t apart[GRAPH_MAX_RANK + 1], joined[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < shape->rank; ++i) {
    joined[i] = shape->dims[i] * (i == axis ? count : 1);
    apart[i + (i > axis)] = shape->dims[i];
  }
  apart[axis + 1] = 1;
  for (uint32_t i = 0; i < count; ++i) words[i] = graph_reshape(n->b, words[i], shape->rank + 1, apart, NULL);
  return graph_reshape(n->b, graph_concat(n->b, words, count, axis + 1), shape->rank, joined, NULL);
}

static ir_value_t* count_elements(lower_op_t* n, ir_value_t* const* sizes, int32_t rank) {
  ir_value_t* count = graph_index_constant(n->b, 1);
  for (int32_t i = 0; i < rank; ++i) count = lower_index_binary(n->b, SCALAR_mul, count, sizes[i]);
  return count;
}

// The first `count` of the words [m] of each block, block by block.
static ir_value_t* in_order(lower_op_t* n, ir_value_t** words, uint32_t per_block, ir_value_t* count) {
  int64_t flat = words[0]->type->dims[0], pairs[2] = {flat, 1};
  ir_value_t* size = graph_dim(n->b, words[0], 0);
  for (uint32_t i = 0; i < per_block; ++i) words[i] = graph_reshape(n->b, words[i], 2, pairs, &size);
  ir_value_t* all = graph_concat(n->b, words, per_block, 1);
  size = lower_index_binary(n->b, SCALAR_mul, size, graph_index_constant(n->b, per_block));
  if (flat != IR_DYNAMIC) flat *= per_block;
  all = graph_reshape(n->b, all, 1, &flat, &size);
  return lower_first(n, all, 0, count);
}

// Threefry halves the first even dimension, else the longest one, rounded up: the halves' elements count, and what
// becomes two of one are its words.
static int32_t halved_dimension(const ir_type_t* type) {
  int32_t longest = 0;
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] % 2 == 0) return i;
    if (type->dims[i] > type->dims[longest]) longest = i;
  }
  return longest;
}

// Of run-time sizes: for each dimension, 1 where it is the one that is halved and else 0, as indices.
static void find_halved(lower_op_t* n, ir_value_t* const* sizes, int32_t rank, ir_value_t** is_halved) {
  ir_value_t *one = graph_index_constant(n->b, 1), *two = graph_index_constant(n->b, 2), *longest = one, *open = one;
  for (int32_t i = 0; i < rank; ++i) {
    ir_value_t* odd = lower_index_binary(n->b, SCALAR_rem, sizes[i], two);
    is_halved[i] = lower_index_binary(n->b, SCALAR_mul, open, lower_index_binary(n->b, SCALAR_sub, one, odd));
    open = lower_index_binary(n->b, SCALAR_mul, open, odd);
    longest = lower_index_binary(n->b, SCALAR_max, longest, sizes[i]);
  }
  for (int32_t i = 0; i < rank; ++i) {
    ir_value_t* shorter = lower_index_binary(n->b, SCALAR_sub, longest, sizes[i]);
    shorter = lower_index_binary(n->b, SCALAR_min, shorter, one);
    ir_value_t* mine = lower_index_binary(n->b, SCALAR_mul, open, lower_index_binary(n->b, SCALAR_sub, one, shorter));
    is_halved[i] = lower_index_binary(n->b, SCALAR_add, is_halved[i], mine);
    open = lower_index_binary(n->b, SCALAR_mul, open, shorter);
  }
}

// An index as an i64 everywhere.
static ir_value_t* as_number(lower_op_t* n, ir_value_t* index, ir_value_t* like) {
  return lower_splat(n->b, graph_cast(n->b, lower_as_tensor(n->b, index), like->type->element, false), like);
}

// Each element's counter, by its place among the halves' elements, and which of the two words it is.
static ir_value_t* place_in_half(lower_op_t* n, ir_value_t* const* sizes, int32_t rank, ir_value_t** second,
                                 ir_value_t** blocks) {
  ir_value_t *is_halved[GRAPH_MAX_RANK], *open[GRAPH_MAX_RANK], *place = NULL;
  int64_t dims[GRAPH_MAX_RANK];
  lower_split_sizes(sizes, (uint32_t)rank, dims, open);
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), rank, dims);
  find_halved(n, sizes, rank, is_halved);
  *blocks = graph_index_constant(n->b, 1);
  for (int32_t i = rank; i-- > 0;) {
    ir_value_t *at = graph_iota(n->b, type, i, open), *factor = as_number(n, is_halved[i], at);
    ir_value_t* odd = op2(n, SCALAR_mul, with(n, SCALAR_and, at, 1), factor);
    at = op2(n, SCALAR_shru, at, factor);
    at = op2(n, SCALAR_mul, at, as_number(n, *blocks, at));
    place = place ? op2(n, SCALAR_add, place, at) : at;
    *second = i + 1 < rank ? op2(n, SCALAR_or, *second, odd) : odd;
    ir_value_t* half = lower_index_binary(n->b, SCALAR_add, sizes[i], is_halved[i]);
    ir_value_t* by = lower_index_binary(n->b, SCALAR_add, is_halved[i], graph_index_constant(n->b, 1));
    *blocks = lower_index_binary(n->b, SCALAR_mul, *blocks, lower_index_binary(n->b, SCALAR_div, half, by));
  }
  return place;
}

static ir_value_t* sized_threefry_bits(lower_op_t* n, const random_state_t* state, const ir_type_t* type,
                                       ir_value_t* const* sizes, ir_value_t** blocks) {
  ir_value_t *words[2], *second = NULL;
  if (type->element->width == 64) {
    *blocks = count_elements(n, sizes, type->rank);
    import_threefry(n->b, state->key, counters(n, state, *blocks), words);
    return lower_reshape(n->b, join_words(n, words[0], words[1]), sizes, (uint32_t)type->rank);
  }
  ir_value_t* place = place_in_half(n, sizes, type->rank, &second, blocks);
  import_threefry(n->b, state->key, op2(n, SCALAR_add, place, lower_splat(n->b, state->counter, place)), words);
  return graph_select(n->b, with(n, SCALAR_ne, second, 0), words[1], words[0]);
}

static ir_value_t* threefry_bits(lower_op_t* n, const random_state_t* state, const ir_type_t* type,
                                 ir_value_t* const* sizes, ir_value_t** blocks) {
  ir_value_t* words[2];
  int64_t dims[GRAPH_MAX_RANK], zeros[GRAPH_MAX_RANK] = {0}, ones[GRAPH_MAX_RANK];
  if (!ir_type_is_static(type) || type->element->width == 64) return sized_threefry_bits(n, state, type, sizes, blocks);
  int32_t axis = halved_dimension(type);
  for (int32_t i = 0; i < type->rank; ++i) dims[i] = type->dims[i], ones[i] = 1;
  dims[axis] = (dims[axis] + 1) / 2;
  const ir_type_t* half_type = ir_type_tensor(n->ctx, type->element, type->rank, dims);
  *blocks = graph_index_constant(n->b, ir_type_count(half_type));
  import_threefry(n->b, state->key, counters(n, state, *blocks), words);
  return graph_slice(n->b, interleave(n, words, 2, half_type, axis), zeros, type->dims, ones);
}

// Philox gives its four words, or two pairs of them, in order.
static ir_value_t* philox_bits(lower_op_t* n, const random_state_t* state, const ir_type_t* type,
                               ir_value_t* const* sizes, ir_value_t** blocks) {
  ir_value_t *words[4], *count = count_elements(n, sizes, type->rank);
  uint32_t per_block = type->element->width == 64 ? 2 : 4;
  *blocks = lower_index_binary(n->b, SCALAR_add, count, graph_index_constant(n->b, per_block - 1));
  *blocks = lower_index_binary(n->b, SCALAR_div, *blocks, graph_index_constant(n->b, per_block));
  ir_value_t* low = counters(n, state, *blocks);
  import_philox(n->b, state->key, (ir_value_t*[]){low, carried(n, state, low)}, words);
  for (uint32_t i = 0; per_block == 2 && i < 2; ++i) words[i] = join_words(n, words[2 * i], words[2 * i + 1]);
  return lower_reshape(n->b, in_order(n, words, per_block, count), sizes, (uint32_t)type->rank);
}

// Integers of the type's shape, of 64 bits when its elements have as many; *blocks gets how many counters they took.
// `dynamic`: the run-time sizes.
static ir_value_t* random_bits(lower_op_t* n, const random_state_t* state, bool is_philox, const ir_type_t* type,
                               ir_value_t* const* dynamic, ir_value_t** blocks) {
  ir_value_t* sizes[GRAPH_MAX_RANK] = {graph_index_constant(n->b, 1)};
  int64_t one = 1;
  for (int32_t i = 0; i < type->rank; ++i) {
    sizes[i] = type->dims[i] == IR_DYNAMIC ? *dynamic++ : graph_index_constant(n->b, type->dims[i]);
  }
  if (is_philox) return philox_bits(n, state, type, sizes, blocks);
  const ir_type_t* flat = type->rank ? type : ir_type_tensor(n->ctx, type->element, 1, &one);
  return lower_reshape(n->b, threefry_bits(n, state, flat, sizes, blocks), sizes, (uint32_t)type->rank);
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
  ir_value_t* halves[2];
  for (int i = 0; i < 2; ++i) {
    offsets[1] = i;
    ir_value_t* part = graph_slice(n->b, graph_reshape(n->b, state, 2, pairs, NULL), offsets, sizes, ones);
    halves[i] = graph_reshape(n->b, part, 1, &words, NULL);
  }
  return join_words(n, halves[0], halves[1]);
}

// 64-bit words in the form that the state had.
static ir_value_t* write_state(lower_op_t* n, ir_value_t* words, const ir_type_t* type) {
  if (words->type == type) return words;
  int64_t column[2] = {words->type->dims[0], 1};
  ir_value_t* halves[2];
  for (int i = 0; i < 2; ++i) halves[i] = graph_reshape(n->b, half(n, words, i == 1), 2, column, NULL);
  return graph_reshape(n->b, graph_concat(n->b, halves, 2, 1), 1, type->dims, NULL);
}

// The sizes that a shape operand has for the '?' of a type.
static bool read_sizes(lower_op_t* n, const ir_type_t* type, const ir_value_t* shape, ir_value_t** dynamic) {
  bool list = shape && ir_type_is_tensor(shape->type) && shape->type->rank == 1 && !lower_is_float(shape->type) &&
              shape->type->dims[0] == type->rank;
  if (!list) return lower_unsupported(n, "results of static shape, or %d integers for it, are", type->rank);
  for (int32_t i = 0, count = 0; i < type->rank; ++i) {
    if (type->dims[i] == IR_DYNAMIC) dynamic[count++] = lower_index_element(n->b, (ir_value_t*)shape, i);
  }
  return true;
}

bool stablehlo_lower_rng_bit_generator(lower_op_t* n) {
  const char* algorithm = stablehlo_enum(ir_op_attr(n->op, "rng_algorithm"));
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 1));
  ir_value_t *state = read_state(n, n->in[0]), *dynamic[GRAPH_MAX_RANK], *blocks;
  if (!state) return false;
  if (!algorithm || !type || !ir_type_is_tensor(type) || lower_is_bool(type)) {
    return lower_unsupported(n, "tensors of numbers, and an algorithm, are");
  }
  bool is_philox = strcmp(algorithm, "THREE_FRY") != 0, is_sized = !ir_type_is_static(type);  // DEFAULT too
  if (is_sized && !read_sizes(n, type, n->op->operand_count > 1 ? n->in[1] : NULL, dynamic)) return false;
  int64_t words = state->type->dims[0];
  random_state_t s = {state_word(n, state, 0), state_word(n, state, 1), state_word(n, state, words == 3 ? 2 : 0)};
  ir_value_t* bits = random_bits(n, &s, is_philox, type, dynamic, &blocks);
  bits = graph_cast(n->b, bits, ir_type_int(n->ctx, type->element->width), true);
  n->out[1].v = graph_bitcast(n->b, bits, type->element);
  blocks = graph_cast(n->b, lower_as_tensor(n->b, blocks), ir_type_int(n->ctx, 64), false);
  ir_value_t* next = op2(n, SCALAR_add, s.counter, blocks);
  ir_value_t* parts[3] = {s.key, next, NULL};
  if (words == 3) parts[2] = is_philox ? carried(n, &s, next) : s.high;
  int64_t one = 1;
  for (int64_t i = 0; i < words; ++i) parts[i] = graph_reshape(n->b, parts[i], 1, &one, NULL);
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
  ir_value_t *dynamic[GRAPH_MAX_RANK], *blocks;
  if (!type || !ir_type_is_tensor(type) || !distribution) return lower_unsupported(n, "tensors of numbers are");
  bool is_sized = !ir_type_is_static(type);
  if (is_sized && !read_sizes(n, type, n->in[2], dynamic)) return false;
  for (int i = 0; i < 2; ++i) {
    if (ir_type_is_tensor(n->in[i]->type) && n->in[i]->type->rank == 0 && n->in[i]->type->element == type->element) {
      continue;
    }
    return lower_error(n, "needs two numbers of the result's type as operands 0 and 1");
  }
  const ir_type_t *word = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 0, NULL), *element = type->element;
  random_state_t state = {.key = graph_splat_integer(n->b, word, (int64_t)key_of(n->op)),
                          .counter = graph_splat_integer(n->b, word, 0)};
  state.high = state.counter;
  bool wide = !ir_type_is_float(element) && element->width == 64;
  const ir_type_t* bits_type = ir_type_with_element(n->ctx, type, ir_type_int(n->ctx, wide ? 64 : 32));
  bool is_normal = strcmp(distribution, "NORMAL") == 0;
  if (is_normal && !ir_type_is_float(element)) return lower_unsupported(n, "floats are for NORMAL");
  ir_value_t* bits = random_bits(n, &state, is_sized, bits_type, dynamic, &blocks);
  ir_value_t* y;
  if (is_normal) {
    state.counter = graph_cast(n->b, lower_as_tensor(n->b, blocks), word->element, false);
    ir_value_t* more = random_bits(n, &state, is_sized, bits_type, dynamic, &blocks);
    y = normal(n, bits, more, element);
  } else {
    y = between(n, bits, element);
  }
  return lower_return(n, y);
}
