// One step of a sort by digits (graph.sort with `digit`): how often each of the 256 digits is there says where its
// elements begin, and each element goes behind those of its digit that came before it. A step needs no comparison and
// predicts nothing; from the least digit to the greatest they sort a line. A thread has a line.
#include "kernels/order.h"
#include "kernels/strategy.h"

typedef struct radix_t {
  dispatch_t* d;
  ir_op_t* op;
  int64_t axis;
  ir_value_t* counts;
  linear_t coords[GRAPH_MAX_RANK];
} radix_t;

bool strategy_radix_proposes(const dispatch_t* d, candidate_t* c) {
  if (!graph_get_digit(d->root)) return candidate_declines(c, "it is no step by a digit");
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    if (ir_operand(d->yield, i)->def != d->root) return candidate_declines(c, "something follows the order");
  }
  return candidate_evaluates(d, d->root, c);
}

// The digit of the element at `coords`, as an index.
static ir_value_t* digit_at(radix_t* r) {
  kernel_build_t* k = &r->d->k;
  ir_builder_t* b = &k->b;
  ir_value_t* bits = order_bits(k, r->op, eval_at(k, ir_operand(r->op, 0), r->coords));
  int64_t shift = ORDER_DIGIT_BITS * (graph_get_digit(r->op) - 1);
  if (shift) bits = kernel_binary(b, SCALAR_shru, bits, kernel_integer(b, bits->type, shift));
  bits = kernel_cast(b, SCALAR_castu, bits, ir_type_index(k->ctx));
  return kernel_binary(b, SCALAR_and, bits, kernel_index(b, ORDER_DIGITS - 1));
}

static ir_value_t* load_count(radix_t* r, ir_value_t* digit) {
  kernel_build_t* k = &r->d->k;
  return eval_convert(k, kernel_load(&k->b, r->counts, digit, 1), ir_type_index(k->ctx));
}

static void store_count(radix_t* r, ir_value_t* count, ir_value_t* digit) {
  kernel_build_t* k = &r->d->k;
  kernel_store(&k->b, eval_convert(k, count, ir_type_int(k->ctx, 64)), r->counts, digit);
}

// What is counted becomes where each digit's elements begin.
static void sum_counts(radix_t* r) {
  kernel_build_t* k = &r->d->k;
  ir_value_t* before = kernel_index(&k->b, 0);
  kernel_loop_t loop = kernel_loop_constant(k, 0, ORDER_DIGITS, 1, &before, 1);
  ir_value_t* count = load_count(r, loop.index);
  store_count(r, loop.iters[0], loop.index);
  ir_value_t* next = kernel_add(&k->b, loop.iters[0], count);
  kernel_for_end(&k->b, &loop, &next, 1);
}

// Adds one to the digit's number, and gives what it was.
static ir_value_t* take_number(radix_t* r, ir_value_t* digit) {
  kernel_build_t* k = &r->d->k;
  ir_value_t* number = load_count(r, digit);
  store_count(r, kernel_add_const(&k->b, number, 1), digit);
  return number;
}

static void sort_line(radix_t* r, const extent_t* size) {
  kernel_build_t* k = &r->d->k;
  kernel_loop_t loop = kernel_loop_constant(k, 0, ORDER_DIGITS, 1, NULL, 0);
  store_count(r, kernel_index(&k->b, 0), loop.index);
  kernel_for_end(&k->b, &loop, NULL, 0);
  ir_value_t *first = index_constant(k, 0), *end = extent_value(k, size);
  loop = kernel_loop_begin(k, first, end, 1, NULL, 0);
  r->coords[r->axis] = linear_value(loop.index);
  take_number(r, digit_at(r));
  kernel_for_end(&k->b, &loop, NULL, 0);
  sum_counts(r);
  loop = kernel_loop_begin(k, first, end, 1, NULL, 0);
  linear_t from = linear_value(loop.index);
  r->coords[r->axis] = from;
  ir_value_t* place = take_number(r, digit_at(r));
  uint32_t count = r->d->yield->operand_count;
  ir_value_t** values = ARENA_ARRAY(ir_context_arena(k->ctx), ir_value_t*, count);
  for (uint32_t i = 0; i < count; ++i) {
    values[i] = eval_at(k, ir_operand(r->op, ir_operand(r->d->yield, i)->index), r->coords);
  }
  index_set_facts(k, place, 0, index_facts(end).max - 1, 1);
  r->coords[r->axis] = linear_value(place);
  for (uint32_t i = 0; i < count; ++i) eval_store(k, r->d->outputs[i], r->coords, values[i]);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

void strategy_radix_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  const ir_value_t* x = ir_operand(d->root, 0);
  radix_t r = {.d = d, .op = d->root, .axis = graph_get_axis(d->root)};
  extent_t sizes[GRAPH_MAX_RANK], lines = extent_fixed(1), size = eval_extent(x, (int32_t)r.axis);
  eval_extents(x, sizes);
  sizes[r.axis] = extent_fixed(1);
  for (int32_t i = 0; i < x->type->rank; ++i) lines = extent_product(lines, sizes[i]);
  if (extent_is(&lines, 0) || extent_is(&size, 0)) return;
  r.counts = kernel_alloc(&k->b, ir_type_int(k->ctx, 64), ORDER_DIGITS, IR_SPACE_PRIVATE);
  iterations_t it = iterations_dynamic(d, &lines, 4 * extent_guess(&size));
  iterations_split_extents(k, it.index, sizes, x->type->rank, r.coords);
  sort_line(&r, &size);
  iterations_end(d, &it);
}
